"""A compacted partition with transactions, as a broker keeps it: markers, the last stable offset, the cleaner's rules. Pure."""

import asyncio
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

from treaty.log.kafka.partition import OffsetOutOfRangeError, OffsetRange, PartitionRecord, RecordBatch


@dataclass(slots=True)
class Transaction:
    """One transaction of a producer. `fate` is None while it is open."""

    producer: int
    epoch: int
    begin: int
    fate: bool | None = None


@dataclass(slots=True)
class Entry:
    """What lies at an offset: a record, or (without a key) a marker that ends a transaction."""

    offset: int
    key: bytes | None
    value: bytes | None
    within: Transaction | None
    """None for a record that was written outside transactions."""
    expires: float | None = None
    """When a tombstone may go; the cleaner says so when it first comes across it."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """One run of the cleaner: up to where it looks, the last offset of every key there, and when it began."""

    bound: int
    last: dict[bytes, int]
    now: float


class Partition:
    """The log of one partition, in segments. The last segment is active and never cleaned."""

    def __init__(self, retention: float) -> None:
        self.retention = retention
        """delete.retention.ms, in seconds."""
        self.spared = 0
        """Offsets before the end that the cleaner leaves alone, as min.compaction.lag.ms has it."""
        self.fetched = 9
        """Records that one fetch returns at most: few, so that readers stop at any place, also inside a transaction."""
        self.entries: list[Entry] = []
        self.end = 0
        self.segments = [0]
        """First offsets of all segments."""
        self.open: dict[int, Transaction] = {}
        """The open transactions, by producer."""
        self.marker: dict[int, int] = {}
        """Epoch of each producer's last marker: a broker refuses what an older one sends later."""
        self.became_stable: Callable[[list[Entry]], None] = lambda _: None
        """Called with the records of every transaction that is committed, the moment readers may see them."""
        self._news = asyncio.Event()

    @property
    def stable(self) -> int:
        """The last stable offset: the first offset that an open transaction holds back, or the end."""
        return min((one.begin for one in self.open.values()), default=self.end)

    def _put(self, key: bytes | None, value: bytes | None, within: Transaction | None) -> None:
        self.entries.append(Entry(self.end, key, value, within))
        self.end += 1

    def _told(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    def roll(self) -> None:
        """Begin a new segment, wherever that is: also within a transaction."""
        if self.segments[-1] != self.end:
            self.segments.append(self.end)

    # ---------------------------------------------------------------------------------------------------- writing

    def write(self, producer: int, epoch: int, key: bytes, value: bytes | None) -> bool:
        """A record of a transaction arrives; False where the producer was fenced.

        What was left open by an older epoch goes on with it: the next marker decides about both.
        """
        within = self.open.get(producer)
        if epoch < self.marker.get(producer, -1) or (within is not None and within.epoch > epoch):
            return False
        if within is None:
            within = self.open[producer] = Transaction(producer, epoch, self.end)
        within.epoch = epoch
        self._put(key, value, within)
        return True

    def mark(self, producer: int, epoch: int, *, commit: bool) -> None:
        """The coordinator ends a producer's open transaction, if there is one; `epoch` is the one that it goes on with."""
        self.marker[producer] = max(self.marker.get(producer, -1), epoch)
        ended = self.open.pop(producer, None)
        if ended is None:
            return
        ended.fate = commit
        self._put(None, None, ended)
        if commit:
            self.became_stable([one for one in self.entries if one.within is ended and one.key is not None])
        self._told()

    # ---------------------------------------------------------------------------------------------------- reading

    def fetch_offset_range(self) -> OffsetRange:
        """What a reader of committed records is told. Compaction never moves the first offset."""
        return OffsetRange(0, self.stable)

    def refuse_beyond(self, offset: int) -> None:
        """Raise `OffsetOutOfRangeError` for an offset after the end."""
        if offset > self.end:
            raise OffsetOutOfRangeError(f"offset {offset} is after the end, {self.end}")

    def read(self, offset: int, most: int) -> RecordBatch:
        """Committed records from an offset on."""
        self.refuse_beyond(offset)
        found: list[PartitionRecord] = []
        for entry in islice(self.entries, bisect_left(self.entries, offset, key=lambda one: one.offset), None):
            if entry.key is None:
                continue
            if entry.offset >= self.stable:
                break
            if len(found) == most:
                return RecordBatch(tuple(found), found[-1].offset + 1)
            if entry.within is None or entry.within.fate:
                found.append(PartitionRecord(entry.offset, entry.key, entry.value))
        return RecordBatch(tuple(found), max(offset, self.stable))

    async def news(self, offset: int) -> None:
        """Return when there is something after an offset that may be seen, be it a marker."""
        while self.stable <= offset:
            await self._news.wait()

    # ---------------------------------------------------------------------------------------------------- cleaning

    def sweep(self, segments: int, now: float) -> Sweep:
        """Begin a run of the cleaner over the first segments, never the active one nor what is not stable yet.

        What an aborted transaction wrote replaces nothing.
        """
        bound = min(self.segments[min(segments, len(self.segments) - 1)], self.stable, self.end - self.spared)
        counted = (one for one in self.entries if one.key is not None and one.offset < bound and _counts(one))
        return Sweep(bound, {one.key: one.offset for one in counted if one.key is not None}, now)

    def clean(self, sweep: Sweep, segment: int) -> None:
        """Clean one segment: what is replaced goes, and tombstones whose time is over."""
        low = self.segments[segment]
        high = self.segments[segment + 1] if segment + 1 < len(self.segments) else self.end
        high = min(high, sweep.bound)
        self.entries = [one for one in self.entries if not low <= one.offset < high or self._stays(one, sweep)]

    def _stays(self, entry: Entry, sweep: Sweep) -> bool:
        if entry.key is None:
            return True  # a marker is seen by nobody
        if not _counts(entry) or entry.offset < sweep.last.get(entry.key, -1):
            return False
        if entry.value is not None:
            return True
        if entry.expires is None:
            entry.expires = sweep.now + self.retention
        return entry.expires > sweep.now


def _counts(entry: Entry) -> bool:
    return entry.within is None or entry.within.fate is True
