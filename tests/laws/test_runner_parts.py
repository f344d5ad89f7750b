"""Parts of sources that runners take, give back and lose, at the edges of what one command does."""

from typing import Any

import pytest

from tests.laws.timed import TimedBench
from tests.worlds.world import World
from treaty.core.access.rights import Access, AccessRule, with_included
from treaty.core.messages.metastore.runners import (
    AcquireRunner,
    AssignQueries,
    QueryPart,
    ReleaseRunner,
    RunnerReleased,
)
from treaty.core.messages.metastore.sources import CreateSource, SourceDefinition
from treaty.core.messages.request import Request
from treaty.core.refusals import Refusal
from treaty.core.sources import Assignment, QueryPlan, SourceColumn, SourceRead
from treaty.core.state.metastore.keys import AssignmentKey
from treaty.core.state.metastore.tables import ASSIGNMENT

COLUMNS = (SourceColumn("id", "INT"),)
X, Y, Z = QueryPart("x", 2), QueryPart("y", 3), QueryPart("z", 4)


def define(name: str, **members: Any) -> CreateSource:
    return CreateSource(SourceDefinition(name, "STREAM", "", COLUMNS, place=name, **members))


@pytest.fixture
def bench() -> TimedBench:
    """Queries x, y and z, of the generations 2 to 4."""
    bench = TimedBench()
    bench.do(define("a"))
    for name in "xyz":
        bench.do(define(name, connector="delta", query=QueryPlan("SELECT id", (SourceRead("a", 1, "a"),))))
    return bench


def assignments(bench: TimedBench) -> dict[int, str]:
    """The runner of each part, by generation."""
    rows = ((key.generation, bench.tables.get(ASSIGNMENT, key)) for key in bench.tables.keys(ASSIGNMENT))
    return {generation: row.runner for generation, row in rows if row is not None}


def refusal_of(bench: TimedBench, request: Request[Any]) -> Refusal:
    verdict = bench.verdict(request, "asked")
    assert isinstance(verdict, Refusal)
    return verdict


def test_an_epoch_is_the_commit_that_gave_the_lease_and_grows_with_each_holder(bench: TimedBench) -> None:
    """So no epoch comes twice, not even after a lease was released."""
    epochs: list[int] = []
    for holder in ("h", "h", "other", "h"):
        epoch = epochs[-1] if epochs and holder != "h" else 0
        if epochs and holder == "h" and len(epochs) == 3:
            bench.do(ReleaseRunner("r", epochs[-1]))
        epochs.append(bench.do(AcquireRunner("r", holder, epoch=epoch)).epoch)
    assert epochs == [5, 5, 6, 8]


def test_a_runner_gives_back_its_own_parts_alone(bench: TimedBench) -> None:
    first, second = (bench.do(AcquireRunner(name, "h")).epoch for name in "rs")
    bench.do(AssignQueries("r", first, (X, Y)))
    bench.do(AssignQueries("s", second, (Z,), (X, QueryPart("y", 77))))
    assert assignments(bench) == {2: "r", 3: "r", 4: "s"}
    answer = bench.do(AssignQueries("r", first, (QueryPart("X", 2), X, Y), (X,)))
    assert [(part.source, part.generation) for part in answer.parts] == [("x", 2), ("y", 3)]
    assert assignments(bench) == {2: "r", 3: "r", 4: "s"}
    row = bench.tables.get(ASSIGNMENT, AssignmentKey("query", 2))
    assert row == Assignment("r", first)


def test_who_has_a_part_is_said_with_the_epoch_of_now(bench: TimedBench) -> None:
    first, other = (bench.do(AcquireRunner(name, "h")).epoch for name in "rs")
    bench.do(AssignQueries("r", first, (X,)))
    later = bench.do(AcquireRunner("r", "another", epoch=first)).epoch
    refusal = refusal_of(bench, AssignQueries("s", other, (X,)))
    assert (refusal.reason.rule, refusal.reason.old) == ("QUERY_ASSIGNED", f"r at {later}")


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_a_lease_ends_with_its_last_part_by_as_many_commands_as_that_takes(bench: TimedBench, limit: int) -> None:
    epoch = bench.do(AcquireRunner("r", "h")).epoch
    bench.do(AssignQueries("r", epoch, (X, Y, Z)))
    answers: list[RunnerReleased] = []
    with World(pages=(("ASSIGNED_PARTS", limit),)).paged():
        while not answers or answers[-1].more:
            assert refusal_of(bench, AcquireRunner("r", "other")).reason.rule == "RUNNER_HELD"
            answers.append(bench.do(ReleaseRunner("r", epoch)))
    counts = {1: [1, 1, 1], 2: [2, 1], 3: [3]}[limit]
    assert answers == [RunnerReleased("r", count, place + 1 < len(counts)) for place, count in enumerate(counts)]
    assert (assignments(bench), bench.do(AcquireRunner("r", "other")).holder) == ({}, "other")


@pytest.mark.parametrize(("sources", "rule"), [(("r",), "RUNNER_OF_ANOTHER"), (("*",), "")])
def test_a_right_on_a_source_of_the_name_of_a_runner_is_none_on_the_runner(
    bench: TimedBench, sources: tuple[str, ...], rule: str
) -> None:
    epoch = bench.do(AcquireRunner("r", "h")).epoch
    bench.principal = "user:b"
    bench.access = Access((AccessRule(("user:b",), with_included(["plan"]), (), (), sources=sources),))
    verdict = bench.verdict(ReleaseRunner("r", epoch), "asked")
    assert (verdict.reason.rule if isinstance(verdict, Refusal) else "") == rule
