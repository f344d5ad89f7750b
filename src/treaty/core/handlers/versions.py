"""Versions of a subject: which may be seen, which is the latest, and the answer about one."""

from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import chain, islice

from treaty.core.limits import COUNTER
from treaty.core.messages.names import SEQUENCE
from treaty.core.messages.request import LATEST, NO_VERSION_ID_IN_RANGE, Visible
from treaty.core.messages.versions import VersionFound
from treaty.core.names import DEFAULT_CONTEXT, Subject
from treaty.core.refusals import InvalidVersion, SubjectNotFound, VersionNotFound
from treaty.core.schema import CODED, Pairs, Reference, opaque_bytes, refuse_large_size
from treaty.core.state.rows import UnreadableRowError
from treaty.core.state.state_tables import (
    CONTENT,
    COUNTER_OF_SUBJECT,
    NAME_BY_VERSION,
    SCHEMA,
    SUBJECT,
    SUBJECT_ELSEWHERE,
    TYPES,
    VERSION,
    VERSION_BY_NUMBER,
    VERSION_BY_SCHEMA,
    VERSION_BY_SUBJECT,
    VERSION_LISTED,
    ContentKey,
    NumberEntry,
    SchemaKey,
    VersionKey,
)
from treaty.core.state.values import Schema, StoredReference, Version
from treaty.core.state.view import View, subject_span

StoredVersion = tuple[VersionKey, Version]
"""A version with its key (context, subject, generation, ordinal)."""

STATES: dict[Visible, tuple[str, ...]] = {"live": ("live",), "all": ("live", "soft"), "deleted": ("soft",)}
"""States of the versions that may be seen."""
TOLD_NUMBERS = 10
"""The most version numbers in the error about a missing one: the highest."""


def stored_versions(view: View, subject: Subject) -> list[StoredVersion]:
    """Return every version row of a subject, hidden ones too, by ordinal."""
    rows = ((key, view.get(VERSION, key)) for key in view.find(VERSION_BY_SUBJECT, subject))
    return [(key, value) for key, value in rows if value is not None]


def visible_versions(view: View, subject: Subject, visible: Visible = "live") -> list[StoredVersion]:
    """Return all versions that may be seen, by number."""
    return [*rows_of(view, _entries(view, subject, visible))]


def newest_first(view: View, subject: Subject, visible: Visible = "live") -> Iterator[StoredVersion]:
    """Return the versions that may be seen, the highest number first; only those that are taken cost."""
    return rows_of(view, _entries(view, subject, visible, reverse=True))


def latest_version(view: View, subject: Subject, visible: Visible = "live") -> StoredVersion | None:
    """Return the version with the highest number that may be seen; None where there is none."""
    for entry in _entries(view, subject, visible, reverse=True):
        stored = _version_at(view, entry)
        if stored is not None:
            return stored
    return None


def oldest_hidden(view: View, subject: Subject) -> Iterator[StoredVersion]:
    """Return the hidden versions of a subject, the lowest number first, and of one number the lowest ordinal; one by
    one.
    """
    return rows_of(view, view.walk(VERSION_BY_NUMBER, *subject_span("hidden", *subject)))


def has_version(view: View, subject: Subject, visible: Visible = "live") -> bool:
    """Return whether the subject has a version that may be seen."""
    return any(any(view.find(VERSION_LISTED, (state, *subject))) for state in STATES[visible])


def numbers(view: View, subject: Subject, visible: Visible) -> list[tuple[int, str]]:
    """Return the numbers of all versions that may be seen, ascending, and their states."""
    return [(_number(entry), entry[0]) for entry in _entries(view, subject, visible)]


def highest_number(view: View, subject: Subject) -> int:
    """Return the highest number of the subject's live and softly deleted versions; 0 where there is none."""
    last = (next(_in_state(view, subject, state, reverse=True), None) for state in STATES["all"])
    return max((_number(entry) for entry in last if entry is not None), default=0)


