"""A way to other nodes whose faults are chosen; batches arrive as they are printed, and replies come in lines."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from tests.traces.clock import TracedLoop
from tests.traces.trace import Trace, describe_error
from treaty.core.refusals import OutcomeUnknown, RegistryError, Unavailable
from treaty.core.state.commit import PositionToken
from treaty.node.node import Node
from treaty.node.peer_batches import answer_batch
from treaty.wire.peer.batch import KnownAccess, decode_batch, encode_replies
from treaty.wire.peer.message import (
    DeclinedReply,
    FailedReply,
    ForwardedCommand,
    ForwardReply,
    NotLeaderReply,
    PeerUnreachableError,
    RefusedReply,
    SequenceExceededReply,
)

WAY_SECONDS = 0.008
"""How long a batch, or a line of its answer, is on its way."""
REFUSALS: dict[str, Callable[[], RegistryError]] = {
    "unavailable": lambda: Unavailable("it has no time", 3.0),
    "unknown": lambda: OutcomeUnknown("c1"),
}


class TracedTransport:
    """A `PeerTransport` of one node. A fault comes by address, once or always:

    ``away`` (it can't be reached), ``cut`` (it may have come), ``silent`` (no answer in time), ``lost`` (done, and no answer),
    ``first`` (only the first command is answered), ``odd`` (an error that is not expected), ``unreadable`` (no reply at all), and
    replies: ``moved ADDRESS``, ``late``, ``failed``, ``declined``, ``unavailable``, ``unknown``. Without one the node there answers.
    """

    def __init__(self, trace: Trace, loop: TracedLoop, name: str, nodes: Mapping[str, Node]) -> None:
        self.trace, self.loop, self.name, self.nodes = trace, loop, name, nodes
        self.once: defaultdict[str, list[str]] = defaultdict(list)
        self.always: dict[str, str] = {}

    def request_id(self) -> str:
        return f"request of {self.name}"

    async def close(self) -> None:
        self.trace.add("peers are closed", self.name)

    async def send(
        self, address: str, body: bytes, take_line: Callable[[bytes], None], *, timeout: float, request_id: str
    ) -> None:
        batch = decode_batch(body, KnownAccess())
        fault = self.once[address].pop(0) if self.once[address] else self.always.get(address, "")
        listed = [self._describe(each) for each in batch[:3]] + (["…"] if len(batch) > 3 else [])
        self.trace.add(
            f"peer {address}: {len(batch)} for {timeout:.3f} s ({request_id}){f' [{fault}]' if fault else ''}: {'; '.join(listed)}",
            self.name,
        )
        try:
            async with asyncio.timeout(timeout):
                await self.loop.pause(WAY_SECONDS)
                await self._exchange(address, batch, fault, take_line)
        except TimeoutError:
            self.trace.add(f"peer {address}: no answer in time", self.name)
            raise PeerUnreachableError(f"{address} said nothing in time", left=True) from None
        except asyncio.CancelledError:
            self.trace.add(f"peer {address}: is given up", self.name)
            raise
        except Exception as error:
            self.trace.add(f"peer {address}: {describe_error(error)}", self.name)
            raise
        self.trace.add(f"peer {address}: answered", self.name)

    def _describe(self, command: ForwardedCommand | DeclinedReply) -> str:
        if isinstance(command, DeclinedReply):
            return command.message
        return (
            f"{command.command.command_id} at {self.trace.names.token(command.place)} to {command.last}, elsewhere "
            f"{command.elsewhere}, {command.seconds:.3f} s"
        )

    async def _exchange(
        self,
        address: str,
        batch: Sequence[ForwardedCommand | DeclinedReply],
        fault: str,
        take_line: Callable[[bytes], None],
    ) -> None:
        node = self.nodes.get(address)
        reply = self._reply_of(fault)
        if reply is not None:
            return take_line(encode_replies([(place, reply) for place in range(len(batch))]))
        if fault == "unreadable":
            return take_line(b"hm\n")
        if fault == "silent":
            await asyncio.Event().wait()
        if fault == "odd":
            raise KeyError("odd")
        if fault == "away" or node is None:
            raise PeerUnreachableError(f"{address} does not answer", left=False)
        if fault == "cut":
            raise PeerUnreachableError("the line broke", left=True)

        async def say(replies: Sequence[tuple[int, ForwardReply]]) -> None:
            await self.loop.pause(WAY_SECONDS)
            self.trace.add(f"peer {address} replies to {[place for place, _ in replies]}", self.name)
            if fault != "lost":
                take_line(encode_replies([each for each in replies if fault != "first" or not each[0]]))

        answering = asyncio.get_running_loop().create_task(answer_batch(batch, node.take, say))
        await asyncio.shield(answering)
        if fault == "lost":
            raise PeerUnreachableError("the answer was lost", left=True)
        return None

    def _reply_of(self, fault: str) -> ForwardReply | None:
        """A reply that says what the fault is."""
        word, _, rest = fault.partition(" ")
        if word in REFUSALS:
            return RefusedReply(REFUSALS[word](), PositionToken("", 0, ""))
        replies: dict[str, Callable[[], ForwardReply]] = {
            "moved": lambda: NotLeaderReply(rest),
            "late": SequenceExceededReply,
            "failed": lambda: FailedReply("it fell"),
            "declined": lambda: DeclinedReply("of another version"),
        }
        return replies[word]() if word in replies else None
