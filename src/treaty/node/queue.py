"""The queue of commands: those that wait for the writer, those deferred until the schema service has answered, and strict reads that
wait for an append.

A strict read waits for an accepted append that was sent after it arrived. If a deposed leader of the log may answer, reading the tip
proves nothing. An accepted append does: its parent was the last append, so everything acknowledged before it was sent precedes it. Any
append will do; without waiting commands the node writes an empty commit.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field
from typing import TypeVar

from treaty.core.access.rights import ANONYMOUS
from treaty.core.command import Command
from treaty.core.limits import QUEUE
from treaty.core.messages.request import Request
from treaty.core.refusals import Unavailable
from treaty.core.registry import Reply
from treaty.core.schema_engine import Question
from treaty.core.state.commit import PositionToken
from treaty.core.state.log_origin import explain_sealed_log, explain_unfinished_restore
from treaty.core.state.state_tables import LOG_ORIGIN
from treaty.light_dataclass import dataclass
from treaty.node.environment import Environment
from treaty.node.follower import Follower
from treaty.node.queued_command import DeferredState, NotLeaderError, QueuedCommand
from treaty.node.schema_service import SchemaService
from treaty.node.status import NodeCounts
from treaty.wire.peer.message import ForwardedCommand

BARRIER_TRIES = 40
"""Appends in conflict before the strict reads that waited for all of them get 503."""
FIRST_REST = 0.005
"""Seconds between an append in conflict and the next empty commit; doubled each time, up to `LONGEST_REST`. An append
with commands is not delayed, and is a barrier too.
"""
LONGEST_REST = 0.2


@dataclass(slots=True, eq=False)
class _Waiting:
    """Reads that arrived between two appends: the next append that is accepted answers all of them."""

    number: int
    """Of the first look that could begin after they came; appends are numbered with the looks."""
    is_remote: bool
    passed: asyncio.Future[None] = field(repr=False)
    readers: int = 0
    tries: int = 0
    """Appends that failed since they arrived."""
    conflicts: int = 0
    """Those of them in conflict."""


class ReadBarriers:
    """The strict reads of a node. The node has at most one append in flight for all of them."""

    def __init__(self, follower: Follower, wake: Callable[[], None]) -> None:
        """Start without reads; `wake` is called when an append is wanted."""
        self._follower = follower
        self._wake = wake
        self._waiting: dict[tuple[int, bool], _Waiting] = {}
        self._rest: asyncio.TimerHandle | None = None
        self._asking = False

    @property
    def due(self) -> bool:
        """Return whether an append is wanted now."""
        return bool(self._waiting) and self._rest is None and not self._asking

    async def wait(self, *, for_peer: bool = False) -> None:
        """Return when the tables show everything that was acknowledged before this call.

        `for_peer`: the read is for another node and is not forwarded; `NotLeaderError` names the leader. Raises
        `Unavailable` after too many conflicts, and `LogUnavailableError`.
        """
        key = self._follower.next_barrier, for_peer
        waiting = self._waiting.get(key)
        if waiting is None:
            waiting = self._waiting[key] = _Waiting(*key, asyncio.get_running_loop().create_future())
            waiting.passed.add_done_callback(_ignore_error)
        waiting.readers += 1
        self._wake()
        try:
            await asyncio.shield(waiting.passed)
        finally:
            waiting.readers -= 1
            if not waiting.readers and self._waiting.get(key) is waiting:
                del self._waiting[key]  # nobody needs an append for it any more

    @contextmanager
    def defer_appends(self) -> Iterator[None]:
        """While the block runs another node is asked, so this one writes no empty commit."""
        self._asking = True
        try:
            yield
        finally:
            self._asking = False
            self._wake()

    def waits(self, number: int) -> bool:
        """Return whether a read waits for the append of that number."""
        return any(waiting.number <= number for waiting in self._waiting.values())

    # ---------------------------------------------------------------------------------------------------- results

    def note_accepted(self, number: int) -> None:
        """Note that the append of that number is in the log, and the tables show it."""
        for waiting in self._pop_until(number):
            waiting.passed.set_result(None)

    def note_lost(self, number: int, *, conflict: bool = False) -> None:
        """Note that the append of that number was in conflict (`conflict`), or its result is unknown."""
        most_tries = 0
        for waiting in [read for read in self._waiting.values() if read.number <= number]:
            waiting.tries += 1
            waiting.conflicts += conflict
            most_tries = max(most_tries, waiting.tries)
            if waiting.conflicts >= BARRIER_TRIES:
                del self._waiting[waiting.number, waiting.is_remote]
                waiting.passed.set_exception(
                    Unavailable(
                        f"{waiting.conflicts} appends of this node were in conflict with those of other nodes, so the newest state is not proven; retry"
                    )
                )
        if most_tries and self._rest is None:
            pause = min(FIRST_REST * 2.0 ** (most_tries - 1), LONGEST_REST)
            self._rest = asyncio.get_running_loop().call_later(pause, self._end_rest)

    def fail(self, error: Exception) -> None:
        """Fail all reads: nothing can be appended now."""
        for waiting in self._pop_until(None):
            waiting.passed.set_exception(error)

    def send_away(self, address: str) -> None:
        """Fail the reads of other nodes with the address of the leader."""
        for key in [key for key, waiting in self._waiting.items() if waiting.is_remote]:
            self._waiting.pop(key).passed.set_exception(NotLeaderError(address))

    def close(self) -> None:
        """Fail all reads."""
        if self._rest is not None:
            self._rest.cancel()
        self.fail(Unavailable("this node is stopping"))

    def _end_rest(self) -> None:
        self._rest = None
        self._wake()

    def _pop_until(self, number: int | None) -> list[_Waiting]:
        if not self._waiting:
            return []
        keys = [key for key, waiting in self._waiting.items() if number is None or waiting.number <= number]
        return [self._waiting.pop(key) for key in keys]


def _ignore_error(future: asyncio.Future[None]) -> None:
    """Retrieve the exception of an abandoned wait, so that it is not logged."""
    if not future.cancelled():
        future.exception()


# ------------------------------------------------------------------------------------------------------------ the queue


A = TypeVar("A")

READ_ONLY_SECONDS = 30.0
"""`Retry-After` of a read-only node, in seconds."""
PATIENCE_SECONDS = 2.0
"""Seconds that commands wait for a log that rejects writes, from the first rejection; then they fail."""
REFUSING_SECONDS = 30.0
"""Seconds for which the status reports a rejected write, if none was tried since."""


class CommandQueue:
    """Commands of one node, from their arrival to their answer."""

    def __init__(
        self, follower: Follower, schemas: SchemaService, environment: Environment, counts: NodeCounts
    ) -> None:
        """Start empty."""
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
        """Why no node decides now, for commands past their deadline."""
        self._write_failure = ""
        self._failed_first = self._failed_last = 0.0

    @property
    def waiting(self) -> int:
        """Unanswered commands."""
        return len(self._all)

    @property
    def read_only(self) -> str:
        """Why this node is read-only; empty if it is not."""
        if self._follower.damage:
            return self._follower.damage
        if self._follower.wrong is not None:
            return self._follower.wrong.reason
        tables = self._follower.tables
        quarantine = tables.quarantine
        if not quarantine:
            if not tables.keys(LOG_ORIGIN):  # so it is with nearly every log
                return ""
            return explain_unfinished_restore(tables) or explain_sealed_log(tables)
        table, key = next(iter(quarantine))
        first = f"the first in table {table!r}: {quarantine[table, key]}"
        return f"{len(quarantine)} rows can't be read here ({first}), and deciding without them is wrong; upgrade this node"

    @property
    def write_failure(self) -> str:
        """Why the log rejected the last write; empty if it did not, or if that was long ago."""
        stale = self._environment.now() - self._failed_last > REFUSING_SECONDS
        return "" if stale else self._write_failure

    def note_failure(self, reason: str) -> None:
        """Note that the log rejects writes. Waiting commands fail after a short time.

        They are in no append in flight, so nothing of them is in the log. Later commands wait for another attempt.
        """
        now = self._environment.now()
        if not self.write_failure:
            self._failed_first = now
        self._write_failure, self._failed_last = reason, now
        if now - self._failed_first < PATIENCE_SECONDS:
            return
        away = Unavailable(f"the log rejects writes: {reason}; nothing was written", PATIENCE_SECONDS)
        for command in self._line:
            if not command.may_be_in_log(self._follower.tables):  # what another node may write waits for its time
                command.fail(away)
        self._line = deque(command for command in self._line if not command.is_over)

    def note_success(self) -> None:
        """Note that the log accepts writes."""
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

        Raises its `Refusal`, `Unavailable` if nothing was written in time, `OutcomeUnknown` if the deadline (`timeout`
        seconds) passed while its append was in flight. A `client` takes turns with others, or the principal; without
        one the node that `forwarded` it. What was forwarded is decided here or not at all: `NotLeaderError`,
        `SequenceExceededError`.
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

    async def wait_for_work(self) -> None:
        """Return when a command waits, or a strict read needs an append."""
        while not self._line and not self.barriers.due:
            self._wake.clear()
            await self._wake.wait()

    def take(self, maximum: int) -> list[QueuedCommand]:
        """Take the next commands; a large one is taken alone. On a read-only node all of them fail."""
        if self.read_only:
            away = Unavailable(f"this node is read-only: {self.read_only}", READ_ONLY_SECONDS)
            for command in self._line:
                command.fail_unwritten(self._follower.tables, away)
            self._line.clear()
            self.barriers.fail(away)
        batch: list[QueuedCommand] = []
        while self._line and len(batch) < maximum:
            if self._line[0].is_over:
                self._line.popleft()
            elif self._line[0].is_large:
                return batch or [self._line.popleft()]
            else:
                batch.append(self._line.popleft())
        return batch

    def requeue_first(self, commands: list[QueuedCommand]) -> None:
        """Return commands to the head of the queue, in their order; they are in no append in flight."""
        for command in commands:
            command.return_to_line()
        self._line.extendleft(command for command in reversed(commands) if not command.is_over)

    def requeue_last(self, command: QueuedCommand) -> None:
        """Append a command that was at another node to the queue."""
        command.come_back()
        if not command.is_over:
            self._line.append(command)
            self._wake.set()

    def defer(self, command: QueuedCommand, questions: tuple[Question, ...]) -> None:
        """Defer a command while the schema service answers its questions."""
        self._counts.parked += 1
        command.defer(asyncio.create_task(self._answer(command, questions), name="questions"))

    async def _answer(self, command: QueuedCommand, questions: tuple[Question, ...]) -> None:
        try:
            await self._schemas.answer_questions(command.session, questions)
        except Exception as error:  # noqa: BLE001 - whatever a format or the pool raises belongs to this command
            command.fail_unwritten(self._follower.tables, error)
        command.resume()
        self._line.append(command)
        self._wake.set()

    async def close(self) -> None:
        """Fail all commands; the outcome of those in flight is unknown."""
        tasks = [command.state.task for command in self._all if isinstance(command.state, DeferredState)]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.barriers.close()
        for command in self._all:
            self.expire(command)

    def expire(self, command: QueuedCommand) -> None:
        """Fail a command at its deadline, with or without a possible effect."""
        why = self.blocked_reason or self.write_failure or self._follower.unreachable_reason
        deferred = isinstance(command.state, DeferredState)
        if deferred and not why:
            why = f"{len(self._schemas.queue)} questions about schemas wait"
        command.expire(self._follower.tables, why, self._schemas.queue.retry_after if deferred else 1.0)
