"""The store of a run with `writers=any`: one partition, and the nodes' ways to it."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from tests.simulation.judging.broken import Broken
from tests.simulation.kafka.broker import LinkModel, Partition, Storm
from tests.simulation.runs.store import Door, Ground, Store
from treaty.core.state.commit import MAGIC, Append, Position, read_append
from treaty.log.kafka.multi_writer.log import MultiWriterLog, SnapshotPolicy, T
from treaty.log.kafka.multi_writer.validity import AppendHistory, RecordValidity
from treaty.log.kafka.partition import PartitionRecord
from treaty.log.log import AppendResult, Log, LogDamagedError, LogUnavailableError


async def here(work: Callable[[], T]) -> T:
    """Do heavy work at once: there are no threads."""
    return work()


class Told(MultiWriterLog):
    """The real log, whose appends the run hears of before they are sent."""

    sends: Callable[[Append], None]
    folds: Callable[[], bool]

    async def append(self, append: Append) -> AppendResult:
        self.sends(append)
        return await super().append(append)

    def _snapshot_if_due(self) -> None:
        if self.folds():
            super()._snapshot_if_due()


class AnyStore:
    """One partition, judged by somebody who has read every record from the first one on, as it landed."""

    patience = 4.0
    brevity = 2

    def __init__(self, ground: Ground) -> None:
        self.landed: Callable[[Append], None] = lambda _: None
        self.ground = ground
        chance, weather = ground.chance, ground.weather
        self.partition = Partition(ground.jobs)
        self.partition.landed = self._landed
        self.storm = Storm(
            weather.latency,
            unavailable=weather.unavailable,
            lost=1.5 * weather.unknown or 0.1,
            twice=weather.twice,
            slow=chance.choice([0, 0.1, 0.5]),
            stall=weather.stall,
            old_leader=ground.old_leader,
        )
        self.bounds = SnapshotPolicy(
            appends_kept=ground.remembered,
            window=chance.choice([2_000, 1_000_000]),
            records=chance.choice([4, 15, 50]),
            margin=chance.choice([0, 0, 2, 10]),
        )
        self.fetched = chance.choice([10, 30, 200])
        self.folding = chance.choice([0, 0.004, 0.02])
        """How often a node folds at a step of its conversation with the broker, due or not."""
        self._truth = AppendHistory()
        self._calm = False

    @property
    def tip(self) -> Position:
        return self._truth.tip

    def open(self, door: Door) -> Log:
        log: list[MultiWriterLog] = []

        def step(what: str) -> None:
            door.step(what)
            if door.chance.random() < self.folding:
                asyncio.get_running_loop().create_task(_quietly(log[0]))

        link = LinkModel(self.partition, self.storm, door.chance, step=step, fetched=self.fetched)
        told = Told(link, address=door.name, policy=self.bounds, attempt=lambda: door.chance.randbytes(16), work=here)
        told.sends = door.sends
        told.folds = lambda: not self._calm
        log.append(told)
        return told

    def died(self, name: str) -> None:
        """What it had sent goes on."""

    async def intrude(self, make: Callable[[Position], Append]) -> bool:
        """Nobody can be kept out here, so who is faster than all others beats them for ever."""
        del make
        return False

    def calm(self) -> None:
        self.storm.calm()
        self.folding = 0
        self._calm = True

    def _landed(self, record: PartitionRecord) -> None:
        """A record is durable. Whether it is the next append is told by who knows all records from the first one on."""
        if record.value is None or record.value[:4] != MAGIC:
            return
        append = read_append(record.value)
        verdict = self._truth.check_and_advance(append.prefix)
        if verdict is RecordValidity.VALID:
            self.landed(append)
        elif verdict is not RecordValidity.STALE:
            raise Broken("log", f"offset {record.offset} is {verdict} to who has read everything")


async def _quietly(log: MultiWriterLog) -> None:
    """Fold; a fold may be broken off at any time."""
    with suppress(LogUnavailableError, LogDamagedError):
        await log.compact()


def make_store(ground: Ground) -> Store:
    """The store of one run."""
    return AnyStore(ground)
