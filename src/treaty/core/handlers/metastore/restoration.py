"""Dropped sources are brought back (UNDROP) within their period of grace, or that is refused."""

from dataclasses import replace

from treaty.core import limits
from treaty.core.access.permissions import refuse_unless_met
from treaty.core.access.source_permissions import on_source
from treaty.core.access.statement_permissions import of_create_source
from treaty.core.column_types.tokens import print_name
from treaty.core.command import Command, Decision, StagedView
from treaty.core.handlers.metastore.checkpoints.continuation import begin_again, refuse_other_place
from treaty.core.handlers.metastore.creation import describe_stored, refuse_many_sources
from treaty.core.handlers.metastore.names import (
    find_dropped,
    find_source,
    refuse_other_kind,
    refuse_taken_source,
    source_key,
)
from treaty.core.handlers.metastore.pins import refuse_dead_pin
from treaty.core.handlers.metastore.places.sinks import refuse_unfit_place
from treaty.core.handlers.metastore.places.topics import expired_rows, topic_with
from treaty.core.handlers.metastore.reads import read_again
from treaty.core.handlers.metastore.types import refuse_replaced_types, refuse_unfit_columns
from treaty.core.messages.metastore.sources import CreateSource, SourceDefinition, SourceStored, UndropSource
from treaty.core.refusals import NotLatest, SourceExists, SourceNotFound
from treaty.core.schema_engine import SchemaEngine
from treaty.core.sources import CASCADE, CHANGES, EXCHANGES, DroppedSource, Source, SourceRead
from treaty.core.state.metastore.indexes import DROPPED_BY_ORIGIN, SOURCE_BY_ORIGIN, reads_of
from treaty.core.state.metastore.keys import DroppedKey, SourceKey
from treaty.core.state.metastore.tables import DROPPED, SOURCE
from treaty.core.state.rows import make_row, make_tombstone
from treaty.core.state.view import View


def undrop_source(view: View, command: Command[UndropSource], engine: SchemaEngine) -> Decision[SourceStored]:
    """Bring a dropped source back, with its bad rows, if everything that it needs is still there."""
    name = command.request.name
    key = source_key(name)
    gone = find_dropped(view, command, key)
    if gone is None:
        raise SourceNotFound.of(
            "DROPPED_NOT_FOUND",
            f"No stream or table {name} was dropped within the period of grace",
            path="/name",
            new=name,
            allowed="a source of SHOW DROPPED",
        )
    source = gone.source
    refuse_other_kind(source, command.request.kind, "UNDROP")
    _refuse_unless_creator(command, source)
    _refuse_taken_name(view, source)
    refuse_many_sources(view)
    refuse_unfit_columns(view, source.columns)
    refuse_replaced_types(view, gone)
    if source.origin:
        _refuse_other_origin(view, gone)
    reads = read_again(view, command, gone)
    exchanged = _find_exchanged(view, gone)
    if exchanged:
        refuse_other_place(source, f"the rows of {exchanged}, which it follows, were exchanged while it was dropped")
    refuse_unfit_place(view, command, key, None, source)
    for part in (source.key, source.value):
        refuse_dead_pin(view, part)
    stage = StagedView(view, command, engine, "undrop-source", command.request.dry_run)
    source = _with_reads(source, reads)
    back = _put_back(stage, key, begin_again(view, command, source, CASCADE) if exchanged else source)
    also = _put_bad_rows_back(stage, key, gone)
    stage.put(row for row in expired_rows(view, command.time) if (row.table, row.key) not in stage.rows_by_key)
    note = f"{back.name} reads all again: the rows of {exchanged} were exchanged while it was dropped"
    answer = describe_stored(back, created=True, also=also, notes=(note,) if exchanged else ())
    return Decision(stage.rows, answer, rehearsal=command.request.dry_run)


def _find_exchanged(view: View, gone: DroppedSource) -> str:
    """Return the name of a source that a dropped query followed, and whose rows are others since; empty where there is none.

    Where the row of the source keeps too few former queries to be sure, they are taken to be others.
    """
    for read in reads_of(gone.source):
        source = view.get(SOURCE, source_key(read.source))
        if read.mode != CHANGES or source is None or source.query is None:
            continue
        queries = (source.query, *source.previous)
        later = [query for query in queries if max(query.began, query.resumed) > gone.sequence]
        is_exchanged = any(query.start in EXCHANGES and query.began > gone.sequence for query in later)
        if is_exchanged or any(query.resumed > gone.sequence for query in later) or len(later) == len(queries) > 1:
            return source.name
    return ""


