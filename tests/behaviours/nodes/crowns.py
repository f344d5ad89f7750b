"""Nodes that hand commands to each other: logs that one node owns at a time, or where the last winner leads."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from tests.behaviours.nodes.lives import desk, way, world
from tests.simulation.disk import Disk
from tests.simulation.model import Weather
from tests.simulation.net import Net
from treaty.core.state.commit import Append, Commit, Position
from treaty.log.log import AppendResult, Leader, Log, LogDelta, StoreStats
from treaty.node.node import Node
from treaty.node.peer_batches import PeerTransport


@dataclass
class Crown:
    """Who leads, and what nodes believe of it. `owned`: nobody else may append."""

    owned: bool = True
    holder: str = ""
    believed: dict[str, str] = field(default_factory=dict)
    """What a node thinks where that is not so (yet); the empty string is that nobody is known."""
    appends: list[str] = field(default_factory=list)
    """Who has appended, in order."""
    open: str = ""
    """What becomes of the next append, whose fate is not told: it ``landed`` or is ``gone``; its sender is deposed."""
    refuse: int = 0
    """Appends that are still to come second, whoever sends them."""


class CrownedLog:
    """A way to the log for one node; the crown says whose appends count."""

    lockable = False
    linearizable = False
    foreign_records = 0

    def __init__(self, log: Log, crown: Crown, address: str) -> None:
        self.log, self.crown, self.address = log, crown, address
        self.url, self.single_writer = log.url, crown.owned

    async def leader(self) -> Leader | None:
        address = self.crown.believed.get(self.address, self.crown.holder)
        return Leader(address, is_own=address == self.address) if address else None

    async def append(self, append: Append) -> AppendResult:
        if self.crown.owned and self.crown.holder != self.address:
            return AppendResult.CONFLICT
        if self.crown.refuse:
            self.crown.refuse -= 1
            return AppendResult.CONFLICT
        opened, self.crown.open = self.crown.open, ""
        fate = AppendResult.UNKNOWN if opened == "gone" else await self.log.append(append)
        if opened:
            self.crown.holder = ""
            return AppendResult.UNKNOWN
        if fate is AppendResult.ACCEPTED:
            self.crown.appends.append(self.address)
            if not self.crown.owned:
                self.crown.holder = self.address
        return fate

    async def tip(self) -> Position:
        return await self.log.tip()

    async def read(self, after: Position) -> LogDelta:
        return await self.log.read(after)

    async def wait(self, after: Position, timeout: float) -> None:
        await self.log.wait(after, timeout)

    def lock(self) -> object:
        raise AssertionError("nobody else can be kept out")

    async def read_stats(self) -> StoreStats:
        return await self.log.read_stats()

    async def compact(self) -> None:
        await self.log.compact()

    async def close(self) -> None:
        await self.log.close()


@dataclass
class Realm:
    """Nodes a, b, c … over one disk, with a crown and a net between them."""

    crown: Crown
    net: Net
    disk: Disk = field(default_factory=lambda: Disk(9))
    nodes: dict[str, Node] = field(default_factory=dict)
    weather: dict[str, Weather] = field(default_factory=dict)

    async def start(self, name: str, *, transport: bool = True) -> Node:
        """Start a node, with a way to the others or none."""
        weather = self.weather.setdefault(name, Weather(0.01))
        log = CrownedLog(way(self.disk, weather, seed=ord(name)), self.crown, name)
        reach: PeerTransport | None = self.net.way() if transport else None
        node = Node(log, desk(), world(ord(name)), transport=reach)  # type: ignore[arg-type]  # nobody holds it
        self.nodes[name] = self.net.nodes[name] = node
        await node.start()
        return node

    def cut(self, name: str) -> None:
        """Take a node out of the net; it goes on for itself."""
        del self.net.nodes[name]


@asynccontextmanager
async def realm(names: str = "ab", *, owned: bool = True, holder: str = "a", seed: int = 0) -> AsyncIterator[Realm]:
    """Nodes of one registry, while the block runs."""
    made = Realm(Crown(owned, holder), Net(random.Random(seed)))
    for name in names:
        await made.start(name)
    try:
        yield made
    finally:
        for node in made.nodes.values():
            await node.close()
        while others := asyncio.all_tasks() - {asyncio.current_task()}:  # what is still on its way in the net
            for each in others:
                each.cancel()
            await asyncio.gather(*others, return_exceptions=True)


def written(it: Realm) -> int:
    """Commits that the log has."""
    return it.disk.tip.sequence


def commits(it: Realm) -> list[Commit]:
    return [commit for append in it.disk.appends for commit in append.commits]
