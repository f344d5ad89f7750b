"""`MultiWriterLog`: a `Log` in one partition to which any node appends, without a coordinator."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from treaty.core.limits import APPENDS_KEPT, SNAPSHOT_BYTES, SNAPSHOT_MARGIN, SNAPSHOT_RECORDS, WINDOW_BYTES
from treaty.core.state.commit import ENVELOPE_FORMAT, START, Append, Position
from treaty.log.kafka.multi_writer.chunks import make_state_file_chunks, write_state_file_chunks
from treaty.log.kafka.multi_writer.compaction import plan_compaction, send_chunk, write_snapshot
from treaty.log.kafka.multi_writer.reader_state import ADDRESS, SnapshotRejectedError, build_state, collect_changes
from treaty.log.kafka.multi_writer.scan import ScanResult
from treaty.log.kafka.multi_writer.tailer import LogTailer
from treaty.log.kafka.partition import PartitionClient
from treaty.log.log import AppendResult, Leader, LogDamagedError, LogDelta, LogUnavailableError, StoreStats

log = logging.getLogger("treaty.log")

T = TypeVar("T")

READ_BACK_SECONDS = 10.0
"""How long an acknowledged append may take to be read back, before its result is unknown."""
LARGE_APPENDS = 2_000
"""Appends that are read in the event loop; more of them, or a snapshot, go to a thread."""


class WorkRunner(Protocol):
    """Does something heavy, somewhere."""

    async def __call__(self, work: Callable[[], T]) -> T:
        """Do it, and return what it came to."""
        ...


async def run_in_thread(work: Callable[[], T]) -> T:
    """Do heavy work beside the event loop."""
    return await asyncio.to_thread(work)


@dataclass(frozen=True, slots=True)
class SnapshotPolicy:
    """When a snapshot is made and what is kept at hand; see the limits of the same names."""

    appends_kept: int = APPENDS_KEPT
    window: int = WINDOW_BYTES
    records: int = SNAPSHOT_RECORDS
    bytes: int = SNAPSHOT_BYTES
    margin: int = SNAPSHOT_MARGIN


DEFAULT_POLICY = SnapshotPolicy()


class MultiWriterLog:
    """A `Log` over a `PartitionClient`. An append is one record; it is true when it was read back as the next valid one."""

    lockable = False
    linearizable = False
    single_writer = False

    def __init__(
        self,
        client: PartitionClient,
        *,
        address: str = "",
        policy: SnapshotPolicy = DEFAULT_POLICY,
        attempt: Callable[[], bytes] = lambda: os.urandom(16),
        work: WorkRunner = run_in_thread,
    ) -> None:
        """Take the way to the partition; other nodes read `address`, `attempt` makes ids of the log's own appends."""
        self.url = client.url
        self._client = client
        self._headers = ((ADDRESS, address.encode()),) if address else ()
        self._policy = policy
        self._attempt = attempt
        self._work = work
        self._tailer = LogTailer(client, policy.appends_kept, policy.window)
        self._snapshot_task: asyncio.Task[bool] | None = None
        self._busy = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._last_won = b""
        self._own_base: Position | None = None
        self._next_try = 0

    # ---------------------------------------------------------------------------------------------------- writing

    async def append(self, append: Append) -> AppendResult:
        """Send the append, and read back what became of it."""
        async with self._operation():
            await self._tailer.start()
            if append.first - 1 > self._tailer.state.tip.sequence:
                await self._catch_up()
            if Position(append.identity, append.first - 1, append.parent) != self._base(append):
                return AppendResult.CONFLICT  # it would be stale; nothing that has no known parent is ever sent
            return await self._send(append)

    def _base(self, append: Append) -> Position:
        """The tip, as the parent of an append; the first one brings its own identity."""
        tip = self._tailer.state.tip
        return tip if tip.sequence else Position(append.attempt)

    async def _send(self, append: Append) -> AppendResult:
        in_flight, results = self._tailer.state.in_flight, self._tailer.state.results
        in_flight[append.attempt] = append.commits
        try:
            offset = await self._client.send(append.envelope, headers=self._headers)
            try:
                async with asyncio.timeout(READ_BACK_SECONDS):
                    await (self._catch_up() if offset is None else self._tailer.wait_for_offset(offset + 1))
            except (TimeoutError, LogUnavailableError, LogDamagedError):
                return results.get(append.attempt, AppendResult.UNKNOWN)
            result = results.get(append.attempt, AppendResult.UNKNOWN)
        finally:
            in_flight.pop(append.attempt, None)
            results.pop(append.attempt, None)
        if result is AppendResult.ACCEPTED:
            self._last_won = append.attempt
            self._own_base = Position(append.identity, append.first - 1, append.parent)
            self._snapshot_if_due()
        return result

    @property
    def foreign_records(self) -> int:
        """Records without the magic, since the log was read as a whole."""
        return self._tailer.foreign_records

    async def leader(self) -> Leader | None:
        """The node whose append won last: it has the newest state, and a round trip less to lose."""
        await self._tailer.start()
        state = self._tailer.state
        is_own = bool(state.winner) and state.winner == self._last_won
        return Leader(state.address, is_own) if state.address or is_own else None

    def lock(self) -> AbstractAsyncContextManager[None]:
        """No node can be kept out here."""
        raise NotImplementedError("a Kafka log with writers=any has no lock; check `lockable` first")

    # ---------------------------------------------------------------------------------------------------- reading

    async def tip(self) -> Position:
        """Ask for the end, read up to it, and return the position there."""
        async with self._operation():
            await self._tailer.start()
            await self._catch_up()
            return self._tailer.state.tip

    async def _catch_up(self) -> None:
        ends = await self._client.fetch_offset_range()
        await self._tailer.wait_for_offset(ends.end)

    async def read(self, after: Position) -> LogDelta:
        """Return everything after a position: from what is at hand, else from the log."""
        async with self._operation():
            await self._tailer.start()
            own_base, self._own_base = self._own_base, None
            if after != own_base:  # else an append of this node on that position was read back a moment ago
                await self._catch_up()
            return await self._without_wrong_snapshots(lambda: self._read(after))

    async def _read(self, after: Position) -> LogDelta:
        state = self._tailer.state
        tip = state.tip
        appends = state.since(after) if after != START or tip == START else None
        if appends is not None:
            rows = (
                collect_changes(appends)
                if len(appends) < LARGE_APPENDS
                else await self._run_work(lambda: collect_changes(appends))
            )
            state.release()
            return LogDelta(tip, rows)
        if state.complete:
            chunks, all_appends = state.chunks, tuple(state.buffered)
            rows = await self._run_work(lambda: build_state(chunks, all_appends))
            state.release()
            return LogDelta(tip, rows, reload=True)
        return await self._replay(after)

    async def _without_wrong_snapshots(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do work that reads the rows of a snapshot; where they are wrong leave it aside, and do it again."""
        while True:
            try:
                return await work()
            except SnapshotRejectedError as error:
                await self._tailer.reject_snapshot(error)

    async def _replay(self, after: Position) -> LogDelta:
        """Read the whole partition once more: the position is not at hand, or not this log's."""
        scanned = await self._tailer.scan_partition(at_least=self._tailer.next)
        await self._tailer.wait_for_offset(scanned.next)  # so that what comes after is at hand
        state = scanned.state
        appends = state.since(after) if after != START else None
        if appends is not None:
            return LogDelta(state.tip, await self._run_work(lambda: collect_changes(appends)))
        return LogDelta(
            state.tip, await self._run_work(lambda: build_state(state.chunks, tuple(state.buffered))), reload=True
        )

    async def wait(self, after: Position, timeout: float) -> None:
        """Return when an append came after the position."""
        await self._tailer.start()
        await self._tailer.wait_past(after, timeout)

    async def _run_work(self, work: Callable[[], T]) -> T:
        return await self._work(work)

    # ---------------------------------------------------------------------------------------------------- state file

    async def estimate_rows(self) -> int:
        """Rows of the snapshot that it begins at; 0 where there is none."""
        async with self._operation():
            await self._tailer.start()
            return self._tailer.state.last_snapshot[0]

    async def write_state_file(self, path: Path, position: Position, kind: int) -> None:
        """Keep a state file beside the snapshot, unless there is one that is young enough."""
        async with self._operation():
            await self._tailer.start()
            state = self._tailer.state
            chunks = await self._run_work(lambda: make_state_file_chunks(position, path, kind))
            young = state.count_bytes_after(kind) <= max(
                self._policy.bytes, sum(len(chunk.payload) for chunk in chunks)
            )
            if young or not self._knows(position):
                return
            for chunk in chunks:
                if not await send_chunk(self._client, chunk):
                    raise LogUnavailableError("whether the state file arrived in the log is not known")
            await self._catch_up()

    async def read_state_file(self, path: Path, kind: int) -> bool:
        """Make a file of the state file that lay beside the snapshot when it was read; False where there was none."""
        async with self._operation():
            await self._tailer.start()
            chunks = self._tailer.state.state_files.get(kind, ())
            return bool(chunks) and await self._run_work(lambda: write_state_file_chunks(chunks, path))

    # ---------------------------------------------------------------------------------------------------- maintenance

    def _snapshot_if_due(self) -> None:
        """Make a snapshot now and then. It is for who won last, so that mostly one node does it; two do no harm."""
        counts, (rows, size) = self._tailer.state.counts, self._tailer.state.last_snapshot
        if len(self._tailer.state.history.positions) <= self._policy.margin:
            return
        due = counts.records > max(self._policy.records, rows // 2) or counts.bytes > max(self._policy.bytes, size)
        if not due:
            self._next_try = 0
        elif (self._snapshot_task is None or self._snapshot_task.done()) and counts.records >= self._next_try:
            self._next_try = counts.records + self._policy.records // 10  # should this one be broken off
            self._snapshot_task = asyncio.create_task(self._try_snapshot(), name="snapshot")

    async def _try_snapshot(self) -> bool:
        try:
            return await self._without_wrong_snapshots(lambda: self._write_snapshot(self._policy.margin))
        except (LogUnavailableError, LogDamagedError) as error:
            log.warning("a snapshot of the log was interrupted and will be tried again: %s", error)
            return False

    async def _write_snapshot(self, margin: int) -> bool:
        scanned = await self._scan_whole()
        chosen = plan_compaction(scanned, margin)
        if chosen is None:
            return False
        tail = self._tailer

        async def check_arrival(snapshot_digest: bytes, payloads: Mapping[int, int]) -> None:
            await self._catch_up()
            if tail.state.pending_snapshots.get(snapshot_digest) != payloads:
                raise LogUnavailableError("the chunks of a snapshot did not all arrive as they were sent")

        return await write_snapshot(
            self._client,
            scanned,
            chosen,
            append=self.append,
            tip=self.tip,
            arrived=check_arrival,
            knows=self._knows,
            attempt=self._attempt,
            work=self._run_work,
        )

    def _knows(self, position: Position) -> bool:
        return self._tailer.state.history.knows(position)

    async def _scan_whole(self) -> ScanResult:
        await self._tailer.start()
        scanned = await self._tailer.scan_partition(at_least=self._tailer.next)
        await self._tailer.wait_for_offset(scanned.next)
        return scanned

    async def read_stats(self) -> StoreStats:
        """Read the whole log and count."""
        async with self._operation():
            return await self._without_wrong_snapshots(self._read_stats)

    async def _read_stats(self) -> StoreStats:
        state = (await self._scan_whole()).state
        live = len(await self._run_work(lambda: build_state(state.chunks, tuple(state.buffered))))
        return StoreStats(
            "kafka", ENVELOPE_FORMAT, await self._client.size(), live, 0, len(state.buffered), state.base.sequence
        )

    async def compact(self) -> None:
        """Make a snapshot of everything that there is, now."""
        async with self._operation():
            if self._snapshot_task is not None:
                await asyncio.wait([self._snapshot_task])
            await self._without_wrong_snapshots(lambda: self._write_snapshot(0))

    @asynccontextmanager
    async def _operation(self) -> AsyncIterator[None]:
        """Something that `close` waits for."""
        self._busy += 1
        self._idle.clear()
        try:
            yield
        finally:
            self._busy -= 1
            if not self._busy:
                self._idle.set()

    async def close(self) -> None:
        """Finish what is in flight, break off a snapshot, and give the client back."""
        await self._idle.wait()
        if self._snapshot_task is not None:
            self._snapshot_task.cancel()
            await asyncio.gather(self._snapshot_task, return_exceptions=True)
        await self._tailer.close()
        await self._client.close()
