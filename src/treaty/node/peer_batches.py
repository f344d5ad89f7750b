"""Batches of commands between nodes: collected and sent by one node, answered by the other.

The first command for a node is sent immediately. A command that arrives while a batch is in flight is batched with
others until a reply arrives, or for a moment. Each command of a batch is decided, answered or lost separately.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import field
from functools import partial
from typing import Protocol

from treaty.core.limits import PEER_BATCH, PEER_BATCH_BYTES, PEER_REQUESTS
from treaty.core.schema import has_large_draft
from treaty.core.state.codec import DecodeError, Json
from treaty.light_dataclass import dataclass
from treaty.node.large_work import RunLargeWork, run_on_thread
from treaty.wire.peer.batch import decode_replies, decode_reply, encode_batch, encode_command
from treaty.wire.peer.message import DeclinedReply, ForwardedCommand, ForwardReply, PeerUnreachableError

log = logging.getLogger("treaty.node")

GATHER_SECONDS = 0.02
"""The longest time, in seconds, that a command waits for others while a batch to its node is in flight."""

Take = Callable[[ForwardedCommand], Awaitable[ForwardReply]]
"""Decides a forwarded command."""


class PeerTransport(Protocol):
    """The transport of batches to other nodes. Concurrent calls from one event loop and cancellation are allowed.

    `answer_batch` answers at the other node. A batch may arrive late, twice, or after its callers have gone.
    """

    async def send(
        self, address: str, body: bytes, take_line: Callable[[bytes], None], *, timeout: float, request_id: str
    ) -> None:
        """Send a body to the node at an address, and call `take_line` with each line of its answer.

        Raises `PeerUnreachableError`, at the latest after `timeout` seconds, and what `take_line` raises. `request_id` is for the
        log lines of the other node.
        """
        ...

    def request_id(self) -> str:
        """Return the id of the current request, for log lines; may be empty."""
        ...

    async def close(self) -> None:
        """Give back connections."""
        ...


# ----------------------------------------------------------------------------------------------------------- sending


class GivenUpError(Exception):
    """The caller no longer waits for the answer."""


@dataclass(slots=True, eq=False)
class OutgoingCommand:
    """A command for another node."""

    forwarded: ForwardedCommand
    timeout: float
    leaves: Callable[[], bool]
    """Called before the command leaves this node; returns whether it still may. From then on another node may execute
    it.
    """
    reply: "asyncio.Future[ForwardReply]"
    """The reply of that node, `PeerUnreachableError`, or `GivenUpError`."""
    data: bytes = b""

    @property
    def over(self) -> bool:
        """Whether it is answered or abandoned."""
        return self.reply.done()

    def fail(self, error: Exception) -> None:
        """Fail it: its answer will not arrive."""
        if not self.over:
            self.reply.set_exception(error)


@dataclass(slots=True)
class _PeerQueue:
    """Commands for one node."""

    waiting: list[OutgoingCommand] = field(default_factory=list)
    in_flight: int = 0
    """Requests that are sent and not answered."""
    send_handle: asyncio.Handle | None = None
    """The call of the event loop that sends waiting commands; None where none is scheduled."""
    is_immediate: bool = False
    """Whether that call comes at the end of this turn of the loop, and not after GATHER_SECONDS."""


class PeerBatcher:
    """Batches commands for the same node; each has its own reply. Belongs to one event loop."""

    def __init__(self, transport: PeerTransport, run_large: RunLargeWork = run_on_thread) -> None:
        """Send nothing yet; commands with large schemas are encoded by `run_large`."""
        self._transport = transport
        self._run_large = run_large
        self._queues: dict[str, _PeerQueue] = {}
        self._tasks: dict[asyncio.Task[None], None] = {}
        self._closed = False

    async def add(
        self, address: str, forwarded: ForwardedCommand, timeout: float, leaves: Callable[[], bool] = lambda: True
    ) -> OutgoingCommand:
        """Send a command to the node at an address. A caller that gives up calls `fail` or cancels `reply`."""
        outgoing = OutgoingCommand(forwarded, timeout, leaves, asyncio.get_running_loop().create_future())
        encode = partial(encode_command, forwarded)
        try:
            is_large = has_large_draft(forwarded.command.request)
            outgoing.data = await self._run_large(encode) if is_large else encode()
        except DecodeError as error:
            outgoing.fail(PeerUnreachableError(f"the command can't be sent to {address}: {error}", left=False))
            return outgoing
        queue = self._queues.setdefault(address, _PeerQueue())
        queue.waiting.append(outgoing)
        self._schedule(address, queue, is_immediate=not queue.in_flight)
        return outgoing

    def _schedule(self, address: str, queue: _PeerQueue, *, is_immediate: bool) -> None:
        """Send waiting commands at the end of this turn of the loop, or after GATHER_SECONDS."""
        loop = asyncio.get_running_loop()
        if queue.send_handle is not None:
            if queue.is_immediate or not is_immediate:
                return
            queue.send_handle.cancel()
        queue.is_immediate = is_immediate
        if is_immediate:
            queue.send_handle = loop.call_soon(self._send, address, queue)
        else:
            queue.send_handle = loop.call_later(GATHER_SECONDS, self._send, address, queue)

    def _send(self, address: str, queue: _PeerQueue) -> None:
        """Send as much as may be sent now."""
        queue.send_handle = None
        while not self._closed and queue.in_flight < PEER_REQUESTS and (batch := _batch(queue)):
            queue.in_flight += 1
            task = asyncio.create_task(self._send_batch(address, queue, batch), name="send")
            self._tasks[task] = None
            task.add_done_callback(lambda task: self._tasks.pop(task, None))
        if not queue.in_flight and not queue.waiting:
            self._queues.pop(address, None)

    async def _send_batch(self, address: str, queue: _PeerQueue, batch: Sequence[OutgoingCommand]) -> None:
        """Send one batch; return when all are answered or abandoned."""
        task = asyncio.current_task()
        assert task is not None

        def cancel_if_abandoned(reply: "asyncio.Future[ForwardReply]") -> None:
            is_abandoned = reply.cancelled() or isinstance(reply.exception(), GivenUpError)
            if is_abandoned and all(outgoing.over for outgoing in batch):
                task.cancel()  # nobody waits for the other replies

        for outgoing in batch:
            outgoing.reply.add_done_callback(cancel_if_abandoned)
        failure: Exception = PeerUnreachableError(f"{address} did not answer all commands", left=True)
        try:
            await self._listen(address, queue, batch)
        except PeerUnreachableError as error:
            failure = error
        except DecodeError as decode_error:
            failure = PeerUnreachableError(f"invalid peer reply of {address}: {decode_error}", left=True)
        except Exception as fault:  # a fault must not leave commands waiting for nobody
            log.exception("commands could not be sent to %s", address)
            failure = fault
        finally:
            for outgoing in batch:
                outgoing.reply.remove_done_callback(cancel_if_abandoned)
                outgoing.fail(failure)
            queue.in_flight -= 1
            self._schedule(address, queue, is_immediate=True)

    async def _listen(self, address: str, queue: _PeerQueue, batch: Sequence[OutgoingCommand]) -> None:
        body = encode_batch([outgoing.data for outgoing in batch])
        timeout, request_id = max(outgoing.timeout for outgoing in batch), batch[0].forwarded.request_id

        def take_line(line: bytes) -> None:
            for place, reply in decode_replies(line):
                if 0 <= place < len(batch):
                    _deliver(batch[place], address, reply)
            if queue.waiting:
                self._schedule(address, queue, is_immediate=True)

        await self._transport.send(address, body, take_line, timeout=timeout, request_id=request_id)

    async def close(self) -> None:
        """Stop sending; commands in flight may still be executed."""
        self._closed = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for queue in self._queues.values():
            if queue.send_handle is not None:
                queue.send_handle.cancel()
        await self._transport.close()


def _batch(queue: _PeerQueue) -> list[OutgoingCommand]:
    """Take the next batch of waiting commands."""
    batch: list[OutgoingCommand] = []
    size = passed = 0
    for outgoing in queue.waiting:
        size += len(outgoing.data) + 1
        if len(batch) == PEER_BATCH or (batch and size > PEER_BATCH_BYTES):
            break
        passed += 1
        if not outgoing.over and outgoing.leaves():
            batch.append(outgoing)
        else:
            size -= len(outgoing.data) + 1
            outgoing.fail(GivenUpError())
    del queue.waiting[:passed]
    return batch


def _deliver(outgoing: OutgoingCommand, address: str, reply_text: Json) -> None:
    """Deliver the reply of one command."""
    if outgoing.over:
        return
    try:
        reply = decode_reply(reply_text, outgoing.forwarded.command.request)
    except DecodeError as error:
        outgoing.fail(PeerUnreachableError(f"invalid peer reply of {address}: {error}", left=True))
        return
    if isinstance(reply, DeclinedReply):
        outgoing.fail(PeerUnreachableError(f"{address} does not take it: {reply.message}", left=False))
    else:
        outgoing.reply.set_result(reply)


# --------------------------------------------------------------------------------------------------------- answering


async def answer_batch(
    batch: Sequence[ForwardedCommand | DeclinedReply],
    take: Take,
    send_replies: Callable[[Sequence[tuple[int, ForwardReply]]], Awaitable[None]],
) -> None:
    """Decide the commands of a batch concurrently; `send_replies` is called with replies that are ready together. A cancelled
    decision has no reply.
    """
    ready_replies: list[tuple[int, ForwardReply]] = [
        (place, message) for place, message in enumerate(batch) if isinstance(message, DeclinedReply)
    ]
    news = asyncio.Event()

    async def decide(place: int, forwarded: ForwardedCommand) -> None:
        try:
            ready_replies.append((place, await take(forwarded)))
        finally:
            news.set()

    tasks = [
        asyncio.create_task(decide(place, message))
        for place, message in enumerate(batch)
        if isinstance(message, ForwardedCommand)
    ]
    try:
        while ready_replies or not all(task.done() for task in tasks):
            if ready_replies:
                replies = [*ready_replies]
                ready_replies.clear()
                await send_replies(replies)
            else:
                news.clear()
                await news.wait()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
