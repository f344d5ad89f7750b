"""Who decides what becomes of transactions, and who owns the partition: the broker's two coordinators. Pure but for delays."""

import asyncio
import random
from dataclasses import dataclass
from enum import Enum

from tests.simulation.kafka.owner.partition import Partition
from treaty.log.kafka.partition import ProducerFencedError

Pairs = list[tuple[bytes, bytes | None]]


class State(Enum):
    """Where the transactional id stands."""

    EMPTY = "empty"
    OPEN = "open"
    COMMITTING = "committing"
    ABORTING = "aborting"


class Coordinator:
    """Of the one transactional id. Its decisions hold at once; the partition hears of them a little later."""

    def __init__(self, partition: Partition, chance: random.Random, latency: float, producer: int = 0) -> None:
        self.partition = partition
        self.producer = producer
        self.epoch = -1
        self.state = State.EMPTY
        self.latency = latency
        self.patience = 60 * latency
        """transaction.timeout.ms, in seconds."""
        self.forgetting = 0.0
        """How often the partition never hears how a transaction ended: brokers that begin again take it for deleted at times."""
        self.halving = 0.0
        """How often a request to commit that came late commits the first records of the next transaction."""
        self.halves = 0
        self._chance = chance
        self._began = 0
        self._ended = 0, False

    async def begin(self, epoch: int) -> int:
        """A producer begins a transaction, and waits until its last one is over. Raises `ProducerFencedError` for an old one."""
        while self.state is State.COMMITTING and epoch == self.epoch:
            await self.finish()
        self._refuse_old(epoch)
        self.state = State.OPEN
        self._began += 1
        return self._began

    def produce(self, epoch: int, key: bytes, value: bytes | None) -> int:
        """A record of the open transaction; returns its offset. The partition knows only the epochs of its markers; the
        coordinator knows more.
        """
        self._refuse_old(epoch)
        if self.state is not State.OPEN or not self.partition.write(self.producer, epoch, key, value):
            raise ProducerFencedError
        return self.partition.end - 1

    def halve(self, epoch: int) -> None:
        """What ended the transaction before comes once more, in the midst of this one, which is aborted then."""
        self.halves += 1
        self.partition.mark(self.producer, epoch, commit=True)
        self.end(epoch, self._began, commit=False)

    def _refuse_old(self, epoch: int) -> None:
        if epoch != self.epoch or self.state in {State.COMMITTING, State.ABORTING}:
            raise ProducerFencedError

    def end(self, epoch: int, number: int, *, commit: bool) -> None:
        """The producer ends its transaction: decided at once, visible later. Raises `ProducerFencedError` where it is too late."""
        if epoch == self.epoch and self._ended == (number, commit):
            return  # the same request once more
        if epoch != self.epoch or self.state is not State.OPEN or number != self._began:
            raise ProducerFencedError
        self._ended = number, commit
        self.state = State.COMMITTING if commit else State.ABORTING

    async def finish(self) -> None:
        """Tell the partition what was decided."""
        if self.state not in {State.COMMITTING, State.ABORTING}:
            return
        decided, epoch = self.state, self.epoch
        await asyncio.sleep(self.latency * self._chance.choice([0, 1, 4]) * self._chance.expovariate(1.0))
        if self.state is decided and self.epoch >= epoch:
            self.state = State.EMPTY
            if self._chance.random() >= self.forgetting:
                self.partition.mark(self.producer, self.epoch, commit=decided is State.COMMITTING)

    async def take(self) -> int:
        """Give the transactional id to who asks: the epoch rises, what is open is aborted, what is decided is finished."""
        self.epoch += 1
        mine = self.epoch
        if self.state is State.OPEN:
            self.state = State.ABORTING
        while self.state in {State.COMMITTING, State.ABORTING} and mine == self.epoch:
            await self.finish()
        if mine != self.epoch:
            raise ProducerFencedError
        return mine

    async def expire(self) -> None:
        """Abort a transaction that stays open for too long; its producer is fenced."""
        began = self._began
        await asyncio.sleep(self.patience)
        if self.state is State.OPEN and self._began == began:
            self.epoch += 1
            self.state = State.ABORTING
            await self.finish()


@dataclass(slots=True)
class Seat:
    """What one member knows of the assignment, rightly or not. Every life of a node is a member of its own."""

    name: str
    generation: int = 0
    owner: str = ""


def seat_name(node: str, life: int) -> str:
    """A member's name."""
    return f"{node}#{life}"


def address_of(member: str) -> str:
    """The node that a member is a life of."""
    return member.partition("#")[0]


class Group:
    """The group whose one partition says who owns the log. Members hear of changes late, each at its own time."""

    def __init__(self) -> None:
        self.seats: dict[str, Seat] = {}
        self.owner = ""

    def tell(self, name: str) -> None:
        """Have a member hear how things are."""
        seat = self.seats.get(name)
        if seat is not None and seat.owner != self.owner:
            seat.owner = self.owner
            seat.generation += 1
