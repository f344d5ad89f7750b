"""Rows of sources over their lives: what a definition says comes from it, and all else stays, whichever way the row is changed."""

from dataclasses import replace
from typing import Any

import pytest

from tests.laws.timed import TimedBench
from tests.laws.toy import Bench
from treaty.core import limits
from treaty.core.messages.metastore.kept_files import CheckpointName, KeptNumber, ListKeptFiles
from treaty.core.messages.metastore.sources import (
    ChangeSource,
    CreateSource,
    CreateType,
    DropSource,
    SetSourceState,
    SourceDefinition,
    UndropSource,
)
from treaty.core.sources import PAUSED, QueryPlan, Source, SourceColumn, SourcePart, SourceRead, StateFingerprint
from treaty.core.state.metastore.keys import SourceKey
from treaty.core.state.metastore.tables import SOURCE

SAID = ("statement", "columns", "key", "value", "timestamp", "properties", "comment", "types")
"""Members that are those of the definition in force."""
STAYING = (
    "kind", "name", "generation", "connector", "cluster", "place", "desired", "protected", "former", "author", "time", "once",
)  # fmt: skip
"""Members that no new definition and no rollback changes."""
DAY = 86_400_000


def define(number: int, *, state: str = "", **members: Any) -> CreateSource:
    """The definition of a number, each member another one than in that of any other number; `state` is what its query keeps."""
    column_type = ("INT", "t0")[number % 2]
    columns = (SourceColumn("id", "INT"), SourceColumn("at", "TIMESTAMP"), SourceColumn(f"c{number}", column_type))
    plan = QueryPlan(f"SELECT {number}", (SourceRead("a", 1, "a"),), fingerprint=StateFingerprint(state, state))
    definition = SourceDefinition(
        "q", "STREAM", f"CREATE {number}", columns, SourcePart("KAFKA" if number % 2 else "JSON"),
        SourcePart("JSON", full_name=f"n{number}"), "delta", "other", "p", ("", "at")[number % 2], ((f"P{number}", "x"),),
        f"comment {number}", plan,
    )  # fmt: skip
    return CreateSource(definition, replace=True, **members)


def once(bench: Bench) -> CreateSource:
    stored = row(bench)
    definition = SourceDefinition(
        "q", "STREAM", "INSERT", stored.columns, stored.key, stored.value, stored.connector, stored.cluster, stored.place,
        query=QueryPlan("SELECT 7", (SourceRead("a", 1, "a"),)),
    )  # fmt: skip
    return CreateSource(definition, replace=True, once=True)


def row(bench: Bench) -> Source:
    source = bench.tables.get(SOURCE, SourceKey("q"))
    assert source is not None
    return source


@pytest.fixture
def bench() -> TimedBench:
    """A source that was dropped and came back twice, is paused and has a query that is run once; then the time of its next change."""
    bench = TimedBench()
    bench.do(CreateSource(SourceDefinition("a", "STREAM", "", (SourceColumn("id", "INT"),))))
    bench.do(CreateType("t0", "STRING"))
    bench.do(define(1))
    for _ in range(2):
        bench.do(DropSource("q"))
        bench.do(UndropSource("q"))
    bench.do(SetSourceState("q", PAUSED))
    bench.do(once(bench))
    bench.do(ChangeSource("q", protect=True))
    assert (len(row(bench).former), row(bench).types) == (2, ("t0",))
    bench.now += DAY
    return bench


def members(source: Source, names: tuple[str, ...]) -> dict[str, object]:
    return {name: getattr(source, name) for name in names}


CHANGES = {"compatible": {}, "stateful": {"on_change": "BACKFILL"}}


@pytest.mark.parametrize("change", CHANGES)
def test_a_replacement_takes_what_the_definition_says_and_keeps_the_rest(bench: TimedBench, change: str) -> None:
    before, request = row(bench), define(2, state="s" if CHANGES[change] else "", **CHANGES[change])
    bench.do(request)
    after = row(bench)
    assert members(after, STAYING) == members(before, STAYING)
    assert members(after, SAID[:-1]) == members(request.definition, SAID[:-1])  # type: ignore[arg-type]
    assert after.types == ()
    assert (after.revision, after.changed_by, after.changed) == (before.revision + 1, "user:a", bench.now)


