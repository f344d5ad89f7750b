"""Every way in which a queue fails its commands, against all that may have become of a command before: what may be in the log is never said to have
no effect.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from tests.behaviours.nodes.lives import living, post, virtual, way, world
from tests.simulation.disk import Disk
from tests.simulation.texts import FORMATS, Truth, answer
from treaty.core.command import Command
from treaty.core.limits import OUTCOMES
from treaty.core.refusals import OutcomeUnknown, Unavailable
from treaty.core.schema_engine import Answer, ParseSchema, Question, ResolvedSchema
from treaty.core.state.tables import DictTables
from treaty.log.log import LogDamagedError
from treaty.node.follower import Follower
from treaty.node.node import Node
from treaty.node.queue import PATIENCE_SECONDS, CommandQueue
from treaty.node.queued_command import QueuedCommand, SentState, UnseenCommit
from treaty.node.schema_service import SchemaService
from treaty.node.status import NodeCounts
from treaty.wire.peer.message import DecidedReply, ForwardedCommand

DEADLINE = 20 * PATIENCE_SECONDS
COMMAND = Command(post("mine"), "mine", 7)
QUESTION = ParseSchema(ResolvedSchema("TOY", '["a"]'))


@dataclass
class QueueOfNode:
    """A queue with one command, which has been taken; another node writes to the same log. No writer runs here."""

    queue: CommandQueue
    follower: Follower
    other: Node
    task: "asyncio.Task[Any]"
    command: QueuedCommand
    dying: asyncio.Event
    """Set, the process dies that reads its schemas, and reads none before."""

    async def read_on(self, *subjects: str) -> None:
        """Let the other node write, and read it."""
        for subject in subjects:
            await self.other.ask(post(subject))
        await self.follower.catch_up()


@asynccontextmanager
async def taken(forwarded: ForwardedCommand | None = None) -> AsyncIterator[QueueOfNode]:
    disk, counts, environment, dying = Disk(9), NodeCounts(), world(), asyncio.Event()

    async def die(question: Question) -> Answer:
        await dying.wait()
        raise Unavailable("the process that was reading this schema died; nothing was written")

    follower = Follower(way(disk), DictTables(), environment, counts)
    schemas = SchemaService(lambda: FORMATS, answer, die, validators=lambda: Truth.validators)
    queue = CommandQueue(follower, schemas, environment, counts)
    task = asyncio.create_task(queue.submit(COMMAND, DEADLINE, forwarded))
    async with living(way(disk)) as other:
        await asyncio.sleep(0)
        (command,) = queue.take(9)
        yield QueueOfNode(queue, follower, other, task, command, dying)
        task.cancel()
        await asyncio.wait([task])
        await schemas.close()
        await follower.close()


# ------------------------------------------------------------------------------------------------ what became of it before


def hand_over(node: QueueOfNode, after: int = 0, last: int = 3) -> None:
    """Send it to the other node, which decides it up to a sequence."""
    node.command.forward()
    assert node.command.depart(after, last)


async def be_new(node: QueueOfNode) -> None:
    node.queue.requeue_first([node.command])


async def be_rejected(node: QueueOfNode) -> None:
    """The log did not take its append."""
    node.command.send(SentState(UnseenCommit(0, 1)))
    node.queue.requeue_first([node.command])


async def be_kept_here(node: QueueOfNode) -> None:
    """No way led to the other node."""
    node.command.forward()
    node.queue.requeue_last(node.command)


async def be_declined(node: QueueOfNode) -> None:
    """The other node has said that it will not write it."""
    hand_over(node)
    node.command.stay()
    node.queue.requeue_last(node.command)


async def come_back(node: QueueOfNode) -> None:
    """The other node has gone without a word."""
    hand_over(node)
    node.queue.requeue_last(node.command)


async def come_back_and_be_declined(node: QueueOfNode) -> None:
    await come_back(node)
    (command,) = node.queue.take(9)
    assert command is node.command
    await be_declined(node)


async def come_back_before_the_end(node: QueueOfNode) -> None:
    await come_back(node)
    await node.read_on("a", "b")


async def come_back_and_be_passed(node: QueueOfNode) -> None:
    """The log is past the last sequence, and has no outcome of it."""
    await come_back(node)
    await node.read_on("a", "b", "c")


async def come_back_and_be_written(node: QueueOfNode) -> None:
    await come_back(node)
    assert isinstance(await node.other.take(ForwardedCommand(COMMAND, 9.0, last=3)), DecidedReply)
    await node.read_on("a", "b", "c")


async def come_back_too_late(node: QueueOfNode) -> None:
    """Its outcome would have gone from the log since."""
    hand_over(node, -OUTCOMES - 1, 0)
    node.queue.requeue_last(node.command)


async def be_left_to_an_owner(node: QueueOfNode) -> None:
    """Another node owns the log since its append was sent."""
    node.command.send(SentState(UnseenCommit(0, 1)))
    node.command.leave_to_owner()
    node.queue.requeue_first([node.command])


async def be_in_an_append(node: QueueOfNode) -> None:
    node.command.send(SentState(UnseenCommit(0, 1)))


async def be_at_the_other_node(node: QueueOfNode) -> None:
    hand_over(node)


async def be_about_to_leave(node: QueueOfNode) -> None:
    node.command.forward()


async def wait_for_a_schema(node: QueueOfNode) -> None:
    node.queue.defer(node.command, (QUESTION,))
    await asyncio.sleep(0.01)


async def come_back_and_wait_for_a_schema(node: QueueOfNode) -> None:
    await come_back(node)
    node.queue.take(9)
    await wait_for_a_schema(node)


Deed = Callable[[QueueOfNode], Awaitable[None]]
LINE: dict[Deed, bool] = {
    be_new: False,
    be_rejected: False,
    be_kept_here: False,
    be_declined: False,
    come_back: True,
    come_back_and_be_declined: True,
    come_back_before_the_end: True,
    come_back_and_be_passed: False,
    come_back_and_be_written: True,
    come_back_too_late: True,
    be_left_to_an_owner: True,
}
"""What may become of a command that is in the line then, and whether it may be in the log."""
DEFERRED: dict[Deed, bool] = {wait_for_a_schema: False, come_back_and_wait_for_a_schema: True}
AWAY: dict[Deed, bool] = {be_in_an_append: True, be_at_the_other_node: True, be_about_to_leave: False}
"""What may become of one that is not in the line then."""


# ------------------------------------------------------------------------------------------------------- ways of failing


async def refuse_writes(node: QueueOfNode) -> None:
    node.queue.note_failure("no space is left")
    await asyncio.sleep(PATIENCE_SECONDS)
    node.queue.note_failure("no space is left")


async def become_read_only(node: QueueOfNode) -> None:
    node.follower.hear_of(LogDamagedError("torn"))
    node.queue.take(9)


async def reach_the_deadline(node: QueueOfNode) -> None:
    await asyncio.sleep(DEADLINE)


async def close(node: QueueOfNode) -> None:
    await node.queue.close()


async def lose_the_process(node: QueueOfNode) -> None:
    """Of those in the line each asks about a schema first."""
    for command in node.queue.take(9):
        node.queue.defer(command, (QUESTION,))
        await asyncio.sleep(0.01)
    node.dying.set()
    await asyncio.sleep(0.01)


WAYS: dict[Deed, frozenset[Deed]] = {
    refuse_writes: frozenset(LINE),
    become_read_only: frozenset(LINE),
    lose_the_process: frozenset(LINE | DEFERRED),
    reach_the_deadline: frozenset(LINE | DEFERRED | AWAY),
    close: frozenset(LINE | DEFERRED | AWAY),
}
"""Ways, and the commands that each of them fails."""


async def effect_of(node: QueueOfNode) -> str:
    """What the client hears of the effect of its command."""
    await asyncio.sleep(0.01)
    if not node.task.done():
        return "waits"
    error = node.task.exception()
    if isinstance(error, OutcomeUnknown):
        assert error.command_id == COMMAND.command_id
        return "open"
    assert isinstance(error, Unavailable)
    return "none"


@pytest.mark.parametrize("fate", LINE | DEFERRED | AWAY, ids=lambda deed: deed.__name__)
@pytest.mark.parametrize("fail", WAYS, ids=lambda deed: deed.__name__)
@virtual
async def test_a_command_fails_with_an_open_outcome_exactly_where_it_may_be_in_the_log(fail: Deed, fate: Deed) -> None:
    """One that waits on hears the same at its deadline. While the log refuses writes those that may be in it wait."""
    may_be_in_log = (LINE | DEFERRED | AWAY)[fate]
    async with taken() as node:
        await fate(node)
        await fail(node)
        effect = "open" if may_be_in_log else "none"
        waits = fate not in WAYS[fail] or (fail is refuse_writes and may_be_in_log)
        assert await effect_of(node) == ("waits" if waits else effect)
        await reach_the_deadline(node)
        assert await effect_of(node) == effect


@pytest.mark.parametrize("elsewhere", [0, 5])
@pytest.mark.parametrize("fail", WAYS, ids=lambda deed: deed.__name__)
@virtual
async def test_a_command_of_another_node_may_be_at_a_third_one(fail: Deed, elsewhere: int) -> None:
    async with taken(ForwardedCommand(COMMAND, DEADLINE, last=9, elsewhere=elsewhere)) as node:
        await be_new(node)
        await fail(node)
        await reach_the_deadline(node)
        assert await effect_of(node) == ("open" if elsewhere else "none")
