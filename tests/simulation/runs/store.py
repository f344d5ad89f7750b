"""What a run needs of a discipline of the log: one store for all nodes, and a way to it for every life of a node."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from tests.simulation.clock import Jobs
from tests.simulation.model import Weather
from treaty.core.state.commit import Append, Position
from treaty.log.log import Log


@dataclass(frozen=True, slots=True)
class Ground:
    """What a store stands on: the weather of the run, randomness of its own, and work that goes on when nodes die."""

    weather: Weather
    chance: random.Random
    jobs: Jobs
    remembered: int
    """Appends that a follower may be behind before it has to read everything anew."""
    old_leader: float = 0.0
    """How often a node comes to talk to an old leader of the log, where that may answer (``any``)."""


@dataclass(frozen=True, slots=True)
class Door:
    """One life of a node (or of a tool), as its way to the log sees it. Its name is where other nodes find it."""

    name: str
    life: int
    chance: random.Random
    step: Callable[[str], None]
    """To be told of every step of the conversation with the log; may kill the node."""
    sends: Callable[[Append], None]
    """To be told of every append before it goes on its way."""
    visits: bool = False
    """Whether it is a command's way, which takes the log from whoever owns it, and not a node's."""


class Store(Protocol):
    """A log as the whole run sees it. What is on its way goes on (in `Ground.jobs`) when the node that sent it dies."""

    landed: Callable[[Append], None]
    """Set by the run; to be called for every append once, in the log's order, the moment it is durable and valid."""
    patience: float
    """How many times as long as with SQL an answer may take in calm weather."""
    brevity: int
    """How many times as short lives are as with SQL: conversations with a broker have more steps."""

    @property
    def tip(self) -> Position:
        """The place after the last durable append, as somebody sees it who knows everything."""
        ...

    def open(self, door: Door) -> Log:
        """Give one life of a node its way to the log."""
        ...

    def died(self, name: str) -> None:
        """Hear that a node was killed: its connections break, and nobody says good-bye."""
        ...

    async def intrude(self, make: Callable[[Position], Append]) -> bool:
        """Append what `make` makes for the tip, faster than any node could; False where this log lets nobody do that."""
        ...

    def calm(self) -> None:
        """Hear that from now on everything works."""
        ...


Make = Callable[[Ground], Store]
"""What a discipline offers: `make_store` of `tests.simulation.kafka.any`, for instance."""
