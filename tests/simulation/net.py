"""A network between nodes: what one hands to another is delayed, lost, heard twice, and answered to nobody."""

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from treaty.node.node import Node
from treaty.node.peers.carrier import PeerAwayError
from treaty.wire.peer.message import Classes, Handed, Told, handed_bytes, handed_from, told_bytes, told_from


@dataclass
class Net:
    """Nodes by address, and how bad the lines between them are. Chances are from 0 to 1, times seconds."""

    chance: random.Random
    latency: float = 0.01
    lost: float = 0.0
    """A command that does not arrive, and is known not to have."""
    deaf: float = 0.0
    """An answer that does not come back; what was asked is done all the same."""
    twice: float = 0.0
    """A command that arrives once more, later."""
    nodes: dict[str, Node] = field(default_factory=dict)
    spawn: Callable[..., asyncio.Task[None]] = asyncio.create_task
    """Starts what goes on at the other end, whatever becomes of who asked."""
    within: Callable[[Node, Handed], Awaitable[Told]] = Node.take
    """Has a node decide what it was handed; a node that dies meanwhile never answers."""
    count: Counter[str] = field(default_factory=Counter)

    def bad(self, chance: random.Random) -> None:
        """Have lines lose what goes over them, as badly as `chance` says. Nobody sends twice over a line that keeps order."""
        self.lost, self.deaf = (chance.choice([0.0, 0.05, 0.2]) for _ in range(2))

    def calm(self) -> None:
        """From now on everything arrives, once."""
        self.lost = self.deaf = self.twice = 0.0

    def way(self) -> "Way":
        """A node's way into the net."""
        return Way(self)

    async def delay(self, factor: float = 1.0) -> None:
        await asyncio.sleep(self.latency * factor * self.chance.expovariate(1.0))

    async def decided(self, node: Node, data: bytes, answer: "asyncio.Future[bytes]", factor: float = 1.0) -> None:
        """What happens at the other end."""
        await self.delay(factor)
        told = await self.within(node, handed_from(data, Classes()))
        if not answer.done():
            answer.set_result(told_bytes(told))


@dataclass
class Way:
    """A `Carrier` over a net."""

    net: Net

    async def hand(self, address: str, handed: Handed, timeout: float) -> Told:
        net = self.net
        net.count["handed"] += 1
        data = handed_bytes(handed)
        await net.delay()
        node = net.nodes.get(address)
        if node is None or net.chance.random() < net.lost:
            net.count["never arrived"] += 1
            raise PeerAwayError(f"{address} does not answer", left=False)
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        net.spawn(net.decided(node, data, answer))
        if net.chance.random() < net.twice:
            net.count["arrived twice"] += 1
            net.spawn(net.decided(node, data, asyncio.get_running_loop().create_future(), 20))
        try:
            async with asyncio.timeout(timeout):
                told = await answer
                await net.delay()
        except TimeoutError:
            raise PeerAwayError(f"{address} said nothing in time", left=True) from None
        if net.chance.random() < net.deaf:
            net.count["answers lost"] += 1
            raise PeerAwayError("the answer was lost", left=True)
        return told_from(told, handed.command.request)

    def request_id(self) -> str:
        return ""

    async def close(self) -> None:
        pass
