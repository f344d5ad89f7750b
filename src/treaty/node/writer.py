"""The writer: has one append in flight, decided on the current tables; commands are answered when it is durable."""

import logging
from functools import partial

from treaty.core.limits import CHAIN_COMMITS, LOOP_BYTES, QUEUE
from treaty.core.state.codec import dumps_in_steps
from treaty.core.state.commit import START, Append, Commit, Position, make_append, roots_with
from treaty.core.state.state_tables import OUTCOME
from treaty.light_dataclass import dataclass
from treaty.log.log import AppendResult, Leader, Log, LogDamagedError, LogUnavailableError
from treaty.node.batch import (
    CommitBatch,
    Decide,
    MemberReason,
    PreparedDecision,
    answer_from_outcome,
    build,
    prepare,
    read_ahead,
)
from treaty.node.environment import Environment
from treaty.node.follower import FIRST_PAUSE, LONGEST_PAUSE, Follower
from treaty.node.forwarder import CommandForwarder
from treaty.node.own_append import OwnAppend, last_rows
from treaty.node.queue import CommandQueue
from treaty.node.queued_command import DecisionResult, QueuedCommand, SentState, UnseenCommit
from treaty.node.status import NodeCounts

log = logging.getLogger("treaty.node")

BATCH_SECONDS = 0.01
"""Seconds after which a batch is sent, because deciding blocks the event loop."""
HOLD_AFTER = 2
"""Conflicts in a row after which the writer takes the log lock, if the log has one, until no other node writes."""
ALONE = 8
"""Batches under the log lock without a foreign append, after which the lock is no longer taken."""


@dataclass(frozen=True, slots=True)
class SentAppend:
    """An append that was sent. `fate` is None if nothing was written, and `refused` is the reason.

    `barrier` is its number among the looks: if it is accepted, its base was the tip.
    """

    append: Append
    barrier: int
    fate: AppendResult | None
    refused: Exception | None = None


