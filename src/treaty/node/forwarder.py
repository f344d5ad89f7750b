"""The forwarder: chooses the node that decides waiting commands, asks it (see `peer_batches`), and handles its replies.

A command may be decided by any node that has it, up to a sequence that is sent with it; its id prevents a second
effect. An answer is valid when the tables here show its position. The other node does not forward a command again: it
names the leader, and the node where the command arrived asks there.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from contextlib import suppress

from treaty.core.command import Command
from treaty.core.limits import HANDED_WITHIN
from treaty.core.refusals import OutcomeUnknown, Refusal, Unavailable
from treaty.core.state.commit import PositionToken
from treaty.log.log import Leader, Log, LogDamagedError, LogUnavailableError
from treaty.node.batch import Decide, answer_from_outcome
from treaty.node.follower import FIRST_PAUSE, Follower
from treaty.node.large_work import RunLargeWork
from treaty.node.peer_batches import GivenUpError, OutgoingCommand, PeerBatcher, PeerTransport
from treaty.node.queue import CommandQueue
from treaty.node.queued_command import NotLeaderError, QueuedCommand
from treaty.node.status import NodeCounts
from treaty.wire.peer.message import (
    DecidedReply,
    FailedReply,
    ForwardedCommand,
    ForwardReply,
    NotLeaderReply,
    PeerUnreachableError,
    ReadBarrier,
    RefusedReply,
    SequenceExceededReply,
)

log = logging.getLogger("treaty.node")

HAND_AFTER = 2
"""Conflicts in a row after which commands go to the node that won, in a log without owner."""
YIELD_SECONDS = 1.0
"""Seconds for which they go there, while that node keeps winning, before this node tries to append itself."""
REST_SECONDS = 5.0
"""Seconds before an unreachable winner is asked again."""
HOPS = 5
"""The most redirections of a command from node to node before a pause."""
WATCH_SECONDS = 0.5
"""Seconds between two checks for a new leader while waiting for an answer."""
MARGIN_SECONDS = 0.5
"""Seconds by which the other node's time-out is shorter (at most a tenth), so that its answer arrives in time."""
BARRIER_SECONDS = 5.0
"""Time-out of a read barrier at another node, in seconds."""
LONGEST_PAUSE = 1.0
LONGEST_SECONDS = 3600.0
HERE = Leader("", is_own=True)


