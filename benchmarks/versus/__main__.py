"""`python -m benchmarks.versus --before CHECKOUT`: what the same work costs in two checkouts of Treaty.

Every part is measured in a fresh process of each checkout, in turns, so that what else the machine does hits both alike.
A ratio is after / before of one turn; the table shows the median of the turns and an interval that holds the true median
with 95 % at least (the sign test; with fewer than six turns it is the least and the greatest ratio). Times are CPU, user
and system: on a busy machine their ratios mean something, wall time does not.

With `--by instructions` the parts inside, file and server count the instructions that a process executes instead, under
callgrind of valgrind. What else the machine does cannot change these, so one turn of 48 operations tells a difference
of one per cent. A process is then about fifty times slower: batches that end after some time hold fewer commands, and
what the kernel and the disk do is not counted. Hashes count for more than they cost, because valgrind has none of the
processor's own instructions for them.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from math import comb
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from benchmarks import __main__ as results
from benchmarks.row import Row

ROOT = Path(__file__).resolve().parents[2]
MEASURED = {
    "inside": "in process, memory log",
    "file": "in process, SQLite",
    "server": "over HTTP, SQLite",
    "rows": "start",
    "start": "start",
    "memory": "memory",
}
"""The parts with figures, and what stands before the names of these."""
LARGE = {"rows", "start", "memory"}
"""Those that need the large logs."""
COUNTED = ("inside", "file", "server")
"""Those whose instructions can be counted."""
ONCE = {"rows"}
"""Those that come to the same each time, and are measured once."""
LIMIT = 1.05
"""A median above it is worse."""
SURE = 0.95


@dataclass(frozen=True, slots=True)
class Compared:
    """One figure: the values of all turns, and what they come to."""

    name: str
    unit: str
    before: tuple[float, ...]
    after: tuple[float, ...]

    @property
    def ratios(self) -> tuple[float, ...]:
        """After / before of each turn, ascending."""
        return tuple(sorted(after / before for before, after in zip(self.before, self.after, strict=True)))

    @property
    def ratio(self) -> float:
        """The median of the ratios."""
        return median(self.ratios)

    @property
    def interval(self) -> tuple[float, float]:
        """The narrowest pair of ratios, equally many from both ends, that holds the true median with `SURE`."""
        turns, left = len(self.ratios), 0
        while left + 1 < (turns + 1) // 2 and 1 - 2 * _tail(turns, left + 1) >= SURE:
            left += 1
        return self.ratios[left], self.ratios[-1 - left]


def _tail(turns: int, at_most: int) -> float:
    """The chance that at most so many of the turns fall on one side of the true median."""
    return float(sum(comb(turns, number) for number in range(at_most + 1)) / 2**turns)


def main() -> int:
    """Measure, and print the table or JSON. Exit code 1: a figure is worse than the limit."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.versus", description=__doc__)
    parser.add_argument("--before", type=Path, required=True, metavar="CHECKOUT", help="for instance a git worktree")
    parser.add_argument("--after", type=Path, default=ROOT, metavar="CHECKOUT", help="default: this one")
    parser.add_argument("--runs", type=int, default=7, help="turns (default: 7)")
    parser.add_argument("--count", type=int, default=500, help="operations in each of three rounds (default: 500)")
    parser.add_argument("--subjects", type=int, default=1000, help="subjects that are there before (default: 1000)")
    parser.add_argument("--size", type=int, default=20_000, help="schemas of the large logs (default: 20000)")
    parser.add_argument(
        "--part", action="append", choices=tuple(MEASURED), help="only this; may be given several times"
    )
    parser.add_argument(
        "--by", choices=("cpu", "instructions"), default="cpu", help="what is measured (default: cpu); see above"
    )
    parser.add_argument("--write", metavar="TITLE", help="write the figures into RESULTS.md under this title too")
    parser.add_argument("--json", action="store_true", help="print JSON, with the values of all turns")
    given = parser.parse_args()
    sides = (given.before.resolve(), given.after.resolve())
    for side in sides:
        if not (side / "src" / "treaty" / "__init__.py").exists():
            parser.error(f"{side} is no checkout of Treaty")
    counted = given.by == "instructions"
    parts = given.part or (COUNTED if counted else tuple(MEASURED))
    if counted and not set(parts) <= set(COUNTED):
        parser.error(f"--by instructions measures the parts {', '.join(COUNTED)} only")
    with tempfile.TemporaryDirectory(prefix="treaty-versus-") as folder:
        callgrind = make_callgrind(Path(folder)) if counted else ""
        run = Run(sides, folder, given.count, given.subjects, given.size, callgrind)
        compared = list(run.compare(parts, given.runs))
    if given.write:
        rows = [
            Row(part.name, median(part.after), part.unit, median(part.before), part.ratio, LIMIT) for part in compared
        ]
        about = f"the same work in two checkouts, {given.runs} turns: {given.after.name}, against {given.before.name}"
        name = f"{results.VERSUS}{given.write}"
        results.write(results.RESULTS, results.sections(results.RESULTS) | {name: results.section(name, about, rows)})
    if given.json:
        listed = [{**asdict(part), "ratio": part.ratio, "interval": part.interval} for part in compared]
        print(json.dumps({"limit": LIMIT, "cores": os.cpu_count(), "load": os.getloadavg()[2], "figures": listed}))
    else:
        show(compared)
    return int(any(part.ratio > LIMIT for part in compared))


