"""A network between nodes: what one hands to another is delayed, lost, heard twice, and answered to nobody."""

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from treaty.node.node import Node
from treaty.node.peer_batches import answer_batch
from treaty.wire.peer.batch import KnownAccess, decode_batch, encode_replies
from treaty.wire.peer.message import ForwardedCommand, ForwardReply, PeerUnreachableError


@dataclass
class Net:
    """Nodes by address, and how bad the lines between them are. Chances are from 0 to 1, times seconds."""

    chance: random.Random
    latency: float = 0.01
    lost: float = 0.0
    """A batch that does not arrive, and is known not to have."""
    deaf: float = 0.0
    """A line of answers that does not come back, nor any after it; what was asked is done all the same."""
    twice: float = 0.0
    """A batch that arrives once more, later."""
    nodes: dict[str, Node] = field(default_factory=dict)
    spawn: Callable[..., asyncio.Task[None]] = asyncio.create_task
    """Starts what goes on at the other end, whatever becomes of who asked."""
    within: Callable[[Node, ForwardedCommand], Awaitable[ForwardReply]] = Node.take
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

    async def decided(self, node: Node, body: bytes, say: Callable[[bytes], None], factor: float = 1.0) -> None:
        """What happens at the other end."""
        await self.delay(factor)

        async def said(told: Sequence[tuple[int, ForwardReply]]) -> None:
            for line in encode_replies(told).splitlines():
                say(line)

        try:
            await answer_batch(decode_batch(body, KnownAccess()), lambda handed: self.within(node, handed), said)
        finally:
            say(b"")


def unheard(_: bytes) -> None:
    """Nobody listens to an answer."""


@dataclass
class Way:
    """A `PeerTransport` over a net."""

    net: Net

    async def send(
        self, address: str, body: bytes, heard: Callable[[bytes], None], *, timeout: float, request_id: str
    ) -> None:
        net, count = self.net, len(decode_batch(body, KnownAccess()))
        net.count["batches"] += 1
        net.count["handed"] += count
        net.count["in company"] += count > 1
        await net.delay()
        node = net.nodes.get(address)
        if node is None or net.chance.random() < net.lost:
            net.count["never arrived"] += 1
            raise PeerUnreachableError(f"{address} does not answer", left=False)
        lines: asyncio.Queue[bytes] = asyncio.Queue()
        net.spawn(net.decided(node, body, lines.put_nowait))
        if net.chance.random() < net.twice:
            net.count["arrived twice"] += 1
            net.spawn(net.decided(node, body, unheard, 20))
        try:
            async with asyncio.timeout(timeout):
                while line := await lines.get():
                    await net.delay()
                    if net.chance.random() < net.deaf:
                        net.count["answers lost"] += 1
                        raise PeerUnreachableError("the answer was lost", left=True)
                    heard(line)
        except TimeoutError:
            raise PeerUnreachableError(f"{address} said nothing in time", left=True) from None

    def request_id(self) -> str:
        return ""

    async def close(self) -> None:
        pass
