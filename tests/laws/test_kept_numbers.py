"""Which files of sources are kept: by each row that may need them, as long as it may, and no longer."""

from dataclasses import replace
from typing import Any

import pytest

from tests.laws.timed import TimedBench
from treaty.core import limits
from treaty.core.messages.metastore.kept_files import CheckpointName, KeptFiles, KeptNumber, ListKeptFiles
from treaty.core.messages.metastore.sources import (
    ChangeSource,
    CreateSource,
    DropSource,
    SourceDefinition,
    UndropSource,
)
from treaty.core.sources import QueryPlan, SourceColumn, SourceRead
from treaty.core.state.metastore.keys import SourceKey
from treaty.core.state.metastore.tables import SOURCE

COLUMNS = (SourceColumn("id", "INT"),)
KEPT = limits.DROP_GRACE + limits.CLOCK_MARGIN


def define(name: str, **members: Any) -> CreateSource:
    return CreateSource(SourceDefinition(name, "STREAM", "", COLUMNS, **{"place": name, **members}), replace=True)


def select(name: str, body: str = "SELECT id FROM a") -> CreateSource:
    return define(name, connector="delta", query=QueryPlan(body, (SourceRead("a", 1, "a"),)))


@pytest.fixture
def bench() -> TimedBench:
    """a is a topic, f and i are in folders; q, of generation 4, reads a."""
    bench = TimedBench()
    bench.do(define("a"))
    bench.do(define("f", connector="files"))
    bench.do(define("i", connector="iceberg"))
    bench.do(select("q"))
    return bench


def ask(bench: TimedBench, *generations: int, names: tuple[CheckpointName, ...] = (), places: str = "") -> KeptFiles:
    return bench.do(ListKeptFiles(names, generations, tuple(places.split())))


def numbers(bench: TimedBench, first: int = 4) -> dict[int, KeptNumber]:
    names = tuple(CheckpointName(first, number) for number in range(bench.tables.sequence + 1))
    return {number.number: number for number in ask(bench, names=names).incarnations}


def test_every_generation_of_a_source_is_needed_while_it_is_there_and_may_return_after_it_was_dropped(
    bench: TimedBench,
) -> None:
    generations = [4]
    for _ in range(2):
        bench.do(DropSource("q"))
        bench.do(UndropSource("q"))
        generations.append(bench.tables.sequence)
    expected = tuple(KeptNumber(number, needed=True) for number in generations)
    assert ask(bench, 77, *generations).generations == expected
    bench.do(DropSource("q"))
    for age, is_kept in ((0, True), (KEPT, True), (KEPT + 1, False)):
        answer = ask(replace_clock(bench, age), *generations)
        assert answer.generations == (
            tuple(KeptNumber(number, returns=True) for number in generations) if is_kept else ()
        )
        assert set(numbers(replace_clock(bench, age))) == ({4} if is_kept else set())
        assert ask(replace_clock(bench, age), places="q f").places == (("q", "f") if is_kept else ("f",))


def replace_clock(bench: TimedBench, age: int) -> TimedBench:
    """The same tables, so many ms later than at first."""
    later = TimedBench()
    later.tables, later.now = bench.tables, TimedBench.now + age
    return later


def test_numbers_of_a_source_that_came_back_are_known_by_its_first_generation(bench: TimedBench) -> None:
    for _ in range(2):
        bench.do(DropSource("q"))
        bench.do(UndropSource("q"))
    bench.do(ChangeSource("q", restart="RESET"))
    began = bench.tables.sequence
    assert numbers(bench) == {
        4: KeptNumber(4, returns=True, until=began, generation=4), began: KeptNumber(began, needed=True, generation=4),
    }  # fmt: skip
    bench.do(DropSource("q"))
    assert numbers(bench) == {
        4: KeptNumber(4, returns=True, until=began, generation=4), began: KeptNumber(began, returns=True, generation=4),
    }  # fmt: skip


def test_a_checkpoint_to_which_several_queries_lead_is_needed_if_one_of_them_needs_it(bench: TimedBench) -> None:
    """The query that runs and those before it may be on one checkpoint; the former ones say no less and no more of it."""
    for number in range(3):
        bench.do(select("q", f"SELECT id + {number} AS id FROM a"))
    assert numbers(bench) == {4: KeptNumber(4, needed=True, returns=True, generation=4)}
    bench.do(ChangeSource("q", restart="RESET"))
    began = bench.tables.sequence
    bench.do(select("q", "SELECT 7 AS id FROM a"))
    assert numbers(bench)[4] == KeptNumber(4, returns=True, until=began, generation=4)
    assert numbers(bench)[began] == KeptNumber(began, needed=True, returns=True, generation=4)
    source = bench.tables.get(SOURCE, SourceKey("q"))
    assert source is not None
    assert len({query.began for query in source.previous}) == 2


@pytest.mark.parametrize(
    ("places", "named"),
    [("q/ f i", "q/ f i"), ("./q/x Q//y /i/./z", "./q/x Q//y /i/./z"), ("a qq q-2", ""), ("b/q .. x/../q", "")],
)
def test_folders_of_files_and_tables_are_kept_and_topics_are_none(bench: TimedBench, places: str, named: str) -> None:
    assert ask(bench, places=places).places == tuple(named.split())


def test_each_kind_of_name_counts_for_the_bound_of_a_question(bench: TimedBench) -> None:
    request = ListKeptFiles((CheckpointName(4, 4),) * (limits.KEPT_FILES - 2), (4,), ("q",))
    assert len(bench.do(request).generations) == 1
    for more in (
        replace(request, generations=(4, 4)), replace(request, places=("q", "q")),
        replace(request, incarnations=(*request.incarnations, CheckpointName(4, 4))),
    ):  # fmt: skip
        assert not hasattr(bench.verdict(more, "asked"), "answer")
