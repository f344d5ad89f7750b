"""DROP: what goes with a source, and what holds it."""

import hashlib
import json
from collections.abc import Collection

from tests.simulation.judging.model.asking import Asking, Yes
from tests.simulation.judging.model.events import AssignmentChanged, DroppedChanged, Event, SourceChanged, TopicDeleted
from tests.simulation.judging.model.metastore.reading import digests_of_reads, digests_of_types
from tests.simulation.judging.model.metastore.state import (
    assignments,
    dropped,
    key_of,
    over,
    part_of,
    place_of,
    readers,
    sources,
    streams_of_bad_rows,
    unwanted,
)
from tests.simulation.judging.model.past import Past
from tests.simulation.judging.model.refusing import No
from tests.simulation.judging.model.resources import may_bind, may_source
from treaty.core import limits
from treaty.core.messages.metastore import sources as m
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
from treaty.core.sources import DroppedSource, Source, Topic


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
        kept = DroppedSource(
            sources(past)[one],
            asking.principal,
            asking.time,
            digests_of_reads(past, sources(past)[one]),
            digests_of_types(past, sources(past)[one]),
            past.sequence + 1,
            _generation_of(past, sources(past)[one].origin),
        )
        events += [SourceChanged(one, None), DroppedChanged(one, kept)]
        part = (part_of(kept.source), kept.source.generation)
        if part in assignments(past):
            events.append(AssignmentChanged(part, None))
    place, topic_due = place_of(source), 0
    if request.delete_topic and place is not None:
        topic_due = asking.time + limits.DROP_GRACE
        events.append(TopicDeleted(place, Topic("deleted", due=topic_due)))
    return Yes(
        (*events, *expired(past, asking, taken=going)),
        m.SourcesDropped(names, digest, dropped=True, topic_due=topic_due),
    )


def _generation_of(past: Past, origin: str) -> int:
    return sources(past)[origin].generation if origin else 0


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
    if len(unwanted(past)) >= limits.TOPICS_DELETED:
        raise No(TooLarge, "TOPICS_DELETED")
    if set(over(past, place)) - set(going):
        raise No(SourceUsed, "TOPIC_USED")
