"""`sqlite:///…`: the default log, one file for any number of processes.

Of two connections, each on its own thread, one appends and the other reads, so that reads do not wait for an append's
fsync. Durable means: the commit has returned, with WAL and synchronous=FULL.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from treaty.core.limits import APPENDS_KEPT
from treaty.core.state.commit import START, Append, Position
from treaty.core.state.rows import EncodedRow
from treaty.log.concurrency import LockOwner, SerialExecutor
from treaty.log.log import AppendResult, Leader, LogDelta, StoreStats
from treaty.log.sqlite import maintenance as files
from treaty.log.sqlite import state_copy
from treaty.log.sqlite.connection import SqliteConnection
from treaty.log.sqlite.watch import FileWatch

T = TypeVar("T")

NOT_DURABLE = "?synchronous=normal"
"""The end of a URL whose log does not wait for the disk."""
POLL = 0.05
"""Seconds between two looks for changes by others, where no hints come."""
POLL_BESIDE_HINTS = 0.25
"""The same where hints come: they may be lost, with a process that is killed between its commit and its ring."""


class SqliteLog:
    """A `Log` in a SQLite file."""

    lockable = True
    linearizable = True
    foreign_records = 0
    single_writer = False

    def __init__(
        self,
        files: tuple[SqliteConnection, SqliteConnection],
        executors: tuple[SerialExecutor, SerialExecutor],
        *,
        hints: bool = True,
        poll: float | None = None,
    ) -> None:
        """Take the two connections, for writing and for reading, and their threads; use `open`."""
        writing, reading = files
        self.url = f"sqlite://{quote(writing.path)}"
        self._write_connection, self._read_connection = writing, reading
        self._write_executor, self._read_executor = executors
        self._append_turn = asyncio.Lock()
        self._lock_owner = LockOwner()
        self._own_append: tuple[Position, LogDelta] | None = None
        self._changed = asyncio.Event()
        self._changed.set()  # nothing was looked at yet
        self._version = -1
        self._seen = START
        self._closed = False
        self._watch = FileWatch(Path(f"{writing.path}-wal"), self._changed.set, enabled=hints)
        self._poll = poll or (POLL_BESIDE_HINTS if self._watch.active else POLL)

    @classmethod
    async def open(
        cls,
        path: str,
        *,
        appends_kept: int = APPENDS_KEPT,
        hints: bool = True,
        poll: float | None = None,
        durable: bool = True,
    ) -> "SqliteLog":
        """Open the file, and make it and its folder where they are missing.

        It remembers the last `appends_kept` appends, in steps. It finds what others wrote by hints (where the system has them)
        and by looking every `poll` seconds. What is not `durable` is quicker, and may lose its last commits at a power
        cut. Raises `LogUnavailableError` or `LogDamagedError` with what to do.
        """
        executors = SerialExecutor("treaty-log-writer"), SerialExecutor("treaty-log-reader")
        files: list[SqliteConnection] = []
        try:
            for _ in executors:
                await executors[0].submit(
                    lambda: files.append(SqliteConnection(path, appends_kept=appends_kept, durable=durable))
                )
            log = cls((files[0], files[1]), executors, hints=hints, poll=poll)
        except BaseException:
            executors[0].submit(lambda: _close_connections(files))  # also one that is being opened right now
            for executor in executors:
                executor.close()
            raise
        if not durable:
            log.url += NOT_DURABLE
        return log

    # ---------------------------------------------------------------------------------------------------- writing

    async def append(self, append: Append) -> AppendResult:
        """Append if its parent is still the last append."""
        if self._lock_owner.is_current_task:
            return await self._append(append)
        async with self._append_turn:
            return await self._append(append)

    async def _append(self, append: Append) -> AppendResult:
        result = await self._write_executor.submit(lambda: self._append_and_notify(append))
        if result is AppendResult.ACCEPTED and append.first > 1:
            base = Position(append.identity, append.first - 1, append.parent)
            self._own_append = (base, LogDelta(append.position, append.rows))
        if self._write_connection.wal_overgrown:
            self._write_executor.submit(self._write_connection.truncate_wal)
        return result

    def _append_and_notify(self, append: Append) -> AppendResult:
        result = self._write_connection.append(append)
        if result is AppendResult.ACCEPTED:
            self._watch.notify()
        return result

    @asynccontextmanager
    async def lock(self) -> AsyncIterator[None]:
        """Keep all other writers out, in all processes, until the block ends or an append in it does."""
        async with self._append_turn:
            left = False
            try:
                await self._write_executor.submit(lambda: self._write_connection.lock(lambda: left))
                with self._lock_owner.acquire():
                    yield
            finally:
                left = True
                await self._write_executor.submit(self._write_connection.unlock)

    # ---------------------------------------------------------------------------------------------------- reading

    async def leader(self) -> Leader | None:
        """All nodes are alike."""
        return None

    async def tip(self) -> Position:
        """Look at the tip."""
        self._changed.clear()  # a hint from here on is of something that this look may not see
        self._seen = await self._read_executor.submit(self._read_connection.tip)
        return self._seen

    async def read(self, after: Position) -> LogDelta:
        """Return everything after a position. What an own append led to is here already."""
        own_append, self._own_append = self._own_append, None
        if own_append is not None and own_append[0] == after:
            if own_append[1].tip.sequence > self._seen.sequence:
                self._seen = own_append[1].tip
            return own_append[1]
        if self._lock_owner.is_current_task:
            return await self._write_executor.submit(lambda: self._write_connection.read_since(after))
        self._changed.clear()
        delta = await self._read_executor.submit(lambda: self._read_connection.read_since(after))
        self._seen = delta.tip
        return delta

    async def wait(self, after: Position, timeout: float) -> None:
        """Return when something may have come since the last look: a hint, a change seen by polling, or the time-out.

        An append of this node gives no hint: who appended reads it back anyway.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + timeout
        while self._seen == after and not self._changed.is_set() and not self._closed:
            left = end - loop.time()
            if left <= 0 or await self._wait_for_hint(min(left, self._poll)):
                return
            news = await self._read_executor.submit(self._find_news)
            if news is not None:
                self._seen = news

    async def _wait_for_hint(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        except TimeoutError:
            return False
        return True

    def _find_news(self) -> Position | None:
        """The tip, if another connection has committed since this was asked last."""
        before, self._version = self._version, self._read_connection.data_version()
        return self._read_connection.tip() if self._version != before else None

    async def estimate_rows(self) -> int:
        """About how many rows there are, at once."""
        return await self._read_executor.submit(lambda: state_copy.estimate_rows(self._read_connection))

    async def scan_rows(self, into: Callable[[Iterable[EncodedRow]], T]) -> tuple[Position, T]:
        """Call `into` with all live rows of one consistent cut, on a thread and a connection of its own."""
        left = False
        try:
            return await self._run_on_own_thread(
                lambda: state_copy.scan_rows(self._read_connection.path, into, lambda: left)
            )
        finally:
            left = True

    async def write_state_file(self, path: Path, _position: Position, _kind: int) -> None:
        """Keep the bytes of a file as the state file."""
        await self._run_on_own_thread(lambda: state_copy.write_state_copy(self._read_connection.path, path))

    async def read_state_file(self, path: Path, _kind: int) -> bool:
        """Write the state file to a path; False where there is none that is whole."""
        return await self._run_on_own_thread(lambda: state_copy.read_state_copy(self._read_connection.path, path))

    async def _run_on_own_thread(self, work: Callable[[], T]) -> T:
        """Do what takes long on a thread of its own."""
        executor = SerialExecutor("treaty-log-aside")
        try:
            return await executor.submit(work)
        finally:
            executor.close()

    # ---------------------------------------------------------------------------------------------------- maintenance

    async def table_roots(self) -> tuple[Position, Mapping[str, int]]:
        """Return the tip, and what each table adds to the state root there."""
        return await self._read_executor.submit(self._read_connection.table_roots)

    async def read_stats(self) -> StoreStats:
        """Look at the file."""
        return await self._read_executor.submit(lambda: files.read_stats(self._read_connection))

    async def compact(self) -> None:
        """Forget what is due, pack the file again and cut the one beside it. Writers wait meanwhile."""
        async with self._append_turn:
            await self._write_executor.submit(lambda: files.compact(self._write_connection))

    async def close(self) -> None:
        """Finish what is in flight, then close both connections."""
        async with self._append_turn:
            self._closed = True
            self._watch.close()
            self._changed.set()
            for executor, file in (
                (self._read_executor, self._read_connection),
                (self._write_executor, self._write_connection),
            ):
                closing = executor.submit(file.close)
                executor.close()
                await closing


def _close_connections(files: list[SqliteConnection]) -> None:
    for file in files:
        file.close()
