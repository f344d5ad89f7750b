"""Versions that a source pins: read from any registry, as exchanges, so that programs with and without asyncio share them.

A missing schema is a `NotFound` with what would help. A registry that can't say now raises `Unavailable`, which is
never taken for "not found".
"""

from collections.abc import Sequence
from dataclasses import dataclass

from treaty.client.references import resolve_schema
from treaty.core.messages.names import GetPin, PinFound
from treaty.core.messages.request import LATEST
from treaty.core.messages.schemas import Uses, UsesOf
from treaty.core.names import DEFAULT_CONTEXT, Subject, subject_of
from treaty.core.refusals import NotFound, SchemaNotFound, SubjectNotFound, VersionNotFound
from treaty.core.registry import Exchange, request_answer
from treaty.core.schema import Reference
from treaty.core.schema_engine import ResolvedSchema
from treaty.metastore.columns.plan_functions import parse_resolved
from treaty.plan.registered_schema import RegisteredSchema

NAMED_USES = 3
"""Versions that the message about an id of another subject names."""


@dataclass(frozen=True, slots=True)
class PinnedVersion:
    """A live version as a source pins it: by subject, generation of the subject, ordinal and schema id.

    `number` is Confluent's version number; `schema` has the texts behind the references.
    """

    subject: Subject
    generation: int
    ordinal: int
    number: int
    schema_id: int
    guid: str
    schema: ResolvedSchema
    references: tuple[Reference, ...] = ()

    def as_registered(self) -> RegisteredSchema:
        """The version as planners take it. Raises `InvalidSchemaError`."""
        return RegisteredSchema(
            self.schema_id,
            str(self.subject),
            self.number,
            self.schema.format,
            parse_resolved(self.schema),
            meaning=self.schema,
            guid=self.guid,
            ordinal=self.ordinal,
        )


_NO_KEY = "; where records have no key, leave KEY_FORMAT out: FORMAT stands for both"


def find_pinned_version(subject: Subject, number: int = LATEST) -> Exchange[PinnedVersion]:
    """A live version of a subject, its latest one without a number. Raises `NotFound` where there is none."""
    try:
        pin = yield from request_answer(GetPin(subject, number))
    except VersionNotFound:
        raise
    except NotFound as missing:
        raise SubjectNotFound.of(
            "SUBJECT_NOT_FOUND",
            f"{subject} has no schema here: none was registered, or under another name or in another registry, or the caller may not read it. "
            f"Register one, name another subject, or write the columns{_NO_KEY * str(subject).endswith('-key')}",
            subject=str(subject),
            allowed="a subject with a live version",
        ) from missing
    return (yield from _read_version(pin))


def find_latest_version(subject: Subject) -> Exchange[PinnedVersion | None]:
    """The latest live version of a subject; None where it has none."""
    try:
        pin = yield from request_answer(GetPin(subject))
    except NotFound:
        return None
    return (yield from _read_version(pin))


def find_version_with_id(subject: Subject, schema_id: int, hint: str = "") -> Exchange[PinnedVersion]:
    """The live version of a subject that has the schema with this id; the newest one where there are several.

    Raises `NotFound`: `SchemaNotFound` where no live version of the context has this schema, `VersionNotFound` where only
    other subjects have it. `hint` is the property of a statement that names another subject.
    """
    try:
        pin = yield from request_answer(GetPin(subject, schema_id=schema_id))
    except NotFound as missing:
        raise (yield from _explain_missing(subject, schema_id, hint)) from missing
    return (yield from _read_version(pin))


def _explain_missing(subject: Subject, schema_id: int, hint: str) -> Exchange[NotFound]:
    """Why a subject has no version with a schema: no subject has one, or others have."""
    try:
        answer: Uses = yield from request_answer(UsesOf(schema_id, Subject(subject.context, "")))
    except NotFound:
        return _no_schema(subject, schema_id)
    uses = [(subject_of(name), number) for name, number in answer.uses]
    return _other_subject(subject, schema_id, uses, hint) if uses else _no_schema(subject, schema_id)


def _read_version(pin: PinFound) -> Exchange[PinnedVersion]:
    """The version with the texts behind its references; its subject is the one that an alias stands for."""
    version = pin.version
    subject = subject_of(version.subject)
    within = Subject(subject.context, "")
    schema = yield from resolve_schema(
        version.format, version.text, version.references, within, imports=version.imports
    )
    return PinnedVersion(
        subject,
        pin.generation,
        version.ordinal,
        version.number,
        version.schema_id,
        version.guid,
        schema,
        version.references,
    )


def _no_schema(subject: Subject, schema_id: int) -> SchemaNotFound:
    return SchemaNotFound.of(
        "SCHEMA_NOT_FOUND",
        f"no live version in the {_name_context(subject)} has the schema id {schema_id}: register the schema first",
        subject=str(subject),
        version=str(schema_id),
        allowed=f"the id of a live version of {subject}",
    )


def _other_subject(subject: Subject, schema_id: int, uses: Sequence[tuple[Subject, int]], hint: str) -> VersionNotFound:
    named = ", ".join(f"{name} version {number}" for name, number in uses[:NAMED_USES])
    more = f" (and {len(uses) - NAMED_USES} more)" if len(uses) > NAMED_USES else ""
    remedy = f"say {hint}='{uses[0][0]}', or register it in {subject}" if hint else f"register it in {subject}"
    return VersionNotFound.of(
        "SCHEMA_OF_ANOTHER_SUBJECT",
        f"the schema id {schema_id} is no version of {subject}; it is {named}{more}: {remedy}",
        subject=str(subject),
        version=str(schema_id),
        allowed=f"the id of a live version of {subject}",
    )


def _name_context(subject: Subject) -> str:
    return "default context" if subject.context == DEFAULT_CONTEXT else f"context {subject.context}"
