"""Rows of topics name the sources that stand over them, those and no others, whatever becomes of the sources."""

import random
from collections import defaultdict
from typing import Any

import pytest

from tests.laws.timed import TimedBench
from treaty.core.messages.metastore.deleted_topics import LeaseTopics
from treaty.core.messages.metastore.sources import (
    ChangeSource,
    CreateSource,
    DropSource,
    SourceDefinition,
    UndropSource,
)
from treaty.core.messages.request import Request
from treaty.core.refusals import Refusal
from treaty.core.sources import DELETED, DELETING, PRESENT, QueryPlan, SourceColumn, SourceRead
from treaty.core.state.metastore.keys import SourceKey, TopicKey
from treaty.core.state.metastore.tables import SOURCE, TOPIC, TOPIC_LEASE

COLUMNS = (SourceColumn("id", "INT"),)


def define(name: str, place: str = "t", **members: Any) -> CreateSource:
    definition = SourceDefinition(name, "STREAM", "", COLUMNS, place=place, **members)
    return CreateSource(definition, replace=True)


def select(bench: TimedBench, read: str, name: str, place: str) -> CreateSource:
    source = bench.tables.get(SOURCE, SourceKey(read))
    generation, revision = (1, 1) if source is None else (source.generation, source.revision)
    plan = QueryPlan(f"SELECT id FROM {read}", (SourceRead(read, generation, read, revision=revision),))
    return define(name, place, query=plan)


def list_topics(bench: TimedBench) -> dict[TopicKey, tuple[str, ...]]:
    """The sources of each topic as its row has them, of those that are to be there."""
    rows = {key: bench.tables.get(TOPIC, key) for key in bench.tables.keys(TOPIC)}
    assert all(row is None or (row.desired == PRESENT) == bool(row.sources) for row in rows.values())
    return {key: row.sources for key, row in rows.items() if row is not None and row.desired == PRESENT}


def topics_of_sources(bench: TimedBench) -> dict[TopicKey, tuple[str, ...]]:
    """The sources of each topic as their own rows say."""
    names: defaultdict[TopicKey, list[str]] = defaultdict(list)
    for key in bench.tables.keys(SOURCE):
        source = bench.tables.get(SOURCE, key)
        if source is not None and source.connector == "kafka" and source.place:
            names[TopicKey(source.cluster, source.place)].append(key.name)
    return {topic: tuple(sorted(keys)) for topic, keys in names.items()}


STORIES: dict[str, tuple[Request[Any], ...]] = {
    "another topic": (define("a", "t"), define("a", "u")),
    "another cluster": (define("a", "t"), define("a", "t", cluster="east")),
    "a folder, and a topic again": (define("a", "t"), define("a", "t", connector="files"), define("a", "t")),
    "one of two moves": (define("a", "t"), define("b", "t"), define("a", "u")),
    "another comment": (define("a", "t"), define("a", "t", comment="c")),
    "another name": (define("a", "t"), define("b", "t"), ChangeSource("a", rename="c")),
    "other letters": (define("a", "t"), ChangeSource("a", rename="A")),
    "names exchanged": (define("a", "t"), define("b", "u"), ChangeSource("a", swap="b")),
    "names exchanged in one topic": (define("a", "t"), define("b", "t"), ChangeSource("a", swap="b")),
    "names exchanged beside others": (define("a", "t"), define("b", "u"), define("c", "t"), ChangeSource("a", swap="b")),
    "names exchanged with a folder": (define("a", "t"), define("b", "u", connector="files"), ChangeSource("b", swap="a")),
    "names exchanged between folders": (
        define("a", "t", connector="files"), define("b", "u", connector="files"), define("c", "t"), ChangeSource("b", swap="a"),
    ),
    "dropped, and back": (define("a", "t"), define("b", "t"), DropSource("a"), UndropSource("a")),
    "deleted, and back": (define("a", "t"), DropSource("a", delete_topic=True), UndropSource("a")),
    "deleted, and another": (define("a", "t"), DropSource("a", delete_topic=True), define("b", "t"), DropSource("b")),
    "bad rows": (define("a", "t", bad_rows=True), DropSource("a"), UndropSource("a")),
}  # fmt: skip


@pytest.mark.parametrize("story", STORIES)
def test_the_row_of_a_topic_names_the_sources_that_stand_over_it(story: str) -> None:
    bench = TimedBench()
    for request in STORIES[story]:
        bench.do(request)
        assert list_topics(bench) == topics_of_sources(bench)


