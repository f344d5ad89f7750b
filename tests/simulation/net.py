"""A network between nodes: what travels is delayed, cut into pieces, cut off in mid message, lost, or arrives twice.

The other end is the endpoint of a server (`PeerEndpoint`); its answer is read by the loop of the HTTP transport
(`read_lines`). A piece of an answer is taken before the next one is sent, so that slow lines hold up who answers.
"""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from treaty.api.errors import HttpError
from treaty.api.peer import PeerAuthenticator, PeerEndpoint
from treaty.client.peer_transport import read_lines
from treaty.node import peer_batches
from treaty.node.large_work import run_here
from treaty.node.node import Node
from treaty.wire.peer.batch import KnownAccess, decode_batch, decode_replies
from treaty.wire.peer.message import (
    PATH,
    REFUSED,
    SECRET,
    ForwardedCommand,
    ForwardReply,
    PeerUnreachableError,
    ReadBarrier,
)

WORD = b"the secret of all nodes"
STALL = 30
"""By how much a piece on a slow line is later than another one."""
SPLITS = 3
"""The most pieces of a message."""

Pieces = asyncio.Queue[bytes | HttpError | None]
"""Pieces of an answer; then ``b""`` where it ended in order, None where the other end died, or its refusal."""


def ignore(_: str) -> None:
    """Nobody judges."""


@dataclass
class Net:
    """Nodes by address, and how bad the lines between them are. Chances are from 0 to 1, times seconds."""

    chance: random.Random
    latency: float = 0.01
    lost: float = 0.0
    """A batch that does not arrive, and is known not to have."""
    deaf: float = 0.0
    """A piece of an answer that does not come back, nor any after it; what was asked is done all the same."""
    twice: float = 0.0
    """A batch that arrives once more, later."""
    cut: float = 0.0
    """A batch or an answer that ends in mid message."""
    slow: float = 0.0
    """A piece that takes `STALL` times as long: batches that were sent after it arrive before it."""
    split: float = 0.0
    """A message that travels in several pieces."""
    nodes: dict[str, Node] = field(default_factory=dict)
    spawn: Callable[..., asyncio.Task[None]] = asyncio.create_task
    """Starts what goes on at the other end, whatever becomes of who asked."""
    within: Callable[[Node, ForwardedCommand], Awaitable[ForwardReply]] = Node.take
    """Has a node decide what it was handed; a node that dies meanwhile never answers."""
    wrong: Callable[[str], None] = ignore
    """Hears of an exchange that broke the law of the lines (`Way.send`)."""
    count: Counter[str] = field(default_factory=Counter)
    endpoints: dict[Node, PeerEndpoint] = field(default_factory=dict)

    def bad(self, losses: random.Random, lines: random.Random) -> None:
        """Have lines lose what goes over them, part it, slow it down and break off, as badly as chance says. Nobody sends
        twice over a line that keeps order.
        """
        self.lost, self.deaf = (losses.choice([0.0, 0.05, 0.2]) for _ in range(2))
        self.cut, self.slow, self.split = (lines.choice([0.0, 0.05, 0.2]) for _ in range(3))

    def calm(self) -> None:
        """From now on everything arrives, once and whole."""
        self.lost = self.deaf = self.twice = self.cut = self.slow = self.split = 0.0

    def way(self) -> "Way":
        """A node's way into the net."""
        return Way(self)

    def happens(self, often: float) -> bool:
        """Whether something that has a chance comes to pass."""
        return bool(often) and self.chance.random() < often

    async def delay(self, factor: float = 1.0) -> None:
        stall = STALL if self.happens(self.slow) else 1
        await asyncio.sleep(self.latency * factor * stall * self.chance.expovariate(1.0))

    def pieces_of(self, message: bytes) -> Iterator[bytes]:
        """The pieces in which a message travels."""
        count = self.chance.randint(2, SPLITS) if len(message) > SPLITS and self.happens(self.split) else 1
        places = [0, *sorted(self.chance.sample(range(1, len(message)), count - 1)), len(message)]
        for begin, end in pairwise(places):
            yield message[begin:end]

    def endpoint(self, node: Node) -> PeerEndpoint:
        """What takes commands for a node."""
        if node not in self.endpoints:
            take, trust = (lambda forwarded: self.within(node, forwarded)), PeerAuthenticator((WORD,))
            self.endpoints[node] = PeerEndpoint(take, trust, run_large=run_here)
        return self.endpoints[node]

    async def answer(
        self, node: Node, body: bytes, pieces: Pieces | None, *, factor: float = 1.0, whole: bool = True
    ) -> None:
        """What happens at the other end. Without `pieces` nobody listens; not `whole`: the sender broke off."""
        await self.delay(factor)
        parts = list(self.pieces_of(body))

        async def receive() -> dict[str, Any]:
            if parts:
                return {"type": "http.request", "body": parts.pop(0), "more_body": bool(parts) or not whole}
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            if pieces is not None and message.get("body"):
                await self.delay(0.3)
                pieces.put_nowait(message["body"])

        scope = {"type": "http", "method": "POST", "path": PATH, "headers": [(SECRET.lower().encode(), WORD)]}
        end: bytes | HttpError | None = None
        try:
            await self.endpoint(node)(scope, receive, send)
            end = b"" if node in self.nodes.values() else None
        except HttpError as refusal:
            end = refusal
        finally:
            if pieces is not None:
                pieces.put_nowait(end)


