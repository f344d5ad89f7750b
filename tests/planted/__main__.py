"""`python -m tests.planted [--search | --table] [NAME ...]`: find planted bugs, search for seeds that find them, or list them."""

import argparse
import sys
import time
from collections.abc import Iterable, Iterator

import pytest

from tests.planted.bug import Bug, ByLives, ByTests
from tests.planted.finding import Forge, found_by_lives, found_by_tests
from tests.planted.planting import planted
from tests.planted.table import BUGS
from tests.simulation.events import table
from tests.simulation.scenario import run


def search(bug: Bug, finder: ByLives, seeds: range, seconds: float) -> Iterator[str]:
    """Tell every seed that finds a bug, with the law that broke and the processor time of the life."""
    begun = time.process_time()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table, "ALWAYS", finder.events)
        for seed in seeds:
            before = time.process_time()
            with planted(bug) as ran:
                broken = run(seed, log=finder.log).broken
            now = time.process_time()
            if broken is not None:
                yield f"  seed {seed} ({now - before:.1f} s, {now - begun:.1f} s in all): {str(broken)[:150]}"
            if now - begun > seconds:
                yield f"  given up after seed {seed}; the planted code {'ran' if ran else 'did not run'} in it"
                return


def find(bug: Bug, forge: Forge) -> str:
    """A row of the table of bugs: the name, what it does, who found it, and the seconds."""
    found = []
    try:
        for finder in [one for one in (bug.finder, bug.also) if one]:
            if isinstance(finder, ByLives):
                seconds, seed = found_by_lives(bug, finder)
                found.append((f"{finder.kind}, seed {seed}", seconds))
            else:
                found.append((finder.kind, found_by_tests(bug, forge)))
    except Exception as error:  # noqa: BLE001 - the other rows are wanted too
        return f"| {bug.name} | NOT FOUND | {str(error)[:300]} | |"
    if not found:
        return f"| {bug.name} | {bug.does} | no test yet | |"
    who, long = zip(*found, strict=True)
    return f"| {bug.name} | {bug.does} | {'; '.join(who)} | {'; '.join(f'{one:.1f}' for one in long)} |"


def table_of(bugs: Iterable[Bug]) -> Iterator[str]:
    """The lines of a table in Markdown: bugs, where they are planted, and what finds them."""
    yield "| bug | what it does | function | found by |\n|---|---|---|---|"
    for bug in bugs:
        finders = [
            ", ".join(one.tests) if isinstance(one, ByTests) else one.kind for one in (bug.finder, bug.also) if one
        ]
        functions = dict.fromkeys(one.target.partition(":")[2] for one in bug.changes)
        yield f"| {bug.name} | {bug.does} | {', '.join(functions)} | {'; '.join(finders) or 'no test yet'} |"


def main() -> int:
    """Find some bugs, or all."""
    parser = argparse.ArgumentParser(prog="python -m tests.planted")
    parser.add_argument("names", nargs="*", help="parts of names of bugs; all without")
    parser.add_argument("--search", action="store_true", help="tell every seed that finds the bug")
    parser.add_argument(
        "--table", action="store_true", help="print the table with the finders that it names; run nothing"
    )
    parser.add_argument("--seed", type=int, default=0, help="the first seed of a search")
    parser.add_argument("--count", type=int, default=300, help="how many seeds are searched")
    parser.add_argument("--seconds", type=float, default=60, help="processor time of a search, for each bug")
    given = parser.parse_args()
    chosen = [bug for bug in BUGS if not given.names or any(name in bug.name for name in given.names)]
    if given.table:
        print("\n".join(table_of(chosen)))
        return 0
    with Forge() as forge:
        for bug in chosen:
            finder = bug.finder if isinstance(bug.finder, ByLives) else bug.also
            if not given.search:
                print(find(bug, forge), flush=True)
            elif finder is not None:
                print(bug.name)
                for line in search(bug, finder, range(given.seed, given.seed + given.count), given.seconds):
                    print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
