"""Planted: laws that leave a row out, or write it wrong. For every law of soundness one, by its name.

The judge decides by the same law, so the commits are what it says; only the rows themselves can show what is wrong.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from treaty.core import decide, sources
from treaty.core.command import Command, Decision
from treaty.core.outcomes import record_outcome as original
from treaty.core.policy import NONE, Level, VersionRange
from treaty.core.state import values
from treaty.core.state.metastore.keys import AssignmentKey
from treaty.core.state.rows import Row, UnreadableValue
from treaty.core.state.state_tables import CounterKey, NameKey, VersionKey
from treaty.core.state.view import View

PLACE, NAME = decide, "record_outcome"
Tamper = Callable[[Row], Row | None]


def _without(table: str, *, gone: bool) -> Tamper:
    """Leave out what is written of a table, or what is taken away."""
    return lambda row: None if row.table == table and (row.value is None) == gone else row


def _with(kind: type, change: Callable[[Any], Any]) -> Tamper:
    """Write another value."""
    return lambda row: replace(row, value=change(row.value)) if isinstance(row.value, kind) else row


def _dangling(value: values.Schema) -> values.Schema:
    return replace(value, references=tuple(replace(one, schema_id=999) for one in value.references))


def _reading(reader: sources.Source, /, **members: Any) -> sources.Source:
    """A query whose reads are of another source."""
    if reader.query is None:
        return reader
    plan = reader.query.plan
    reads = tuple(replace(read, **members) for read in plan.reads)
    return replace(reader, query=replace(reader.query, plan=replace(plan, reads=reads)))


def _pinned(source: sources.Source) -> sources.Source:
    """A source that is bound to a version that never was."""
    value = source.value
    if value is None or value.pin is None:
        return source
    return replace(source, value=replace(value, pin=replace(value.pin, ordinal=value.pin.ordinal + 1_000)))


def _later(row: Row) -> Row | None:
    """Ordinals that their counter does not know."""
    return None if row.table == "counter" and row.key[0] in {"ordinals", "ids"} else row


def _of_another(row: Row) -> Row | None:
    """Versions of a generation that their subject is not."""
    if row.table != "version" or row.value is None:
        return row
    key = row.key
    assert isinstance(key, VersionKey)
    return replace(row, key=key._replace(generation=key.generation + 1))


def _of_another_part(row: Row) -> Row | None:
    """Assignments of a source that never was."""
    key = row.key
    return replace(row, key=key._replace(generation=10**6)) if isinstance(key, AssignmentKey) else row


def _to_come(row: Row) -> Row | None:
    """A subject, and all that carries its generation, of a commit that is to come."""
    if isinstance(row.value, values.SubjectValue):
        return replace(row, value=replace(row.value, generation=row.value.generation + 1_000))
    key = row.key
    if row.value is None or not isinstance(key, VersionKey | NameKey | CounterKey) or not key.generation:
        return row
    return replace(row, key=key._replace(generation=key.generation + 1_000))


def _unreadable(row: Row) -> Row | None:
    return replace(row, value=UnreadableValue("{", "broken")) if isinstance(row.value, values.Mode) else row


def _fold(row: Row) -> Row | None:
    """A context's row makes room for one of a fold that is to come; only logs on Kafka write such rows."""
    return Row("snapshot", ("newest",), values.SnapshotPointer(1_000, "", "")) if row.table == "context" else row


