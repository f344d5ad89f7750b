"""DROP and UNDROP: what goes with a source, what holds it, and how it comes back."""

import hashlib
import json
from collections.abc import Collection
from dataclasses import replace

from tests.simulation.judging.model.asking import Asking, Yes
from tests.simulation.judging.model.events import DroppedChanged, Event, SourceChanged, TopicDeleted
from tests.simulation.judging.model.metastore.defining import refuse_bad_reads, refuse_dead_pins, types_in
from tests.simulation.judging.model.metastore.names import refuse_taken
from tests.simulation.judging.model.metastore.state import (
    dropped,
    key_of,
    over,
    place_of,
    readers,
    sources,
    streams_of_bad_rows,
)
from tests.simulation.judging.model.past import Past
from tests.simulation.judging.model.refusing import No
from tests.simulation.judging.model.rights import (
    may_bind,
    may_source,
    of_create_source,
    on_source,
    refuse_unless_allowed,
)
from treaty.core import limits
from treaty.core.messages import metastore as m
from treaty.core.refusals import (
    Forbidden,
    InvalidSource,
    NotLatest,
    NotPermitted,
    SourceExists,
    SourceNotFound,
    SourceUsed,
    TooLarge,
)
from treaty.core.sources import DroppedSource, Source


def expired(past: Past, asking: Asking, taken: Collection[str] = ()) -> list[Event]:
    """What is forgotten of sources that were dropped long ago: the oldest few."""
    old = [(one.time, key) for key, one in dropped(past).items() if one.time + limits.DROP_GRACE < asking.time]
    return [DroppedChanged(key, None) for _, key in sorted(old)[: limits.DROPPED_EXPIRED] if key not in taken]


def is_expired(one: DroppedSource, asking: Asking) -> bool:
    return one.time + limits.DROP_GRACE < asking.time


def refuse_unexpected(source: Source, expected: m.ExpectedSource | None) -> None:
    if expected is not None and (expected.generation, expected.revision) != (source.generation, source.revision):
        raise No(NotLatest, "SOURCE_EXPECTED")


def source_named(past: Past, name: str) -> tuple[str, Source]:
    """The source with a name; there has to be one."""
    key = key_of(name)
    if key not in sources(past):
        raise No(SourceNotFound, "SOURCE_NOT_FOUND")
    return key, sources(past)[key]


# ------------------------------------------------------------------------------------------------------------ drop


def drop_source(past: Past, asking: Asking, request: m.DropSource) -> Yes:
    """What reads it holds it, or goes along if the caller has seen what that is."""
    if request.if_exists and key_of(request.name) not in sources(past):
        return Yes((), m.SourcesDropped())
    key, source = source_named(past, request.name)
    if request.kind and request.kind != source.kind:
        raise No(SourceExists, "SOURCE_KIND_DIFFERS")
    refuse_unexpected(source, request.expected)
    if source.protected:
        raise No(NotPermitted, "SOURCE_PROTECTED")
    going = closure(past, key, along=request.cascade)
    _refuse_held(past, asking, request, key, going)
    if request.delete_topic:
        _refuse_topic(past, asking, source, going)
    digest = digest_of(past, going)
    names = tuple(sources(past)[one].name for one in going)
    if request.dry_run or (request.cascade and not request.digest and len(going) > 1):
        return Yes((), m.SourcesDropped(names, digest))
    if request.cascade and request.digest not in {"", digest}:
        raise No(NotLatest, "CASCADE_DIGEST")
    events: list[Event] = []
    for one in going:
        kept = DroppedSource(sources(past)[one], asking.principal, asking.time)
        events += [SourceChanged(one, None), DroppedChanged(one, kept)]
    place = place_of(source)
    if request.delete_topic and place is not None:
        events.append(TopicDeleted(place))
    return Yes((*events, *expired(past, asking, taken=going)), m.SourcesDropped(names, digest, dropped=True))


def closure(past: Past, key: str, *, along: bool) -> list[str]:
    """What goes with a source, nearest first: streams of bad rows, and (`along`) whoever reads what goes."""
    going = [key]
    for one in going:
        users = [*streams_of_bad_rows(past, one), *(readers(past, one) if along else [])]
        going += [user for user in sorted(users) if user not in going]
    return going


