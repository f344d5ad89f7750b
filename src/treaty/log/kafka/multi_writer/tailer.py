"""The task that follows the partition, and notifies waiters for an offset, a position or a chunk."""

import asyncio
import logging
from collections.abc import Callable

from treaty.core.state.commit import Position
from treaty.log.kafka.multi_writer.reader_state import HistoryChangedError, ReaderState, SnapshotRejectedError
from treaty.log.kafka.multi_writer.scan import ScanResult, read_records, scan_partition
from treaty.log.kafka.partition import OffsetOutOfRangeError, PartitionClient
from treaty.log.log import LogDamagedError, LogUnavailableError

log = logging.getLogger("treaty.log")

POLL_SECONDS = 10.0
"""How long one fetch waits for records."""
RETRY_SECONDS = 0.2
"""Seconds between two tries to reach the partition."""
DAMAGED_RETRY_SECONDS = 5.0
"""The same where what was read can't continue."""
SHORT_TRIES = 10
"""Times that the partition may end before what was read from it, before that counts as lost and all is read again."""


class LogTailer:
    """Reads as far as there is anything. Who waits gets the errors that the reading ran into after they came."""

    def __init__(self, client: PartitionClient, appends_kept: int, window: int) -> None:
        """Read nothing until `start`."""
        self._client = client
        self._kept, self._window = appends_kept, window
        self._result: ScanResult | None = None
        self._next = 0
        self._short_reads = 0
        self._task: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()
        self._news: asyncio.Future[None] | None = None
        self._damage: LogDamagedError | None = None
        self._rejected: dict[bytes, str] = {}
        """Snapshots that were found to be no good, and why."""
        self.rescans = 0
        """How often everything was read again because the history was another one."""

    @property
    def state(self) -> ReaderState:
        """What has been read; after `start`."""
        assert self._result is not None
        return self._result.state

    @property
    def foreign_records(self) -> int:
        """Records without the magic among those that were read."""
        return 0 if self._result is None else self._result.state.counts.foreign

    @property
    def next(self) -> int:
        """The offset to be read next."""
        return self._next

    async def start(self) -> None:
        """Read everything once, and have the tail followed from there."""
        if self._result is None:
            async with self._starting:
                if self._result is None:
                    self._replace_state(await self.scan_partition())
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="kafka tail")

    def _replace_state(self, scanned: ScanResult) -> None:
        in_flight = {} if self._result is None else self.state.in_flight
        results = {} if self._result is None else self.state.results
        self._result, self._next = scanned, scanned.next
        scanned.state.in_flight, scanned.state.results = in_flight, results

    # ---------------------------------------------------------------------------------------------------- waiting

    async def wait_until(self, holds: Callable[[], bool]) -> None:
        """Return when something holds. Raises what the reading runs into meanwhile."""
        while not holds():
            if self._damage is not None:
                raise type(self._damage)(*self._damage.args)
            if self._news is None:
                self._news = asyncio.get_running_loop().create_future()
                self._news.add_done_callback(_drop_error)
            await asyncio.shield(self._news)

    async def wait_for_offset(self, offset: int) -> None:
        """Return when everything before an offset has been read."""
        await self.wait_until(lambda: self._next >= offset)

    async def wait_past(self, position: Position, timeout: float) -> None:
        """Return when the tip is not a position any more, at the latest after some seconds."""
        try:
            async with asyncio.timeout(timeout):
                await self.wait_until(lambda: self.state.tip != position)
        except TimeoutError:
            pass

    def _notify(self, error: Exception | None = None) -> None:
        news, self._news = self._news, None
        if news is not None and not news.done():
            if error is None:
                news.set_result(None)
            else:
                news.set_exception(error)

    # ---------------------------------------------------------------------------------------------------- reading on

    async def _run(self) -> None:
        """Read on, for ever."""
        while True:
            try:
                await self._step()
                self._damage = None
            except LogUnavailableError as error:
                self._notify(error)
                await asyncio.sleep(RETRY_SECONDS)
            except LogDamagedError as error:
                self._damage = error
                self._notify(error)
                await asyncio.sleep(DAMAGED_RETRY_SECONDS)
            except Exception as error:  # noqa: BLE001 - those who wait have to hear of it, whatever it is
                self._notify(error)
                await asyncio.sleep(DAMAGED_RETRY_SECONDS)

    async def _step(self) -> None:
        try:
            at = self._next
            batch = await self._client.fetch(at, POLL_SECONDS)
            if self._next != at:
                return  # everything was read again meanwhile
            for record in read_records(batch):
                self.state.add(record)
                self._next = record.offset + 1
            self._next = max(self._next, batch.next)
            self._short_reads = 0
        except OffsetOutOfRangeError:
            await self._rescan_if_cut()
        except HistoryChangedError:
            await self._rescan()
        self._notify()

    async def _rescan_if_cut(self) -> None:
        """The next offset is not there: a snapshot has cut it away, or the partition has lost its end.

        A leader that was just elected may not know of the end yet; so that is waited for.
        """
        ends = await self._client.fetch_offset_range()
        if ends.end < self._next and self._short_reads < SHORT_TRIES:
            self._short_reads += 1
            raise LogUnavailableError(f"the partition ends at offset {ends.end}, and {self._next} was read from it")
        await self._rescan()

    async def _rescan(self) -> None:
        self.rescans += 1
        self._replace_state(await self.scan_partition())
        self._short_reads = 0

    async def scan_partition(self, *, at_least: int = 0) -> ScanResult:
        """Read the whole partition, without the snapshots that are no good."""
        return await scan_partition(self._client, self._kept, self._window, at_least=at_least, without=self._rejected)

    async def reject_snapshot(self, error: SnapshotRejectedError) -> None:
        """Leave a snapshot aside from now on, and read everything again if that began at it.

        Raises `LogUnavailableError`, and `LogDamagedError` where nothing else stands for what the snapshot stood for.
        """
        self._rejected[error.snapshot_digest] = str(error)
        log.warning("%s; it is left aside", error)
        async with self._starting:
            self._replace_state(await self.scan_partition(at_least=self._next))
        self._notify()

    async def close(self) -> None:
        """Read no more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._notify(LogUnavailableError("this log was closed"))


def _drop_error(future: asyncio.Future[None]) -> None:
    """An error without a waiter is dropped."""
    if not future.cancelled():
        future.exception()