TAMPERS: Mapping[str, Tamper] = {
    "UNREADABLE": _unreadable,
    "SNAPSHOT_AHEAD": _fold,
    "SUBJECT_MISSING": _without("subject", gone=False),
    "SCHEMA_MISSING": _with(values.Version, lambda one: replace(one, schema_id=one.schema_id + 1_000)),
    "CONTENT_MISSING": _without("content", gone=False),
    "COUNTER_BEHIND": _later,
    "STATE_UNKNOWN": _with(values.Version, lambda one: replace(one, state="gone") if one.state == "soft" else one),
    "NUMBER_TWICE": _with(values.Version, lambda one: replace(one, number=1)),
    "CONTEXT_MISSING": _without("context", gone=False),
    "SCHEMA_UNUSED": _without("schema", gone=True),
    "COUNTER_BEYOND": _with(values.Counter, lambda one: replace(one, highest=one.highest + 10**20)),
    "GUID_WRONG": _with(values.Schema, lambda one: replace(one, guid="0" * 8 + one.guid[8:])),
    "REFERENCE_DANGLING": _with(values.Schema, _dangling),
    "CONTENT_WRONG": _with(values.Content, lambda one: replace(one, data=one.data + b" ")),
    "CONTENT_UNUSED": _without("content", gone=True),
    "VERSION_MISSING": _with(values.Name, lambda one: replace(one, ordinal=one.ordinal + 100)),
    "ENCODING_WRONG": _with(values.Encoding, lambda one: replace(one, schema_id=one.schema_id + 1)),
    "CODEC_MISSING": _with(values.Encoding, lambda one: replace(one, codec="gone")),
    "GENERATION_WRONG": _of_another,
    "GENERATION_AHEAD": _to_come,
    "RANGE_UNKNOWN": _with(values.ConfigValue, lambda one: replace(one, level=Level(VersionRange("some"), NONE))),
    "RANGE_TILL": _with(values.ConfigValue, lambda one: replace(one, level=Level(VersionRange("till", 1), NONE))),
    "OUTCOME_AHEAD": _with(values.Outcome, lambda one: replace(one, sequence=one.sequence + 1_000)),
    "ASSOCIATION_KEY": _with(
        values.Association, lambda one: replace(one, kind="key" if one.kind == "value" else "value")
    ),
    "ASSOCIATION_FROZEN": _with(values.Association, lambda one: replace(one, frozen=True, lifecycle="WEAK")),
    "ASSOCIATION_DANGLING": _without("association", gone=True),
    "ASSOCIATION_SHARED": _with(
        values.Association, lambda one: replace(one, lifecycle="STRONG") if one.kind == "value" else one
    ),
    "ASSOCIATION_TWICE": _with(values.Association, lambda one: replace(one, resource="t1")),
    "SOURCE_KEY": _with(sources.Source, lambda one: replace(one, name=f"{one.name}x")),
    "PIN_MISSING": _with(sources.Source, _pinned),
    "TYPE_MISSING": _with(sources.Source, lambda one: replace(one, types=("nowhere",))),
    "ORIGIN_MISSING": _with(sources.Source, lambda one: replace(one, origin="nowhere") if one.origin else one),
    "SOURCE_MISSING": _with(sources.Topic, lambda one: replace(one, sources=("nowhere",))),
    "TOPIC_DELETED": _with(sources.Topic, lambda one: replace(one, desired="deleted") if one.sources else one),
}
"""How rows are changed, by the law that this breaks."""
OF_QUERIES: Mapping[str, Tamper] = {
    "READ_MISSING": _with(sources.Source, lambda one: _reading(one, source="nowhere")),
    "READ_GENERATION": _with(sources.Source, lambda one: _reading(one, generation=10**6)),
    "PART_MISSING": _of_another_part,
    "RUNNER_MISSING": _with(sources.Assignment, lambda one: replace(one, runner="nowhere")),
    "RUNNER_EPOCH": _with(sources.Assignment, lambda one: replace(one, epoch=10**6)),
}
"""The same for rows that few lives have: those of queries and of what runs them."""


def planted(rule: str) -> Callable[..., Decision[Any]]:
    """The end of every decision that writes, with a tamper."""
    tamper = TAMPERS[rule]

    def record_outcome(
        view: View, command: Command[Any], decision: Decision[Any], *, private: bool = False
    ) -> Decision[Any]:
        told = original(view, command, decision, private=private)
        return Decision(tuple(_kept(told.rows, tamper)), told.answer)

    return record_outcome


def _kept(rows: tuple[Row, ...], tamper: Tamper) -> Iterator[Row]:
    for row in rows:
        kept = tamper(row)
        if kept is not None:
            yield kept
