"""Exports: pages of subjects and of versions with all that is kept of them, for a registry that imports them."""

from collections.abc import Iterator
from heapq import merge
from itertools import groupby

from treaty.core import limits
from treaty.core.access.authorized_view import without_filter
from treaty.core.access.rights import Access
from treaty.core.command import Command, Decision, PausingWork
from treaty.core.handlers.drafts.names import given_names
from treaty.core.handlers.versions import MissingSchemaError, StoredVersion, describe_version
from treaty.core.messages.encodings import CodecType
from treaty.core.messages.groups import GroupSettings
from treaty.core.messages.transfers import (
    ExportedSubject,
    ExportedSubjects,
    ExportedVersion,
    ExportedVersions,
    ExportSubjects,
    ExportVersions,
    HighestNumbers,
    KeptState,
)
from treaty.core.names import EVERYWHERE, Subject
from treaty.core.schema_engine import SchemaEngine
from treaty.core.state.schemaver_tables import SUPERSEDED, SupersededKey
from treaty.core.state.state_tables import (
    CODEC,
    COUNTER,
    COUNTER_OF_SUBJECT,
    ENCODING,
    ENCODING_BY_VERSION,
    ENCODINGS,
    SUBJECT,
    TYPES,
    VERSION,
    VERSION_BY_SUBJECT,
    CounterKey,
    VersionKey,
    encodings_key,
    ordinals_key,
)
from treaty.core.state.table import Key
from treaty.core.state.values import SubjectValue
from treaty.core.state.view import View, after, span, subject_span

PAUSE_ROWS = 64
"""Rows between two pauses."""
KEPT: tuple[KeptState, ...] = ("live", "soft", "hidden")


def export_subjects(
    view: View, command: Command[ExportSubjects], engine: SchemaEngine
) -> PausingWork[Decision[ExportedSubjects]]:
    """List subjects with what is kept of them; a pause follows each one that was looked at."""
    request = command.request
    base, reads = without_filter(view)
    exported: list[ExportedSubject] = []
    beyond = None if request.after is None else after(request.after)
    for subject in _with_removed(base, request.prefix, beyond):
        if len(exported) >= min(request.limit, limits.EXPORT_PAGE):
            break
        if subject.name.startswith(request.prefix.name) and reads(subject):
            value = base.get(SUBJECT, subject)
            described = _describe_removed(base, subject) if value is None else _describe_subject(base, subject, value)
            if value is not None or not described.private or _sees_private(command.access, subject):
                exported.append(described)
        yield
    return Decision((), ExportedSubjects(tuple(exported)))


def _subjects(view: View, prefix: Subject, low: Key | None) -> Iterator[Subject]:
    """Subjects from a bound on, or from the first one of a prefix; those of all contexts have any name."""
    return view.walk(SUBJECT, *_bounds(prefix, low))


def _bounds(prefix: Subject, low: Key | None) -> tuple[Key, Key]:
    first: Key = ()
    last: Key = ("\U0010ffff",)
    if prefix.context != EVERYWHERE:
        first, last = span((prefix.context,), prefix.name)
    return first if low is None else max(first, low), last


def _with_removed(view: View, prefix: Subject, low: Key | None) -> Iterator[Subject]:
    """The same, and between them those that had encodings: their counters stay when they are removed."""
    first, last = _bounds(prefix, low)
    counters = view.walk(COUNTER_OF_SUBJECT, (ENCODINGS, *first), (ENCODINGS, *last))
    named = (Subject(key.context, key.subject) for key in counters)
    return (subject for subject, _ in groupby(merge(view.walk(SUBJECT, first, last), named)))


def _describe_removed(view: View, subject: Subject) -> ExportedSubject:
    counter = view.get(COUNTER, encodings_key(subject))
    highest = HighestNumbers(encoding=-1 if counter is None else counter.highest)
    private = counter is not None and counter.private
    return ExportedSubject(str(subject), GroupSettings("confluent"), highest, private=private, removed=True)


