"""Optional capabilities of logs beside `Log`, and a scan of all rows of any log."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Protocol, TypeVar, runtime_checkable

from treaty.core.state.commit import START, Position
from treaty.core.state.rows import EncodedRow
from treaty.light_dataclass import dataclass
from treaty.log.log import Log

T = TypeVar("T")


@runtime_checkable
class StateFileStore(Protocol):
    """A log that stores a copy of a state file beside its rows, as a cache.

    Its bytes are opaque here; their reader verifies them. Raises the errors of reading a log, and `OSError` for the
    file.
    """

    async def estimate_rows(self) -> int:
        """Return an estimate of the number of rows, without a scan."""
        ...

    async def write_state_file(self, path: Path, position: Position, kind: int) -> None:
        """Store the bytes of a state file of a position, replacing an older one; writes continue.

        A log may keep the older one while little has changed since. `kind` is the layout of the file, in 64 bits.
        """
        ...

    async def read_state_file(self, path: Path, kind: int) -> bool:
        """Write the stored state file to a path, completely or not at all; return False if there is no complete one of
        this kind.
        """
        ...


@runtime_checkable
class ResumableLog(Protocol):
    """A log in which a position is not found by its sequence, so that a state file has a bookmark."""

    def bookmark(self, position: Position) -> int | None:
        """Return the bookmark of the position read last; None for another one, or if unknown."""
        ...

    def resume_at(self, position: Position, bookmark: int) -> None:
        """Continue from a position whose rows are known; called before the first read. A wrong bookmark is harmless."""
        ...


@runtime_checkable
class RowScanner(Protocol):
    """A log whose rows can be scanned without holding all of them in memory."""

    async def scan_rows(self, into: Callable[[Iterable[EncodedRow]], T]) -> tuple[Position, T]:
        """Call `into` with all live rows of one consistent cut, off the event loop; return their position and its
        answer.
        """
        ...


@runtime_checkable
class TableRoots(Protocol):
    """A log that stores the contribution of each table to the state root."""

    async def table_roots(self) -> tuple[Position, Mapping[str, int]]:
        """Return the tip, and what each table adds to the state root there as the store has it: both in one consistent
        cut.

        A table that is missing adds nothing. Raises `LogUnavailableError` or `LogDamagedError`.
        """
        ...


@dataclass(frozen=True, slots=True)
class OrphanRow:
    """An orphan row: part of an incomplete append, or a foreign write."""

    row: EncodedRow
    """As it is; a tombstone takes a row away that should be there."""
    before: EncodedRow
    """The same row as it would be without it; a tombstone where there would be none."""
    visible: bool
    """Whether it is among the rows that are read. Else it lies behind the last append, and would be with the next one."""


@runtime_checkable
class OrphanRowFinder(Protocol):
    """A log whose store may contain orphan rows."""

    async def find_orphan_rows(self) -> tuple[OrphanRow, ...]:
        """Read everything, and return such rows.

        A row that is shown is among them only where the others alone come to the state root of the tip: then nothing
        else is wrong, and without it the state is as it was. Raises `LogUnavailableError` or `LogDamagedError`.
        """
        ...


async def scan_rows(source: Log, into: Callable[[Iterable[EncodedRow]], T]) -> tuple[Position, T]:
    """Do so with any log: one that is no `RowScanner` is read first."""
    if isinstance(source, RowScanner):
        return await source.scan_rows(into)
    delta = await source.read(START)
    return delta.tip, await asyncio.to_thread(into, delta.rows)
