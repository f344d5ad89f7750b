"""CREATE: a source comes into being, or has another definition from now on."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.simulation.judging.model.asking import Asking, Yes, done_or_rehearsed
from tests.simulation.judging.model.events import SourceChanged
from tests.simulation.judging.model.metastore.binding import register_parts
from tests.simulation.judging.model.metastore.defining import (
    refuse_bad_definition,
    refuse_bad_reads,
    refuse_circle,
    refuse_dead_pins,
    refuse_lost_columns,
    refuse_other_types,
    types_in,
)
from tests.simulation.judging.model.metastore.dropping import expired
from tests.simulation.judging.model.metastore.names import refuse_bad_name, refuse_taken
from tests.simulation.judging.model.metastore.once import run_once
from tests.simulation.judging.model.metastore.placing import refuse_bad_place, refuse_deleted_topic
from tests.simulation.judging.model.metastore.restarting import with_followers, with_next_query
from tests.simulation.judging.model.metastore.state import key_of, sources, streams_of_bad_rows
from tests.simulation.judging.model.past import Past
from tests.simulation.judging.model.refusing import No
from tests.simulation.judging.model.rights import Need
from treaty.core import limits
from treaty.core.messages.metastore import sources as m
from treaty.core.refusals import NotLatest, NotPermitted, SourceExists, TooLarge
from treaty.core.sources import Incarnation, Source, SourceColumn, SourcePart

_BAD = (
    ("code", "STRING"),
    ("message", "STRING"),
    ("schema_id", "INT"),
    ("payload", "BINARY"),
    ("_topic", "STRING"),
    ("_partition", "INT"),
    ("_offset", "BIGINT"),
    ("_timestamp", "TIMESTAMP"),
    ("bad_id", "STRING"),
    ("found_at", "TIMESTAMP"),
    ("_key", "BINARY"),
    ("_value", "BINARY"),
    ("_headers", "ARRAY<STRUCT<key: STRING, value: BINARY>>"),
)
BAD_COLUMNS = tuple(SourceColumn(name, kind, nullable=name != "code") for name, kind in _BAD)
"""What is kept of a row that could not be read."""


def importable(needs: Callable[[Any], list[Need]]) -> Callable[[Any], list[Need]]:
    """What is needed, and importing where an import asks."""

    def with_import(request: Any) -> list[Need]:
        name = request.definition.name if isinstance(request, m.CreateSource) else request.name
        return needs(request) + ([Need(("import",), source=key_of(name))] if request.importer else [])

    return with_import


def create_source(past: Past, asking: Asking, request: m.CreateSource) -> Yes:
    """In the order of the text: the definition, the name, types, reads, schemas, pins, readers of the former one."""
    definition, there = request.definition, sources(past)
    refuse_bad_definition(definition)
    key = key_of(definition.name)
    old = there.get(key)
    if old is not None and request.if_not_exists:
        return Yes((), m.SourceStored(old.name, old.kind, old.generation, old.revision))
    _refuse_by_name(past, request, key, old)
    refuse_other_types(past, request.types)
    types = types_in(past, definition.columns)
    reads = () if definition.query is None else definition.query.reads
    refuse_bad_reads(past, asking, key, reads)
    if request.once:
        return run_once(past, asking, request, key)
    given = ((definition.key, request.key_schema), (definition.value, request.value_schema))
    events, parts = register_parts(past, asking, given)
    now = past.then(events)
    new = _source(past, asking, definition, parts, old, types)
    refuse_dead_pins(now, new)
    refuse_bad_place(past, key, old, new)
    fresh_bad = definition.bad_rows and not streams_of_bad_rows(past, key)
    if old is not None:
        _refuse_other_source(old, definition)
        refuse_circle(past, key, reads)
        refuse_lost_columns(past, key, old, definition.columns)
        new = with_next_query(past, asking, request, key, old, new)
        new = old if _is_same(new, old) else new
    if new != old:
        refuse_deleted_topic(past, new)
        events.append(SourceChanged(key, new))
    if (
        old is not None
        and old.query
        and new.query
        and new.query.began != old.query.began
        and request.on_change == "CASCADE"
    ):
        events += with_followers(past, asking, key)
    if fresh_bad:
        bad = f"{definition.name}_bad"
        _refuse_bad_rows(past.then(events), bad)
        events.append(SourceChanged(key_of(bad), _bad_rows(past, asking, new)))
    also = (f"{definition.name}_bad",) if fresh_bad else ()
    replaced = old is not None and new != old
    answer = m.SourceStored(new.name, new.kind, new.generation, new.revision, old is None, replaced, also)
    if not events:
        return Yes((), answer)
    return done_or_rehearsed((*events, *expired(past, asking)), answer, rehearsal=request.dry_run)


def _refuse_by_name(past: Past, request: m.CreateSource, key: str, old: Source | None) -> None:
    definition, there = request.definition, sources(past)
    if old is not None and not request.replace:
        raise No(SourceExists, "SOURCE_EXISTS")
    expected = request.expected
    if expected is not None and (
        old is None or (expected.generation, expected.revision) != (old.generation, old.revision)
    ):
        raise No(NotLatest, "SOURCE_EXPECTED")
    if old is None:
        refuse_taken(there, definition.name, "SOURCE_TAKEN")
        refuse_many(past)


def refuse_many(past: Past, more: int = 1) -> None:
    if len(sources(past)) + more > limits.SOURCES:
        raise No(TooLarge, "SOURCES")


def _refuse_other_source(old: Source, definition: m.SourceDefinition) -> None:
    """A replaced source is of the same kind, has a query or has none as before, and is defined by statements."""
    if old.kind != definition.kind:
        raise No(SourceExists, "SOURCE_KIND_DIFFERS")
    if old.origin:
        raise No(NotPermitted, "SOURCE_OF_BAD_ROWS")
    if (old.query is None) != (definition.query is None) and (old.imported is None or definition.query is None):
        raise No(NotPermitted, "SOURCE_REPLACE")


def _refuse_bad_rows(past: Past, name: str) -> None:
    """The name of a stream of bad rows has to be free, and there has to be room for it."""
    if key_of(name) in sources(past):
        raise No(SourceExists, "SOURCE_EXISTS")
    refuse_bad_name(name)
    refuse_taken(sources(past), name, "SOURCE_TAKEN")
    refuse_many(past)


def _source(
    past: Past,
    asking: Asking,
    definition: m.SourceDefinition,
    parts: tuple[SourcePart | None, SourcePart | None],
    old: Source | None,
    types: tuple[str, ...],
) -> Source:
    """The row: a new one has the generation of its commit, a replaced one keeps its own and counts on."""
    new = Source(
        definition.kind, definition.name, definition.statement, definition.columns, past.sequence + 1, parts[0], parts[1],
        definition.connector, definition.cluster, definition.place, definition.timestamp, definition.properties,
        definition.comment, types, author=asking.principal, time=asking.time, imported=definition.imported,
        desired="PAUSED" if definition.imported else "RUNNING",
    )  # fmt: skip
    plan = definition.query
    if old is None:
        begun = None if plan is None else Incarnation(new.generation, 1, plan, asking.principal, asking.time)
        return replace(new, query=begun)
    return replace(
        new, generation=old.generation, revision=old.revision + 1, author=old.author, time=old.time, origin=old.origin,
        desired=old.desired if plan is not None else new.desired, protected=old.protected, changed_by=asking.principal, changed=asking.time, query=old.query,
        previous=old.previous, former=old.former, once=old.once,
    )  # fmt: skip


def _is_same(new: Source, old: Source) -> bool:
    """Whether nothing but the text, counts and times would change."""
    return _without_counts(new) == _without_counts(old)


def _without_counts(source: Source) -> Source:
    return replace(source, revision=0, changed_by="", changed=0, statement="")


def _bad_rows(past: Past, asking: Asking, source: Source) -> Source:
    """The stream of rows that could not be read."""
    return Source(
        "STREAM", f"{source.name}_bad", "", BAD_COLUMNS, past.sequence + 1, connector="delta", cluster=source.cluster,
        origin=key_of(source.name), author=asking.principal, time=asking.time,
    )  # fmt: skip
