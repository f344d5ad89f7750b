"""`Log`: what every backend of the log does."""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from treaty.core.state.commit import Append, Position
from treaty.core.state.rows import EncodedRow


class AppendResult(Enum):
    """The answer of the log to an append."""

    ACCEPTED = "accepted"
    """It is durable, and the last one of the log."""
    CONFLICT = "conflict"
    """Its parent was not the last append; nothing happened, and nothing of it will ever be seen."""
    UNKNOWN = "unknown"
    """It may be in the log now, or appear there later: settle it before anything is answered."""


@dataclass(frozen=True, slots=True)
class LogDelta:
    """What happened in the log since a position: rows in their last state, and the tip that they lead to.

    The tip is always the end of an append. `reload` means that `rows` are the whole live state, because the position
    asked for is not in this log's (remembered) history: another identity, another digest, or before the horizon.
    """

    tip: Position
    rows: tuple[EncodedRow, ...]
    reload: bool = False


@dataclass(frozen=True, slots=True)
class StoreStats:
    """What a log's store looks like. `bytes` is its size, -1 where it has none to speak of."""

    kind: str
    """The backend: memory, sqlite, postgresql, or a Kafka log of either kind."""
    layout: int
    """Number of the layout of its tables."""
    bytes: int
    live: int
    """Rows that are there."""
    tombstones: int
    """Rows that are gone, and remembered as such."""
    appends: int
    """Appends whose place in history is remembered."""
    oldest: int
    """Sequence of the oldest of them; who is behind it reads everything again."""


@dataclass(frozen=True, slots=True)
class Leader:
    """The node that had best decide now. `address` is its door for peers ("" where nobody knows it)."""

    address: str
    mine: bool
    """Whether it is the node that this log object belongs to."""


class LogUnavailableError(Exception):
    """The log can't be reached or read now; nothing was written by the call that raised this."""


class LogDamagedError(Exception):
    """The log's store is damaged or lost data; the message says what and what to do. Writes must stop."""

    @property
    def reason(self) -> str:
        """What is said to those who ask."""
        return f"the log is damaged: {self}"


class WrongRootError(LogDamagedError):
    """The rows of the log do not come to the state root that its last append states: some were changed, or are missing."""

    def __init__(self, url: str, tip: Position, found: bytes) -> None:
        """Keep both roots: `found` is what the rows come to."""
        super().__init__(
            f"the rows of {url} come to the state root {found.hex()}, and the append at sequence {tip.sequence} states "
            f"{tip.root.hex()}: rows were changed by a fault or by hand. `treaty log verify` names the table; "
            "put the rows back, or accept them as they are with `treaty log repair --accept-state`"
        )
        self.tip = tip
        self.found = found


class NewerLogFormatError(LogDamagedError):
    """The log is whole, and this version is too old to read it: writes must stop here, and continue at newer nodes."""

    @property
    def reason(self) -> str:
        """What is said to those who ask."""
        return f"the log is {self}"


class OlderLogFormatError(LogDamagedError):
    """The log is whole, and has a format that this version reads only to carry it into a new log: nothing is served from it."""

    @property
    def reason(self) -> str:
        """What is said to those who ask."""
        return f"the log is {self}"


class Log(Protocol):
    """One log. All methods are safe to call concurrently from one event loop.

    Reading raises `LogUnavailableError` or `LogDamagedError`. After ``close`` nothing may be called.
    """

    @property
    def url(self) -> str:
        """The URL it was opened with, without secrets."""
        ...

    @property
    def lockable(self) -> bool:
        """Whether `lock` works here: SQL and memory can, a Kafka log can't."""
        ...

    @property
    def linearizable(self) -> bool:
        """Whether `tip` never misses an append that was acknowledged before it was called.

        SQL and memory: yes. Kafka: no, because a broker that leads no more may answer; only an accepted append proves it.
        """
        ...

    @property
    def foreign_records(self) -> int:
        """Records that were read and that Treaty did not write: all nodes ignore them alike. 0 where none can be."""
        ...

    @property
    def single_writer(self) -> bool:
        """Whether only the leader may decide: others must hand their commands to it, and their appends are conflicts."""
        ...

    async def leader(self) -> Leader | None:
        """Say who had best decide now; None where none is known, or where all nodes are alike (SQL, memory).

        Where the log is not `single_writer` this is a hint: who just won wins most easily again.
        """
        ...

    async def append(self, append: Append) -> AppendResult:
        """Append if its parent is still the last append (and its first sequence follows).

        Returns only when ACCEPTED means durable. Never raises for errors of the store while the append's result is
        open: that is UNKNOWN. `LogUnavailableError` and `LogDamagedError` mean that surely nothing was written.
        """
        ...

    async def tip(self) -> Position:
        """Return the position after the last append that was durable when this call began, or a later one."""
        ...

    async def read(self, after: Position) -> LogDelta:
        """Return everything after a position in one consistent cut. `START` reads all."""
        ...

    async def wait(self, after: Position, timeout: float) -> None:
        """Return when something may have come after the position, at the latest after `timeout` seconds.

        What was appended through this very object may be no news: who appends reads it back.
        """
        ...

    def lock(self) -> AbstractAsyncContextManager[None]:
        """Keep all other writers out, in all processes: `read` and `append` inside are then free of conflicts.

        An append inside may end it for the others. Tasks begun inside count as inside until the block ends.
        """
        ...

    async def read_stats(self) -> StoreStats:
        """Look at the store: sizes and counts, in one go, for people."""
        ...

    async def compact(self) -> None:
        """Give space back that nothing needs any more; others continue meanwhile, if more slowly."""
        ...

    async def close(self) -> None:
        """Give back files, connections and threads; what is in flight is finished first."""
        ...
