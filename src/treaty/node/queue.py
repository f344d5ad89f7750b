"""Commands that wait: in line, or aside while a format answers questions about their schemas."""

import asyncio
from collections import deque
from typing import TypeVar

from treaty.core.command import Command
from treaty.core.grammar import Question
from treaty.core.limits import DECISION_ROUNDS, HANDED_WITHIN, OUTCOMES, QUEUE
from treaty.core.log_origin import explain_sealed_log, explain_unfinished_restore
from treaty.core.refusals import OutcomeUnknown, Unavailable
from treaty.core.registry import Reply, Token
from treaty.core.requests import Request
from treaty.node.barriers import Barriers
from treaty.node.follower import Follower
from treaty.node.grammar import Desk
from treaty.node.pending import Pending
from treaty.node.status import Counts
from treaty.node.world import World
from treaty.wire.peer.message import Handed

A = TypeVar("A")

READ_ONLY_SECONDS = 30.0
"""When to ask a read-only node again."""
PATIENCE_SECONDS = 2.0
"""How long commands wait for a log that takes no writes, from the first time it says so; then they are sent away."""
REFUSING_SECONDS = 30.0
"""How long a node says that its log takes no writes, when nothing was tried since."""


class Queue:
    """Commands of one node, from their arrival to their answer."""

    def __init__(self, follower: Follower, desk: Desk, world: World, counts: Counts) -> None:
        """Nobody waits yet."""
        self._world = world
        self._follower = follower
        self._desk = desk
        self._counts = counts
        self._all: dict[Pending, None] = {}
        self._line: deque[Pending] = deque()
        self._wake = asyncio.Event()
        self.barriers = Barriers(follower, self._wake.set)
        """Strict reads that wait for an append."""
        self._parked: dict[Pending, asyncio.Task[None]] = {}
        self.hindrance = ""
        """Why nobody decides now, for those whose deadline comes."""
        self._refused = ""
        self._refused_first = self._refused_last = 0.0

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
    def refusing(self) -> str:
        """Why the log took no write when that was tried last; nothing when it did, or when that was long ago."""
        stale = self._world.now() - self._refused_last > REFUSING_SECONDS
        return "" if stale else self._refused

    def refused(self, reason: str) -> None:
        """The log takes no writes. Those in line wait a little, for it may be over at once; then they are sent away.

        What is in line is in no open append, so nothing of it is in the log. Who comes later waits for one more try.
        """
        now = self._world.now()
        if not self.refusing:
            self._refused_first = now
        self._refused, self._refused_last = reason, now
        if now - self._refused_first < PATIENCE_SECONDS:
            return
        away = Unavailable(f"the log takes no writes now: {reason}; nothing was written", PATIENCE_SECONDS)
        for pending in self._line:
            if not pending.elsewhere:  # what another node may have written waits for its time
                pending.fail(away)
        self._line = deque(pending for pending in self._line if not pending.over)

    def accepted(self) -> None:
        """The log takes writes."""
        self._refused = ""

    async def submit(
        self,
        command: Command[Request[A]],
        timeout: float,
        handed: Handed | None = None,
        *,
        request_id: str = "",
        after: Token | None = None,
    ) -> Reply[A]:
        """Have a command decided and written; returns when its answer is durable.

        Raises the `Refusal` of the law, `Unavailable` where nothing was written in time, `OutcomeUnknown` where the
        deadline (`timeout` seconds) came while its append was open. What another node has `handed` over is decided
        here or not at all: `MovedError`, `LateError`.
        """
        if self.read_only:
            raise Unavailable(f"this node is read-only: {self.read_only}", READ_ONLY_SECONDS)
        if self.waiting >= QUEUE:
            raise Unavailable(f"{self.waiting} commands wait already (limit QUEUE)", 1.0)
        loop = asyncio.get_running_loop()
        pending = Pending(command, self._follower.next_look, self._desk.sitting(), loop.create_future())
        pending.deadline, pending.request_id = loop.time() + max(timeout, 0), request_id
        pending.after = handed.place if handed is not None else after
        if handed is not None:
            pending.taken, pending.last, pending.elsewhere = True, handed.last, handed.elsewhere
        timer = loop.call_at(pending.deadline, self.expire, pending)
        self._all[pending] = None
        self._line.append(pending)
        self._wake.set()
        try:
            return await pending.answered
        finally:
            del self._all[pending]
            timer.cancel()
            parked = self._parked.pop(pending, None)
            if parked is not None:
                parked.cancel()

    async def some(self) -> None:
        """Return when somebody is in line, or a strict read wants an append."""
        while not self._line and not self.barriers.due:
            self._wake.clear()
            await self._wake.wait()

    def take(self, most: int) -> list[Pending]:
        """Take the next ones out of the line. A node that must not write sends everybody away."""
        if self.read_only:
            for pending in self._line:
                if self.is_open(pending):
                    pending.fail(OutcomeUnknown(pending.command.command_id))
                pending.fail(Unavailable(f"this node is read-only: {self.read_only}", READ_ONLY_SECONDS))
            self._line.clear()
            self.barriers.fail(Unavailable(f"this node is read-only: {self.read_only}", READ_ONLY_SECONDS))
        batch: list[Pending] = []
        while self._line and len(batch) < most:
            pending = self._line.popleft()
            if not pending.over:
                batch.append(pending)
        return batch

    def give_back(self, pendings: list[Pending]) -> None:
        """Put commands back at the head of the line, in their order; they are in no open append any more."""
        for pending in pendings:
            pending.sent = False
        self._line.extendleft(pending for pending in reversed(pendings) if not pending.over)

    def put_back(self, pending: Pending) -> None:
        """Put a command that has been elsewhere at the end of the line."""
        if not pending.over:
            self._line.append(pending)
            self._wake.set()

    def park(self, pending: Pending, questions: tuple[Question, ...]) -> None:
        """Let others go ahead while a format answers; who waited often has its questions answered on the spot."""
        pending.rounds += 1
        pending.sitting.patient = pending.rounds < DECISION_ROUNDS
        self._counts.parked += 1
        self._parked[pending] = asyncio.create_task(self._answer(pending, questions), name="grammar")

    async def _answer(self, pending: Pending, questions: tuple[Question, ...]) -> None:
        try:
            await self._desk.settle(pending.sitting, questions)
        except Exception as error:  # noqa: BLE001 - whatever a format or the pool raises belongs to this command
            pending.fail(error)
        self._parked.pop(pending, None)
        self._line.append(pending)
        self._wake.set()

    async def close(self) -> None:
        """Send everybody away; the outcome of what was sent stays unknown to them."""
        tasks = list(self._parked.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.barriers.close()
        for pending in self._all:
            self.expire(pending)

    def is_open(self, pending: Pending) -> bool:
        """Tell whether another node may have written a command, or may still."""
        tables, bound = self._follower.tables, pending.elsewhere
        if not bound or bound > tables.sequence:
            return bound > 0
        forgotten = tables.sequence > bound - HANDED_WITHIN + OUTCOMES
        return forgotten or tables.get("outcome", pending.command.outcome_key) is not None

    def expire(self, pending: Pending) -> None:
        """Tell a command that its time is over, and whether it may be written all the same."""
        if self.is_open(pending):
            pending.fail(OutcomeUnknown(pending.command.command_id))
        else:
            pending.expire(self.hindrance or self.refusing or self._follower.trouble)
