"""Recorded traces: compared with the record to the letter, and made anew by one command."""

import difflib
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "cases" / "traces"
REMAKE = "python -m tests.traces"
SHOWN = 40
"""Lines of a difference that a failure shows."""


def file_of(name: str) -> Path:
    """The record of a scenario."""
    return FOLDER / f"{name}.txt"


def compare(name: str, text: str) -> None:
    """Fail with the lines that differ where a record says something else."""
    file = file_of(name)
    before = file.read_text("utf-8") if file.exists() else ""
    if before == text:
        return
    lines = [*difflib.unified_diff(before.splitlines(), text.splitlines(), "recorded", "traced", lineterm="", n=3)]
    more = f"\n… and {len(lines) - SHOWN} further lines" if len(lines) > SHOWN else ""
    pytest.fail(
        f"{file.name}: what the nodes do is not what was recorded.\n" + "\n".join(lines[:SHOWN]) + more + "\n"
        f"If the change is meant, remake the record and commit it with the change: {REMAKE} {name}",
        pytrace=False,
    )
