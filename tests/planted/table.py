"""The table of planted bugs: `bugs/*.toml`, one table for all folders of tests; `README.md` says what a row holds."""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.planted import swaps
from tests.planted.bug import ANY, Bug, ByLives, ByTests, Change, Edit, Swap

BUGS_FOLDER = Path(__file__).parent / "bugs"
MEMBERS = frozenset({"does", "in", "old", "new", "swap", "edits", "tests", "error", "lives"})
CHANGE_MEMBERS = frozenset({"in", "old", "new", "swap"})
LIFE_MEMBERS = frozenset({"log", "first", "count", "step", "laws", "events"})


class BadRowError(ValueError):
    """A row of the table has other members than rows have; the message begins with its name."""


def read_table(folder: Path = BUGS_FOLDER) -> Iterator[Bug]:
    """The bugs of all files of a folder. Raises `BadRowError`."""
    for file in sorted(folder.glob("*.toml")):
        for name, row in tomllib.loads(file.read_text()).items():
            yield read_row(name, row)


def read_row(name: str, row: Mapping[str, Any]) -> Bug:
    """A bug from a row. Raises `BadRowError`."""
    _refuse_others(name, row, MEMBERS)
    changes = tuple(_change(name, one) for one in row.get("edits", (row,)))
    tests = row.get("tests", ())
    by_tests = tuple(f"tests/{one}" for one in ((tests,) if isinstance(tests, str) else tests))
    lives = _lives(name, row["lives"]) if "lives" in row else None
    finder = ByTests(by_tests, row.get("error", "")) if by_tests else lives
    return Bug(name, row["does"], changes, finder, lives if by_tests else None)


def _change(name: str, row: Mapping[str, Any]) -> Change:
    file, _, function = row["in"].partition(" ")
    package = "" if file.startswith("tests/") else "treaty."
    target = f"{package}{file.removesuffix('.py').replace('/', '.')}:{function}"
    if "swap" in row:
        return Swap(target, getattr(swaps, row["swap"]))
    if not {"old", "new"} <= row.keys():
        raise BadRowError(f"{name}: a change has `in` with `old` and `new`, or with `swap`")
    return Edit(target, row["old"], row["new"])


def _lives(name: str, row: Mapping[str, Any]) -> ByLives:
    _refuse_others(name, row, LIFE_MEMBERS)
    first, count, step = row.get("first", 0), row.get("count", 100), row.get("step", 1)
    return ByLives(
        row.get("log", "rows"),
        range(first, first + count * step, step),
        frozenset(row.get("laws", ANY).split()),
        frozenset(filter(None, row.get("events", "").split(","))),
    )


def _refuse_others(name: str, row: Mapping[str, Any], known: frozenset[str]) -> None:
    if others := row.keys() - known:
        raise BadRowError(
            f"{name}: a row has no member {', '.join(sorted(others))}; it may have {', '.join(sorted(known))}"
        )


BUGS = tuple(read_table())
