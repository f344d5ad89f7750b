"""Two texts side by side: each line stands in a row, equal lines are equal, and repeated lines take few steps."""

import difflib
import sys
from types import FrameType
from typing import Any

import pytest
from markupsafe import escape

from treaty.core.messages.differences import ComparedSchema, SchemasCompared
from treaty.web.schemas import side_by_side

MOST_LINES = 400_000
"""Lines of `difflib` that a comparison of 600 lines may run."""


def compare(old: list[str], new: list[str]) -> list[side_by_side.SideRow]:
    """Return all rows; checks that each line stands in one row, in order, and that rows said to be the same are."""
    left, right = ("\n".join(lines) for lines in (old, new))
    compared = SchemasCompared(ComparedSchema("TEXT", right, ""), ComparedSchema("TEXT", left, ""))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(side_by_side, "AROUND", 10_000)
        rows = side_by_side.list_rows(compared, escape)
    assert [row.left for row in rows if row.left] == list(range(1, len(old) + 1))
    assert [row.right for row in rows if row.right] == list(range(1, len(new) + 1))
    assert all(old[row.left - 1] == new[row.right - 1] for row in rows if row.kind == "same")
    return rows


def test_repeated_blocks_take_few_steps() -> None:
    ran = 0

    def count(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal ran
        if frame.f_code.co_filename != difflib.__file__:
            return None
        ran += event == "line"
        if ran > MOST_LINES:
            raise AssertionError("too many steps")
        return count

    old = [line for at in range(120) for line in ("{", "a", "b", "}", f"x{at % 40}")]
    new = [line for at in range(120) for line in ("{", "b", "a", "}", f"y{at % 40}")]
    before = sys.gettrace()
    sys.settrace(count)
    try:
        rows = compare(old, new)
    finally:
        sys.settrace(before)
    assert rows[0].kind == "same"


def test_a_changed_line_among_repeated_ones_is_the_one_that_is_shown() -> None:
    old = ["{", "a", "}"] * 300
    for at in (0, 450, 899):
        new = [*old[:at], "other", *old[at + 1 :]]
        assert [(row.left, row.right) for row in compare(old, new) if row.kind != "same"] == [(at + 1, at + 1)]


def test_lines_beside_lines_that_come_once_are_paired() -> None:
    old = [line for at in range(200) for line in ("{", f"x{at}", "}")]
    new = [line for at in range(200) if at not in {3, 90} for line in ("{", f"x{at}", "}")]
    rows = compare(["first", *old, "last"], ["begin", *new, "end"])
    assert sum(row.kind == "removed" for row in rows) == 6
    assert sum(row.kind == "changed" for row in rows) == 2