def has_other_formats(view: View, subject: Subject, format_: str) -> bool:
    """Return whether any version of a subject, deleted or not, was ever of another format than this one, here or where
    the subject was imported from.

    Its counters are in the order of their formats, so the first and the last of them say that.
    """
    bounds = subject_span(TYPES, *subject)
    ends = (next(view.walk(COUNTER_OF_SUBJECT, *bounds, reverse=reverse), None) for reverse in (False, True))
    return any(key is not None and not key.part.startswith(f"{format_}:") for key in ends)


def version_with_number(view: View, subject: Subject, number: int, visible: Visible = "live") -> StoredVersion | None:
    """Return the version with a number, if it may be seen."""
    for state in STATES[visible]:
        for entry in view.walk(VERSION_BY_NUMBER, (state, *subject, number), (state, *subject, number + 1)):
            stored = _version_at(view, entry)
            if stored is not None:
                return stored
    return None


def with_ordinal(view: View, subject: Subject, ordinal: int) -> StoredVersion | None:
    """Return the version of a subject with an ordinal, whether it may be seen or not; None where there is none."""
    row = view.get(SUBJECT, subject)
    if row is None:
        return None
    key = VersionKey(*subject, row.generation, ordinal)
    value = view.get(VERSION, key)
    return None if value is None else (key, value)


def with_schema(view: View, subject: Subject, schema_id: int, states: Iterable[str]) -> Iterator[StoredVersion]:
    """Return the versions of a subject that have a schema and one of these states, state by state, by ordinal."""
    entries = ((state, subject.context, schema_id) for state in states)
    keys = chain.from_iterable(view.find(VERSION_BY_SCHEMA, entry, subject) for entry in entries)
    rows = ((key, view.get(VERSION, key)) for key in keys)
    return ((key, value) for key, value in rows if value is not None)


def _entries(view: View, subject: Subject, visible: Visible, *, reverse: bool = False) -> Iterator[NumberEntry]:
    """Entries (state, context, subject, number, generation, ordinal) of versions that may be seen, by number."""
    states = STATES[visible]
    if len(states) == 1:
        return _in_state(view, subject, states[0], reverse=reverse)
    return merge(*[_in_state(view, subject, state, reverse=reverse) for state in states], key=_place, reverse=reverse)


def _in_state(view: View, subject: Subject, state: str, *, reverse: bool) -> Iterator[NumberEntry]:
    """Those of versions in one state."""
    return view.walk(VERSION_BY_NUMBER, *subject_span(state, *subject), reverse=reverse)


def rows_of(view: View, entries: Iterable[NumberEntry]) -> Iterator[StoredVersion]:
    """Return the versions of entries of the index of numbers, one by one."""
    rows = (_version_at(view, entry) for entry in entries)
    return (row for row in rows if row is not None)


def _version_at(view: View, entry: NumberEntry) -> StoredVersion | None:
    """Return the version of an entry of the index of numbers; None where it can't be read."""
    _, context, name, _, generation, ordinal = entry
    key = VersionKey(context, name, generation, ordinal)
    value = view.get(VERSION, key)
    return None if value is None else (key, value)


def _place(entry: NumberEntry) -> tuple[int, int, int]:
    return entry[3:]


def _number(entry: NumberEntry) -> int:
    return entry[3]


def same_name_elsewhere(view: View, subject: Subject) -> Iterator[Subject]:
    """Return the subjects of the same name in other contexts than the default one, where an unqualified name is looked
    for too, by context.
    """
    if subject.context == DEFAULT_CONTEXT and subject.name:
        yield from view.find(SUBJECT_ELSEWHERE, (subject.name,))


def subject_of_key(key: VersionKey) -> Subject:
    """Return the subject in whose table a version's key is."""
    return Subject(key.context, key.subject)