class CommandForwarder:
    """Chooses the node that decides commands, and forwards them."""

    def __init__(
        self,
        queue: CommandQueue,
        follower: Follower,
        *,
        log: Log,
        transport: PeerTransport | None,
        counts: NodeCounts,
        decide: Decide,
        run_large: RunLargeWork,
    ) -> None:
        """Start idle; without a transport nothing is forwarded."""
        self._queue = queue
        self._follower = follower
        self._log = log
        self._batcher = None if transport is None else PeerBatcher(transport, run_large)
        self._counts = counts
        self._decide = decide
        self._run_large = run_large
        self._until = 0.0
        """End of forwarding to the last winner; loop time."""
        self._rests: dict[str, float] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._out: dict[OutgoingCommand, tuple[Callable[[], bool], str]] = {}
        """Commands at other nodes: whether their caller has gone, and the address."""
        self._watcher: asyncio.Task[None] | None = None

    async def target(self, conflicts: int) -> Leader | None:
        """Return the node that decides waiting commands; None while unknown. Raises `LogUnavailableError`."""
        self._queue.blocked_reason = ""
        if self._log.single_writer:
            return await self._log.leader()
        if self._batcher is None or self._log.lockable:
            return HERE
        now = asyncio.get_running_loop().time()
        if conflicts >= HAND_AFTER:
            self._until = now + YIELD_SECONDS
        if now >= self._until:
            return HERE
        leader = await self._log.leader()
        if leader is None or leader.is_own or not leader.address or self._rests.get(leader.address, 0.0) > now:
            self._until = 0.0
            return HERE
        return leader

    async def is_lost(self) -> bool:
        """Return whether another node owns the log, so that this node cannot append."""
        if not self._log.single_writer:
            return False
        leader = await self._log.leader()
        return leader is not None and not leader.is_own

    async def forward(self, commands: Iterable[QueuedCommand], leader: Leader | None) -> list[QueuedCommand]:
        """Send commands to the node that decides them; return those that must wait."""
        waiting: list[QueuedCommand] = []
        address = "" if leader is None else leader.address
        self._queue.blocked_reason = _blocked_reason(leader, self._batcher)
        for command in commands:
            if await self._answered_by_log(command) or command.is_over:  # its client may have left while another waited
                continue
            if command.from_peer and command.may_land_later(self._follower.tables):
                command.fail(OutcomeUnknown(command.command.command_id))  # "ask there" would say that it is not here
            elif command.from_peer:
                command.fail(NotLeaderError(address))
            elif leader is not None and self._batcher is None and not command.may_be_in_log(self._follower.tables):
                command.fail(Unavailable(self._queue.blocked_reason, YIELD_SECONDS))
            elif not address or self._batcher is None:
                waiting.append(command)
            else:
                command.forward()
                task = asyncio.create_task(self._forward_one(command, address, self._batcher), name="forward")
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
        return waiting

    async def _answered_by_log(self, command: QueuedCommand) -> bool:
        """Answer a command that another node may have written, if its outcome is in the log. Not before the first look,
        when the tables may be from a state file of another log.
        """
        if self._follower.caught_up_at is None or not command.open_until:
            return False
        return await answer_from_outcome(self._follower, command, self._decide, self._counts, self._run_large)

    # ---------------------------------------------------------------------------------------------------- forwarding

    async def _forward_one(self, command: QueuedCommand, address: str, batcher: PeerBatcher) -> None:
        """Forward one command until it is answered or returns to the queue."""
        hops = 0
        while True:
            try:
                reply = await self._ask(command, address, batcher)
            except Exception as fault:  # a fault must not leave the command waiting for nobody
                log.exception("a command could not be forwarded to %s", address)
                command.fail(fault)
                return
            match reply:
                case DecidedReply() | RefusedReply() if await self._answer_from(command, reply):
                    return
                case FailedReply(message):
                    command.fail(RuntimeError(f"{address}: {message}"))
                    return
                case NotLeaderReply(other) if self._log.single_writer and other not in {"", address} and hops < HOPS:
                    hops, address = hops + 1, other
                    continue
            break
        late = isinstance(reply, SequenceExceededReply)
        if not late:
            self._rests[address] = asyncio.get_running_loop().time() + REST_SECONDS
        if self._log.single_writer or late:
            await asyncio.sleep(min(FIRST_PAUSE * 2**command.forward_attempts, LONGEST_PAUSE))
        command.forward_attempts = min(command.forward_attempts + 1, 10)
        self._queue.requeue_last(command)

    async def _ask(self, command: QueuedCommand, address: str, batcher: PeerBatcher) -> ForwardReply | None:
        """Send one request to a node; return None without an answer."""
        loop, position = asyncio.get_running_loop(), self._follower.position
        left = min(command.deadline - loop.time(), LONGEST_SECONDS)
        last = position.sequence + HANDED_WITHIN
        forwarded = ForwardedCommand(
            command.command,
            max(0.0, left - min(MARGIN_SECONDS, left / 10)),
            last,
            command.open_until,
            position.token,
            command.request_id,
        )

        def leaves() -> bool:
            departed = command.depart(position.sequence, last)
            self._counts.handed += departed
            return departed

        outgoing = await batcher.add(address, forwarded, max(0.0, left), leaves)
        self._out[outgoing] = (lambda: command.is_over), address
        self._watch()
        try:
            reply = await outgoing.reply
        except GivenUpError:
            return None
        except PeerUnreachableError as away:
            self._counts.lost += 1
            self._queue.blocked_reason = str(away)
            if not away.left:
                command.stay()
            return None
        finally:
            del self._out[outgoing]
        if not isinstance(reply, DecidedReply) and not (
            isinstance(reply, RefusedReply) and isinstance(reply.error, OutcomeUnknown)
        ):
            command.stay()  # whatever it said, it will not be written by that node
        return reply

    def _watch(self) -> None:
        """Cancel requests to nodes that are no longer the leader, while there are any."""
        if self._watcher is None:
            self._watcher = asyncio.create_task(self._watch_on(), name="watch")

    async def _watch_on(self) -> None:
        while self._out:
            await asyncio.sleep(WATCH_SECONDS)
            moved = {
                address: await self._has_moved(address) for address in {address for _, address in self._out.values()}
            }
            for outgoing, (over, address) in self._out.items():
                if over() or moved.get(address):
                    outgoing.fail(GivenUpError())
        self._watcher = None

    async def _has_moved(self, address: str) -> bool:
        """Return whether an owned log has a leader other than the one asked."""
        try:
            leader = await self._log.leader() if self._log.single_writer else None
        except LogUnavailableError:
            return False
        return leader is not None and leader.address != address

    async def _answer_from(self, command: QueuedCommand, reply: DecidedReply | RefusedReply) -> bool:
        """Answer with the reply of a node, once the tables show its position; return False if the reply decides nothing."""
        if isinstance(reply, RefusedReply):
            if isinstance(reply.error, OutcomeUnknown):
                return False
            if isinstance(reply.error, Unavailable) and (
                not self._log.single_writer or command.may_be_in_log(self._follower.tables)
            ):
                return False  # it says what that node did, and not what others may do
        await self._wait_until_shown(
            reply.reply.token if isinstance(reply, DecidedReply) else reply.token, lambda: command.is_over
        )
        if command.is_over:
            return True
        if isinstance(reply, DecidedReply):
            command.answered.set_result(reply.reply)
        else:
            if isinstance(reply.error, Refusal):
                self._counts.refused += 1
            command.fail(reply.error)
        return True

    async def _wait_until_shown(self, token: PositionToken, over: Callable[[], bool]) -> bool:
        """Return True when the tables show a position, False if the command is done before."""
        while not over():
            own_token = self._follower.position.token
            if token.sequence <= own_token.sequence and (token.identity == own_token.identity or not token.sequence):
                return True
            with suppress(LogUnavailableError, LogDamagedError):  # the follower says so
                await self._follower.catch_up()
            if self._follower.position.token == own_token:
                await asyncio.sleep(FIRST_PAUSE)
        return False

    # ---------------------------------------------------------------------------------------------------- barriers

    def pass_barrier(self, leader: Leader | None) -> None:
        """Have the leader execute a read barrier for the waiting strict reads; one at a time."""
        barriers, address = self._queue.barriers, "" if leader is None else leader.address
        barriers.send_away(address)
        if leader is not None and self._batcher is None:
            barriers.fail(Unavailable(_blocked_reason(leader, self._batcher), YIELD_SECONDS))
        elif address and self._batcher is not None and barriers.due:
            task = asyncio.create_task(self._pass_barrier(address, self._batcher), name="barrier")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _pass_barrier(self, address: str, batcher: PeerBatcher) -> None:
        barriers, number, reloads = self._queue.barriers, self._follower.begin(), self._counts.reloads

        def is_over() -> bool:
            return self._counts.reloads != reloads or not barriers.waits(number)

        with barriers.defer_appends():
            reply = await self._barrier_passed(address, batcher, number)
            if isinstance(reply, DecidedReply):
                token = reply.reply.token
                if await self._wait_until_shown(token, is_over) and self._is_remembered(token):
                    self._follower.finish(number)
                    barriers.note_accepted(number)
                    return
            elif reply is not None:
                self._rests[address] = asyncio.get_running_loop().time() + REST_SECONDS
            barriers.note_lost(number)

    def _is_remembered(self, token: PositionToken) -> bool:
        """Return whether a position is in the history of the tables."""
        digest = self._follower.remembers(token.sequence)
        return digest is None or digest.hex() == token.digest

    async def _barrier_passed(self, address: str, batcher: PeerBatcher, number: int) -> ForwardReply | None:
        """Send one request to a node; return None without an answer."""

        def is_over() -> bool:
            return not self._queue.barriers.waits(number)

        command = Command(ReadBarrier(), f"barrier {number}", 0)
        forwarded = ForwardedCommand(command, BARRIER_SECONDS, 0, place=self._follower.position.token)
        outgoing = await batcher.add(address, forwarded, BARRIER_SECONDS, lambda: not is_over())
        self._out[outgoing] = is_over, address
        self._watch()
        try:
            return await outgoing.reply
        except GivenUpError:
            return None
        except PeerUnreachableError as away:
            self._counts.lost += 1
            self._queue.blocked_reason = str(away)
            self._rests[address] = asyncio.get_running_loop().time() + REST_SECONDS
            return None
        finally:
            del self._out[outgoing]

    async def close(self) -> None:
        """Stop forwarding; commands in flight may still be executed."""
        tasks = [*self._tasks, *([self._watcher] if self._watcher is not None else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._batcher is not None:
            await self._batcher.close()


def _blocked_reason(leader: Leader | None, batcher: PeerBatcher | None) -> str:
    """Return why commands cannot be decided now."""
    if leader is None:
        return "the owner of the log is unknown"
    if batcher is None:
        return f"the log is owned by another node ({leader.address or 'which says no address'}), and this one has no way to it"
    if not leader.address:
        return "the log is owned by a node that says no address"
    return ""
