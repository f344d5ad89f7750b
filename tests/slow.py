"""Tests that are no part of `make quick`, because they cost too much for it: `slow.txt` has their names, as measured.

`python -m tests.slow FILE` writes the names anew, from what `make test` took (`--costs FILE`, see `tests/costs.py`). Tests that
have been named stay where FILE does not know them.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

NAMES = Path(__file__).with_name("slow.txt")
MOST = 0.35
"""CPU seconds that a test may cost in `make quick`."""
CASES = 6
"""Of each test `make quick` runs so many parameters at most (`--cases`)."""
WHOLE = {
    "test_a_node_does_what_was_recorded",
    "test_an_operation_answers_as_recorded",
    "test_calls_return_what_was_recorded",
    "test_plans_answer_as_recorded",
}
"""Tests of which `make quick` runs all parameters: each of them sees what no other one does."""
QUICK = {"test_the_laws_hold_in_a_few_lives", "test_the_laws_hold_in_the_first_lives", *WHOLE}
"""Tests that may cost more: the lives of the simulations, which see the most, and `WHOLE`."""


def name_of(path: PurePosixPath | Path, test: str) -> str:
    """How lists name a test: its folder, its file and its function."""
    return f"{path.parent.name}/{path.stem}::{test.partition('[')[0]}"


def read_names() -> frozenset[str]:
    """The names of all slow tests."""
    return frozenset(NAMES.read_text("utf-8").split())


SLOW = read_names()


def choose(costs: Iterable[tuple[str, float, float]]) -> set[str]:
    """The names of those tests that cost too much, and of those that nobody has measured."""
    found: defaultdict[str, list[float]] = defaultdict(list)
    for test, _, cpu in costs:
        file, _, rest = test.partition("::")
        found[name_of(PurePosixPath(file), rest.rpartition("::")[2])].append(cpu)
    dear = {one for one, cpu in found.items() if sum(cpu) * min(1, CASES / len(cpu)) > MOST}
    return {one for one in dear | (SLOW - found.keys()) if one.partition("::")[2] not in {*QUICK, "runTest"}}


if __name__ == "__main__":
    with Path(sys.argv[1]).open(encoding="utf-8") as file:
        NAMES.write_text("".join(f"{one}\n" for one in sorted(choose(map(json.loads, file)))), "utf-8")
