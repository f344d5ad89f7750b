"""Versions by number, and what is told of one."""

from tests.simulation.judging.model.past import Past, VersionNow
from tests.simulation.judging.model.refusing import No
from treaty.core.limits import COUNTER
from treaty.core.messages.versions import VersionFound
from treaty.core.names import Subject
from treaty.core.refusals import InvalidVersion, SubjectNotFound, VersionNotFound
from treaty.core.schema import Reference
from treaty.core.state.values import Schema, StoredReference

STATES = {"live": ("live",), "all": ("live", "soft"), "deleted": ("soft",)}
"""By what is asked for: the states of the versions that may be seen."""


def no_subject(subject: Subject) -> No:
    return No(SubjectNotFound, "SUBJECT_NOT_FOUND", subject=str(subject))


def select(past: Past, subject: Subject, number: int, visible: str = "live") -> VersionNow:
    """The version with this number; -1 is the one with the highest number."""
    if number != -1 and not 1 <= number <= COUNTER:
        raise No(InvalidVersion, "VERSION_ID", subject=str(subject), version=str(number))
    there = past.shown(subject, STATES[visible])
    if not there:
        raise no_subject(subject)
    if number == -1:
        return there[-1]
    for one in there:
        if one.number == number:
            return one
    numbers = ", ".join(str(one.number) for one in there[-10:])
    raise No(VersionNotFound, "VERSION_NOT_FOUND", subject=str(subject), version=str(number), allowed=numbers)


def as_sent(references: tuple[StoredReference, ...]) -> tuple[Reference, ...]:
    """References as their sender wrote them, with the numbers that they meant."""
    return tuple(Reference(one.name, one.subject, one.version) for one in references)


def describe(one: VersionNow, *, data: bool = False, names: bool = False) -> VersionFound:
    """What is told of a version; with `data` its names, and the bytes that were sent too, where they are not its text."""
    schema: Schema = one.schema
    version = one.version
    return VersionFound(
        subject=str(one.subject),
        number=version.number,
        ordinal=one.ordinal,
        schema_id=version.schema_id,
        guid=schema.guid,
        format=schema.format,
        text=schema.text,
        references=as_sent(schema.references),
        metadata=schema.metadata,
        rules=schema.rules,
        time=version.time,
        deleted=version.state != "live",
        properties=version.properties,
        forced=version.forced,
        imported=version.imported,
        type_name=version.type_name,
        type_version=version.type_version,
        data=one.content if data else None,
        names=tuple(sorted(one.names)) if data or names else (),
    )
