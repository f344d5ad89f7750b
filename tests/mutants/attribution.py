"""Which mutant is behind which failure: what the nearest tests do not find is planted together in a copy of the tree, and everything is run there once.

Each mutant then runs a few of the tests that failed alone, telling ones first. Those that no test found are planted together
again, without the others, and what failed is run once more: mostly it passes, and none of them is found by any test. Only where
a round finds none does each mutant that is left run all tests that it may be behind.
"""

import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import takewhile
from pathlib import Path

from tests.mutants.nearest import Coverage
from tests.mutants.results import Verdict
from tests.mutants.sample import Mutant
from tests.mutants.together import Failure, copy_tree, everything_that_fails, fail_again, find_cold, plant
from tests.mutants.worker import Order, Worker, side_by_side

FIRST_TESTS, TESTS = 8, 60
"""How many of the tests that failed are run with one mutant alone: at first, and at most."""
ALONE_SECONDS = 30.0
"""What these may take together, by what each took before; one is always run."""


def run_together(
    mutants: Sequence[Mutant], known: Coverage, report: Callable[[Verdict], None], *, workers: int, until: float
) -> set[str]:
    """Plant mutants together, run everything, and attribute what fails. Those that meet another one come in a tree of their own.

    Returns the tests that failed and that no mutant explains alone.
    """
    unexplained: set[str] = set()
    waiting = [*mutants]
    while waiting and time.monotonic() < until:
        with tempfile.TemporaryDirectory() as folder:
            tree = Path(folder)
            copy_tree(tree)
            left = plant(tree, waiting)
            planted = [one for one in waiting if one not in left]
            if not planted:
                break
            failures, ended = everything_that_fails(tree, workers, until)
        attribution = Attribution(known, report, until, everything_ran=ended)
        unexplained |= attribution.settle(planted, failures, workers)
        waiting = left
    return unexplained


def in_order(failures: Sequence[Failure], suspects: Mapping[str, int], explained: Collection[str]) -> list[Failure]:
    """Failures by how much they tell of one mutant.

    Those come first that nothing explains yet, then one of each kind, from different files; and among these the ones that few
    mutants may be behind and that take little.
    """
    telling = sorted(failures, key=lambda one: (one.test in explained, suspects[one.test], one.seconds))
    kinds: Counter[tuple[str, str]] = Counter()
    files: Counter[str] = Counter()
    ranks: dict[str, tuple[bool, int, int]] = {}
    for one in telling:
        ranks[one.test] = (one.test in explained, kinds[one.kind], files[one.file])
        kinds[one.kind] += 1
        files[one.file] += 1
    return sorted(telling, key=lambda one: ranks[one.test])


def within(failures: Sequence[Failure], most: int, seconds: float) -> list[Failure]:
    """The first failures: so many at most, and no further one after so many seconds."""
    spent = [sum(one.seconds for one in failures[:at]) for at in range(min(most, len(failures)))]
    return [one for one, _ in takewhile(lambda pair: pair[1] < seconds, zip(failures, spent, strict=False))]


