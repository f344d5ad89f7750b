"""Streams of bad rows that were dropped: each comes back to the source that it is of, however close together drops are."""

from collections.abc import Callable

import pytest

from tests.laws.toy import Bench
from treaty.core.command import Command, Decision
from treaty.core.decide import decide
from treaty.core.messages.metastore.scripts import RunScript, ScriptMember
from treaty.core.messages.metastore.sources import (
    ChangeSource,
    CreateSource,
    DropSource,
    ListSources,
    SourceDefinition,
    UndropSource,
)
from treaty.core.messages.request import Request
from treaty.core.refusals import Reason, Refusal
from treaty.core.sources import SourceColumn

COLUMNS = (SourceColumn("id", "INT"),)


class StoppedClock:
    """A registry all of whose commands are of one millisecond."""

    def __init__(self) -> None:
        self.bench = Bench()
        self.refused = Reason("", "")

    def do(self, *requests: Request[object]) -> str:
        """Carry out commands, one commit each; return the rule of the first refusal."""
        for request in requests:
            self.bench.clock += 1
            command = Command(request, f"c{self.bench.clock}", 1_000)
            decision = decide(self.bench.tables, command, self.bench.engine)
            if isinstance(decision, Refusal):
                self.refused = decision.reason
                return decision.reason.rule
            assert isinstance(decision, Decision), decision
            if decision.rows:
                self.bench.apply(decision.rows, command.command_id)
        return ""

    @property
    def names(self) -> list[str]:
        return [one.name for one in self.bench.do(ListSources()).sources]


@pytest.fixture
def clock() -> StoppedClock:
    return StoppedClock()


def create(name: str, *, bad_rows: bool = False, again: bool = False) -> CreateSource:
    defined = SourceDefinition(name, "STREAM", "CREATE", COLUMNS, connector="delta", place=name, bad_rows=bad_rows)
    return CreateSource(defined, replace=again)


def rename(name: str, new: str) -> ChangeSource:
    return ChangeSource(name, rename=new)


def test_a_stream_of_bad_rows_that_was_dropped_alone_stays_dropped(clock: StoppedClock) -> None:
    """It and its source may be dropped in one millisecond, and are of two commits still."""
    assert clock.do(create("x", bad_rows=True), DropSource("x_bad"), DropSource("x"), UndropSource("x")) == ""
    assert clock.names == ["x"]
    assert clock.do(UndropSource("x_bad")) == ""
    assert clock.do(DropSource("x"), UndropSource("x")) == ""
    assert clock.names == ["x", "x_bad"]


def test_bad_rows_of_a_later_source_of_the_name_do_not_come_back_to_the_first(clock: StoppedClock) -> None:
    first = (create("x", bad_rows=True), DropSource("x"))
    assert clock.do(*first, create("x"), DropSource("x"), UndropSource("x")) == ""
    assert clock.names == ["x"]
    assert clock.do(UndropSource("x_bad")) == "ORIGIN_GENERATION"


@pytest.mark.parametrize(
    "take",
    [
        lambda: (rename("x", "z"), rename("y", "x")),
        lambda: (ChangeSource("x", swap="y"),),
        lambda: (DropSource("x"), rename("y", "x")),
    ],
    ids=["rename", "swap", "drop"],
)
def test_bad_rows_do_not_come_back_to_an_older_source_that_took_the_name(
    clock: StoppedClock, take: Callable[[], tuple[Request[object], ...]]
) -> None:
    assert clock.do(create("y"), create("x", bad_rows=True), DropSource("x_bad"), *take()) == ""
    before = clock.names
    assert clock.do(UndropSource("x_bad")) == "ORIGIN_GENERATION"
    assert clock.names == before


def test_bad_rows_come_back_once_their_source_has_its_name_again(clock: StoppedClock) -> None:
    assert clock.do(create("x", bad_rows=True), DropSource("x_bad"), rename("x", "z")) == ""
    assert clock.do(UndropSource("x_bad")) == "SOURCE_NOT_FOUND"
    assert clock.do(DropSource("z"), UndropSource("z"), rename("z", "x"), UndropSource("x_bad")) == ""
    assert clock.names == ["x", "x_bad"]


def test_a_source_has_one_stream_of_bad_rows(clock: StoppedClock) -> None:
    other = (rename("x", "z"), create("z", bad_rows=True, again=True), rename("z", "x"))
    assert clock.do(create("x", bad_rows=True), DropSource("x_bad"), *other) == ""
    assert clock.names == ["x", "z_bad"]
    assert clock.do(UndropSource("x_bad")) == "ORIGIN_STREAM"
    assert clock.do(DropSource("z_bad"), UndropSource("x_bad")) == ""


def test_what_one_commit_dropped_comes_back_together(clock: StoppedClock) -> None:
    both = RunScript((ScriptMember(drop=DropSource("x_bad")), ScriptMember(drop=DropSource("x"))))
    assert clock.do(create("x", bad_rows=True), both, UndropSource("x")) == ""
    assert clock.names == ["x", "x_bad"]


@pytest.mark.parametrize(("name", "taken"), [("x", "x_bad"), ("bä", "bÄ_bad")])
def test_a_source_waits_until_the_name_of_its_bad_rows_is_free(clock: StoppedClock, name: str, taken: str) -> None:
    """It does not come back without them; the refusal says which name is meant, and what is to be done."""
    assert clock.do(create(name, bad_rows=True), DropSource(name), create(taken)) == ""
    rule = "SOURCE_EXISTS" if taken == f"{name}_bad" else "SOURCE_TAKEN"
    assert clock.do(UndropSource(name)) == rule
    assert clock.names == [taken]
    assert "it has lost the name of its bad rows, " in clock.refused.message
    assert clock.refused.path == "/name"
    assert clock.refused.allowed.startswith("UNDROP after the other one is dropped")
    assert clock.do(rename(taken, "q"), UndropSource(name)) == ""
    assert sorted(clock.names) == sorted(["q", name, f"{name}_bad"])


def test_bad_rows_whose_name_is_taken_are_refused_with_the_way_out(clock: StoppedClock) -> None:
    """After a rename the stream keeps its name, which a new source of the former name can't give to its own."""
    assert clock.do(create("x", bad_rows=True), rename("x", "z"), create("x", bad_rows=True)) == "SOURCE_EXISTS"
    assert clock.refused.message.endswith("stream x_bad already, and the bad rows of x would be called so")
    assert clock.refused.path == "/definition/bad_rows"
    assert clock.refused.allowed == "x without BAD_ROWS = true; or DROP of the other x_bad first"
    assert clock.do(DropSource("x_bad"), create("x", bad_rows=True)) == ""
