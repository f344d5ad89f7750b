"""Who uses a subject that a change is tried on: the nearest first, each once at its smallest distance, and what the caller may see."""

from typing import Any

import pytest

from tests.laws.timed import TimedBench
from tests.laws.toy import toy
from tests.worlds.world import World
from treaty.core.access.rights import Access, AccessRule, with_included
from treaty.core.messages.differences import ChangeResult, CompareVersions, ComparisonSide
from treaty.core.messages.metastore.sources import CreateSource, SourceDefinition
from treaty.core.messages.names import GetPin
from treaty.core.messages.registration import Register
from treaty.core.messages.request import LATEST
from treaty.core.messages.settings import Config, Scope, SetConfig
from treaty.core.messages.versions import DeleteVersion
from treaty.core.names import Subject
from treaty.core.policy import ALL, Level
from treaty.core.schema import Draft, Reference
from treaty.core.sources import QueryPlan, SchemaPin, SourceColumn, SourcePart, SourceRead

BASE = Subject(".", "base")
COLUMNS = (SourceColumn("id", "INT"),)


def refer(name: str, *targets: tuple[str, int]) -> Register:
    references = tuple(Reference(f"{target}{number}", target, number) for target, number in targets)
    return Register(Subject(".", name), toy(f"{name}?", references=references))


def pin(bench: TimedBench, subject: str) -> SchemaPin:
    found = bench.do(GetPin(Subject(".", subject), LATEST))
    return SchemaPin(".", subject, found.generation, found.version.ordinal, found.version.schema_id)


def define(bench: TimedBench, name: str, subject: str = "", reads: str = "", generation: int = 0) -> int:
    members: dict[str, Any] = {"value": SourcePart("AVRO", pin=pin(bench, subject))} if subject else {}
    if reads:
        plan = QueryPlan(f"SELECT id FROM {reads}", (SourceRead(reads, generation, reads, columns=("id",)),))
        members = {"query": plan, "connector": "delta", "place": name}
    bench.do(CreateSource(SourceDefinition(name, "STREAM", "", COLUMNS, **members)))
    return bench.tables.sequence


@pytest.fixture
def bench() -> TimedBench:
    """Topic pins base, other pins far, and queries read these two; fourth reads second, and other by the schema of far itself."""
    bench = referring()
    topic, other = define(bench, "Topic", "base"), define(bench, "other", "far")
    first = define(bench, "first", reads="topic", generation=topic)
    second = define(bench, "second", reads="first", generation=first)
    define(bench, "third", reads="other", generation=other)
    reads = (SourceRead("second", second, "second"), SourceRead("other", other, "other", value=pin(bench, "far")))
    definition = SourceDefinition(
        "fourth",
        "STREAM",
        "",
        COLUMNS,
        connector="delta",
        place="fourth",
        query=QueryPlan("SELECT id FROM second", reads),
    )
    bench.do(CreateSource(definition))
    parts = {part: SourcePart("AVRO", pin=pin(bench, name)) for part, name in (("key", "base"), ("value", "far"))}
    bench.do(CreateSource(SourceDefinition("both-pins", "STREAM", "", COLUMNS, **parts)))  # type: ignore[arg-type]
    return bench


def referring() -> TimedBench:
    """near and both refer to base, far to near, and both to near too."""
    bench = TimedBench()
    bench.do(SetConfig(Scope("."), Config(level="NONE")))
    bench.do(Register(BASE, toy("a?")))
    bench.do(Register(BASE, toy("b?")))
    bench.do(refer("near", ("base", 1)))
    bench.do(refer("far", ("near", 1)))
    bench.do(refer("both", ("base", 2), ("near", 1)))
    bench.do(refer("gone", ("base", 1)))
    bench.do(DeleteVersion(Subject(".", "gone"), 1))
    return bench


def tried(bench: TimedBench, text: str = '["a?","z?"]') -> ChangeResult:
    side = ComparisonSide(draft=Draft(text, "TOY"))
    change = bench.do(CompareVersions(side, subject=BASE)).change
    assert change is not None
    return change


REFUSED = {"BACKWARD_TRANSITIVE", "FULL_TRANSITIVE"}
"""Levels by which version 1 refuses a schema that needs b."""
EVERY = [
    (1, "SOURCE", "Topic", "base version 2"),
    (1, "SOURCE", "both-pins", "base version 2"),
    (1, "SUBJECT", "both", "base version 2"),
    (1, "SUBJECT", "near", "base version 1"),
    (2, "QUERY", "first", "Topic"),
    (2, "SUBJECT", "far", "near version 1"),
    (3, "QUERY", "fourth", "far version 1"),
    (3, "QUERY", "second", "first"),
    (3, "SOURCE", "other", "far version 1"),
    (4, "QUERY", "third", "other"),
]


def told(change: ChangeResult) -> list[tuple[int, str, str, str]]:
    return [(user.depth, user.kind.upper(), user.name, user.needs) for user in change.touched]


def test_users_are_told_the_nearest_first_and_each_once(bench: TimedBench) -> None:
    change = tried(bench)
    assert (told(change), change.hidden, change.more) == (EVERY, 0, False)


@pytest.mark.parametrize("limit", [10, 9])
def test_so_many_users_are_told_and_that_there_are_more(bench: TimedBench, limit: int) -> None:
    with World(pages=(("TOUCHED", limit),)).paged():
        change = tried(bench)
    assert (told(change), change.more) == (EVERY[:limit], limit < len(EVERY))


def test_subjects_alone_may_be_more_than_are_told() -> None:
    bench = referring()
    with World(pages=(("TOUCHED", 2),)).paged():
        change = tried(bench)
    assert ([user.name for user in change.touched], change.more) == (["both", "near"], True)


def test_what_may_not_be_read_is_counted_and_not_named(bench: TimedBench) -> None:
    rule = AccessRule(("user:a",), with_included(["register"]), sources=("second", "other"))
    bench.access = Access((rule,))
    change = tried(bench)
    assert [row for row in told(change) if row[1] != "SUBJECT"] == [
        (3, "QUERY", "second", ""),
        (3, "SOURCE", "other", "far version 1"),
    ]
    assert change.hidden == 5


def test_a_change_is_shown_beside_the_version_that_refuses_it_else_the_latest(bench: TimedBench) -> None:
    side = ComparisonSide(draft=Draft('["b"]', "TOY"))
    compared = bench.do(CompareVersions(side, subject=BASE))
    assert compared.old is not None
    assert compared.old.number == 2
    bench.do(SetConfig(Scope(*BASE), Config(level="BACKWARD_TRANSITIVE")))
    compared = bench.do(CompareVersions(side, subject=BASE))
    assert compared.change is not None
    assert compared.old is not None
    assert not compared.change.compatible
    assert (compared.old.number, compared.change.against) == (1, 1)
    assert levels_of(compared.change) == REFUSED
    for level in (Level(deny=True), Level(ALL, ALL)):
        bench.do(SetConfig(Scope(*BASE), Config(exact_level=level)))
        assert levels_of(tried(bench, text='["b"]')) == REFUSED, "each level is tried, whatever is in force"


def levels_of(change: ChangeResult) -> set[str]:
    return {level.level for level in change.levels if level.findings}
