"""A way to a log that keeps a copy of a state file."""

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from tests.traces.log import TracedLog
from treaty.core.state.commit import START, Position
from treaty.core.state.rows import EncodedRow

T = TypeVar("T")


class FileLog(TracedLog):
    """A log that keeps a copy of a state file, knows bookmarks, and is scanned row by row."""

    count = 0
    copy: Path | None = None
    copy_fault = ""

    async def estimate_rows(self) -> int:
        self.trace.add("log estimates its rows", self.name)
        return self.count

    async def write_state_file(self, path: Path, position: Position, kind: int) -> None:
        self.trace.add(f"log keeps a copy of {self.trace.names.position(position)}", self.name)
        self.copy = path.with_suffix(".copy")
        shutil.copy(path, self.copy)

    async def read_state_file(self, path: Path, kind: int) -> bool:
        self.trace.add(f"log is asked for its copy {self.copy_fault}", self.name)
        if self.copy_fault == "full":
            raise OSError("no space is left")
        if self.copy is None:
            return False
        copy_file(self.copy, path, lost=100 if self.copy_fault == "damaged" else 0)
        return True

    def bookmark(self, position: Position) -> int | None:
        return position.sequence * 10

    def resume_at(self, position: Position, bookmark: int) -> None:
        self.trace.add(f"log resumes at {self.trace.names.position(position)}, bookmark {bookmark}", self.name)

    async def scan_rows(self, into: Callable[[Iterable[EncodedRow]], T]) -> tuple[Position, T]:
        await self._step_to("read", " as a scan")
        delta = self._disk.since_by_row(START)
        return delta.tip, into(row for row in delta.rows if row.value is not None)


def copy_file(source: Path, target: Path, lost: int = 0) -> None:
    """Copy a file, without its last bytes."""
    data = source.read_bytes()
    target.write_bytes(data[: len(data) - lost])
    target.chmod(0o600)
