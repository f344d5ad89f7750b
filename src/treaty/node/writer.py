"""The writer: one append in flight, decided on what was read back, and nobody answered before it is durable."""

import logging
from dataclasses import dataclass

from treaty.core.commit import START, Append, Commit, Position, make_append
from treaty.core.limits import CHAIN_COMMITS, OUTCOMES, QUEUE
from treaty.core.refusals import Refusal
from treaty.core.root import roots_with
from treaty.core.values import Outcome
from treaty.log.log import AppendResult, Leader, Log, LogDamagedError, LogUnavailableError
from treaty.node.chain import Chain, Decide, build, read_ahead, repeated
from treaty.node.follower import FIRST_PAUSE, LONGEST_PAUSE, Follower
from treaty.node.peers.handing import Handing
from treaty.node.pending import Pending, Verdict
from treaty.node.queue import Queue
from treaty.node.status import Counts
from treaty.node.world import World

log = logging.getLogger("treaty.node")

CHAIN_SECONDS = 0.02
"""Deciding stops the event loop; a chain that took this long is sent with what it has."""
HOLD_AFTER = 2
"""Conflicts in a row after which all other writers are kept out, where the log can do that, until nobody else writes."""
ALONE = 8
"""Times in a row that the log was held and nobody else had written, after which nobody else writes."""


@dataclass(frozen=True, slots=True)
class Flight:
    """An append that was sent. `fate` is None where the log says that surely nothing was written, and `refused` why.

    `look` is the number of the look that it is: if it is accepted, its base was the tip.
    """

    append: Append
    look: int
    fate: AppendResult | None
    refused: Exception | None = None


