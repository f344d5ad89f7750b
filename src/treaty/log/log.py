"""`Log`: the interface of all log backends: what an append may come to (`AppendResult`), and the errors of a log that is unavailable,
damaged or too new, with their sentences.
"""

from contextlib import AbstractAsyncContextManager
from enum import Enum
from typing import Protocol

from treaty.core.state.commit import Append, Position
from treaty.core.state.rows import EncodedRow
from treaty.light_dataclass import dataclass


class AppendResult(Enum):
    """The answer of the log to an append."""

    ACCEPTED = "accepted"
    """It is durable, and the last one of the log."""
    CONFLICT = "conflict"
    """Its parent was not the last append; nothing was written and nothing will be."""
    UNKNOWN = "unknown"
    """It may be in the log, or appear there later: the writer must determine the result before it answers."""


@dataclass(frozen=True, slots=True)
class LogDelta:
    """The changes of the log since a position: rows in their last state, and the new tip.

    The tip is always the end of an append. `reload`: `rows` are the whole state, because the position is not in the
    stored history of this log: another identity, another digest, or before the horizon.
    """

    tip: Position
    rows: tuple[EncodedRow, ...]
    reload: bool = False


@dataclass(frozen=True, slots=True)
class StoreStats:
    """Facts about the store of a log. `bytes` is its size, -1 if unknown."""

    kind: str
    """The backend: memory, sqlite, postgresql, or a Kafka log of either kind."""
    layout: int
    """Version of the layout of its tables."""
    bytes: int
    live: int
    """Number of live rows."""
    tombstones: int
    """Number of tombstones."""
    appends: int
    """Number of appends with stored digest."""
    oldest: int
    """Sequence of the oldest of them; a reader behind it needs a full replay."""


@dataclass(frozen=True, slots=True)
class Leader:
    """The leader. `address` is its URL for peers ("" if unknown)."""

    address: str
    is_own: bool
    """Whether the leader is the node of this log object."""


class LogUnavailableError(Exception):
    """The log is temporarily unavailable; the call wrote nothing."""


class LogDamagedError(Exception):
    """The store of the log is damaged or lost data; the message has the damage and a remedy. Writes must stop."""

    @property
    def reason(self) -> str:
        """The reason in answers to requests."""
        return f"the log is damaged: {self}"


class WrongRootError(LogDamagedError):
    """The rows of the log do not match the state root of its last append: some were changed or are missing."""

    def __init__(self, url: str, tip: Position, rows_root: bytes) -> None:
        """Keep both roots: `rows_root` is that of the rows."""
        super().__init__(
            f"the rows of {url} come to the state root {rows_root.hex()}, and the append at sequence {tip.sequence} states "
            f"{tip.root.hex()}: rows were changed by a fault or by hand. `treaty log verify` names the table; restore the rows, or accept them with `treaty log repair --accept-state`"
        )
        self.tip = tip
        self.rows_root = rows_root


class NewerLogFormatError(LogDamagedError):
    """The log is valid, but this version is too old to read it: this node must not write."""

    @property
    def reason(self) -> str:
        """The reason in answers to requests."""
        return f"the log is {self}"


class Log(Protocol):
    """A log. All methods may be called concurrently from one event loop. Reads raise `LogUnavailableError` or
    `LogDamagedError`. No calls after ``close``.
    """

    @property
    def url(self) -> str:
        """The URL it was opened with, without secrets."""
        ...

    @property
    def lockable(self) -> bool:
        """Whether the log has a `lock`: SQL and memory do, Kafka does not."""
        ...

    @property
    def linearizable(self) -> bool:
        """Whether `tip` is linearizable. SQL and memory: yes. Kafka: no, because a deposed leader of the partition may
        answer; only an accepted append proves the tip.
        """
        ...

    @property
    def foreign_records(self) -> int:
        """Number of foreign records that were read; all nodes ignore them. 0 if there cannot be any."""
        ...

    @property
    def single_writer(self) -> bool:
        """Whether only the leader may append: other nodes must forward commands, and their appends are conflicts."""
        ...

    async def leader(self) -> Leader | None:
        """Return the leader; None if unknown, or if all nodes are equal (SQL, memory).

        If the log is not `single_writer` it is a hint: the node whose append was accepted last.
        """
        ...

    async def append(self, append: Append) -> AppendResult:
        """Append if its parent is still the last append (and its first sequence follows).

        ACCEPTED means durable. If an error of the store leaves the result open, the result is UNKNOWN;
        `LogUnavailableError` and `LogDamagedError` mean that nothing was written.
        """
        ...

    async def tip(self) -> Position:
        """Return the position after the last append that was durable when this call began, or a later one."""
        ...

    async def read(self, after: Position) -> LogDelta:
        """Return all changes after a position, consistent at one tip. `START` reads all rows."""
        ...

    async def wait(self, after: Position, timeout: float) -> None:
        """Return when there may be changes after the position, at the latest after `timeout` seconds. Appends through
        this object may not wake it: their writer reads them back.
        """
        ...

    def lock(self) -> AbstractAsyncContextManager[None]:
        """Take the log lock for the block, across processes: `read` and `append` inside have no conflicts.

        An append may release it for others. Tasks started in the block count as inside until it ends.
        """
        ...

    async def read_stats(self) -> StoreStats:
        """Return facts about the store: sizes and counts."""
        ...

    async def compact(self) -> None:
        """Reclaim unused space; nodes keep running, maybe slower."""
        ...

    async def close(self) -> None:
        """Close files, connections and threads, after work in flight."""
        ...