def select(view: View, subject: Subject, number: int, visible: Visible = "live") -> StoredVersion:
    """Return the version with this number (or the latest).

    Raises `SubjectNotFound` where no version may be seen, `VersionNotFound` where only this one is missing, and
    `InvalidVersion` for what no version can be called.
    """
    if number != LATEST and not 1 <= number <= COUNTER:
        raise InvalidVersion.of(
            "VERSION_ID",
            NO_VERSION_ID_IN_RANGE.format(version=number),
            subject=str(subject),
            version=str(number),
            new=str(number),
            allowed="1 to 2^31-1, latest",
        )
    stored = (
        latest_version(view, subject, visible)
        if number == LATEST
        else version_with_number(view, subject, number, visible)
    )
    if stored is not None:
        return stored
    newest = [_number(entry) for entry in islice(_entries(view, subject, visible, reverse=True), TOLD_NUMBERS)]
    if not newest:
        raise no_subject(subject)
    raise VersionNotFound.of(
        "VERSION_NOT_FOUND",
        f"Version {number} not found.",
        subject=str(subject),
        version=str(number),
        allowed=", ".join(map(str, reversed(newest))),
    )


def no_subject(subject: Subject) -> SubjectNotFound:
    """Return the refusal for a subject without a version that may be seen."""
    return SubjectNotFound.of("SUBJECT_NOT_FOUND", f"Subject '{subject}' not found.", subject=str(subject))


def no_ordinal(
    subject: Subject, ordinal: int, *, allowed: str = "the ordinal of a version of this subject"
) -> VersionNotFound:
    """Return the refusal for an ordinal without a version."""
    return VersionNotFound.of(
        "VERSION_NOT_FOUND",
        f"Version with ordinal {ordinal} not found.",
        path="/ordinal",
        subject=str(subject),
        version=str(ordinal),
        new=str(ordinal),
        allowed=allowed,
    )


class MissingSchemaError(UnreadableRowError):
    """A version has a schema that is not there, so that nothing can be said of the version."""


def schema_row(view: View, context: str, schema_id: int) -> Schema:
    """Return a schema that a row refers to; that it is there is an invariant.

    Raises `MissingSchemaError` in a log that was restored although it breaks that.
    """
    value = view.get(SCHEMA, SchemaKey(context, schema_id))
    if value is None:
        raise MissingSchemaError(
            f"a version has schema {schema_id} of context {context}, which is missing (SCHEMA_MISSING): `treaty log verify` "
            "lists such rows; restore a sound dump"
        )
    return value


def as_sent(references: Iterable[StoredReference]) -> tuple[Reference, ...]:
    """Return stored references as their sender wrote them."""
    return tuple(Reference(reference.name, reference.subject, reference.version) for reference in references)


def describe_version(view: View, stored: StoredVersion, *, data: bool = False, names: bool = False) -> VersionFound:
    """Return the answer about a version; with `data` its names, and the bytes as sent, where they differ from the text."""
    key, version = stored
    schema = schema_row(view, key.context, version.schema_id)
    return VersionFound(
        subject=str(subject_of_key(key)),
        number=version.number,
        ordinal=key.ordinal,
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
        data=_data_of(view, version, schema) if data else None,
        imports=schema.imports,
        names=names_of(view, key) if data or names else (),
    )


def names_of(view: View, key: VersionKey) -> Pairs:
    """Return the further names of a version, sorted; that of the scheme sequence where its subject has this scheme."""
    subject = view.get(SUBJECT, subject_of_key(key))
    stored = ((name.scheme, name.name) for name in view.find(NAME_BY_VERSION, key))
    counted = ((SEQUENCE, str(key.ordinal + 1)),) if subject is not None and SEQUENCE in subject.schemes else ()
    return tuple(sorted((*stored, *counted)))


def _data_of(view: View, version: Version, schema: Schema) -> bytes | None:
    if version.content:
        content = view.get(CONTENT, ContentKey(version.content))
        return None if content is None else content.data
    if not schema.text.startswith(CODED):
        return None
    refuse_large_size(len(schema.text))
    return opaque_bytes(schema.text)