@pytest.mark.parametrize("change", CHANGES)
def test_a_rollback_brings_every_member_of_the_former_definition_back(bench: TimedBench, change: str) -> None:
    before = row(bench)
    bench.do(define(2, state="s" if CHANGES[change] else "", **CHANGES[change]))
    replaced = row(bench)
    bench.now += DAY
    bench.do(ChangeSource("q", restart="ROLLBACK"))
    after, number = row(bench), bench.tables.sequence
    assert members(after, STAYING + SAID) == members(before, STAYING + SAID)
    assert after.query is not None
    assert before.query is not None
    assert replaced.query is not None
    assert (after.query.began, after.query.resumed) == (before.query.began, 0 if change == "compatible" else number)
    assert after.query.plan.body == before.query.plan.body
    assert (after.query.revision, after.query.time) == (replaced.query.revision + 1, bench.now)
    assert [former.plan.body for former in after.previous] == [replaced.query.plan.body]
    bench.do(ChangeSource("q", restart="ROLLBACK"))
    assert members(row(bench), SAID) == members(replaced, SAID), "and forth again"


def test_an_assessment_of_the_same_definition_says_that_it_is_the_same(bench: TimedBench) -> None:
    kinds = []
    for number in (1, 2):
        assessment = bench.do(replace(define(number), assess=True)).assessment
        kinds.append(assessment and assessment.kind)
    assert kinds == ["same", "compatible"]


# -------------------------------------------------------------------------------------------------- former queries


def test_a_former_query_can_come_back_so_long_after_it_was_replaced_and_no_longer(bench: TimedBench) -> None:
    """Its age counts from the day on which another one took its place, not from its own."""
    bench.now += 100 * DAY
    bench.do(define(2))
    bench.now += limits.DROP_GRACE
    bench.do(define(3))
    assert [former.plan.body for former in row(bench).previous] == ["SELECT 2", "SELECT 1"]
    bench.now += limits.DROP_GRACE + 1
    bench.do(define(4))
    assert [former.plan.body for former in row(bench).previous] == ["SELECT 3"]


def test_so_many_former_queries_are_kept(bench: TimedBench) -> None:
    for number in range(2, limits.INCARNATIONS + 4):
        bench.do(define(number))
    newest = limits.INCARNATIONS + 2
    bodies = [former.plan.body for former in row(bench).previous]
    assert bodies == [f"SELECT {number}" for number in range(newest, newest - limits.INCARNATIONS, -1)]


def kept(bench: Bench) -> tuple[dict[int, KeptNumber], tuple[str, ...]]:
    """What is said of all numbers of checkpoints of the source, and of the places p and p2."""
    first = (row(bench).former or (row(bench).generation,))[-1]
    names = tuple(CheckpointName(first, number) for number in range(bench.tables.sequence + 1))
    files = bench.do(ListKeptFiles(names, places=("p", "p2")))
    return {found.number: found for found in files.incarnations}, files.places


def test_checkpoints_are_kept_as_long_as_a_query_needs_them_or_may_come_back_to_them(bench: TimedBench) -> None:
    first = row(bench).query
    assert first is not None
    bench.now += 100 * DAY
    bench.do(define(2, state="s", on_change="BACKFILL"))
    second = row(bench).query
    assert second is not None
    assert {number: (found.needed, found.returns) for number, found in kept(bench)[0].items()} == {
        first.began: (False, True),
        second.began: (True, False),
    }
    assert kept(bench)[0][first.began].until == second.began
    bench.do(ChangeSource("q", restart="ROLLBACK"))
    resumed = bench.tables.sequence
    assert {number: found.needed for number, found in kept(bench)[0].items()} == {
        first.began: True, second.began: False, resumed: True,
    }  # fmt: skip
    bench.now += limits.DROP_GRACE + limits.CLOCK_MARGIN
    assert second.began in kept(bench)[0]
    bench.now += 1
    assert set(kept(bench)[0]) == {first.began, resumed}
