"""Invariants: properties of every reachable state, checked row by row. `decide` preserves each of them."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import chain
from typing import Any

from treaty.core.handlers.metastore.names import source_key
from treaty.core.handlers.metastore.pins import is_kept
from treaty.core.handlers.uses import is_used
from treaty.core.limits import COUNTER
from treaty.core.names import DEFAULT_CONTEXT, Subject, subject_of
from treaty.core.policy import RANGES
from treaty.core.schema import Reference, guid
from treaty.core.sources import PRESENT, Assignment, Source, StoredType, Topic
from treaty.core.state import association_table
from treaty.core.state import state_tables as t
from treaty.core.state.indexes import InvariantViolation
from treaty.core.state.metastore.indexes import SOURCE_BY_PART, pins_of, reads_of
from treaty.core.state.metastore.keys import AssignmentKey, RunnerKey, SourceKey, TopicKey, TypeKey, key_of_name
from treaty.core.state.metastore.tables import ASSIGNMENT, RUNNER, SOURCE, TOPIC, TYPE
from treaty.core.state.rows import UnreadableRowError
from treaty.core.state.table import Key
from treaty.core.state.values import (
    Association,
    Codec,
    ConfigValue,
    Content,
    Counter,
    Encoding,
    Name,
    Outcome,
    Schema,
    SnapshotPointer,
    SubjectValue,
    Version,
)
from treaty.core.state.view import Tables, View

SHOWN = frozenset({"live", "soft"})
"""States of versions with a unique number."""


def find_violations(tables: Tables) -> Iterator[InvariantViolation]:
    """Yield a violation for each row that breaks an invariant or cannot be read."""
    for (name, key), why in tables.quarantine.items():
        yield make_unreadable_violation(name, key, why)
    yield from check_rows(tables, lambda table: sorted(tables.keys(table), key=str))


def make_unreadable_violation(table: str, key: Key, why: str) -> InvariantViolation:
    """Return the violation of an unreadable row."""
    return InvariantViolation("UNREADABLE", table, key, why)


def check_rows(view: View, keys_of: Callable[[t.AnyTable], Iterable[Key]]) -> Iterator[InvariantViolation]:
    """Yield a violation for each readable row that breaks an invariant; `keys_of` lists the keys of a table."""
    for table, check in CHECKS:
        for key in keys_of(table):
            with suppress(UnreadableRowError):  # such a row is named by itself
                value = view.get(table, key)
                if value is not None:
                    yield from check(view, key, value)


def _version(view: View, key: t.VersionKey, value: Version) -> Iterator[InvariantViolation]:
    def make_violation(rule: str, message: str) -> InvariantViolation:
        return InvariantViolation(rule, t.VERSION.name, key, message)

    subject = Subject(key.context, key.subject)
    yield from _generation(view, t.VERSION, key, subject, key.generation)
    if view.get(t.SCHEMA, t.SchemaKey(key.context, value.schema_id)) is None and value.state != "purged":
        yield make_violation("SCHEMA_MISSING", f"schema {value.schema_id} is not in context {key.context}")
    if value.content and view.get(t.CONTENT, t.ContentKey(value.content)) is None:
        yield make_violation("CONTENT_MISSING", f"the bytes {value.content} are not there")
    if _find_highest(view, t.ordinals_key(subject, key.generation)) < key.ordinal:
        yield make_violation("COUNTER_BEHIND", "the counter of ordinals is behind it")
    if _find_highest(view, t.types_key(subject, key.generation, value.format, value.type_name)) < value.type_version:
        yield make_violation("COUNTER_BEHIND", "the counter of its format and type is behind it")
    if value.state not in {*SHOWN, "hidden", "purged"}:
        yield make_violation("STATE_UNKNOWN", f"state {value.state!r}")
    if value.state in SHOWN:
        place: Key = (*subject, value.number)
        end: Key = (*place, key.generation, key.ordinal)
        walks = (view.walk(t.VERSION_BY_NUMBER, (state, *place), (state, *end)) for state in SHOWN)
        if any(any(walk) for walk in walks):
            yield make_violation("NUMBER_TWICE", f"another version has the number {value.number}")


def _generation(
    view: View, table: t.AnyTable, key: Key, subject: Subject, generation: int
) -> Iterator[InvariantViolation]:
    """Return whether subject and generation of a row exist."""
    row = view.get(t.SUBJECT, subject)
    if row is None:
        yield InvariantViolation("SUBJECT_MISSING", table.name, key, "its subject has no row")
    elif row.generation != generation:
        message = f"it is of generation {generation}, its subject of {row.generation}"
        yield InvariantViolation("GENERATION_WRONG", table.name, key, message)


def _schema(view: View, key: t.SchemaKey, value: Schema) -> Iterator[InvariantViolation]:
    def make_violation(rule: str, message: str) -> InvariantViolation:
        return InvariantViolation(rule, t.SCHEMA.name, key, message)

    counter = view.get(t.COUNTER, t.ids_key(key.context))
    highest, reserved = (-1, ()) if counter is None else (counter.highest, counter.reserved)
    if highest < key.id and not any(low <= key.id <= high for low, high in reserved):
        yield make_violation("COUNTER_BEHIND", "the counter of ids is behind it")
    if key.context != DEFAULT_CONTEXT and view.get(t.CONTEXT, t.ContextKey(key.context)) is None:
        yield make_violation("CONTEXT_MISSING", f"context {key.context} has no row")
    if not is_used(view, key):
        yield make_violation("SCHEMA_UNUSED", "no version has it")
    sent = tuple(Reference(reference.name, reference.subject, reference.version) for reference in value.references)
    expected = guid(value.text, sent, value.metadata, value.rules, imports=value.imports)
    opaque = guid(value.text, sent, value.metadata, value.rules, value.format, imports=value.imports)
    if value.guid not in {expected, opaque} and (
        value.metadata is None or not value.metadata.sealed
    ):  # a guid covers plain values
        yield make_violation("GUID_WRONG", f"its content has the guid {expected}, not {value.guid}")
    for reference in value.references:
        target = Subject(key.context, "").sibling(reference.subject)
        if view.get(t.SCHEMA, t.SchemaKey(target.context, reference.schema_id)) is None:
            yield make_violation(
                "REFERENCE_DANGLING",
                f"{reference.name}: {target} version {reference.version} (id {reference.schema_id})",
            )


def _content(view: View, key: t.ContentKey, value: Content) -> Iterator[InvariantViolation]:
    if hashlib.sha256(value.data).hexdigest() != key.sha256:
        yield InvariantViolation("CONTENT_WRONG", t.CONTENT.name, key, "the bytes have another digest")
    if not any(view.find(t.VERSION_BY_CONTENT, (key.sha256,))):
        yield InvariantViolation("CONTENT_UNUSED", t.CONTENT.name, key, "no version has it")


def _name(view: View, key: t.NameKey, value: Name) -> Iterator[InvariantViolation]:
    yield from _generation(view, t.NAME, key, Subject(key.context, key.subject), key.generation)
    for ordinal in (value.ordinal, *value.others):
        if view.get(t.VERSION, t.VersionKey(key.context, key.subject, key.generation, ordinal)) is None:
            yield InvariantViolation(
                "VERSION_MISSING", t.NAME.name, key, f"there is no version with the ordinal {ordinal}"
            )


def _encoding(view: View, key: t.EncodingKey, value: Encoding) -> Iterator[InvariantViolation]:
    def make_violation(rule: str, message: str) -> InvariantViolation:
        return InvariantViolation(rule, t.ENCODING.name, key, message)

    subject = Subject(key.context, key.subject)
    yield from _generation(view, t.ENCODING, key, subject, value.generation)
    version = view.get(t.VERSION, t.VersionKey(*subject, value.generation, value.ordinal))
    if version is None:
        yield make_violation("VERSION_MISSING", f"there is no version with the ordinal {value.ordinal}")
    elif version.schema_id != value.schema_id:
        yield make_violation("ENCODING_WRONG", f"it has schema {value.schema_id}, its version {version.schema_id}")
    if value.codec and view.get(t.CODEC, t.CodecKey(*subject, value.codec)) is None:
        yield make_violation("CODEC_MISSING", f"its subject has no codec {value.codec!r}")
    if _find_highest(view, t.encodings_key(subject)) < key.encoding:
        yield make_violation("COUNTER_BEHIND", "the counter of encodings is behind it")


def _codec(view: View, key: t.CodecKey, _value: Codec) -> Iterator[InvariantViolation]:
    if view.get(t.SUBJECT, Subject(key.context, key.subject)) is None:
        yield InvariantViolation("SUBJECT_MISSING", t.CODEC.name, key, "its subject has no row")


def _counter(view: View, key: t.CounterKey, value: Counter) -> Iterator[InvariantViolation]:
    numbers = (value.highest, *chain.from_iterable(value.reserved))
    if not all(0 <= number <= COUNTER for number in numbers):
        message = f"it counts up to {max(numbers, key=abs)}, and no number is above {COUNTER} (limit COUNTER)"
        yield InvariantViolation("COUNTER_BEYOND", t.COUNTER.name, key, message)
    if key.kind in t.KINDS_OF_SUBJECT:
        yield from _generation(view, t.COUNTER, key, Subject(key.context, key.subject), key.generation)
    elif key.kind in t.KINDS_FOR_EVER and key.generation:
        message = f"it is of generation {key.generation}, and counts for all"
        yield InvariantViolation("GENERATION_WRONG", t.COUNTER.name, key, message)


def _subject(view: View, key: Subject, value: SubjectValue) -> Iterator[InvariantViolation]:
    if value.generation > view.sequence and not _moved_here(view):
        yield InvariantViolation(
            "GENERATION_AHEAD", t.SUBJECT.name, key, f"made at sequence {value.generation}, which is to come"
        )


def _outcome(view: View, key: t.OutcomeKey, value: Outcome) -> Iterator[InvariantViolation]:
    if value.sequence > view.sequence and not _moved_here(view):
        yield InvariantViolation(
            "OUTCOME_AHEAD", t.OUTCOME.name, key, f"of sequence {value.sequence}, which is to come"
        )


def _association(view: View, key: association_table.AssociationKey, value: Association) -> Iterator[InvariantViolation]:
    def make_violation(rule: str, message: str) -> InvariantViolation:
        return InvariantViolation(rule, association_table.ASSOCIATION.name, key, message)

    if (key.kind, key.subject) != (value.kind, value.subject):
        yield make_violation("ASSOCIATION_KEY", f"its value is about the {value.kind} and subject {value.subject}")
    if value.frozen and value.lifecycle != "STRONG":
        yield make_violation("ASSOCIATION_FROZEN", "it is frozen and not strong")
    subject = subject_of(value.subject)
    versions = (view.get(t.VERSION, key) for key in view.find(t.VERSION_BY_SUBJECT, subject))
    if not any(version is not None and version.state == "live" for version in versions):
        yield make_violation("ASSOCIATION_DANGLING", f"subject {value.subject} has no live version")
    if value.lifecycle == "STRONG" and len([*view.find(association_table.ASSOCIATION_BY_SUBJECT, subject)]) > 1:
        yield make_violation("ASSOCIATION_SHARED", f"it is strong, and subject {value.subject} has others")
    for other in view.find(association_table.ASSOCIATION_BY_NAME, (value.namespace, value.resource)):
        if other < key and (other.resource != key.resource or other.kind == key.kind):
            yield make_violation("ASSOCIATION_TWICE", f"{value.resource} in {value.namespace} has {list(other)} too")


def _config(_view: View, key: t.ScopeKey, value: ConfigValue) -> Iterator[InvariantViolation]:
    if value.level is None:
        return
    for name, range_ in (("backward", value.level.backward), ("forward", value.level.forward)):
        if range_.kind not in RANGES:
            yield InvariantViolation("RANGE_UNKNOWN", t.CONFIG.name, key, f"its {name} range is {range_.kind!r}")
        if range_.kind == "till" and key.scope != "subject":
            yield InvariantViolation(
                "RANGE_TILL", t.CONFIG.name, key, f"its {name} range begins at a version, and it is of no subject"
            )


def _snapshot(view: View, key: t.SnapshotKey, value: SnapshotPointer) -> Iterator[InvariantViolation]:
    if value.sequence >= view.sequence and not _moved_here(view):
        message = f"it holds the state at sequence {value.sequence}, which is to come"
        yield InvariantViolation("SNAPSHOT_AHEAD", t.SNAPSHOT.name, key, message)


def _moved_here(view: View) -> bool:
    """Return whether rows may contain sequences of another log."""
    return view.get(t.LOG_ORIGIN, t.LogOriginKey("origin")) is not None


def _find_highest(view: View, key: t.CounterKey) -> int:
    value = view.get(t.COUNTER, key)
    return -1 if value is None else value.highest


# --------------------------------------------------------------------------------------------------- the metastore


def _source(view: View, key: SourceKey, value: Source) -> Iterator[InvariantViolation]:
    """Yield a violation for each read, pin, type or origin of a source that is missing."""

    def make_violation(rule: str, message: str) -> InvariantViolation:
        return InvariantViolation(rule, SOURCE.name, key, message)

    if key_of_name(value.name) != key.name:
        yield make_violation("SOURCE_KEY", f"its name is {value.name}")
    for read in reads_of(value):
        source = view.get(SOURCE, source_key(read.source))
        if source is None:
            yield make_violation("READ_MISSING", f"it reads {read.source}, which is not there")
        elif source.generation != read.generation:
            yield make_violation(
                "READ_GENERATION",
                f"it reads generation {read.generation} of {source.name}, which is {source.generation}",
            )
    for pin in pins_of(value):
        if not is_kept(view, pin):
            yield make_violation(
                "PIN_MISSING", f"it pins schema {pin.schema_id} of subject {pin.subject}, which is not there"
            )
    for name in value.types:
        if view.get(TYPE, TypeKey(name)) is None:
            yield make_violation("TYPE_MISSING", f"its columns use the type {name}, which is not there")
    if value.origin and view.get(SOURCE, SourceKey(value.origin)) is None:
        yield make_violation("ORIGIN_MISSING", f"it has the bad rows of {value.origin}, which is not there")


def _type(view: View, key: TypeKey, value: StoredType) -> Iterator[InvariantViolation]:
    """Yield a violation for each type that a type uses and that is missing."""
    for name in value.types:
        if view.get(TYPE, TypeKey(name)) is None:
            yield InvariantViolation("TYPE_MISSING", TYPE.name, key, f"it uses the type {name}, which is not there")


def _topic(view: View, key: TopicKey, value: Topic) -> Iterator[InvariantViolation]:
    """Yield a violation for each source over a topic that is missing, or stands elsewhere."""
    for name in value.sources:
        source = view.get(SOURCE, SourceKey(name))
        if source is None or (source.cluster, source.place) != (key.cluster, key.topic):
            yield InvariantViolation("SOURCE_MISSING", TOPIC.name, key, f"{name} does not stand over it")
    if value.sources and value.desired != PRESENT:
        yield InvariantViolation(
            "TOPIC_DELETED", TOPIC.name, key, f"it is to go, and {value.sources[0]} stands over it"
        )


def _assignment(view: View, key: AssignmentKey, value: Assignment) -> Iterator[InvariantViolation]:
    """Yield a violation where the part or the runner of an assignment is missing, or its epoch is one that the runner never had."""

    def make_violation(rule: str, message: str) -> InvariantViolation:
        return InvariantViolation(rule, ASSIGNMENT.name, key, message)

    if not any(view.find(SOURCE_BY_PART, (key.part, key.generation))):
        yield make_violation("PART_MISSING", f"no source of generation {key.generation} has the part {key.part}")
    runner = view.get(RUNNER, RunnerKey(value.runner))
    if runner is None:
        yield make_violation("RUNNER_MISSING", f"runner {value.runner} has no lease")
    elif runner.epoch < value.epoch:
        yield make_violation(
            "RUNNER_EPOCH", f"it is of epoch {value.epoch}, and runner {value.runner} of epoch {runner.epoch}"
        )


CHECKS: tuple[tuple[t.AnyTable, Callable[[View, Any, Any], Iterator[InvariantViolation]]], ...] = (
    (t.VERSION, _version),
    (t.SCHEMA, _schema),
    (t.CONTENT, _content),
    (t.NAME, _name),
    (t.ENCODING, _encoding),
    (t.CODEC, _codec),
    (t.COUNTER, _counter),
    (t.SUBJECT, _subject),
    (association_table.ASSOCIATION, _association),
    (t.CONFIG, _config),
    (t.OUTCOME, _outcome),
    (t.SNAPSHOT, _snapshot),
    (SOURCE, _source),
    (TYPE, _type),
    (TOPIC, _topic),
    (ASSIGNMENT, _assignment),
)
"""Checks by table."""
INDEXES_CHECKED: tuple[t.AnyIndex, ...] = (
    t.VERSION_BY_NUMBER, t.VERSION_BY_SCHEMA, t.VERSION_BY_CONTENT, t.VERSION_BY_SUBJECT, association_table.ASSOCIATION_BY_SUBJECT,
    association_table.ASSOCIATION_BY_NAME, SOURCE_BY_PART,
)  # fmt: skip
"""The indexes that the checks use."""
