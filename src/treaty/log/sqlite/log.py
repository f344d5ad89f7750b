"""`sqlite:///…` — the default log: one file, any number of processes.

Two connections, each on a thread of its own: one appends, one looks and reads, so that a look does not wait for
another append's fsync. Durable means: WAL, synchronous=FULL, the commit returned.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from treaty.core.commit import START, Append, Position
from treaty.core.limits import APPENDS_KEPT
from treaty.core.rows import Encoded
from treaty.log.concurrency import Holding, Lane
from treaty.log.log import Delta, Facts, Fate, Leader
from treaty.log.sqlite import maintenance as files
from treaty.log.sqlite import state_copy as folds
from treaty.log.sqlite.connection import SqlFile
from treaty.log.sqlite.watch import Watch

T = TypeVar("T")

NOT_DURABLE = "?synchronous=normal"
"""The end of a URL whose log does not wait for the disk."""
POLL = 0.05
"""Seconds between two looks for changes by others, where no hints come."""
POLL_BESIDE_HINTS = 0.25
"""The same where hints come: they may be lost, with a process that is killed between its commit and its ring."""


class SqliteLog:
    """A `Log` in a SQLite file."""

    exclusive = True
    linearizable = True
    strangers = 0
    owned = False

    def __init__(
        self, files: tuple[SqlFile, SqlFile], lanes: tuple[Lane, Lane], *, hints: bool = True, poll: float | None = None
    ) -> None:
        """Take the two connections, for writing and for reading, and their threads; use `open`."""
        writing, reading = files
        self.url = f"sqlite://{quote(writing.path)}"
        self._writing, self._reading = writing, reading
        self._writer, self._reader = lanes
        self._turn = asyncio.Lock()
        self._holding = Holding()
        self._ready: tuple[Position, Delta] | None = None
        self._changed = asyncio.Event()
        self._changed.set()  # nothing was looked at yet
        self._version = -1
        self._seen = START
        self._closed = False
        self._watch = Watch(Path(f"{writing.path}-wal"), self._changed.set, hear=hints)
        self._poll = poll or (POLL_BESIDE_HINTS if self._watch.active else POLL)

    @classmethod
    async def open(
        cls, path: str, *, kept: int = APPENDS_KEPT, hints: bool = True, poll: float | None = None, durable: bool = True
    ) -> "SqliteLog":
        """Open the file, and make it and its folder where they are missing.

        It remembers the last `kept` appends, in steps. It finds what others wrote by hints (where the system has them)
        and by looking every `poll` seconds. What is not `durable` is quicker, and may lose its last commits at a power cut.
        Raises `LogUnavailableError` or `LogDamagedError` with what to do.
        """
        lanes = Lane("treaty-log-writer"), Lane("treaty-log-reader")
        files: list[SqlFile] = []
        try:
            for _ in lanes:
                await lanes[0].do(lambda: files.append(SqlFile(path, kept=kept, durable=durable)))
            log = cls((files[0], files[1]), lanes, hints=hints, poll=poll)
        except BaseException:
            lanes[0].do(lambda: _close(files))  # also one that is being opened right now
            for lane in lanes:
                lane.close()
            raise
        if not durable:
            log.url += NOT_DURABLE
        return log

    # ---------------------------------------------------------------------------------------------------- writing

    async def append(self, append: Append) -> Fate:
        """Append if its parent is still the last append."""
        if self._holding.mine:
            return await self._append(append)
        async with self._turn:
            return await self._append(append)

    async def _append(self, append: Append) -> Fate:
        fate = await self._writer.do(lambda: self._written(append))
        if fate is Fate.ACCEPTED and append.first > 1:
            base = Position(append.identity, append.first - 1, append.parent)
            self._ready = (base, Delta(append.position, append.rows))
        if self._writing.overgrown:
            self._writer.do(self._writing.tidy)
        return fate

    def _written(self, append: Append) -> Fate:
        fate = self._writing.append(append)
        if fate is Fate.ACCEPTED:
            self._watch.ring()
        return fate

    @asynccontextmanager
    async def hold(self) -> AsyncIterator[None]:
        """Keep all other writers out, in all processes, until the block ends or an append in it does."""
        async with self._turn:
            left = False
            try:
                await self._writer.do(lambda: self._writing.lock(lambda: left))
                with self._holding.taken():
                    yield
            finally:
                left = True
                await self._writer.do(self._writing.unlock)

    # ---------------------------------------------------------------------------------------------------- reading

    async def leader(self) -> Leader | None:
        """All nodes are alike."""
        return None

    async def tip(self) -> Position:
        """Look at the tip."""
        self._changed.clear()  # a hint from here on is of something that this look may not see
        self._seen = await self._reader.do(self._reading.tip)
        return self._seen

    async def read(self, after: Position) -> Delta:
        """Return everything after a place. What an own append led to is here already."""
        ready, self._ready = self._ready, None
        if ready is not None and ready[0] == after:
            if ready[1].tip.sequence > self._seen.sequence:
                self._seen = ready[1].tip
            return ready[1]
        if self._holding.mine:
            return await self._writer.do(lambda: self._writing.since(after))
        self._changed.clear()
        delta = await self._reader.do(lambda: self._reading.since(after))
        self._seen = delta.tip
        return delta

    async def wait(self, after: Position, timeout: float) -> None:
        """Return when something may have come since the last look: a hint, a change seen by polling, or the time-out.

        An append of this node gives no hint: who appended reads it back without being told.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + timeout
        while self._seen == after and not self._changed.is_set() and not self._closed:
            left = end - loop.time()
            if left <= 0 or await self._hint(min(left, self._poll)):
                return
            news = await self._reader.do(self._news)
            if news is not None:
                self._seen = news

    async def _hint(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        except TimeoutError:
            return False
        return True

    def _news(self) -> Position | None:
        """The tip, if another connection has committed since this was asked last."""
        before, self._version = self._version, self._reading.version()
        return self._reading.tip() if self._version != before else None

    async def extent(self) -> int:
        """About how many rows there are, told at once."""
        return await self._reader.do(lambda: folds.extent(self._reading))

    async def pour(self, into: Callable[[Iterable[Encoded]], T]) -> tuple[Position, T]:
        """Call `into` with all live rows of one consistent cut, on a thread and a connection of its own."""
        left = False
        try:
            return await self._aside(lambda: folds.pour(self._reading.path, into, lambda: left))
        finally:
            left = True

    async def keep_fold(self, path: Path, _place: Position, _kind: int) -> None:
        """Keep the bytes of a file as the fold."""
        await self._aside(lambda: folds.keep(self._reading.path, path))

    async def take_fold(self, path: Path, _kind: int) -> bool:
        """Make a file of the fold; False where there is none that is whole."""
        return await self._aside(lambda: folds.take(self._reading.path, path))

    async def _aside(self, work: Callable[[], T]) -> T:
        """Do what takes long on a thread of its own."""
        lane = Lane("treaty-log-aside")
        try:
            return await lane.do(work)
        finally:
            lane.close()

    # ---------------------------------------------------------------------------------------------------- care

    async def table_roots(self) -> tuple[Position, Mapping[str, int]]:
        """Return the tip, and what each table adds to the state root there."""
        return await self._reader.do(self._reading.table_roots)

    async def facts(self) -> Facts:
        """Look at the file."""
        return await self._reader.do(lambda: files.facts(self._reading))

    async def compact(self) -> None:
        """Forget what is due, pack the file anew and cut the one beside it. Writers wait meanwhile."""
        async with self._turn:
            await self._writer.do(lambda: files.compact(self._writing))

    async def close(self) -> None:
        """Finish what is in flight, then close both connections."""
        async with self._turn:
            self._closed = True
            self._watch.close()
            self._changed.set()
            for lane, file in ((self._reader, self._reading), (self._writer, self._writing)):
                closing = lane.do(file.close)
                lane.close()
                await closing


def _close(files: list[SqlFile]) -> None:
    for file in files:
        file.close()