class Attribution:
    """The verdicts about mutants that were planted together."""

    def __init__(
        self, known: Coverage, report: Callable[[Verdict], None], until: float, *, everything_ran: bool = True
    ) -> None:
        self._known, self._report, self._until = known, report, until
        self._everything_ran = everything_ran
        self._seconds = dict(zip(known.tests, known.seconds, strict=True))
        self._by_mutant: dict[str, list[Failure]] = {}
        self._suspects: Counter[str] = Counter()
        self._explained: set[str] = set()
        self._broken: set[str] = set()
        """Tests that fail without any mutant too: they explain nothing."""
        self._found: set[str] = set()
        self._lock = threading.Lock()

    def settle(self, mutants: Sequence[Mutant], failures: Sequence[Failure], processes: int) -> set[str]:
        """Report a verdict about each mutant, as long as there is time. Returns the tests that nothing explains."""
        files = sorted({one.file for one in failures})
        waiting = [replace(one, seconds=self._seconds.get(one.test, one.seconds)) for one in failures]
        left, unexplained, thorough = [*mutants], set[str](), False
        with ExitStack() as stack:
            workers = [stack.enter_context(Worker(files)) for _ in range(processes)]
            while left:
                self._suspect(left, waiting)
                left = self._drop(left, [one for one in left if not self._by_mutant[one.key]])
                unexplained |= {one.test for one in waiting if one.test not in self._suspects}
                waiting = [one for one in waiting if one.test in self._suspects]
                side_by_side(workers, left, partial(self._look, thorough=thorough), self._until)
                if time.monotonic() >= self._until:
                    return set()
                hidden = [one for one in left if one.key not in self._found]
                if thorough or not hidden:
                    self._drop(hidden, hidden)
                    break
                still = self._again(waiting, hidden, processes)
                thorough = len(hidden) == len(left) and len(still) == len(waiting)
                left, waiting = hidden, still
        return (unexplained | {one.test for one in waiting}) - self._explained - self._broken

    def _suspect(self, mutants: Sequence[Mutant], failures: Sequence[Failure]) -> None:
        """Note which failures each mutant may be behind: tests that run it, and those of which nobody knows what they run."""
        by_mutant: dict[str, list[Failure]] = {}
        for one in mutants:
            covering = {self._known.tests[number] for number in self._known.of(one)}
            by_mutant[one.key] = [each for each in failures if each.test in covering or each.test not in self._seconds]
        self._by_mutant = by_mutant
        self._suspects = Counter(one.test for each in by_mutant.values() for one in each)

    def _drop(self, mutants: Sequence[Mutant], unfound: Sequence[Mutant]) -> list[Mutant]:
        """Report those that no test finds, if everything has run; returns the others."""
        for one in unfound if self._everything_ran else ():
            self._report(Verdict(one.key, "all"))
        return [one for one in mutants if one not in unfound]

    def _look(self, worker: Worker, mutant: Mutant, *, thorough: bool) -> None:
        """Run the tests of one mutant alone."""
        begun = time.monotonic()
        with self._lock:
            ordered = in_order(self._by_mutant[mutant.key], self._suspects, self._explained)
        tests = [one.test for one in within(ordered, TESTS if thorough else FIRST_TESTS, ALONE_SECONDS)]
        found = self._first_failure(worker, tests, mutant, thorough=thorough)
        if not found:
            return
        with self._lock:
            self._found.add(mutant.key)
        self._report(Verdict(mutant.key, "all", found, round(time.monotonic() - begun, 2)))
        if found != "hang":
            self._explain(worker, mutant, found, ordered)

    def _first_failure(self, worker: Worker, tests: Sequence[str], mutant: Mutant, *, thorough: bool) -> str:
        """The first test that fails with a mutant and passes without one; empty where there is none."""
        while (waiting := [test for test in tests if test not in self._broken]) and time.monotonic() < self._until:
            came = worker.ask(self._order(waiting, mutant))
            if came.hung:
                return "hang"
            found = came.failed[0] if came.failed else ""
            if not found and not came.ran and thorough:
                found = find_cold(waiting, mutant, self._until) or ""
            if not found:
                return ""
            alone = worker.ask(self._order([found]))
            if not alone.failed:
                return "" if alone.cut else found
            with self._lock:
                self._broken.add(found)
        return ""

    def _order(self, tests: Sequence[str], mutant: Mutant | None = None, *, every: bool = False) -> Order:
        return Order(tests, mutant.edit if mutant else None, every, max(0.0, self._until - time.monotonic()))

    def _explain(self, worker: Worker, mutant: Mutant, found: str, ordered: Sequence[Failure]) -> None:
        """Run the other tests that a mutant may be behind, one of each kind; those that pass with it wait for another one."""
        kinds = {one.kind: one for one in reversed(ordered) if one.test not in self._explained | self._broken}
        others = [one for one in kinds.values() if one.test != found]
        tests = [one.test for one in within(others, TESTS, ALONE_SECONDS)]
        came = worker.ask(self._order(tests, mutant, every=True)) if tests else None
        passed = {test for test in tests if came and not came.hung and not came.cut and test not in came.failed}
        alike = {one.kind for one in others if one.test in passed}
        with self._lock:
            self._explained |= {found, *(one.test for one in ordered if one.kind not in alike)}

    def _again(self, failures: Sequence[Failure], mutants: Sequence[Mutant], processes: int) -> list[Failure]:
        """The failures that come with these mutants alone, planted together; all where that can't be said."""
        near = {one.test for mutant in mutants for one in self._by_mutant[mutant.key]}
        waiting = [one for one in failures if one.test in near - self._broken]
        if not waiting:
            return []
        with tempfile.TemporaryDirectory() as folder:
            tree = Path(folder)
            copy_tree(tree)
            still = None if plant(tree, mutants) else fail_again(tree, waiting, processes, self._until)
        return waiting if still is None else still
