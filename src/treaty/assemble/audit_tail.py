"""The last lines of the audit log, as a page shows them."""

from collections.abc import Callable
from os import SEEK_END
from pathlib import Path

AUDIT_BYTES = 262_144
"""Bytes at the end of the audit log in which its last lines are looked for."""


def tail_of(path: Path) -> Callable[[int], list[str]]:
    """Return a function to the last whole lines of a file, newest first: of its last AUDIT_BYTES, whatever its size."""

    def read(line_count: int) -> list[str]:
        try:
            with path.open("rb") as file:
                start = max(0, file.seek(0, SEEK_END) - AUDIT_BYTES)
                file.seek(start)
                content = file.read(AUDIT_BYTES)
        except OSError:
            return []
        lines = content.decode("utf-8", "replace").split("\n")
        whole_lines = [line for line in lines[1 if start else 0 :] if line.strip()]
        return whole_lines[-line_count:][::-1]

    return read
