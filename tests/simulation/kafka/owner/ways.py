"""One node's ways to the broker: a `Link`, `Transactions` and an `Election` with delays, losses and lies."""

import asyncio
import random
from collections.abc import Callable, Sequence

from tests.simulation.clock import Jobs
from tests.simulation.kafka.owner.coordinator import Coordinator, Seat, address_of
from tests.simulation.kafka.owner.partition import Partition
from tests.simulation.model import LONGEST, Weather
from treaty.log.kafka.partition import HangingTransactionError, OffsetRange, ProducerFencedError, RecordBatch
from treaty.log.log import Leader, LogDamagedError, LogUnavailableError


class Way:
    """The line to the broker, and its weather."""

    def __init__(self, weather: Weather, chance: random.Random, step: Callable[[str], None], jobs: Jobs) -> None:
        self.weather = weather
        self.chance = chance
        self.jobs = jobs
        self._step = step

    async def delay(self, what: str, factor: float = 1.0) -> None:
        self._step(what)
        if self.chance.random() < self.weather.stall:
            factor *= 100
        await asyncio.sleep(min(self.weather.latency * factor * self.chance.expovariate(1.0), LONGEST))

    async def go(self, what: str) -> None:
        """The way there, which may be blocked."""
        await self.delay(what, 0.5)
        if self.weather.damage:
            raise LogDamagedError(self.weather.damage)
        if self.chance.random() < self.weather.unavailable:
            raise LogUnavailableError("the line is dead")


class LinkModel:
    """Reading committed records."""

    url = "model:owner"

    def __init__(self, partition: Partition, way: Way) -> None:
        self._partition = partition
        self._way = way

    async def send(
        self, value: bytes, key: bytes | None = None, headers: Sequence[tuple[str, bytes]] = ()
    ) -> int | None:
        """Nobody writes to such a log outside transactions."""
        raise LogUnavailableError("not here")

    async def fetch_offset_range(self) -> OffsetRange:
        await self._way.go("ends")
        ends = self._partition.fetch_offset_range()
        await self._way.delay("seen", 0.5)
        return ends

    async def fetch(self, offset: int, timeout: float) -> RecordBatch:
        await self._way.go("fetch")
        self._partition.refuse_beyond(offset)
        lost = self._way.chance.random() < self._way.weather.hint_lost
        try:
            async with asyncio.timeout(min(timeout, 20 * self._way.weather.latency) if lost else timeout):
                await (asyncio.sleep(timeout) if lost else self._partition.news(offset))
        except TimeoutError:
            pass
        batch = self._partition.read(offset, self._way.chance.randint(1, self._partition.fetched))
        if batch.records and self._way.chance.random() < 0.3:
            batch = RecordBatch(batch.records, batch.records[-1].offset + 1)  # the gap behind is not known yet
        await self._way.delay("got", 0.5)
        return batch

    async def delete_records(self, before: int) -> None:
        """Nobody cuts such a log."""
        raise LogUnavailableError("not here")

    async def size(self) -> int:
        return sum(len(one.value or b"") for one in self._partition.entries)

    async def close(self) -> None:
        """Nothing to give back."""


class TransactionsModel:
    """A producer whose requests may be lost on the way there or back; what is on its way arrives though it dies."""

    def __init__(self, coordinator: Coordinator, way: Way) -> None:
        self._coordinator = coordinator
        self._way = way
        self._epoch: int | None = None

    async def fence(self) -> None:
        self._epoch = None
        await self._way.go("fence")
        job = self._way.jobs.spawn(self._take())
        epoch = await asyncio.shield(job)
        await self._way.delay("fenced", 0.5)
        if epoch is None:
            raise ProducerFencedError
        self._epoch = epoch

    async def _take(self) -> int | None:
        await asyncio.sleep(self._way.weather.latency * 0.3 * self._way.chance.expovariate(1.0))
        try:
            return await self._coordinator.take()
        except ProducerFencedError:
            return None

    async def commit(self, records: Sequence[tuple[bytes, bytes | None]], at: int) -> bool:
        epoch = self._epoch
        if epoch is None:
            raise ProducerFencedError
        await self._way.go("begin")
        try:
            number = await self._coordinator.begin(epoch)
            landed = await self._write(epoch, number, records)
            if landed > at:
                self._give_up(epoch, number, HangingTransactionError("something lies before it"))
            await self._way.delay("end", 0.3)
            return await self._end(epoch, number)
        except ProducerFencedError:
            self._epoch = None
            raise

    async def _write(self, epoch: int, number: int, records: Sequence[tuple[bytes, bytes | None]]) -> int:
        """Records arrive in order, a few at a time; the node may die between two of them. Returns where the first one lies."""
        landed = -1
        chance = self._way.chance
        self._way.jobs.spawn(self._coordinator.expire())
        for place, (key, value) in enumerate(records):
            if place and chance.random() < 0.15:
                await self._way.delay("produce", 0.5)
            if place and self._coordinator.halving and chance.random() < self._coordinator.halving:
                self._halve(epoch)
            if chance.random() < self._way.weather.unavailable / 4:
                self._give_up(epoch, number, LogUnavailableError("the line broke"))
            offset = self._coordinator.produce(epoch, key, value)
            landed = landed if place else offset
        return landed

    def _halve(self, epoch: int) -> None:
        """The first records of the transaction are committed by what came late; who sends them is told no more than that."""
        self._coordinator.halve(epoch)
        self._way.jobs.spawn(self._coordinator.finish())
        self._epoch = None
        raise LogUnavailableError("the transaction was ended by somebody")

    def _give_up(self, epoch: int, number: int, why: LogUnavailableError) -> None:
        """A record can't be sent, or lies wrong: abort. Where that does not arrive either, the next owner or the time-out does it."""
        if self._way.chance.random() < 0.5:
            self._coordinator.end(epoch, number, commit=False)
            self._way.jobs.spawn(self._coordinator.finish())
        self._epoch = None
        raise why

    async def _end(self, epoch: int, number: int) -> bool:
        weather, chance = self._way.weather, self._way.chance
        fortune = "told"
        if chance.random() < weather.unknown:
            fortune = chance.choice(["landed", "never", "late"])
        if fortune == "never":
            await self._way.delay("lost")
            return False
        job = self._way.jobs.spawn(self._ending(epoch, number, 12.0 if fortune == "late" else 0.3))
        if chance.random() < weather.twice:
            self._way.jobs.spawn(self._ending(epoch, number, 20.0))
        if fortune == "late":
            await self._way.delay("lost", 0.5)
            return False
        ended = await asyncio.shield(job)
        await self._way.delay("told", 0.3)
        if not ended:
            raise ProducerFencedError
        return fortune == "told"

    async def _ending(self, epoch: int, number: int, factor: float) -> bool:
        """The request to commit travels, arrives, and is answered before the partition has heard of it."""
        await asyncio.sleep(self._way.weather.latency * factor * self._way.chance.expovariate(1.0))
        try:
            self._coordinator.end(epoch, number, commit=True)
        except ProducerFencedError:
            return False
        self._way.jobs.spawn(self._coordinator.finish())
        return True

    async def close(self) -> None:
        """A producer that goes leaves what it has open to the next one."""


class ElectionModel:
    """What one member knows of who owns the log."""

    def __init__(self, seat: Seat, leave: Callable[[], None]) -> None:
        self._seat = seat
        self._leave = leave

    async def leader(self) -> Leader | None:
        owner = self._seat.owner
        return Leader(address_of(owner), owner == self._seat.name) if owner else None

    @property
    def generation(self) -> int:
        return self._seat.generation

    async def close(self) -> None:
        self._leave()
