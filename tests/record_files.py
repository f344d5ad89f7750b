"""Files of recorded answers: compared to the letter by tests, and written again by the command that each suite has."""

import difflib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pytest

SHOWN = 40
"""Lines of a difference that a failure shows."""
Note = Callable[[Sequence[str]], str]
"""What a suite says of the lines of a difference, in a line of its own."""


def compare(file: Path, text: str, remake: str, note: Note | None = None) -> None:
    """Fail with the lines that differ where a record says something else, and with the command that remakes it."""
    recorded = file.read_text("utf-8") if file.exists() else ""
    if recorded == text:
        return
    lines = [*difflib.unified_diff(recorded.splitlines(), text.splitlines(), "recorded", "now", lineterm="", n=3)]
    message = [f"{file.name}: the answers are not those that were recorded.", *lines[:SHOWN]]
    if len(lines) > SHOWN:
        message.append(f"… and {len(lines) - SHOWN} further lines")
    if note is not None:
        message.append(note(lines[:SHOWN]))
    message.append(f"If the change is meant, remake the record and commit it with the change: {remake}")
    pytest.fail("\n".join(message), pytrace=False)


def write(file: Path, text: str) -> None:
    """Write a record that has changed, and print its name."""
    if file.exists() and file.read_text("utf-8") == text:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
    print(f"{file.name}: {len(text)} characters")


def find_stray(folder: Path, files: Iterable[Path]) -> list[Path]:
    """The files of a folder that no record has any more."""
    return sorted({*folder.rglob("*.txt")} - {*files})


def remove_stray(folder: Path, files: Iterable[Path]) -> None:
    """Remove the files of a folder that no record has any more, and print their names."""
    for file in find_stray(folder, files):
        file.unlink()
        print(f"{file.name} is removed")