@dataclass
class Way:
    """A `PeerTransport` over a net. It belongs to one node."""

    net: Net
    departed: Callable[[], int] | None = None
    """How many commands the node has let go so far."""
    carried: int = 0
    """How many were carried."""
    under_way: Counter[str] = field(default_factory=Counter)
    """Batches that are under way, by address."""

    async def send(
        self, address: str, body: bytes, heard: Callable[[bytes], None], *, timeout: float, request_id: str
    ) -> None:
        """Carry a batch, and judge: few batches are under way to one node, each command that leaves a node is carried
        once, and an answer that came whole has one reply to each.
        """
        net, batch = self.net, decode_batch(body, KnownAccess())
        net.count["batches"] += 1
        net.count["handed"] += len(batch)
        net.count["in company"] += len(batch) > 1
        self.carried += sum(
            not isinstance(each.command.request, ReadBarrier) for each in batch if isinstance(each, ForwardedCommand)
        )
        if self.departed is not None and self.carried > self.departed():
            net.wrong(f"{self.carried} commands were sent, the last to {address}, and {self.departed()} had left")
        self.under_way[address] += 1
        if self.under_way[address] > vars(peer_batches)["PEER_REQUESTS"]:
            net.wrong(f"{self.under_way[address]} batches are under way to {address}")
        try:
            async with asyncio.timeout(timeout):
                await self._exchange(address, body, heard, len(batch))
        except TimeoutError:
            raise PeerUnreachableError(f"{address} said nothing in time", left=True) from None
        finally:
            self.under_way[address] -= 1

    async def _exchange(self, address: str, body: bytes, heard: Callable[[bytes], None], count: int) -> None:
        net = self.net
        await net.delay()
        node = net.nodes.get(address)
        if node is None or net.happens(net.lost):
            net.count["never arrived"] += 1
            raise PeerUnreachableError(f"{address} does not answer", left=False)
        if net.happens(net.cut):
            net.count["batches cut"] += 1
            net.spawn(net.answer(node, body[: net.chance.randrange(1, len(body))], None, whole=False))
            raise PeerUnreachableError("the line broke while the batch was sent", left=True)
        pieces: Pieces = asyncio.Queue()
        net.spawn(net.answer(node, body, pieces))
        if net.happens(net.twice):
            net.count["arrived twice"] += 1
            net.spawn(net.answer(node, body, None, factor=20))
        places: Counter[int] = Counter()

        def listen(line: bytes) -> None:
            places.update(place for place, _ in decode_replies(line))
            heard(line)

        if await self._read(address, pieces, listen) and places != Counter(range(count)):
            net.wrong(f"{address} answered {count} commands whole, and replied to {sorted(places.elements())}")

    async def _read(self, address: str, pieces: Pieces, heard: Callable[[bytes], None]) -> bool:
        """Read an answer, and return whether it came whole; raises `PeerUnreachableError` where it broke off audibly."""
        net, is_whole = self.net, True

        async def arriving() -> AsyncIterator[bytes]:
            nonlocal is_whole
            while piece := await pieces.get():
                if isinstance(piece, HttpError):
                    raise PeerUnreachableError(str(piece), left=REFUSED not in piece.headers)
                for part in net.pieces_of(piece):
                    await net.delay()
                    if net.happens(net.deaf):
                        net.count["answers lost"] += 1
                        raise PeerUnreachableError("the answer was lost", left=True)
                    if net.happens(net.cut):
                        net.count["answers cut"] += 1
                        is_whole = False
                        yield part[: net.chance.randrange(len(part))]
                        return
                    yield part
            if piece is None:
                raise PeerUnreachableError(f"{address} died", left=True)

        await read_lines(address, arriving(), heard)
        return is_whole

    def request_id(self) -> str:
        return ""

    async def close(self) -> None:
        pass
