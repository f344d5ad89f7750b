"""A model of one Kafka partition and of the way to it: what a broker promises, and all that it does not."""

import asyncio
import random
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.simulation.clock import Jobs
from tests.simulation.model import LONGEST
from treaty.log.kafka.partition import OffsetOutOfRangeError, OffsetRange, PartitionRecord, RecordBatch
from treaty.log.log import LogDamagedError, LogUnavailableError

OLD_LEADER = 100
"""Steps for which a node talks to an old leader, on average."""
FETCHED = 7
"""Records that one fetch returns at most: few, so that readers stop at any place."""


@dataclass(slots=True)
class Storm:
    """How bad things are between a node and the broker. Times are seconds, the rest are chances; `calm` ends it all."""

    latency: float = 0.0001
    unavailable: float = 0.0
    """A request that surely did nothing."""
    lost: float = 0.0
    """A send whose acknowledgement is lost: a third of them landed, a third never do, a third land later."""
    twice: float = 0.0
    """A send that lands once more, much later."""
    slow: float = 0.0
    """A fetch that does not yet show what others have been told of."""
    stall: float = 0.0
    """A step that takes a hundred times as long: a node that was suspended, a line that was cut."""
    stale: float = 0.0
    """An old leader, which does not know it yet, answers as it was a while ago."""
    old_leader: float = 0.0
    """A request from which on a node talks to an old leader for a while, which shows nothing that came since."""
    crash: float = 0.0
    """A node dies at a step of its conversation with the broker."""
    damage: str = ""
    """What is wrong with the topic; nothing can be read or written while it is."""

    def calm(self) -> None:
        """From now on everything works."""
        self.unavailable = self.lost = self.twice = self.slow = self.stall = self.stale = 0.0
        self.old_leader = self.crash = 0.0


class Partition:
    """The one partition of a topic, as its leader holds it. Offsets only rise; gaps may lie between them."""

    def __init__(self, jobs: Jobs | None = None) -> None:
        self.jobs = Jobs() if jobs is None else jobs
        """What is on its way; it goes on when the node that asked for it is killed."""
        self.topic = 1
        """Number of the topic: one that is deleted and made again has the same name, and is somebody else."""
        self.records: list[PartitionRecord] = []
        self.first = 0
        self.end = 0
        self.before = 0
        """Where it ended some records ago, as a stale leader says."""
        self.landed: Callable[[PartitionRecord], None] = lambda _: None
        """Called for every record, the moment it is there."""
        self.was_cut: Callable[[], None] = lambda: None
        self._news = asyncio.Event()

    def append(self, value: bytes | None, key: bytes | None = None, headers: Sequence[tuple[str, bytes]] = ()) -> int:
        """A record arrives."""
        record = PartitionRecord(self.end, key, value, tuple(headers))
        self.records.append(record)
        self.before = max(self.before, self.end - 3)
        self.end += 1
        self.landed(record)
        self.wake()
        return record.offset

    def copy(self) -> "Partition":
        """What somebody holds who hears of nothing any more."""
        other = Partition(self.jobs)
        other.topic, other.records = self.topic, [*self.records]
        other.first, other.end, other.before = self.first, self.end, self.before
        return other

    def wake(self) -> None:
        """Tell all who wait for records."""
        self._news.set()
        self._news = asyncio.Event()

    def delete_records(self, before: int) -> None:
        """Delete a prefix."""
        if before > self.end:
            raise LogUnavailableError(f"there is nothing at {before}")
        if before <= self.first:
            return
        del self.records[: self._at(before)]
        self.first = before
        self.before = max(self.before, before)
        self.was_cut()

    def lose(self, after: int) -> None:
        """A fault: an unclean election takes the records from an offset on away."""
        del self.records[self._at(after) :]
        self.end = max(after, self.first)
        self.before = min(self.before, self.end)
        self.wake()

    def make_again(self) -> None:
        """A fault: the topic is deleted, and made again under its name."""
        self.topic += 1
        self.records.clear()
        self.first = self.end = self.before = 0
        self.wake()

    def some(self, offset: int, most: int) -> RecordBatch:
        """Records from an offset on."""
        if not self.first <= offset <= self.end:
            raise OffsetOutOfRangeError(f"offset {offset} is not between {self.first} and {self.end}")
        place = self._at(offset)
        records = tuple(self.records[place : place + most])
        return RecordBatch(records, records[-1].offset + 1 if records else offset)

    def _at(self, offset: int) -> int:
        return bisect_left(self.records, offset, key=lambda one: one.offset)

    async def news(self, offset: int) -> None:
        """Return when there is something at or after an offset, or when everything has become different."""
        topic = self.topic
        while self.end <= offset and self.topic == topic:
            await self._news.wait()