class Writer:
    """Takes commands from the queue; the only part of a node that appends."""

    def __init__(
        self,
        queue: CommandQueue,
        follower: Follower,
        forwarder: CommandForwarder,
        *,
        log: Log,
        environment: Environment,
        counts: NodeCounts,
        decide: Decide,
    ) -> None:
        """Start idle; `run` writes."""
        self._forwarder = forwarder
        self._queue = queue
        self._follower = follower
        self._log = log
        self._environment = environment
        self._counts = counts
        self._decide = decide
        self._size = CHAIN_COMMITS
        self._conflicts = 0
        self._landed = START
        """The position of the last append of this node; if the tip is another one, other nodes write too."""
        self._alone = 0
        self._reloads = 0
        """The count of full replays at the last append."""

    async def run(self) -> None:
        """Write until cancelled."""
        pause = FIRST_PAUSE
        while True:
            await self._queue.wait_for_work()
            try:
                await self._round()
                await self._environment.sleep(0)  # a log in memory never waits, and others want their turn
                pause = FIRST_PAUSE
            except LogUnavailableError as error:
                self._queue.note_failure(str(error))
                self._queue.barriers.fail(error)
                await self._environment.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE)
            except LogDamagedError as error:
                self._follower.hear_of(error)
                self._queue.barriers.fail(error)
            except Exception:
                log.exception("a batch failed unexpectedly; its commands are answered at their deadline")
                await self._environment.sleep(pause)

    async def _round(self) -> None:
        """Decide one batch, send it, and answer its commands."""
        if (self._follower.tables.damaged or not self._follower.proven) and not self._queue.read_only:
            await self._follower.catch_up()  # which loads everything anew
        leader = await self._forwarder.target(self._conflicts)
        if leader is None or not leader.is_own:
            await self._pass_on(leader)
            return
        commands = self._queue.take(self._size)
        if not commands and not self._queue.barriers.due:
            return
        batch, sent = await self._send(commands)
        if sent is None:
            await self._refresh(batch)
        elif sent.fate is AppendResult.ACCEPTED:
            await self._land(batch, sent.append.position, sent.barrier)
        elif sent.fate is AppendResult.UNKNOWN:
            self._counts.unknown += 1
            settled = await self._settle(batch, sent.append)
            if settled is None:
                self._queue.barriers.note_lost(sent.barrier)
                await self._reply_from_outcomes(batch)
            else:
                await self._land(batch, settled.position, sent.barrier)
        elif sent.fate is AppendResult.CONFLICT:
            self._queue.barriers.note_lost(sent.barrier, conflict=True)
            await self._on_conflict(batch)
        else:
            self._queue.requeue_first(batch.commands)
            if isinstance(sent.refused, LogUnavailableError):
                raise sent.refused
            await self._environment.sleep(FIRST_PAUSE)

    async def _pass_on(self, leader: Leader | None) -> None:
        """Forward waiting commands to the leader; without a known leader they keep waiting."""
        self._conflicts = 0
        waiting = await self._forwarder.forward(self._queue.take(QUEUE), leader)
        self._queue.requeue_first(waiting)
        self._forwarder.pass_barrier(leader)
        if waiting or self._queue.barriers.due:
            await self._environment.sleep(FIRST_PAUSE)

    # ---------------------------------------------------------------------------------------------------- sending

    async def _send(self, commands: list[QueuedCommand]) -> tuple[CommitBatch, SentAppend | None]:
        """Decide commands and send their append, if any; under the log lock after conflicts."""
        if self._conflicts < HOLD_AFTER or not self._log.lockable:
            batch = await self._decide_batch(commands)
            return batch, await self._append(batch)
        read_ahead(commands, self._follower.tables, self._decide)
        sent: tuple[CommitBatch, SentAppend | None] | None = None
        try:
            async with self._log.lock():
                self._counts.held += 1
                await self._follower.catch_up_locked()
                self._alone = self._alone + 1 if self._follower.position == self._landed else 0
                if self._alone >= ALONE:
                    self._conflicts = self._alone = 0
                batch = await self._decide_batch(commands)
                sent = batch, await self._append(batch)
        except (LogUnavailableError, LogDamagedError):
            if sent is None:
                self._queue.requeue_first(commands)
                raise
        assert sent is not None
        return sent

    async def _decide_batch(self, commands: list[QueuedCommand]) -> CommitBatch:
        """Decide commands, answer those with a valid result, and pass on questions about schemas. With nothing to write
        a waiting strict read gets an empty commit. A large command, which comes alone, is decided on a thread, while the
        tables do not change.
        """
        prepared: PreparedDecision | None = None
        if commands and commands[0].is_large and commands[0].known_result(self._follower.position) is None:
            async with self._follower.pause():
                work = partial(prepare, commands[0], self._follower.tables, self._decide)
                prepared = await self._environment.run_large(work)
        # nothing below awaits, so the tables stay those on which it was prepared
        if self._queue.read_only or not self._follower.proven:  # it may have become so while the log was waited for
            self._queue.requeue_first(commands)
            commands = []
        end = self._environment.now() + BATCH_SECONDS
        batch = build(
            commands,
            self._follower.tables,
            self._decide,
            self._follower.done,
            lambda: self._environment.now() > end,
            prepared=prepared,
        )
        for command, result in batch.proven:
            self._answer(command, result, batch.base)
        for command, questions in batch.asking:
            self._queue.defer(command, questions)
        self._queue.requeue_first(batch.left)
        if not batch.commits and self._queue.barriers.due and self._follower.proven and not self._queue.read_only:
            batch.commits.append(Commit(batch.last + 1, ()))
        return batch

    async def _append(self, batch: CommitBatch) -> SentAppend | None:
        """Send the append of a batch.

        A large one is encoded on a thread. From here on its commands count as sent: past its deadline a command may
        still be written. If the tables change meanwhile, the append is in conflict.
        """
        if not batch.commits:
            return None
        rows = last_rows(batch.rows)
        keyed = ((encoded, row.key) for encoded, row, _ in rows)
        roots, self._reloads = roots_with(self._follower.tables, keyed), self._counts.reloads
        sent = SentState(UnseenCommit(batch.base.sequence, batch.last))
        for command, _, reason in batch.members:
            if reason is MemberReason.WRITES:
                command.send(sent)
        make = partial(make_append, batch.base, self._environment.random(16), tuple(batch.commits), roots)
        is_large = batch.bytes > LOOP_BYTES
        append = await self._environment.run_large(partial(make, dumps_in_steps)) if is_large else make()
        barrier = self._follower.begin()
        self._follower.expect(OwnAppend(batch.base, append, rows))
        self._counts.appends += 1
        try:
            return SentAppend(append, barrier, await self._log.append(append))
        except LogUnavailableError as error:
            return SentAppend(append, barrier, None, error)
        except LogDamagedError as error:
            self._follower.hear_of(error)
            return SentAppend(append, barrier, None, error)

    # ---------------------------------------------------------------------------------------------------- afterwards

    async def _refresh(self, batch: CommitBatch) -> None:
        """Catch up, for results without rows whose base may be older than their commands."""
        self._conflicts = 0
        if batch.members:
            self._queue.requeue_first(batch.commands)
            await self._follower.catch_up()

    async def _land(self, batch: CommitBatch, position: Position, barrier: int) -> None:
        """Read an accepted append back, then answer its commands."""
        lost = False
        while self._counts.reloads == self._reloads and not lost:
            try:
                await self._follower.reach(position)
                break
            except LogUnavailableError as error:
                self._queue.note_failure(str(error))
                await self._environment.sleep(FIRST_PAUSE)
                lost = self._counts.reloads == self._reloads and await self._has_lost(position)
        if self._counts.reloads == self._reloads and not lost:
            self._queue.barriers.note_accepted(barrier)
        else:
            self._queue.barriers.note_lost(barrier)  # the log was put back to an older state, or may have been
        if not self._is_shown(batch):
            await self._reply_from_outcomes(batch)  # the log was put back to an older state meanwhile
            return
        self._follower.finish(barrier)
        self._follower.expect(None)
        self._queue.note_success()
        self._counts.commits += len(batch.commits)
        self._landed = position
        if self._conflicts < HOLD_AFTER or not self._log.lockable:
            self._conflicts = 0
        self._size = min(CHAIN_COMMITS, self._size * 2)
        for command, result, reason in batch.members:
            if reason is not MemberReason.UNPROVEN:
                self._answer(command, result, position)
        self._queue.requeue_first([command for command, _, reason in batch.members if reason is MemberReason.UNPROVEN])

    async def _has_lost(self, target: Position) -> bool:
        """Look whether the log ends where the tables are, before `target`: it was put back to there, or an old leader answers."""
        try:
            tip = await self._log.tip()
        except LogUnavailableError:
            return False
        return tip.sequence < target.sequence and tip.agrees(self._follower.position)

    def _is_shown(self, batch: CommitBatch) -> bool:
        """Return whether the tables have the outcome of the first writing command at the sequence of its commit."""
        if (command := batch.first_writer) is None:
            return True
        tables, key = self._follower.tables, command.command.outcome_key
        first = None if (OUTCOME.name, key) in tables.quarantine else tables.get(OUTCOME, key)
        return first is not None and first.sequence == batch.commits[0].sequence

    async def _on_conflict(self, batch: CommitBatch) -> None:
        """After a conflict: read the commits of the other node, and decide again with a smaller batch."""
        self._counts.conflicts += 1
        self._conflicts += 1
        if batch.first_writer is not None:
            self._size = max(1, len(batch.commits) // 2)
        self._follower.expect(None)
        self._queue.requeue_first(batch.commands)
        await self._follower.catch_up()
        if self._log.single_writer:  # it has another owner, of whom this node does not know yet
            await self._environment.sleep(FIRST_PAUSE)

    async def _settle(self, batch: CommitBatch, append: Append) -> Append | None:
        """Find out the result of an append by appending at its position.

        Returns the append that is in the log with these commits, or None when the tables have left the base: then
        another append has the position, and outcomes show whether the commands were executed. None too if another node
        owns the log by now: it will take the position, and until then the commands may be written.
        """
        pause = FIRST_PAUSE
        while self._follower.position == batch.base:
            try:
                await self._follower.catch_up()
                if self._follower.position != batch.base:
                    break
                if await self._forwarder.is_lost():
                    for command, _, reason in batch.members:
                        if reason is MemberReason.WRITES:
                            command.leave_to_owner()
                    break
                again = make_append(batch.base, self._environment.random(16), append.commits, append.roots)
                fate = await self._log.append(again)
                if fate is AppendResult.ACCEPTED:
                    return again
                if fate is AppendResult.CONFLICT and not self._log.single_writer:
                    continue
                self._queue.note_failure(
                    f"the result of the last append to {self._log.url} is unknown; it is being determined"
                )
            except LogUnavailableError as error:
                self._queue.note_failure(str(error))
            await self._environment.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)
        return None

    async def _reply_from_outcomes(self, batch: CommitBatch) -> None:
        """The position of an append with unknown result is taken: answer those commands that are in the log."""
        self._follower.expect(None)
        tables = self._follower.tables
        while any(command.barrier > self._follower.done for command in batch.commands):
            try:
                await self._follower.catch_up()
            except LogUnavailableError as error:
                self._queue.note_failure(str(error))
                await self._environment.sleep(FIRST_PAUSE)
        again: list[QueuedCommand] = []
        for command, _, reason in batch.members:
            if await answer_from_outcome(
                self._follower, command, self._decide, self._counts, self._environment.run_large
            ):
                continue
            if reason is MemberReason.WRITES and command.is_forgotten(tables):
                self._queue.expire(command)  # it may have been done
            else:
                again.append(command)
        self._queue.requeue_first(again)

    def _answer(self, command: QueuedCommand, result: DecisionResult, position: Position) -> None:
        self._counts.count_result(result)
        command.answer(result, position)