def make_callgrind(folder: Path) -> str:
    """Return a program that runs this Python under callgrind, and counts nothing until it is asked to."""
    environment = folder / "python"
    options = f"--tool=callgrind --fair-sched=try --instr-atstart=no --callgrind-out-file={folder}/%p"
    environment.write_text(f'#!/bin/sh\nexec valgrind -q {options} {sys.executable} "$@"\n')
    environment.chmod(0o755)
    return str(environment)


@dataclass(frozen=True, slots=True)
class Run:
    """Measures both checkouts."""

    sides: tuple[Path, Path]
    folder: str
    count: int
    subjects: int
    size: int
    callgrind: str = ""

    def compare(self, parts: Sequence[str], runs: int) -> Iterator[Compared]:
        """The figures of some parts."""
        if LARGE & set(parts):
            for side in (0, 1):
                self.measure("fill", side)
        for part in parts:
            turns: list[list[dict[str, tuple[float, str]]]] = []
            for turn in range(1 if part in ONCE else runs):
                order = (0, 1) if turn % 2 == 0 else (1, 0)
                figures = {side: self.measure(part, side) for side in order}
                turns.append([figures[0], figures[1]])
                print(f"   {part}: turn {turn + 1}", file=sys.stderr, flush=True)
            for name, (_, unit) in turns[0][1].items():
                values = [tuple(turn[side][name][0] for turn in turns) for side in (0, 1)]
                yield Compared(f"{MEASURED[part]}: {name}", unit, *values)

    def measure(self, part: str, side: int) -> dict[str, tuple[float, str]]:
        """One part of one checkout, in a process of its own that sees nothing of the other one."""
        checkout = self.sides[side]
        asked = {"count": self.count, "subjects": self.subjects, "size": self.size, "folder": f"{self.folder}/{side}"}
        asked["callgrind"] = self.callgrind
        python = self.callgrind if self.callgrind and part != "server" else sys.executable
        program = Path(__file__).with_name("parts.py")
        place = f"{checkout / 'src'}{os.pathsep}{checkout}"
        done = subprocess.run(
            [python, "-P", str(program), part, json.dumps(asked), str(checkout)],
            cwd=self.folder, env={**os.environ, "PYTHONPATH": place, "TREATY_SCHEMAS": str(self.size), "PYTHONHASHSEED": "0"},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise SystemExit(f"{part} of {checkout} failed:\n{done.stderr[-4000:]}")
        costs: dict[str, tuple[float, str]] = json.loads(done.stdout.splitlines()[-1])
        return costs


def show(compared: Sequence[Compared]) -> None:
    """Print the table."""
    table = Table("figure", "before", "after", "unit", "ratio", "interval", f"<= {LIMIT}")
    for part in compared:
        low, high = part.interval
        met = "yes" if part.ratio <= LIMIT else "no"
        values = (f"{median(side):.4g}" for side in (part.before, part.after))
        table.add_row(part.name, *values, part.unit, f"{part.ratio:.3f}", f"{low:.3f} to {high:.3f}", met)
    Console(width=None if sys.stdout.isatty() else 160).print(table)


if __name__ == "__main__":
    sys.exit(main())
