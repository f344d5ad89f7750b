"""ROLLBACK, RESET CHECKPOINT and REFRESH FULL: a query goes back to the one before, or begins its checkpoint again."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from treaty.core import limits
from treaty.core.command import Command, Decision, StagedView
from treaty.core.handlers.metastore.checkpoints.continuation import (
    begin_again,
    keep_previous,
    refuse_backfill,
    refuse_other_place,
)
from treaty.core.handlers.metastore.checkpoints.followers import describe_followers, follow_exchange
from treaty.core.handlers.metastore.definitions import types_in
from treaty.core.handlers.metastore.names import find_source
from treaty.core.handlers.metastore.pins import refuse_dead_pin
from treaty.core.handlers.metastore.places.topics import expired_rows
from treaty.core.handlers.metastore.reads import read_again
from treaty.core.handlers.metastore.replacement import refuse_cycle, refuse_read_columns
from treaty.core.handlers.metastore.types import refuse_unfit_columns
from treaty.core.messages.metastore.sources import ChangeSource, SourceStored
from treaty.core.refusals import InvalidSource, NotPermitted
from treaty.core.schema_engine import SchemaEngine
from treaty.core.sources import BACKFILL, CASCADE, RESET, DroppedSource, FormerDefinition, Incarnation, Source
from treaty.core.state.metastore.keys import SourceKey, key_of_name
from treaty.core.state.metastore.tables import SOURCE
from treaty.core.state.rows import make_row
from treaty.core.state.view import View

ROLLBACK, REFRESH = "ROLLBACK", "REFRESH"


def restart_query(view: View, command: Command[ChangeSource], engine: SchemaEngine) -> Decision[SourceStored]:
    """Change which query and checkpoint a source continues from, and nothing else of it."""
    request = command.request
    key, stored = find_source(view, request.name)
    restart = RESTARTS.get(request.restart)
    if restart is None:
        raise InvalidSource.of(
            "QUERY_RESTART", f"'{request.restart[:100]}' is no way to restart a query", path="/restart", new=request.restart,
            allowed=f"one of {', '.join(RESTARTS)}",
        )  # fmt: skip
    alone = ChangeSource(
        request.name, request.statement, kind=request.kind, restart=request.restart, cascade=request.cascade
    )
    if replace(request, expected=None, dry_run=False) != alone:
        raise InvalidSource.of(
            "RESTART_ALONE", "A query is restarted by a change of its own", path="/restart", new=request.restart,
            allowed="no other change beside it",
        )  # fmt: skip
    if stored.query is None:
        raise InvalidSource.of(
            "QUERY_NONE", f"{stored.name} has no query", path="/name", new=request.name,
            allowed="a stream or table that was made with AS",
        )  # fmt: skip
    source = restart(view, command, key, stored)
    source = replace(source, revision=stored.revision + 1, changed_by=command.principal, changed=command.time)
    stage = StagedView(view, command, engine, "change-source", request.dry_run)
    stage.put((make_row(SOURCE, key, source),))
    along: Mapping[SourceKey, Source] = {}
    if request.cascade and source.query is not None and source.query.began != stored.query.began:
        start = RESET if request.restart == RESET else CASCADE
        along = follow_exchange(view, command, key, "change-source", "/cascade", start=start)
    stage.put(make_row(SOURCE, follower, row) for follower, row in along.items())
    stage.put(expired_rows(view, command.time))
    answer = replace(_describe(source), notes=describe_followers(along))
    return Decision(stage.rows, answer, rehearsal=request.dry_run)


def _reset(view: View, command: Command[ChangeSource], key: SourceKey, stored: Source) -> Source:
    return begin_again(view, command, stored, RESET)


def _refresh(view: View, command: Command[ChangeSource], key: SourceKey, stored: Source) -> Source:
    _refuse_exchange(view, command, key, stored)
    return begin_again(view, command, stored, BACKFILL)


def _refuse_exchange(view: View, command: Command[ChangeSource], key: SourceKey, stored: Source) -> None:
    """Raise the refusal of rows that can't be exchanged; what follows them goes along where the change says so."""
    if command.request.cascade:
        refuse_other_place(stored)
    else:
        refuse_backfill(view, command.access, key, stored)


