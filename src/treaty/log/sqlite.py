"""`sqlite:///…` — the default log: one file, any number of processes.

Two connections, each on a thread of its own: one appends, one looks and reads, so that a look does not wait for
another append's fsync. Durable means: WAL, synchronous=FULL, the commit returned.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from treaty.core.commit import START, Append, Position
from treaty.log.log import Delta, Fate
from treaty.log.sqlfile import SqlFile
from treaty.log.watch import Watch

T = TypeVar("T")

POLL = 0.05
"""Seconds between two looks for changes by others, where no hint came."""


class SqliteLog:
    """A `Log` in a SQLite file."""

    exclusive = True

    def __init__(
        self, writing: SqlFile, reading: SqlFile, threads: tuple[ThreadPoolExecutor, ThreadPoolExecutor]
    ) -> None:
        """Take the two connections and their threads; use `open`."""
        self.url = f"sqlite://{quote(writing.path)}"
        self._writing, self._reading = writing, reading
        self._writer, self._reader = threads
        self._turn = asyncio.Lock()
        self._holding: asyncio.Task[object] | None = None
        self._ready: tuple[Position, Delta] | None = None
        self._changed = asyncio.Event()
        self._changed.set()  # nothing was looked at yet
        self._version = -1
        self._seen = START
        self._watch = Watch(Path(f"{writing.path}-wal"), self._changed.set)

    @classmethod
    async def open(cls, path: str) -> "SqliteLog":
        """Open the file, and make it and its folder where they are missing.

        Raises `LogUnavailableError` or `LogDamagedError` with what to do.
        """
        loop = asyncio.get_running_loop()
        threads = (ThreadPoolExecutor(1, "treaty-log-writer"), ThreadPoolExecutor(1, "treaty-log-reader"))
        try:
            writing = await loop.run_in_executor(threads[0], SqlFile, path)
            reading = await loop.run_in_executor(threads[1], SqlFile, path)
        except BaseException:
            for thread in threads:
                thread.shutdown(wait=False)
            raise
        return cls(writing, reading, threads)

    async def _in(self, thread: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        """Run on a thread to the end, even where the caller is cancelled: a transaction is never left half done."""
        return await asyncio.shield(asyncio.get_running_loop().run_in_executor(thread, work))

    async def append(self, append: Append) -> Fate:
        """Append if its parent is still the last append."""
        if self._holding is asyncio.current_task():
            return await self._append(append)
        async with self._turn:
            return await self._append(append)

    async def _append(self, append: Append) -> Fate:
        base = Position(append.identity, append.first - 1, append.parent)

        def work() -> tuple[Fate, Delta | None]:
            fate = self._writing.append(append)
            return fate, self._writing.since(base) if fate is Fate.ACCEPTED and base.sequence else None

        fate, delta = await self._in(self._writer, work)
        self._ready = (base, delta) if delta is not None else None
        return fate

    async def tip(self) -> Position:
        """Look at the tip."""
        self._changed.clear()  # a hint from here on is of something that this look may not see
        self._seen = await self._in(self._reader, self._reading.tip)
        return self._seen

    async def read(self, after: Position) -> Delta:
        """Return everything after a place. What an append of this node led to was read in the same go, and is here."""
        ready, self._ready = self._ready, None
        if ready is not None and ready[0] == after:
            self._seen = ready[1].tip
            return ready[1]
        if self._holding is asyncio.current_task():
            return await self._in(self._writer, lambda: self._writing.since(after))
        return await self._in(self._reader, lambda: self._reading.since(after))

    async def wait(self, after: Position, timeout: float) -> None:
        """Return when something may have come since the last look: a hint, a change seen by polling, or the time-out."""
        loop = asyncio.get_running_loop()
        end = loop.time() + timeout
        while self._seen == after and not self._changed.is_set():
            left = end - loop.time()
            if left <= 0 or await self._hint(min(left, POLL)) or await self._polled():
                return

    async def _hint(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        except TimeoutError:
            return False
        return True

    async def _polled(self) -> bool:
        """Ask the file whether another connection has committed since it was asked last."""
        before, self._version = self._version, await self._in(self._reader, self._reading.version)
        return before != self._version

    @asynccontextmanager
    async def hold(self) -> AsyncIterator[None]:
        """Keep all other writers out, in all processes."""
        async with self._turn:
            try:
                await self._in(self._writer, self._writing.lock)
                self._holding = asyncio.current_task()
                yield
            finally:
                self._holding = None
                await self._in(self._writer, self._writing.unlock)

    async def close(self) -> None:
        """Finish what is in flight, then close both connections."""
        async with self._turn:
            self._watch.close()
            for thread, file in ((self._reader, self._reading), (self._writer, self._writing)):
                await self._in(thread, file.close)
                thread.shutdown(wait=False)