class Writer:
    """Takes commands out of the queue, and is the only one who appends."""

    def __init__(
        self,
        queue: Queue,
        follower: Follower,
        handing: Handing,
        *,
        log: Log,
        world: World,
        counts: Counts,
        decide: Decide,
    ) -> None:
        """Write nothing until `run`."""
        self._handing = handing
        self._queue = queue
        self._follower = follower
        self._log = log
        self._world = world
        self._counts = counts
        self._decide = decide
        self._size = CHAIN_COMMITS
        self._conflicts = 0
        self._landed = START
        """The place of the last append of this node: where the log has gone on from there, others write too."""
        self._alone = 0
        self._reloads = 0
        """How often everything had been read anew when the last append was sent."""

    async def run(self) -> None:
        """Write, for ever."""
        pause = FIRST_PAUSE
        while True:
            await self._queue.some()
            try:
                await self._round()
                await self._world.sleep(0)  # a log in memory never waits, and others want their turn
                pause = FIRST_PAUSE
            except LogUnavailableError as error:
                self._queue.refused(str(error))
                self._queue.barriers.fail(error)
                await self._world.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE)
            except LogDamagedError as error:
                self._follower.hear_of(error)
                self._queue.barriers.fail(error)
            except Exception:
                log.exception("a chain was given up; its commands will be told at their deadline")
                await self._world.sleep(pause)

    async def _round(self) -> None:
        """Decide one chain and see it through to the end."""
        if (self._follower.tables.damaged or not self._follower.proven) and not self._queue.read_only:
            await self._follower.look()  # which loads everything anew
        leader = await self._handing.where(self._conflicts)
        if leader is None or not leader.mine:
            await self._pass_on(leader)
            return
        batch = self._queue.take(self._size)
        if not batch and not self._queue.barriers.due:
            return
        chain, flight = await self._send(batch)
        if flight is None:
            await self._freshen(chain)
        elif flight.fate is AppendResult.ACCEPTED:
            await self._land(chain, flight.append.position, flight.look)
        elif flight.fate is AppendResult.UNKNOWN:
            self._counts.unknown += 1
            settled = await self._settle(chain, flight.append)
            if settled is None:
                self._queue.barriers.lost(flight.look)
                await self._sort_out(chain)
            else:
                await self._land(chain, settled.position, flight.look)
        elif flight.fate is AppendResult.CONFLICT:
            self._queue.barriers.lost(flight.look, conflict=True)
            await self._lose(chain)
        else:
            self._queue.give_back(chain.members)
            if isinstance(flight.refused, LogUnavailableError):
                raise flight.refused
            await self._world.sleep(FIRST_PAUSE)

    async def _pass_on(self, leader: Leader | None) -> None:
        """Have somebody else decide what waits; while nobody is known it waits on."""
        self._conflicts = 0
        waiting = self._handing.send(self._queue.take(QUEUE), leader)
        self._queue.give_back(waiting)
        self._handing.pass_barrier(leader)
        if waiting or self._queue.barriers.due:
            await self._world.sleep(FIRST_PAUSE)

    # ---------------------------------------------------------------------------------------------------- sending

    async def _send(self, batch: list[Pending]) -> tuple[Chain, Flight | None]:
        """Decide a batch and send its append, if it has one; keep others out where two appends came second."""
        if self._conflicts < HOLD_AFTER or not self._log.lockable:
            chain = self._build(batch)
            return chain, await self._fly(chain)
        read_ahead(batch, self._follower.tables, self._decide)
        sent: tuple[Chain, Flight | None] | None = None
        try:
            async with self._log.lock():
                self._counts.held += 1
                await self._follower.look_held()
                self._alone = self._alone + 1 if self._follower.position == self._landed else 0
                if self._alone >= ALONE:
                    self._conflicts = self._alone = 0
                chain = self._build(batch)
                sent = chain, await self._fly(chain)
        except (LogUnavailableError, LogDamagedError):
            if sent is None:
                self._queue.give_back(batch)
                raise
        assert sent is not None
        return sent

    def _build(self, batch: list[Pending]) -> Chain:
        """Decide a batch, answer what holds already, and send questions about schemas on their way.

        Where nothing is to be written, a strict read that waits gets an empty commit.
        """
        if self._queue.read_only or not self._follower.proven:  # it may have become so while the log was waited for
            self._queue.give_back(batch)
            batch = []
        end = self._world.now() + CHAIN_SECONDS
        chain = build(batch, self._follower.tables, self._decide, self._follower.done, lambda: self._world.now() > end)
        for pending, verdict in chain.ready:
            self._tell(pending, verdict, chain.base)
        for pending, questions in chain.open:
            self._queue.park(pending, questions)
        self._queue.give_back(chain.left)
        if not chain.commits and self._queue.barriers.due and self._follower.proven and not self._queue.read_only:
            chain.commits.append(Commit(chain.last + 1, ()))
        return chain

    async def _fly(self, chain: Chain) -> Flight | None:
        """Send the append of a chain. Between deciding and sending nothing is awaited."""
        if not chain.commits:
            return None
        rows = [(row, chain.rows[row].key) for one in chain.commits for row in one.rows]
        roots = roots_with(self._follower.tables, rows)
        append = make_append(chain.base, self._world.random(16), tuple(chain.commits), roots)
        look, self._reloads = self._follower.begin(), self._counts.reloads
        for pending, _ in chain.writers:
            pending.sent = True
        self._follower.expect(chain.rows)
        self._counts.appends += 1
        try:
            return Flight(append, look, await self._log.append(append))
        except LogUnavailableError as error:
            return Flight(append, look, None, error)
        except LogDamagedError as error:
            self._follower.hear_of(error)
            return Flight(append, look, None, error)

    # ---------------------------------------------------------------------------------------------------- afterwards

    async def _freshen(self, chain: Chain) -> None:
        """Look, for verdicts that write nothing and whose base may be older than their commands."""
        self._conflicts = 0
        stale = [pending for pending, _ in chain.riders]
        if stale:
            self._queue.give_back(stale)
            await self._follower.look()

    async def _land(self, chain: Chain, position: Position, look: int) -> None:
        """The append is in the log: read it back, then answer."""
        while not self._follower.shows(position) and self._counts.reloads == self._reloads:
            try:
                await self._follower.reach(position)
            except LogUnavailableError as error:
                self._queue.refused(str(error))
                await self._world.sleep(FIRST_PAUSE)
        if self._counts.reloads == self._reloads:
            self._queue.barriers.accepted(look)
        else:
            self._queue.barriers.lost(look)  # the log was put back to an older state, or may have been
        if chain.writers and not self._is_shown(chain):
            await self._sort_out(chain)  # the log was put back to an older state meanwhile
            return
        self._follower.finish(look)
        self._follower.expect(None)
        self._queue.accepted()
        self._counts.commits += len(chain.commits)
        self._landed = position
        if self._conflicts < HOLD_AFTER or not self._log.lockable:
            self._conflicts = 0
        self._size = min(CHAIN_COMMITS, self._size * 2)
        for pending, verdict in (*chain.writers, *chain.riders):
            self._tell(pending, verdict, position)
        self._queue.give_back(chain.held)

    def _is_shown(self, chain: Chain) -> bool:
        """Tell whether the tables have the outcome of the chain's first command at the sequence of its commit."""
        first = self._follower.tables.get("outcome", chain.writers[0][0].command.outcome_key)
        return isinstance(first, Outcome) and first.sequence == chain.commits[0].sequence

    async def _lose(self, chain: Chain) -> None:
        """Somebody else was first: look what it was, and decide again, fewer at a time."""
        self._counts.conflicts += 1
        self._conflicts += 1
        if chain.writers:
            self._size = max(1, len(chain.commits) // 2)
        self._follower.expect(None)
        self._queue.give_back(chain.members)
        await self._follower.look()
        if self._log.single_writer:  # it has another owner, of whom this node does not know yet
            await self._world.sleep(FIRST_PAUSE)

    async def _settle(self, chain: Chain, append: Append) -> Append | None:
        """Find out what became of an append, by getting something into its place.

        Returns the append that is surely in the log with these commits, or None when the tables have left the base:
        then the place is taken for good, and the outcomes tell by whom. None too where another node owns the log by
        now: it will take the place, and until then the commands may be in it.
        """
        pause = FIRST_PAUSE
        while self._follower.position == chain.base:
            try:
                await self._follower.look()
                if self._follower.position != chain.base:
                    break
                if await self._handing.is_lost():
                    for pending, _ in chain.writers:
                        pending.own = append.last
                        pending.elsewhere = max(pending.elsewhere, append.last)
                    break
                again = make_append(chain.base, self._world.random(16), append.commits, append.roots)
                fate = await self._log.append(again)
                if fate is AppendResult.ACCEPTED:
                    return again
                if fate is AppendResult.CONFLICT and not self._log.single_writer:
                    continue
                self._queue.refused(f"{self._log.url} does not say what became of the last append; it is asked again")
            except LogUnavailableError as error:
                self._queue.refused(str(error))
            await self._world.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)
        return None

    async def _sort_out(self, chain: Chain) -> None:
        """The place of an open append is taken: those of its commands that are in the log are answered from there."""
        self._follower.expect(None)
        tables = self._follower.tables
        while any(pending.look > self._follower.done for pending in chain.members):
            try:
                await self._follower.look()
            except LogUnavailableError as error:
                self._queue.refused(str(error))
                await self._world.sleep(FIRST_PAUSE)
        forgotten = tables.sequence - chain.base.sequence > OUTCOMES
        again: list[Pending] = []
        for pending in chain.members:
            if tables.get("outcome", pending.command.outcome_key) is None:
                if forgotten and pending.sent:
                    self._queue.expire(pending)  # what is no longer remembered may have been done
                else:
                    again.append(pending)
                continue
            verdict = repeated(tables, pending, self._decide)
            if verdict is not None:
                self._tell(pending, verdict, tables.position)
        self._queue.give_back(again)

    def _tell(self, pending: Pending, verdict: Verdict, position: Position) -> None:
        if isinstance(verdict, Refusal):
            self._counts.refused += 1
        elif verdict.repeated:
            self._counts.repeated += 1
        pending.tell(verdict, position)
