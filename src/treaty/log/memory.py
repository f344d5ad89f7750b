"""`memory:`: a log in this process, for tests and for programs that need a registry without a file."""

import asyncio
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import takewhile

from treaty.core.limits import APPENDS_KEPT
from treaty.core.state.commit import START, Append, Position
from treaty.core.state.rows import EncodedRow
from treaty.log.concurrency import LockOwner
from treaty.log.log import AppendResult, Leader, LogDelta, StoreStats

Waiter = tuple[asyncio.AbstractEventLoop, asyncio.Event, object]
"""A loop, what to set in it, and who waits."""


@dataclass(slots=True)
class MemoryStore:
    """What a memory log holds: the last state of every row, and the last appends with their rows.

    Several nodes of a process may share one, each on its own event loop.
    """

    appends_kept: int = APPENDS_KEPT
    tip: Position = START
    rows: dict[tuple[str, str], EncodedRow] = field(default_factory=dict)
    history: OrderedDict[int, Append] = field(default_factory=OrderedDict)
    forgotten: Position = START
    """The position before the oldest append that is remembered."""
    guard: threading.Lock = field(default_factory=threading.Lock)
    lock: threading.Lock = field(default_factory=threading.Lock)
    waiters: list[Waiter] = field(default_factory=list)

    def append(self, append: Append, by: object) -> AppendResult:
        """Append if the parent is the tip. All who wait are woken but `by`, who reads its own append back anyway."""
        with self.guard:
            if append.parent != self.tip.digest or append.first != self.tip.sequence + 1:
                return AppendResult.CONFLICT
            if self.tip.sequence and append.identity != self.tip.identity:
                return AppendResult.CONFLICT
            for commit in append.commits:
                for row in commit.rows:
                    if row.value is None:
                        self.rows.pop((row.table, row.key), None)
                    else:
                        self.rows[row.table, row.key] = row
            self.tip = append.position
            self.history[append.last] = append
            if len(self.history) > self.appends_kept:
                self.forgotten = self.history.popitem(last=False)[1].position
            waiters = [waiter for waiter in self.waiters if waiter[2] is not by]
            self.waiters = [waiter for waiter in self.waiters if waiter[2] is by]
        for loop, event, _ in waiters:
            if not loop.is_closed():
                loop.call_soon_threadsafe(event.set)
        return AppendResult.ACCEPTED

    def read_since(self, after: Position) -> LogDelta:
        """Return what came after a position, or everything where the position is not remembered."""
        with self.guard:
            if after.agrees(self.tip):
                return LogDelta(self.tip, ())
            remembered = self.history.get(after.sequence)
            if remembered is not None and remembered.position.agrees(after):
                latest_first = takewhile(lambda append: append.last > after.sequence, reversed(self.history.values()))
                rows = (row for append in [*latest_first][::-1] for commit in append.commits for row in commit.rows)
                return LogDelta(self.tip, tuple({(row.table, row.key): row for row in rows}.values()))
            return LogDelta(self.tip, tuple(self.rows.values()), reload=True)


_STORES: dict[str, MemoryStore] = {}
"""The named logs of this process: `memory:NAME` is the same log for all who open it."""


class MemoryLog:
    """A `Log` on a shelf."""

    lockable = True
    linearizable = True
    foreign_records = 0
    single_writer = False

    def __init__(self, name: str = "", *, appends_kept: int = APPENDS_KEPT) -> None:
        """Open the log called `name`, or one of its own where the name is empty; it remembers `appends_kept` appends."""
        self.url = f"memory:{name}"
        self._store = _STORES.setdefault(name, MemoryStore(appends_kept)) if name else MemoryStore(appends_kept)
        self._lock_owner = LockOwner()

    async def append(self, append: Append) -> AppendResult:
        """Append if its parent is still the last append."""
        if self._lock_owner.is_current_task:
            return self._store.append(append, self)
        if not self._store.lock.acquire(blocking=False):
            async with self.lock():
                return self._store.append(append, self)
        try:
            return self._store.append(append, self)
        finally:
            self._store.lock.release()

    async def leader(self) -> Leader | None:
        """All nodes are alike."""
        return None

    async def tip(self) -> Position:
        """Return the position after the last append."""
        return self._store.tip

    async def read(self, after: Position) -> LogDelta:
        """Return everything after a position."""
        return self._store.read_since(after)

    async def wait(self, after: Position, timeout: float) -> None:
        """Return when something came after the position from somebody else, or was there before."""
        event = asyncio.Event()
        waiter = (asyncio.get_running_loop(), event, self)
        with self._store.guard:
            if self._store.tip != after:
                return
            self._store.waiters.append(waiter)
        try:
            async with asyncio.timeout(timeout):
                await event.wait()
        except TimeoutError:
            pass
        finally:
            with self._store.guard:
                if waiter in self._store.waiters:
                    self._store.waiters.remove(waiter)

    @asynccontextmanager
    async def lock(self) -> AsyncIterator[None]:
        """Keep all other writers out."""
        pause = 0.0
        while not self._store.lock.acquire(blocking=False):
            await asyncio.sleep(pause)
            pause = 0.001
        try:
            with self._lock_owner.acquire():
                yield
        finally:
            self._store.lock.release()

    async def read_stats(self) -> StoreStats:
        """Count what is on the shelf; tombstones leave it at once."""
        with self._store.guard:
            history = self._store.history
            oldest = next(iter(history), 0)
            return StoreStats("memory", 1, -1, len(self._store.rows), 0, len(history), oldest)

    async def compact(self) -> None:
        """Nothing takes space that is not needed."""

    async def close(self) -> None:
        """Nothing to give back; a named log stays for others."""
