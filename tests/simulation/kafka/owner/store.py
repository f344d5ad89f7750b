"""The store of a run with `writers=owner`: the broker, its cleaner, its group, and the nodes' ways to them."""

import asyncio
from collections.abc import Callable

from tests.simulation.kafka.owner.coordinator import Coordinator, Group, Seat, address_of, seat_name
from tests.simulation.kafka.owner.partition import Entry, Partition
from tests.simulation.kafka.owner.ways import ElectionModel, LinkModel, TransactionsModel, Way
from tests.simulation.runs.store import Door, Ground, Store
from treaty.core.state.commit import START, Append, Position
from treaty.log.kafka.broker.election import TakeoverElection
from treaty.log.kafka.single_writer.log import SingleWriterLog
from treaty.log.kafka.single_writer.records import END_KEY, read_end_record
from treaty.log.log import AppendResult, Log

SESSION = 30
"""Latencies after which the group notices that a member is dead."""


class Told(SingleWriterLog):
    """The real log, whose appends the run hears of before they are sent."""

    sends: Callable[[Append], None]

    async def append(self, append: Append) -> AppendResult:
        self.sends(append)
        return await super().append(append)


class OwnerStore:
    """One broker. What it does by itself (segments, cleaning, rebalances) happens while others work."""

    patience = 6.0
    brevity = 2

    def __init__(self, ground: Ground) -> None:
        self.landed: Callable[[Append], None] = lambda _: None
        self.tip: Position = START
        self.ground = ground
        self.chance = chance = ground.chance
        self.retention = ground.weather.latency * chance.choice([300, 1_000, 10_000])
        self.partition = Partition(self.retention)
        self.partition.became_stable = self._stable
        self.partition.spared = chance.choice([0, 0, 30, 300])
        self.partition.fetched = chance.choice([4, 9, 40, 200])
        self.coordinator = Coordinator(self.partition, chance, ground.weather.latency)
        self.coordinator.forgetting = chance.choice([0.0, 0.0, 0.01, 0.05])
        self.group = Group()
        self.rebalance = chance.choice([0.0, 0.002, 0.01])
        """How often the owner changes at a step of somebody's conversation with the broker."""
        self.rolling = chance.choice([0.05, 0.3])
        self.sweeping = chance.choice([0.0, 0.1, 0.5])
        self._sent: dict[bytes, Append] = {}
        self._calm = False

    # ---------------------------------------------------------------------------------------------------- the nodes

    def open(self, door: Door) -> Log:
        way = Way(self.ground.weather, door.chance, lambda what: self._step(door, what), self.ground.jobs)
        name = seat_name(door.name, door.life)
        log = Told(
            LinkModel(self.partition, way),
            TransactionsModel(self.coordinator_of(name), way),
            TakeoverElection() if door.visits else self._seated(name),
            horizon=self.retention,
            appends_kept=self.ground.remembered,
        )
        log.sends = lambda append: self._sends(door, append)
        return log

    def _seated(self, name: str) -> ElectionModel:
        """A node's seat in the group, which makes it a candidate."""
        seat = self.group.seats[name] = Seat(name)
        if self.group.owner not in self.group.seats or self.chance.random() < 0.3:
            self.assign(name)
        self._tell(name)
        return ElectionModel(seat, lambda: self._leave(name))

    def coordinator_of(self, seat: str) -> Coordinator:
        """Who has the transactional id of a node: the same for all of them."""
        del seat
        return self.coordinator

    def _sends(self, door: Door, append: Append) -> None:
        self._sent[append.attempt] = append
        door.sends(append)

    def _step(self, door: Door, what: str) -> None:
        door.step(what)
        if not self._calm and self.group.seats and self.chance.random() < self.rebalance:
            self.assign(self.chance.choice(sorted(self.group.seats)))

    def died(self, name: str) -> None:
        """The group notices it only after a while; the producer's open transaction stays open."""
        for seat in [one for one in self.group.seats if address_of(one) == name]:
            self.ground.jobs.spawn(self._time_out(seat))

    async def _time_out(self, seat: str) -> None:
        await asyncio.sleep(self.ground.weather.latency * SESSION)
        self._leave(seat)

    def _leave(self, name: str) -> None:
        self.group.seats.pop(name, None)
        if self.group.owner == name and self.group.seats:
            self.assign(self.chance.choice(sorted(self.group.seats)))

    def assign(self, owner: str) -> None:
        """Another owner, of which members hear one after the other."""
        self.group.owner = owner
        for name in sorted(self.group.seats):
            self._tell(name)

    def elect(self, node: str, life: int) -> None:
        """Make a life of a node the owner, and have everybody know it at once."""
        self.group.owner = seat_name(node, life)
        for name in self.group.seats:
            self.group.tell(name)

    def quiet(self, spared: int) -> None:
        """Have no owner changed but by `elect`; the cleaner goes on, but leaves the last `spared` offsets alone."""
        self._calm = True
        self.retention = self.partition.retention = 3_600.0
        self.coordinator.patience, self.coordinator.forgetting = 10.0, 0.0
        self.partition.spared = spared
        self.partition.fetched = 1_000

    def _tell(self, name: str) -> None:
        late = 1 if self._calm else self.chance.choice([0, 1, 5, 60])
        self.ground.jobs.spawn(self._hear(name, late * self.ground.weather.latency * self.chance.expovariate(1.0)))

    async def _hear(self, name: str, seconds: float) -> None:
        await asyncio.sleep(seconds)
        self.group.tell(name)

    def calm(self) -> None:
        """From now on the cleaner leaves alone what is new, as the topic's settings say: who is told can come to see it."""
        self._calm = True
        self.coordinator.forgetting = 0.0
        self.partition.spared = 400
        self.partition.fetched = 200

    async def intrude(self, make: Callable[[Position], Append]) -> bool:
        """Only the owner writes."""
        del make
        return False

    # --------------------------------------------------------------------------------------------------- the broker

    def _stable(self, entries: list[Entry]) -> None:
        """Readers may see a transaction from now on: it is durable, and the next append of the log."""
        marks = [read_end_record(one.value) for one in entries if one.key == END_KEY]
        for mark in marks:
            append = self._sent[mark.attempt]
            self.tip = append.position
            self.landed(append)
        if self.chance.random() < self.rolling:
            self.partition.roll()
        if self.chance.random() < self.sweeping:
            self.ground.jobs.spawn(self._clean())

    async def _clean(self) -> None:
        """A run of the cleaner: one segment after the other, while others read and write; segments may begin anywhere."""
        latency = self.ground.weather.latency
        await asyncio.sleep(latency * 3 * self.chance.expovariate(1.0))
        if self.chance.random() < 0.5:
            self.partition.roll()
        some = self.chance.choice([len(self.partition.segments), self.chance.randint(1, len(self.partition.segments))])
        sweep = self.partition.sweep(some, asyncio.get_running_loop().time())
        for segment in range(some):
            self.partition.clean(sweep, segment)
            await asyncio.sleep(latency * 0.5 * self.chance.expovariate(1.0))


def make_store(ground: Ground) -> Store:
    """The store of one run."""
    return OwnerStore(ground)
