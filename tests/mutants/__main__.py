"""`python -m tests.mutants`: the share of small mistakes that the tests find, over a sample drawn by a seed. `make mutants` runs it."""

import argparse
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from tests.mutants.attribution import run_together
from tests.mutants.nearest import STORE, Coverage, TimeOverError, coverage, file_of, fingerprint
from tests.mutants.results import Results, Verdict, as_json, as_lines, read_equivalents, read_rate, score
from tests.mutants.sample import ROOMS, Mutant, sample
from tests.mutants.together import breaks_imports, find
from tests.mutants.worker import Worker, side_by_side


@dataclass(frozen=True, slots=True)
class Choices:
    """What a run was asked for."""

    seed: int
    count: int
    rooms: tuple[str, ...]
    workers: int
    minutes: float
    near_only: bool
    record: bool
    gate: bool
    json: str


def read_choices(arguments: Sequence[str] | None = None) -> Choices:
    """The choices of a command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--seed", type=int, default=20260321, help="draws the sample")
    parser.add_argument("--count", type=int, default=60, help="how many mutants")
    parser.add_argument("--rooms", default=",".join(ROOMS), help="folders or files below src/treaty, parted by commas")
    parser.add_argument("--workers", type=int, default=2, help="processes at one time")
    parser.add_argument(
        "--minutes",
        type=float,
        default=180,
        help="the whole run ends after so long; what no test was run with then counts neither way",
    )
    parser.add_argument("--near", action="store_true", help="only the nearest tests, which are quick")
    parser.add_argument(
        "--record", action="store_true", help="record anew what tests run; old records make worse choices"
    )
    parser.add_argument("--gate", action="store_true", help="fail where fewer are found than rate.toml says")
    parser.add_argument("--json", default="", metavar="FILE", help="write the figures to a file too")
    given = parser.parse_args(arguments)
    rooms = tuple(filter(None, given.rooms.split(",")))
    return Choices(
        seed=given.seed, count=given.count, rooms=rooms, workers=given.workers, minutes=given.minutes, near_only=given.near,
        record=given.record, gate=given.gate, json=given.json,
    )  # fmt: skip


class Run:
    """One run over a sample: the nearest tests of each mutant, then everything for those that are left."""

    def __init__(self, choices: Choices, console: Console) -> None:
        self.choices, self.console = choices, console
        self.until = time.monotonic() + choices.minutes * 60
        self.results = Results(STORE / f"results-{fingerprint()}.jsonl")
        self._lock = threading.Lock()

    def near(self, mutants: Sequence[Mutant], known: Coverage) -> None:
        """Run the nearest tests of each mutant that has no verdict yet."""
        waiting = [one for one in mutants if self.results.of(one) is None]
        tests = {one.key: known.nearest(one) for one in waiting}
        files = sorted({file_of(test) for each in tests.values() for test in each})
        with self._bar() as progress, ExitStack() as stack:
            task = progress.add_task("the nearest tests", total=len(waiting))
            workers = [stack.enter_context(Worker(files)) for _ in range(self.choices.workers)]

            def work(worker: Worker, one: Mutant) -> None:
                verdict = self._look(one, tests[one.key], worker)
                if verdict:
                    self.report(verdict)
                    progress.advance(task)

            side_by_side(workers, waiting, work, self.until)

    def _bar(self) -> Progress:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        return Progress(*columns, console=self.console)

    def _look(self, mutant: Mutant, tests: Sequence[str], worker: Worker) -> Verdict | None:
        if not tests:
            return Verdict(mutant.key, "near", "an import" if breaks_imports(mutant) else "")
        begun = time.monotonic()
        found = find(worker, tests, mutant, self.until)
        return None if found is None else Verdict(mutant.key, "near", found, round(time.monotonic() - begun, 2))

    def all(self, mutants: Sequence[Mutant], known: Coverage, equivalents: Sequence[str]) -> None:
        """Run everything for those that the nearest tests did not find."""
        near = [
            one
            for one in mutants
            if (verdict := self.results.of(one)) and verdict.stage == "near" and not verdict.found_by
        ]
        left = [one for one in near if one.key not in equivalents]
        if not left or time.monotonic() >= self.until:
            return
        self.console.print(
            f"{len(left)} were not found by the nearest tests: they are planted together, and everything is run"
        )
        with self._bar() as progress:
            task = progress.add_task("what failed, one mutant at a time", total=len(left))

            def settle(verdict: Verdict) -> None:
                self.report(verdict)
                progress.advance(task)

            unexplained = run_together(left, known, settle, workers=self.choices.workers, until=self.until)
        for test in sorted(unexplained):
            self.console.print(f"failed with all of them, and with none of them alone: {test}", markup=False)

    def report(self, verdict: Verdict) -> None:
        """Keep a verdict."""
        with self._lock:
            self.results.add(verdict)


def main() -> int:
    """Run, print the figures, and fail where the gate says so."""
    choices, console = read_choices(), Console(soft_wrap=True)
    run, equivalents = Run(choices, console), read_equivalents()
    console.print(f"seed {choices.seed}: {choices.count} mutants of {', '.join(choices.rooms)}")
    mutants = sample(choices.seed, choices.count, choices.rooms)
    stopped = False
    try:
        known = coverage(choices.workers, until=run.until, anew=choices.record)
        run.near(mutants, known)
        if not choices.near_only:
            run.all(mutants, known, [*equivalents])
    except TimeOverError:
        console.print(f"recording what tests run was not done in {choices.minutes:g} minutes")
    except KeyboardInterrupt:
        stopped = True
        console.print("stopped: the same command goes on from here")
    figures = score(mutants, run.results, equivalents)
    for line in as_lines(figures, run.results):
        console.print(line, markup=False, highlight=False)
    if choices.json:
        found_by = {one.key: verdict.found_by for one in mutants if (verdict := run.results.of(one))}
        Path(choices.json).write_text(as_json(figures, seed=choices.seed, rooms=choices.rooms, found_by=found_by))
    if choices.gate and figures.rate < read_rate():
        console.print(f"{figures.rate:.1%} were found, and tests/mutants/rate.toml asks for {read_rate():.1%}")
        return 1
    return 130 if stopped else 0


if __name__ == "__main__":
    sys.exit(main())
