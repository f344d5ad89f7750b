"""Versions of a subject: which may be seen, which is the latest, and what is told of one."""

from collections.abc import Iterable

from treaty.core.answers import VersionFound
from treaty.core.limits import COUNTER
from treaty.core.names import Subject
from treaty.core.refusals import InvalidVersion, SubjectNotFound, VersionNotFound
from treaty.core.requests import LATEST, Visible
from treaty.core.rows import Key
from treaty.core.schema import Reference
from treaty.core.values import Schema, Used, Version
from treaty.core.view import View

Kept = tuple[Key, Version]
"""A version with its key (context, subject, ordinal)."""

STATES: dict[Visible, tuple[str, ...]] = {"live": ("live",), "all": ("live", "soft"), "deleted": ("soft",)}
"""States of the versions that may be seen."""


def kept(view: View, subject: Subject) -> list[Kept]:
    """Return every version row of a subject, hidden ones too, by ordinal."""
    rows = ((key, view.get("version", key)) for key in view.find("version.subject", tuple(subject)))
    return [(key, value) for key, value in rows if isinstance(value, Version)]


def shown(view: View, subject: Subject, visible: Visible = "live") -> list[Kept]:
    """Return the versions that may be seen, by number."""
    states = STATES[visible]
    return sorted((one for one in kept(view, subject) if one[1].state in states), key=_by_number)


def _by_number(one: Kept) -> int:
    return one[1].number


def subject_of_key(key: Key) -> Subject:
    """Return the subject in whose table a version's key is."""
    return Subject(str(key[0]), str(key[1]))


def select(view: View, subject: Subject, number: int, visible: Visible = "live") -> Kept:
    """Return the version with this number (or the latest).

    Raises `SubjectNotFound` where no version may be seen, `VersionNotFound` where only this one is missing, and
    `InvalidVersion` for what no version can be called.
    """
    if number != LATEST and not 1 <= number <= COUNTER:
        raise InvalidVersion.of(
            "VERSION_ID",
            f"The specified version '{number}' is not a valid version id. Allowed values are between [1, 2^31-1] and "
            'the string "latest"',
            subject=str(subject),
            version=str(number),
            new=str(number),
            allowed="1 to 2^31-1, latest",
        )
    if number != LATEST:
        for key in view.find("version.number", (*subject, number)):
            value = view.get("version", key)
            if isinstance(value, Version) and value.state in STATES[visible]:
                return key, value
    candidates = shown(view, subject, visible)
    if not candidates:
        raise no_subject(subject)
    if number == LATEST:
        return candidates[-1]
    numbers = ", ".join(str(one.number) for _, one in candidates[-10:])
    raise VersionNotFound.of(
        "VERSION_NOT_FOUND", f"Version {number} not found.", subject=str(subject), version=str(number), allowed=numbers
    )


def no_subject(subject: Subject) -> SubjectNotFound:
    """Return the refusal for a subject without a version that may be seen."""
    return SubjectNotFound.of("SUBJECT_NOT_FOUND", f"Subject '{subject}' not found.", subject=str(subject))


def schema_row(view: View, context: str, schema_id: int) -> Schema:
    """Return a schema that a row refers to; that it is there is an invariant."""
    value = view.get("schema", (context, schema_id))
    assert isinstance(value, Schema), f"schema {schema_id} of context {context} is missing"
    return value


def as_sent(references: Iterable[Used]) -> tuple[Reference, ...]:
    """Return stored references as their sender wrote them."""
    return tuple(Reference(one.name, one.subject, one.version) for one in references)


def found(view: View, one: Kept) -> VersionFound:
    """Return what is told of a version."""
    key, version = one
    schema = schema_row(view, str(key[0]), version.schema_id)
    return VersionFound(
        subject=str(subject_of_key(key)),
        number=version.number,
        ordinal=int(key[2]),
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
    )
