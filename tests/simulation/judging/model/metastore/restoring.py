"""UNDROP: how a source comes back."""

from dataclasses import replace

from tests.simulation.judging.model.asking import Asking, Yes
from tests.simulation.judging.model.events import DroppedChanged, Event, SourceChanged
from tests.simulation.judging.model.metastore.defining import refuse_dead_pins, types_in
from tests.simulation.judging.model.metastore.dropping import expired, is_expired
from tests.simulation.judging.model.metastore.names import refuse_taken
from tests.simulation.judging.model.metastore.placing import refuse_bad_place, refuse_deleted_topic
from tests.simulation.judging.model.metastore.reading import read_again, refuse_other_meanings
from tests.simulation.judging.model.metastore.restarting import over_again
from tests.simulation.judging.model.metastore.state import dropped, key_of, sources, streams_of_bad_rows
from tests.simulation.judging.model.past import Past
from tests.simulation.judging.model.refusing import No
from tests.simulation.judging.model.rights import of_create_source, on_source, refuse_unless_allowed
from treaty.core import limits
from treaty.core.messages.metastore import sources as m
from treaty.core.refusals import NotLatest, NotPermitted, SourceExists, SourceNotFound, TooLarge
from treaty.core.sources import DroppedSource, Source


def undrop_source(past: Past, asking: Asking, request: m.UndropSource) -> Yes:
    """All that a CREATE would look at is looked at again; what it read must be the same still."""
    key = key_of(request.name)
    kept = dropped(past).get(key)
    if kept is None or is_expired(kept, asking):
        raise No(SourceNotFound, "DROPPED_NOT_FOUND")
    if request.kind and request.kind != kept.source.kind:
        raise No(SourceExists, "SOURCE_KIND_DIFFERS")
    there = sources(past)
    old, bad = kept.source, _stream_along(past, asking, key)
    refuse_unless_allowed(asking, request, of_create_source(_as_created(old)))
    if key in there:
        raise No(SourceExists, "SOURCE_EXISTS")
    refuse_taken(there, key, "SOURCE_TAKEN")
    if len(there) + 1 > limits.SOURCES:
        raise No(TooLarge, "SOURCES")
    types_in(past, old.columns)
    refuse_other_meanings(past, kept)
    if old.origin and old.origin not in there:
        raise No(SourceNotFound, "SOURCE_NOT_FOUND")
    if old.origin:
        _refuse_unlike_origin(past, kept)
    reads = read_again(past, asking, kept)
    starts_over = any(read.mode == "changes" and _has_other_rows(past, read.source, kept) for read in reads)
    if starts_over and old.connector != "delta":
        raise No(NotPermitted, "QUERY_PLACE")
    refuse_bad_place(past, key, None, old)
    refuse_dead_pins(past, old)
    new = _again(past, asking, old)
    if new.query is not None:
        new = replace(new, query=replace(new.query, plan=replace(new.query.plan, reads=reads)))
    if starts_over:
        new = over_again(past, asking, new, "CASCADE")
    refuse_deleted_topic(past, new)
    events: list[Event] = [SourceChanged(key, new), DroppedChanged(key, None)]
    if bad is not None:
        refuse_unless_allowed(asking, request, on_source("register")(m.DropSource(bad)))
        if bad in there:
            raise No(SourceExists, "SOURCE_EXISTS")
        refuse_taken({**there, key: new}, bad, "SOURCE_TAKEN")
        if len(there) + 2 > limits.SOURCES:
            raise No(TooLarge, "SOURCES")
        events += [SourceChanged(bad, _again(past, asking, dropped(past)[bad].source)), DroppedChanged(bad, None)]
    also = () if bad is None else (dropped(past)[bad].source.name,)
    answer = m.SourceStored(new.name, new.kind, new.generation, new.revision, created=True, also=also)
    if request.dry_run:
        return Yes((), answer)
    return Yes((*events, *expired(past, asking, taken={key, *([bad] if bad else [])})), answer)


def _has_other_rows(past: Past, key: str, kept: DroppedSource) -> bool:
    """Whether all rows of a source were exchanged since another one was dropped, as far as its former queries say."""
    query, previous = sources(past)[key].query, sources(past)[key].previous
    if query is None:
        return False
    ages = [one.began > kept.sequence or one.resumed > kept.sequence for one in (query, *previous)]
    for one in (query, *previous):
        if one.resumed > kept.sequence or (one.began > kept.sequence and one.start in {"BACKFILL", "CASCADE"}):
            return True
    return len(ages) > 1 and all(ages)


def _refuse_unlike_origin(past: Past, kept: DroppedSource) -> None:
    """The source that had these bad rows is there, under the name that it had then, and has no others."""
    origin = sources(past)[kept.source.origin]
    if kept.origin != origin.generation and kept.origin not in origin.former:
        raise No(NotLatest, "ORIGIN_GENERATION")
    if streams_of_bad_rows(past, kept.source.origin):
        raise No(SourceExists, "ORIGIN_STREAM")


def _as_created(old: Source) -> m.CreateSource:
    plan = None if old.query is None else old.query.plan
    return m.CreateSource(
        m.SourceDefinition(
            old.name, old.kind, old.statement, old.columns, old.key, old.value, old.connector, old.cluster, old.place, query=plan
        )
    )  # fmt: skip


def _again(past: Past, asking: Asking, old: Source) -> Source:
    former = (old.generation, *old.former)
    if len(former) > limits.FORMER_GENERATIONS:  # the first one names folders and headers
        former = (*former[: limits.FORMER_GENERATIONS - 1], former[-1])
    return replace(old, generation=past.sequence + 1, former=former, changed_by=asking.principal, changed=asking.time)


def _stream_along(past: Past, asking: Asking, key: str) -> str | None:
    """The stream of bad rows that went with a source, whatever its name is: it comes along, or the source does not come."""
    for bad, kept in dropped(past).items():
        whole = dropped(past)[key]
        along = kept.source.origin == key and kept.sequence == whole.sequence and kept.origin == whole.source.generation
        if along and not is_expired(kept, asking):
            return bad
    return None