class LinkModel:
    """One node's way to a partition: a `Link`."""

    def __init__(
        self,
        partition: Partition,
        storm: Storm,
        chance: random.Random,
        *,
        step: Callable[[str], None] = lambda _: None,
        sends: Callable[[bytes], None] = lambda _: None,
        fetched: int = FETCHED,
    ) -> None:
        self.url = "model:kafka"
        self._partition = partition
        self._storm = storm
        self._chance = chance
        self._step = step
        """Told of every step; may kill the node."""
        self._sends = sends
        self._topic = partition.topic
        self._fetched = fetched
        self._old: Partition | None = None
        """What the old leader holds that this node talks to."""
        self._old_until = 0.0

    async def _delay(self, what: str, factor: float = 1.0) -> None:
        self._step(what)
        if self._chance.random() < self._storm.stall:
            factor *= 100
        await asyncio.sleep(min(self._storm.latency * factor * self._chance.expovariate(1.0), LONGEST))

    async def _way(self, what: str) -> None:
        await self._delay(what)
        if self._storm.damage:
            raise LogDamagedError(self._storm.damage)
        if self._topic != self._partition.topic:
            raise LogDamagedError("the topic was deleted and made again")
        if self._chance.random() < self._storm.unavailable:
            raise LogUnavailableError("the line is dead")

    def _leader(self) -> Partition:
        """The partition, as the leader holds it that this node talks to."""
        storm, now = self._storm, asyncio.get_running_loop().time()
        if self._old is not None and (not storm.old_leader or now >= self._old_until):
            self._old = None
        if self._old is None and storm.old_leader and self._chance.random() < storm.old_leader:
            self._old = self._partition.copy()
            self._old_until = now + storm.latency * OLD_LEADER * self._chance.expovariate(1.0)
        return self._partition if self._old is None else self._old

    async def send(
        self, value: bytes, key: bytes | None = None, headers: Sequence[tuple[str, bytes]] = ()
    ) -> int | None:
        self._sends(value)
        await self._way("send")
        if self._old is not None and self._chance.random() < 0.5:
            self._old = None  # it takes nothing, and who sends looks for another leader; who reads may not
            await self._delay("lost")
            return None
        fortune = "told"
        if self._chance.random() < self._storm.lost:
            fortune = self._chance.choice(["landed", "never", "late"])
        if fortune == "never":
            await self._delay("lost")
            return None
        job = self._partition.jobs.spawn(self._land(value, key, headers, 8 if fortune == "late" else 0.5))
        if self._chance.random() < self._storm.twice:
            self._partition.jobs.spawn(self._land(value, key, headers, 30))
        if fortune == "late":
            await self._delay("lost", 0.5)
            return None
        offset: int | None = await asyncio.shield(job)
        await self._delay("told")
        return offset if fortune == "told" else None

    async def _land(
        self, value: bytes, key: bytes | None, headers: Sequence[tuple[str, bytes]], factor: float
    ) -> int | None:
        """A record on its way; what was sent to a topic that is gone is gone too."""
        topic = self._partition.topic
        await asyncio.sleep(self._storm.latency * factor * self._chance.expovariate(1.0))
        return self._partition.append(value, key, headers) if topic == self._partition.topic else None

    async def fetch_offset_range(self) -> OffsetRange:
        await self._way("ends")
        leader = self._leader()
        end = leader.before if self._chance.random() < self._storm.stale else leader.end
        ends = OffsetRange(leader.first, max(end, leader.first))
        await self._delay("seen")
        return ends

    async def fetch(self, offset: int, timeout: float) -> RecordBatch:
        await self._way("fetch")
        self._leader().some(offset, 0)
        if self._chance.random() < self._storm.stale and offset >= self._partition.before:
            await self._delay("stale", 5)
            return RecordBatch((), offset)
        if self._old is not None and offset >= self._old.end:
            await self._delay("old", 5)
            return RecordBatch((), offset)
        try:
            async with asyncio.timeout(timeout):
                await self._partition.news(offset)
        except TimeoutError:
            pass
        if self._topic != self._partition.topic:
            raise LogDamagedError("the topic was deleted and made again")
        if self._chance.random() < self._storm.slow:
            await self._delay("slow", 3)
        batch = (self._old or self._partition).some(offset, self._chance.randint(1, self._fetched))
        await self._delay("got")
        return batch

    async def delete_records(self, before: int) -> None:
        await self._way("cut")
        job = self._partition.jobs.spawn(self._cut(before))
        await asyncio.shield(job)
        await self._delay("done")

    async def _cut(self, before: int) -> None:
        topic = self._partition.topic
        await asyncio.sleep(self._storm.latency * self._chance.expovariate(1.0))
        if topic == self._partition.topic:
            self._partition.delete_records(before)

    async def size(self) -> int:
        await self._way("size")
        return sum(len(record.value or b"") for record in self._partition.records)

    async def close(self) -> None:
        await self._partition.jobs.rest()