@pytest.mark.parametrize("seed", range(12))
def test_topics_and_sources_agree_after_any_commands(seed: int) -> None:
    bench, dice = TimedBench(), random.Random(seed)
    for _ in range(60):
        name, other = dice.sample("abcd", 2)
        place, cluster = dice.choice("tuv"), dice.choice(("main", "east"))
        requests: list[Request[Any]] = [
            define(name, place, cluster=cluster),
            define(name, place, connector=dice.choice(("kafka", "files"))),
            select(bench, other, name, place),
            ChangeSource(name, rename=other),
            ChangeSource(name, swap=other),
            DropSource(name, delete_topic=dice.random() < 0.5),
            DropSource(name, cascade=True, digest=digest_of(bench, name), delete_topic=dice.random() < 0.5),
            UndropSource(name),
        ]
        request = dice.choice(requests)
        if not isinstance(bench.verdict(request, "asked"), Refusal):
            bench.do(request)
        assert list_topics(bench) == topics_of_sources(bench), request


def digest_of(bench: TimedBench, name: str) -> str:
    verdict = bench.verdict(DropSource(name, cascade=True, dry_run=True), "looked")
    return "" if isinstance(verdict, Refusal) else verdict.answer.digest


def test_of_a_cascade_the_topic_of_the_named_source_goes_alone() -> None:
    bench = TimedBench()
    bench.do(define("a", "t"))
    bench.do(select(bench, "a", "b", "u"))
    drop = DropSource("a", cascade=True, digest=digest_of(bench, "a"), delete_topic=True)
    assert bench.do(drop).topic_due > bench.now
    rows = {key.topic: bench.tables.get(TOPIC, key) for key in bench.tables.keys(TOPIC)}
    assert {topic: row and row.desired for topic, row in rows.items()} == {"t": DELETED}


# ------------------------------------------------------------------------------------------------- topics that go


@pytest.fixture
def bench() -> TimedBench:
    """Topics t and u are to go, and w is not; nobody has a lease."""
    bench = TimedBench()
    for name in "tuw":
        bench.do(define(name, name, properties=(("DELETE_GRACE_MS", "0"),)))
        if name != "w":
            bench.do(DropSource(name, delete_topic=True))
    return bench


def lease(bench: TimedBench, **members: Any) -> tuple[str, ...]:
    keys = bench.tables.keys(TOPIC_LEASE)
    row = next((bench.tables.get(TOPIC_LEASE, key) for key in keys), None)
    return bench.do(LeaseTopics("main", "h", 0 if row is None else row.epoch, **members)).deleting


def states(bench: TimedBench) -> dict[str, str]:
    rows = ((key.topic, bench.tables.get(TOPIC, key)) for key in bench.tables.keys(TOPIC))
    return {topic: row.desired for topic, row in rows if row is not None}


def test_a_topic_goes_once_its_deletion_has_begun_and_none_that_is_wanted(bench: TimedBench) -> None:
    assert lease(bench, gone=("t", "u", "w", "x")) == ()
    assert states(bench) == {"t": DELETED, "u": DELETED, "w": PRESENT}
    assert lease(bench, begin=("t", "w", "x")) == ("t",)
    assert states(bench) == {"t": DELETING, "u": DELETED, "w": PRESENT}
    assert lease(bench, begin=("t", "u"), gone=("t", "u")) == ("t", "u"), "what begins now is not gone yet"
    assert lease(bench, gone=("t", "w"), release=True) == ()
    assert states(bench) == {"u": DELETING, "w": PRESENT}


@pytest.mark.parametrize(
    ("text", "grace"),
    [("0", 0), ("60000", 60_000), ("", None), ("604800001", None), ("1" * 12, None), ("-1", None), ("soon", None), ("٣", None)],
)  # fmt: skip
def test_a_topic_goes_after_the_time_that_its_source_says_and_never_later_than_usual(
    text: str, grace: int | None
) -> None:
    bench = TimedBench()
    bench.do(define("a", "t"))
    usual = bench.do(DropSource("a", delete_topic=True)).topic_due - bench.now
    bench.do(define("a", "t", properties=(("DELETE_GRACE_MS", text),) if text else ()))
    bench.do(DropSource("a"))
    bench.do(UndropSource("a"))
    assert bench.do(DropSource("a", delete_topic=True)).topic_due == bench.now + (usual if grace is None else grace)
    due = bench.now + (usual if grace is None else grace)
    for now, begun in ((due - 1, ()), (due, ("t",))):
        bench.now = now
        assert lease(bench, begin=("t",)) == begun
