"""Which checkpoint a query has after a change, and the queries that it had before."""

from dataclasses import replace

from tests.simulation.judging.model.asking import Asking, Yes
from tests.simulation.judging.model.events import SourceChanged
from tests.simulation.judging.model.metastore.defining import (
    refuse_circle,
    refuse_dead_pins,
    refuse_lost_columns,
    types_in,
)
from tests.simulation.judging.model.metastore.dropping import expired, source_named
from tests.simulation.judging.model.metastore.reading import digests_of_reads, read_again
from tests.simulation.judging.model.metastore.state import key_of, readers, sources
from tests.simulation.judging.model.past import Past
from tests.simulation.judging.model.refusing import No
from tests.simulation.judging.model.resources import may_source
from treaty.core import limits
from treaty.core.messages.metastore import sources as m
from treaty.core.refusals import Forbidden, InvalidSource, NotPermitted, SourceUsed
from treaty.core.sources import DroppedSource, FormerDefinition, Incarnation, QueryPlan, Source


def with_next_query(past: Past, asking: Asking, request: m.CreateSource, key: str, old: Source, new: Source) -> Source:
    """A query that means the same stays; one that can use the checkpoint has it; any other begins as the statement says."""
    if request.on_change not in {"", "EMPTY", "BACKFILL", "CASCADE"}:
        raise No(InvalidSource, "ON_CHANGE")
    plan = request.definition.query
    if plan is not None and old.query is None:
        return replace(new, query=Incarnation(past.sequence + 1, 1, plan, asking.principal, asking.time))
    if plan is None or old.query is None or _meaning(plan) == _meaning(old.query.plan):
        return new
    began, start, after, resumed = old.query.began, old.query.start, old.query.after, old.query.resumed
    rule = _find_obstacle(old.query.plan, plan)
    retyped = _has_other_types(old, new)
    if retyped and not rule:
        rule = "QUERY_STATE"
    if rule and not request.on_change:
        raise No(NotPermitted, rule)
    if rule:
        start = request.on_change.replace("CASCADE", "BACKFILL")
        began, after, resumed = past.sequence + 1, old.query.began, 0
    if rule and start == "BACKFILL":
        _refuse_other_rows(past, key, new, alone=request.on_change == "BACKFILL")
    elif retyped:
        raise No(NotPermitted, "QUERY_COLUMNS")
    query = Incarnation(began, old.query.revision + 1, plan, asking.principal, asking.time, start, after, resumed)
    return replace(new, query=query, previous=_kept(past, asking, old))


def _meaning(plan: QueryPlan) -> QueryPlan:
    """A plan whatever revisions it was made over, and whatever people are told of its state."""
    return replace(plan, reads=tuple(replace(read, revision=1) for read in plan.reads), state=())


def _find_obstacle(old: QueryPlan, new: QueryPlan) -> str:
    """What a query has gathered has to be of use to the next one: its offsets, its state, its rows by their key."""
    if _offsets(old) != _offsets(new):
        return "QUERY_SOURCES"
    other_key = {name.lower() for name in old.key} != {name.lower() for name in new.key}
    loses_open_groups = bool(old.fingerprint.plan) and (old.output_mode, new.output_mode) == ("append", "update")
    return "QUERY_STATE" if old.fingerprint != new.fingerprint or other_key or loses_open_groups else ""


def _has_other_types(old: Source, new: Source) -> bool:
    """A table of a lake has one type for each column, whichever query wrote a row."""
    before = {column.name.lower(): column.type for column in old.columns}
    retyped = any(before.get(column.name.lower(), column.type) != column.type for column in new.columns)
    return retyped and new.connector in {"delta", "iceberg"}


def _offsets(plan: QueryPlan) -> list[tuple[str, int]]:
    """The sources of which a checkpoint has offsets, as often as it has them."""
    offsets = {}
    for number, read in enumerate(read for read in plan.reads if read.mode == "changes"):
        offsets.update(dict.fromkeys(read.places or (number,), (key_of(read.source), read.generation)))
    return [offsets[place] for place in sorted(offsets)]


def _refuse_other_rows(past: Past, key: str, source: Source, *, alone: bool = True) -> None:
    """All rows of a table are exchanged at once only where it is one of Delta; alone where nobody follows it."""
    if source.connector != "delta":
        raise No(NotPermitted, "QUERY_PLACE")
    if alone and _followers(past, key):
        raise No(SourceUsed, "QUERY_READERS")


def _followers(past: Past, key: str) -> list[str]:
    """Who has offsets of a source."""
    found = []
    for other in readers(past, key):
        query = sources(past)[other].query
        if query is not None and any(read.source == key and read.mode == "changes" for read in query.plan.reads):
            found.append(other)
    return found


