"""What failed with several mutants planted together is attributed to the right one, by tests that really run."""

import time
from pathlib import Path

import pytest

from tests.mutants.attribution import Attribution, in_order, within
from tests.mutants.nearest import Coverage, TimeOverError, read_coverage, record_files
from tests.mutants.recording import block_around
from tests.mutants.results import Verdict
from tests.mutants.sample import SOURCES, Mutant
from tests.mutants.together import Failure, fail_again
from tests.mutants.worker import Order, Worker, side_by_side

FILE, TESTS = "core/iglu_key.py", "tests/laws/test_label_cases.py"
LABELS = [
    f"{TESTS}::test_a_label_is_found_to_say_what_changed_or_not[{name}]"
    for name in ("addition-that-breaks-all", "model-that-reads-all")
]
ALONE = f"{TESTS}::test_nothing_that_runs_a_mutant"


def mutant(old: str, new: str) -> Mutant:
    lines = (SOURCES / FILE).read_text().splitlines()
    line = next(number for number, text in enumerate(lines, 1) if old in text)
    return Mutant("constant", FILE, "SchemaVer.parse", line, old, new)


LOUD = mutant("return cls(*numbers)", "return cls(*numbers, 1)")
SILENT = mutant("max(numbers) > _HIGHEST", "max(numbers) >= _HIGHEST")


def coverage(*tests: str) -> Coverage:
    """The labels run both mutants, and the other tests none."""
    source = (SOURCES / FILE).read_text()
    blocks = {f"{FILE}:{block_around(source, one.line)}" for one in (LOUD, SILENT)}
    names = [*LABELS, *tests]
    return Coverage(names, [0.1] * len(names), [1] * len(names), {block: [*range(len(LABELS))] for block in blocks})


def soon() -> float:
    return time.monotonic() + 300


def test_what_tells_most_comes_first() -> None:
    rows = [
        ("a::1", "x", 3.0),
        ("a::2", "x", 1.0),
        ("a::3", "y", 2.0),
        ("b::1", "x", 5.0),
        ("c::1", "x", 0.1),
        ("d::1", "x", 0.2),
    ]
    failures = [Failure(*row) for row in rows]
    suspects = {"a::1": 2, "a::2": 2, "a::3": 2, "b::1": 1, "c::1": 9, "d::1": 1}
    ordered = [one.test for one in in_order(failures, suspects, {"d::1"})]
    assert ordered == ["b::1", "a::2", "c::1", "a::3", "a::1", "d::1"]


def test_one_test_is_run_however_long_it_takes() -> None:
    failures = [Failure("a", seconds=50.0), Failure("b", seconds=1.0)]
    assert within(failures, 9, 30.0) == failures[:1]
    assert within(failures[::-1], 9, 30.0) == failures[::-1]
    assert within(failures[::-1], 1, 30.0) == failures[1:]
    assert within([], 9, 30.0) == []


def test_a_mutant_that_a_test_finds_and_one_that_none_finds() -> None:
    verdicts: list[Verdict] = []
    attribution = Attribution(coverage(ALONE), verdicts.append, soon())
    unexplained = attribution.settle([LOUD, SILENT], [Failure(one, "p") for one in (*LABELS, ALONE)], 1)
    assert {one.key: one.found_by in LABELS for one in verdicts} == {LOUD.key: True, SILENT.key: False}
    assert [one.found_by for one in verdicts if one.key == SILENT.key] == [""]
    assert unexplained == {ALONE}


@pytest.mark.parametrize("ran", [True, False])
def test_nothing_is_said_of_a_mutant_for_which_there_was_no_time(*, ran: bool) -> None:
    verdicts: list[Verdict] = []
    over = Attribution(coverage(), verdicts.append, time.monotonic(), everything_ran=ran)
    assert over.settle([LOUD, SILENT], [Failure(one) for one in LABELS], 1) == set()
    cut = Attribution(coverage(), verdicts.append, soon(), everything_ran=ran)
    cut.settle([LOUD, SILENT], [], 1)
    assert [one.stage for one in verdicts] == (["all", "all"] if ran else [])


def test_a_run_that_did_not_end_says_nothing(tmp_path: Path) -> None:
    assert fail_again(tmp_path, [Failure(LABELS[0])], 1, time.monotonic()) is None


def test_files_are_recorded_alone() -> None:
    known = read_coverage(record_files([TESTS], 2, soon()))
    assert len(known.tests) > 1
    assert all(test.startswith(TESTS) for test in known.tests)
    assert len(known.of(LOUD)) > 1
    with pytest.raises(TimeOverError):
        record_files([TESTS], 2, time.monotonic())


def test_an_order_ends_with_the_time_of_the_run() -> None:
    with Worker([TESTS]) as worker:
        came = worker.ask(Order(LABELS, seconds=0.0))
        assert (came.cut, came.hung, came.failed) == (True, False, [])
        assert worker.ask(Order(LABELS)).passed == len(LABELS)


def test_workers_share_what_is_to_do_and_an_error_ends_them() -> None:
    done: list[int] = []
    workers = [Worker([]), Worker([])]
    side_by_side(workers, range(40), lambda _, number: done.append(number), soon())
    assert sorted(done) == [*range(40)]
    side_by_side(workers, range(40), lambda _, number: done.append(number), time.monotonic())
    assert len(done) == 40
    with pytest.raises(ZeroDivisionError):
        side_by_side(workers, range(40), lambda _, number: done.append(1 // number), soon())
    assert len(done) < 80