def _roll_back(view: View, command: Command[ChangeSource], key: SourceKey, stored: Source) -> Source:
    """Return a source as it was before its query was replaced; the one that runs becomes a former query."""
    old, last = stored.query, stored.previous[0] if stored.previous else None
    assert old is not None, "the source has a query"
    if last is None or last.definition is None or old.time + limits.DROP_GRACE < command.time:
        days = limits.DROP_GRACE // 86_400_000
        raise NotPermitted.of(
            "QUERY_PREVIOUS", f"{stored.name} has no former query to go back to", path="/name", new=command.request.name,
            allowed=f"a query that was replaced within the last {days} days (DROP_GRACE); CREATE OR REPLACE with the former text",
        )  # fmt: skip
    was = last.definition
    _refuse_moved(stored, was)
    _refuse_other_names(stored, last)
    if last.began != old.began:
        _refuse_exchanged(stored, last)
        _refuse_exchange(view, command, key, stored)
    source = replace(
        stored, statement=was.statement, columns=was.columns, key=was.key, value=was.value, timestamp=was.timestamp,
        properties=was.properties, comment=was.comment, types=types_in(was.columns),
    )  # fmt: skip
    refuse_unfit_columns(view, source.columns)
    reads = read_again(view, command, DroppedSource(replace(stored, query=last), reads=was.reads))
    refuse_cycle(view, key, replace(source, query=last))
    refuse_read_columns(view, command.access, key, stored.columns, source.columns)
    for part in (source.key, source.value):
        refuse_dead_pin(view, part)
    query = replace(
        last, revision=old.revision + 1, plan=replace(last.plan, reads=reads), author=command.principal, time=command.time,
        resumed=old.resumed if last.began == old.began else view.sequence + 1, definition=None,
    )  # fmt: skip
    former = keep_previous(view, command, stored)
    return replace(
        source, query=query, previous=tuple(incarnation for incarnation in former if incarnation is not last)
    )


def _refuse_moved(stored: Source, was: FormerDefinition) -> None:
    """Raise `NotPermitted` where the rows of a source are at another place than when the former query filled it."""
    before, now = (f"{row.connector} {row.cluster} {row.place}" for row in (was, stored))
    if before != now:
        raise NotPermitted.of(
            "QUERY_PLACE",
            f"{stored.name} writes to another place than before its query was replaced, and its rows were not moved",
            path="/name",
            old=before,
            new=now,
            allowed="CREATE OR REPLACE with the former text",
        )


def _refuse_exchanged(stored: Source, last: Incarnation) -> None:
    """Raise `NotPermitted` where a query went along with one that it follows: the checkpoint before has offsets of rows that were exchanged since."""
    old = stored.query
    if old is not None and old.start == CASCADE and last.began < old.began:
        raise NotPermitted.of(
            "QUERY_EXCHANGED",
            f"{stored.name} reads all again since a query that it follows has exchanged its rows, and its former checkpoint is over the rows before",
            path="/name",
            old=str(last.began),
            new=str(old.began),
            allowed=f"ROLLBACK of the query that it follows with CASCADE, which takes {stored.name} along; or REFRESH {stored.name} FULL",
        )


def _refuse_other_names(stored: Source, last: Incarnation) -> None:
    """Raise `NotPermitted` where a source that the former query reads was renamed since, and its text could not be changed along."""
    for read in last.plan.reads:
        if key_of_name(read.spelling or read.source) != key_of_name(read.source):
            raise NotPermitted.of(
                "QUERY_NAMES",
                f"The former query of {stored.name} reads {read.spelling}, which is called {read.source} by now, and its text says so at a place that can't be changed",
                path="/name",
                old=read.spelling,
                new=read.source,
                allowed="CREATE OR REPLACE with the former text and the new name",
            )


RESTARTS: Mapping[str, Callable[[View, Command[ChangeSource], SourceKey, Source], Source]] = {
    ROLLBACK: _roll_back,
    RESET: _reset,
    REFRESH: _refresh,
}
"""What a change of this name makes of a source."""


def _describe(source: Source) -> SourceStored:
    return SourceStored(source.name, source.kind, source.generation, source.revision, replaced=True)