def with_followers(past: Past, asking: Asking, key: str, start: str = "CASCADE") -> list[SourceChanged]:
    """All that follows an exchange of rows, or a RESET, at any distance, does as its own REFRESH or RESET would."""
    along: list[str] = []
    along += _followers(past, key)
    for one in along:
        along += [other for other in _followers(past, one) if other not in along]
    if asking.access is not None:
        if any(not may_source(asking.access, "read", one) for one in along):
            raise No(SourceUsed, "QUERY_READERS")
        if any(not may_source(asking.access, "register", one) for one in along):
            raise No(Forbidden, "RIGHTS")
    if start == "CASCADE" and any(sources(past)[one].connector != "delta" for one in along):
        raise No(NotPermitted, "QUERY_PLACE")
    return [SourceChanged(one, _counted(asking, _again(past, asking, one, start), sources(past)[one])) for one in along]


def _again(past: Past, asking: Asking, key: str, start: str) -> Source:
    return over_again(past, asking, sources(past)[key], start)


def over_again(past: Past, asking: Asking, old: Source, start: str) -> Source:
    """A source with its query on a checkpoint that begins with this commit."""
    assert old.query is not None
    query = Incarnation(
        past.sequence + 1, old.query.revision + 1, old.query.plan, asking.principal, asking.time, start, old.query.began
    )  # fmt: skip
    return replace(old, query=query, previous=_kept(past, asking, old))


def _counted(asking: Asking, new: Source, old: Source) -> Source:
    return replace(new, revision=old.revision + 1, changed_by=asking.principal, changed=asking.time)


def _kept(past: Past, asking: Asking, old: Source) -> tuple[Incarnation, ...]:
    """The present query is a former one now; each is kept for a while after it was replaced."""
    assert old.query is not None
    was = FormerDefinition(
        old.statement, old.columns, old.key, old.value, old.connector, old.cluster, old.place, old.timestamp, old.properties,
        old.comment, digests_of_reads(past, old),
    )  # fmt: skip
    kept, newer = [replace(old.query, definition=was)], old.query
    for one in old.previous:
        if newer.time + limits.DROP_GRACE < asking.time:
            break
        kept.append(one)
        newer = one
    return tuple(kept[: limits.INCARNATIONS])


def restart_query(past: Past, asking: Asking, request: m.ChangeSource) -> Yes:
    """ROLLBACK, RESET and REFRESH: nothing else is changed beside it."""
    key, old = source_named(past, request.name)
    way, cascade = request.restart, request.cascade
    if way not in {"ROLLBACK", "RESET", "REFRESH"}:
        raise No(InvalidSource, "QUERY_RESTART")
    alone = m.ChangeSource(request.name, request.statement, restart=way, kind=request.kind, cascade=cascade)
    if replace(request, expected=None, dry_run=False) != alone:
        raise No(InvalidSource, "RESTART_ALONE")
    if old.query is None:
        raise No(InvalidSource, "QUERY_NONE")
    if way == "ROLLBACK":
        new = _rolled_back(past, asking, key, old, alone=not cascade)
    else:
        if way == "REFRESH":
            _refuse_other_rows(past, key, old, alone=not cascade)
        new = _again(past, asking, key, {"RESET": "RESET", "REFRESH": "BACKFILL"}[way])
    new = _counted(asking, new, old)
    assert new.query is not None
    start = "RESET" if way == "RESET" else "CASCADE"
    along = with_followers(past, asking, key, start) if cascade and new.query.began != old.query.began else []
    events = () if request.dry_run else (SourceChanged(key, new), *along, *expired(past, asking))
    return Yes(events, m.SourceStored(new.name, new.kind, new.generation, new.revision, replaced=True))


def _rolled_back(past: Past, asking: Asking, key: str, old: Source, *, alone: bool) -> Source:
    """The former query comes back with the definition of then; the present one takes its place among the former."""
    assert old.query is not None
    if not old.previous or old.query.time + limits.DROP_GRACE < asking.time:
        raise No(NotPermitted, "QUERY_PREVIOUS")
    last, *_ = old.previous
    was = last.definition
    assert was is not None
    if (was.connector, was.cluster, was.place) != (old.connector, old.cluster, old.place):
        raise No(NotPermitted, "QUERY_PLACE")
    if any(read.spelling and key_of(read.spelling) != read.source for read in last.plan.reads):
        raise No(NotPermitted, "QUERY_NAMES")
    other = last.began != old.query.began
    if old.query.start == "CASCADE" and old.query.began > last.began:
        raise No(NotPermitted, "QUERY_EXCHANGED")
    if other:
        _refuse_other_rows(past, key, old, alone=alone)
    types = types_in(past, was.columns)
    reads = read_again(past, asking, DroppedSource(replace(old, query=last), reads=was.reads))
    refuse_circle(past, key, reads)
    refuse_lost_columns(past, key, old, was.columns)
    query = replace(
        last, revision=old.query.revision + 1, plan=replace(last.plan, reads=reads), author=asking.principal, time=asking.time,
        resumed=past.sequence + 1 if other else old.query.resumed, definition=None,
    )  # fmt: skip
    previous = tuple(one for one in _kept(past, asking, old) if one != last)
    new = replace(
        old, statement=was.statement, columns=was.columns, key=was.key, value=was.value, timestamp=was.timestamp,
        properties=was.properties, comment=was.comment, types=types, query=query, previous=previous,
    )  # fmt: skip
    refuse_dead_pins(past, new)
    return new
