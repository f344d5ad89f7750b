"""What some logs can do beside `Log`, and how all rows of any log are gone through."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar, runtime_checkable

from treaty.core.state.commit import START, Position
from treaty.core.state.rows import EncodedRow
from treaty.log.log import Log

T = TypeVar("T")


@runtime_checkable
class StateFileStore(Protocol):
    """A log that keeps a state file beside its rows. It is a cache: the rows are all there without it.

    What its bytes mean is not known here; who wrote them checks them. Raises what reading a log raises, and
    `OSError` for the file.
    """

    async def estimate_rows(self) -> int:
        """About how many rows there are, at once."""
        ...

    async def write_state_file(self, path: Path, position: Position, kind: int) -> None:
        """Keep the bytes of a file, which shows a position, as the state file, in place of an older one; others write meanwhile.

        A log may keep the older one as long as little came after it. `kind` names those who can read the file, in 64 bits.
        """
        ...

    async def read_state_file(self, path: Path, kind: int) -> bool:
        """Write the state file to a path, as a whole or not at all; False where there is none that is whole, and for this kind."""
        ...


@runtime_checkable
class ResumableLog(Protocol):
    """A log in which a position is not found by its sequence: a state is kept with a bookmark."""

    def bookmark(self, position: Position) -> int | None:
        """Where the position that was read last is in the log; None for another one, or where that is not known."""
        ...

    def resume_at(self, position: Position, bookmark: int) -> None:
        """Before anything is read: read on from a position whose rows are known. A bookmark that is wrong does no harm."""
        ...


@runtime_checkable
class RowScanner(Protocol):
    """A log whose rows can be gone through without having all of them in memory."""

    async def scan_rows(self, into: Callable[[Iterable[EncodedRow]], T]) -> tuple[Position, T]:
        """Call `into` with all live rows of one consistent cut, off the event loop; return their position and its answer."""
        ...


@runtime_checkable
class TableRoots(Protocol):
    """A log that keeps, beside its rows, what each state table adds to the state root."""

    async def table_roots(self) -> tuple[Position, Mapping[str, int]]:
        """Return the tip, and what each table adds to the state root there as the store has it: both in one consistent cut.

        A table that is missing adds nothing. Raises `LogUnavailableError` or `LogDamagedError`.
        """
        ...


@dataclass(frozen=True, slots=True)
class OrphanRow:
    """A row that lies in a log without belonging to any append: half of one, or what somebody else wrote there."""

    row: EncodedRow
    """As it is; a tombstone takes a row away that should be there."""
    before: EncodedRow
    """The same row as it would be without it; a tombstone where there would be none."""
    visible: bool
    """Whether it is among the rows that are read. Else it lies behind the last append, and would be with the next one."""


@runtime_checkable
class OrphanRowFinder(Protocol):
    """A log into whose store rows can come without an append."""

    async def find_orphan_rows(self) -> tuple[OrphanRow, ...]:
        """Read everything, and return such rows.

        A row that is shown is among them only where the others alone come to the state root of the tip: then nothing else is
        wrong, and without it the state is as it was. Raises `LogUnavailableError` or `LogDamagedError`.
        """
        ...


async def scan_rows(source: Log, into: Callable[[Iterable[EncodedRow]], T]) -> tuple[Position, T]:
    """Do so with any log: one that is no `RowScanner` is read first."""
    if isinstance(source, RowScanner):
        return await source.scan_rows(into)
    delta = await source.read(START)
    return delta.tip, await asyncio.to_thread(into, delta.rows)
