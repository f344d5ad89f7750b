"""Commands that wait: in line, or aside while a format answers questions about their schemas."""

import asyncio
from collections import deque
from typing import TypeVar

from treaty.core.access.rights import ANONYMOUS
from treaty.core.command import Command
from treaty.core.limits import QUEUE
from treaty.core.refusals import OutcomeUnknown, Unavailable
from treaty.core.registry import Reply
from treaty.core.requests import Request
from treaty.core.schema_engine import Question
from treaty.core.state.commit import PositionToken
from treaty.core.state.log_origin import explain_sealed_log, explain_unfinished_restore
from treaty.node.barriers import ReadBarriers
from treaty.node.environment import Environment
from treaty.node.follower import Follower
from treaty.node.queued_command import DeferredState, QueuedCommand
from treaty.node.schema_service import SchemaService
from treaty.node.status import NodeCounts
from treaty.wire.peer.message import ForwardedCommand

A = TypeVar("A")

READ_ONLY_SECONDS = 30.0
"""When to ask a read-only node again."""
PATIENCE_SECONDS = 2.0
"""How long commands wait for a log that takes no writes, from the first time it says so; then they are sent away."""
REFUSING_SECONDS = 30.0
"""How long a node says that its log takes no writes, when nothing was tried since."""


class CommandQueue:
    """Commands of one node, from their arrival to their answer."""

    def __init__(
        self, follower: Follower, schemas: SchemaService, environment: Environment, counts: NodeCounts
    ) -> None:
        """Nobody waits yet."""
        self._environment = environment
        self._follower = follower
        self._schemas = schemas
        self._counts = counts
        self._all: dict[QueuedCommand, None] = {}
        self._line: deque[QueuedCommand] = deque()
        self._wake = asyncio.Event()
        self.barriers = ReadBarriers(follower, self._wake.set)
        """Strict reads that wait for an append."""
        self.blocked_reason = ""
        """Why no node decides now, for those whose deadline comes."""
        self._write_failure = ""
        self._failed_first = self._failed_last = 0.0

    @property
    def waiting(self) -> int:
        """Commands that have not been answered, wherever they are."""
        return len(self._all)

    @property
    def read_only(self) -> str:
        """Why this node must not write, or nothing."""
        if self._follower.damage:
            return self._follower.damage
        if self._follower.wrong is not None:
            return self._follower.wrong.reason
        tables = self._follower.tables
        quarantine = tables.quarantine
        if not quarantine:
            return explain_unfinished_restore(tables) or explain_sealed_log(tables)
        table, key = next(iter(quarantine))
        first = f"the first in table {table!r}: {quarantine[table, key]}"
        return f"{len(quarantine)} rows can't be read here ({first}), and deciding without them is wrong; upgrade this node"

    @property
    def write_failure(self) -> str:
        """Why the log took no write when that was tried last; nothing when it did, or when that was long ago."""
        stale = self._environment.now() - self._failed_last > REFUSING_SECONDS
        return "" if stale else self._write_failure

    def note_failure(self, reason: str) -> None:
        """The log takes no writes. Those in line wait a little, for it may be over at once; then they are sent away.

        What is in line is in no open append, so nothing of it is in the log. Who comes later waits for one more try.
        """
        now = self._environment.now()
        if not self.write_failure:
            self._failed_first = now
        self._write_failure, self._failed_last = reason, now
        if now - self._failed_first < PATIENCE_SECONDS:
            return
        away = Unavailable(f"the log takes no writes now: {reason}; nothing was written", PATIENCE_SECONDS)
        for command in self._line:
            if not command.may_be_in_log(self._follower.tables):  # what another node may write waits for its time
                command.fail(away)
        self._line = deque(command for command in self._line if not command.is_over)

    def note_success(self) -> None:
        """The log takes writes."""
        self._write_failure = ""

    async def submit(
        self,
        command: Command[Request[A]],
        timeout: float,
        forwarded: ForwardedCommand | None = None,
        *,
        request_id: str = "",
        after: PositionToken | None = None,
        client: str = "",
    ) -> Reply[A]:
        """Have a command decided and written; returns when its answer is durable.

        Raises the `Refusal` of the law, `Unavailable` where nothing was written in time, `OutcomeUnknown` where the
        deadline (`timeout` seconds) came while its append was open. A `client` takes turns with others, or the principal; without
        one the node that `forwarded` it. What was forwarded is decided here or not at all: `NotLeaderError`, `SequenceExceededError`.
        """
        if self.read_only:
            raise Unavailable(f"this node is read-only: {self.read_only}", READ_ONLY_SECONDS)
        if self.waiting >= QUEUE:
            raise Unavailable(f"{self.waiting} commands wait already (limit QUEUE)", 1.0)
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[Reply[A]] = loop.create_future()
        deadline = loop.time() + max(timeout, 0)
        if forwarded is not None and command.principal in {"", ANONYMOUS}:
            client = client or forwarded.sender
        barrier, session = (
            self._follower.next_barrier,
            self._schemas.open_session(client or command.principal, writes=True),
        )
        if forwarded is None:
            queued = QueuedCommand(command, barrier, session, answered, deadline, request_id, after)
        else:
            queued = QueuedCommand.of_peer(forwarded, barrier, session, answered, deadline)
        timer = loop.call_at(deadline, self.expire, queued)
        self._all[queued] = None
        self._line.append(queued)
        self._wake.set()
        try:
            return await answered
        finally:
            del self._all[queued]
            timer.cancel()
            queued.finish()

    async def some(self) -> None:
        """Return when somebody is in line, or a strict read wants an append."""
        while not self._line and not self.barriers.due:
            self._wake.clear()
            await self._wake.wait()

    def take(self, most: int) -> list[QueuedCommand]:
        """Take the next ones out of the line. A node that must not write sends all of them away."""
        if self.read_only:
            away = Unavailable(f"this node is read-only: {self.read_only}", READ_ONLY_SECONDS)
            for command in self._line:
                unknown = command.may_be_in_log(self._follower.tables)
                command.fail(OutcomeUnknown(command.command.command_id) if unknown else away)
            self._line.clear()
            self.barriers.fail(away)
        batch: list[QueuedCommand] = []
        while self._line and len(batch) < most:
            command = self._line.popleft()
            if not command.is_over:
                batch.append(command)
        return batch

    def requeue_first(self, commands: list[QueuedCommand]) -> None:
        """Put commands back at the head of the line, in their order; they are in no open append any more."""
        for command in commands:
            command.return_to_line()
        self._line.extendleft(command for command in reversed(commands) if not command.is_over)

    def requeue_last(self, command: QueuedCommand) -> None:
        """Put a command that has been with another node at the end of the line."""
        command.come_back()
        if not command.is_over:
            self._line.append(command)
            self._wake.set()

    def defer(self, command: QueuedCommand, questions: tuple[Question, ...]) -> None:
        """Let others go ahead while a format answers."""
        self._counts.parked += 1
        command.defer(asyncio.create_task(self._answer(command, questions), name="questions"))

    async def _answer(self, command: QueuedCommand, questions: tuple[Question, ...]) -> None:
        try:
            await self._schemas.answer_questions(command.session, questions)
        except Exception as error:  # noqa: BLE001 - whatever a format or the pool raises belongs to this command
            command.fail(error)
        command.resume()
        self._line.append(command)
        self._wake.set()

    async def close(self) -> None:
        """Send everybody away; the outcome of what was sent stays unknown to them."""
        tasks = [command.state.task for command in self._all if isinstance(command.state, DeferredState)]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.barriers.close()
        for command in self._all:
            self.expire(command)

    def expire(self, command: QueuedCommand) -> None:
        """Tell a command that its time is over, and whether it may be written all the same."""
        why = self.blocked_reason or self.write_failure or self._follower.unreachable_reason
        deferred = isinstance(command.state, DeferredState)
        if deferred and not why:
            why = f"{len(self._schemas.queue)} questions about schemas wait"
        command.expire(self._follower.tables, why, self._schemas.queue.retry_after if deferred else 1.0)