def _refuse_held(past: Past, asking: Asking, request: m.DropSource, key: str, going: list[str]) -> None:
    there, access = sources(past), asking.access
    others = going[1:]
    if not request.cascade and any(reader not in going for one in going for reader in readers(past, one)):
        raise No(SourceUsed, "SOURCE_READ")
    if request.cascade and access is not None and any(not may_source(access, "read", one) for one in others):
        raise No(Forbidden, "SOURCE_HIDDEN")
    if access is not None and any(not may_source(access, "delete", one) for one in others):
        raise No(Forbidden, "RIGHTS")
    if any(there[one].protected for one in others):
        raise No(NotPermitted, "SOURCE_PROTECTED")


def digest_of(past: Past, going: list[str]) -> str:
    """What the caller of a CASCADE has to have seen."""
    there = sources(past)
    rows = sorted([one, there[one].generation, there[one].revision] for one in going)
    text = json.dumps(rows, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _refuse_topic(past: Past, asking: Asking, source: Source, going: list[str]) -> None:
    place = place_of(source)
    if place is None:
        raise No(InvalidSource, "TOPIC_NONE")
    if asking.access is not None and not may_bind(asking.access, (place[1], "", "value"), "delete"):
        raise No(Forbidden, "RIGHTS")
    if set(over(past, place)) - set(going):
        raise No(SourceUsed, "TOPIC_USED")


# ---------------------------------------------------------------------------------------------------------- undrop


def undrop_source(past: Past, asking: Asking, request: m.UndropSource) -> Yes:
    """All that a CREATE would look at is looked at again; what it read must be the same still."""
    key = key_of(request.name)
    kept = dropped(past).get(key)
    if kept is None or is_expired(kept, asking):
        raise No(SourceNotFound, "DROPPED_NOT_FOUND")
    there = sources(past)
    old, bad = kept.source, _stream_along(past, asking, key)
    refuse_unless_allowed(asking, request, of_create_source(_as_created(old)))
    if key in there:
        raise No(SourceExists, "SOURCE_EXISTS")
    refuse_taken(there, key, "SOURCE_TAKEN")
    if len(there) + 1 > limits.SOURCES:
        raise No(TooLarge, "SOURCES")
    types_in(past, old.columns)
    if old.origin and old.origin not in there:
        raise No(SourceNotFound, "SOURCE_NOT_FOUND")
    refuse_bad_reads(past, asking, key, () if old.query is None else old.query.plan.reads)
    refuse_dead_pins(past, old)
    if len(there) + 1 + (bad is not None) > limits.SOURCES:
        raise No(TooLarge, "SOURCES")
    new = _again(past, asking, old)
    events: list[Event] = [SourceChanged(key, new), DroppedChanged(key, None)]
    if bad is not None:
        refuse_unless_allowed(asking, request, on_source("register")(m.DropSource(bad)))
        events += [SourceChanged(bad, _again(past, asking, dropped(past)[bad].source)), DroppedChanged(bad, None)]
    also = () if bad is None else (dropped(past)[bad].source.name,)
    answer = m.SourceStored(new.name, new.kind, new.generation, new.revision, created=True, also=also)
    return Yes((*events, *expired(past, asking, taken={key, *([bad] if bad else [])})), answer)


def _as_created(old: Source) -> m.CreateSource:
    plan = None if old.query is None else old.query.plan
    return m.CreateSource(
        m.SourceDefinition(
            old.name, old.kind, old.statement, old.columns, old.key, old.value, old.connector, old.cluster, old.place, query=plan
        )
    )  # fmt: skip


def _again(past: Past, asking: Asking, old: Source) -> Source:
    return replace(old, generation=past.sequence + 1, changed_by=asking.principal, changed=asking.time)


def _stream_along(past: Past, asking: Asking, key: str) -> str | None:
    """The stream of bad rows that went with a source, whatever its name is, where the name is free."""
    for bad, kept in dropped(past).items():
        free = all(other != bad and other.lower() != bad.lower() for other in sources(past))
        if free and kept.source.origin == key and not is_expired(kept, asking):
            return bad
    return None