def _sees_private(access: Access | None, subject: Subject) -> bool:
    return access is None or access.may("read", subject, private=True)


def _describe_subject(view: View, subject: Subject, value: SubjectValue) -> ExportedSubject:
    ordinals = view.get(COUNTER, ordinals_key(subject, value.generation))
    encodings = view.get(COUNTER, encodings_key(subject))
    counters = view.walk(COUNTER_OF_SUBJECT, *subject_span(TYPES, *subject))
    types = sorted(_type_counter(view, key) for key in counters if key.generation == value.generation)
    codecs = ((key.name, view.get(CODEC, key)) for key in view.walk(CODEC, *subject_span(*subject)))
    return ExportedSubject(
        str(subject),
        GroupSettings(
            origin=value.origin,
            types=value.types,
            order=value.order,
            identity=value.identity,
            properties=value.properties,
            schemes=value.schemes,
        ),
        HighestNumbers(
            -1 if ordinals is None else ordinals.highest, -1 if encodings is None else encodings.highest, tuple(types)
        ),
        tuple(CodecType(name, codec.properties) for name, codec in codecs if codec is not None),
        value.private,
        value.label_policy,
    )


def _type_counter(view: View, key: CounterKey) -> tuple[str, str, int]:
    format_, _, type_name = key.part.partition(":")
    counter = view.get(COUNTER, key)
    return format_, type_name, -1 if counter is None else counter.highest


def export_versions(
    view: View, command: Command[ExportVersions], engine: SchemaEngine
) -> PausingWork[Decision[ExportedVersions]]:
    """List versions with what is kept of them. One whose schema is missing hides itself, and not the list."""
    request = command.request
    base, reads = without_filter(view)
    page: list[ExportedVersion] = []
    characters = 0
    for count, stored in enumerate(_versions(base, request)):
        if len(page) >= min(request.limit, limits.EXPORT_PAGE) or characters >= limits.EXPORT_CHARACTERS:
            break
        if stored is not None and reads(stored[0]):
            try:
                exported = _describe_version(base, stored)
            except MissingSchemaError:
                continue
            page.append(exported)
            characters += len(exported.version.text) + len(exported.version.data or b"")
        if stored is None or count % PAUSE_ROWS == 0:
            yield
    return Decision((), ExportedVersions(tuple(page)))


def _versions(view: View, request: ExportVersions) -> Iterator[StoredVersion | None]:
    """Versions by subject and ordinal, and a pause before each subject."""
    last, beyond = request.after or (None, -1)
    for subject in _subjects(view, request.prefix, None if last is None else tuple(last)):
        yield None
        row = view.get(SUBJECT, subject)
        if row is None or not subject.name.startswith(request.prefix.name):
            continue
        for key in view.find(VERSION_BY_SUBJECT, subject):
            if key.generation != row.generation or (subject == last and key.ordinal <= beyond):
                continue
            value = view.get(VERSION, key)
            yield (key, value) if value is not None and value.state in KEPT else None


def _describe_version(view: View, stored: StoredVersion) -> ExportedVersion:
    key, version = stored
    entry = (*key,)
    encodings = (
        (encoding_key.encoding, view.get(ENCODING, encoding_key))
        for encoding_key in view.find(ENCODING_BY_VERSION, entry)
    )
    state = next(state for state in KEPT if state == version.state)
    return ExportedVersion(
        describe_version(view, stored, data=True),
        state,
        version.policy,
        given_names(view, key),
        tuple(sorted((id_, encoding.codec) for id_, encoding in encodings if encoding is not None)),
        version.revision,
        version.revision_of,
        _superseding_ordinal(view, key),
    )


def _superseding_ordinal(view: View, key: VersionKey) -> int:
    """Return the ordinal of the version that supersedes one; -1 where none does, or only a hidden one."""
    value = view.get(SUPERSEDED, SupersededKey(*key))
    by = None if value is None else view.get(VERSION, key._replace(ordinal=value.ordinal))
    return -1 if value is None or by is None or by.state == "hidden" else value.ordinal