def _refuse_unless_creator(command: Command[UndropSource], source: Source) -> None:
    """Raise `Forbidden` for who may not create the source as it was."""
    if command.access is None:
        return
    defined = SourceDefinition(
        source.name, source.kind, source.statement, source.columns, source.key, source.value, source.connector, source.cluster,
        source.place, query=None if source.query is None else source.query.plan,
    )  # fmt: skip
    required = of_create_source(CreateSource(defined))
    refuse_unless_met(command.access, command.principal, required, "undrop-source")


def _refuse_taken_name(view: View, source: Source) -> None:
    """Raise `SourceExists` where a dropped source, or the stream of bad rows that went along with it, has lost its name to another one."""
    try:
        refuse_taken_source(view, source.name)
    except SourceExists as error:
        whose = f"; it has lost the name of its bad rows, {print_name(source.name)}" if source.origin else ""
        remedy = (
            f"UNDROP after the other one is dropped, or after ALTER … {print_name(source.name)} RENAME TO another name"
        )
        reason = replace(error.reason, message=f"{error.reason.message}{whose}", path="/name", allowed=remedy)
        raise SourceExists(reason) from None


def _with_reads(source: Source, reads: tuple[SourceRead, ...]) -> Source:
    if source.query is None:
        return source
    return replace(source, query=replace(source.query, plan=replace(source.query.plan, reads=reads)))


def _put_back(stage: StagedView, key: SourceKey, source: Source) -> Source:
    command = stage.command
    every = (source.generation, *source.former)
    former = (*every[: limits.FORMER_GENERATIONS - 1], *every[limits.FORMER_GENERATIONS - 1 :][-1:])
    back = replace(
        source, generation=stage.base.sequence + 1, former=former, changed_by=command.principal, changed=command.time
    )
    stage.put((make_row(SOURCE, key, back), make_tombstone(DROPPED, DroppedKey(key.name))))
    stage.put(topic_with(stage.view, back, key, present=True))
    return back


def _refuse_other_origin(view: View, gone: DroppedSource) -> None:
    """Raise the refusal of bad rows of a source whose name another one has now, and of one that has another stream of them."""
    source = gone.source
    key, origin = find_source(view, source.origin)
    if gone.origin not in {origin.generation, *origin.former}:
        raise NotLatest.of(
            "ORIGIN_GENERATION",
            f"{source.name} has the bad rows of another source than the {origin.name} that there is now",
            path="/name",
            old=f"the source of generation {gone.origin}",
            new=f"the source of generation {origin.generation}",
            allowed=f"UNDROP while the source of generation {gone.origin} has the name {origin.name}; "
            f"or CREATE OR REPLACE {print_name(origin.name)} WITH BAD_ROWS = true, which has a stream of its own",
        )
    other = next(iter(view.find(SOURCE_BY_ORIGIN, (key.name,))), None)
    if other is not None:
        raise SourceExists.of(
            "ORIGIN_STREAM",
            f"{origin.name} has a stream of its bad rows, {other.name}, and a source has one at most",
            path="/name",
            old=other.name,
            new=source.name,
            allowed=f"DROP STREAM {print_name(other.name)} first",
        )


def _went_along(bad: DroppedSource, source: DroppedSource) -> bool:
    """Whether a stream of bad rows was dropped by the commit that dropped its source: one of the same ms may be another."""
    return (bad.sequence, bad.origin) == (source.sequence, source.source.generation)


def _put_bad_rows_back(stage: StagedView, key: SourceKey, source: DroppedSource) -> tuple[str, ...]:
    """Put the stream of bad rows back that went along with the source, in the same commit, if it is still there."""
    for dropped in list(stage.view.find(DROPPED_BY_ORIGIN, (key.name,))):
        bad_key = SourceKey(dropped.name)
        gone = find_dropped(stage.view, stage.command, bad_key)
        if gone is not None and _went_along(gone, source) and not any(stage.view.find(SOURCE_BY_ORIGIN, (key.name,))):
            if stage.command.access is not None:
                need = on_source("register", bad_key.name, "/name")
                refuse_unless_met(stage.command.access, stage.command.principal, (need,), "undrop-source")
            _refuse_taken_name(stage.view, gone.source)
            refuse_many_sources(stage.view)
            return (_put_back(stage, bad_key, gone.source).name,)
    return ()
