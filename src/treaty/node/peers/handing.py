"""Handing over: commands that wait here go to the node that had best decide them, and their answers come back.

A command may be decided by whoever has it, up to a sequence that travels with it; its id makes twice once. What came
back counts when the tables here show the place of the answer. Whoever is asked never passes a command on: it says who
might decide, and the node where the command arrived asks there.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from contextlib import suppress

from treaty.core.command import Command
from treaty.core.limits import HANDED_WITHIN
from treaty.core.refusals import OutcomeUnknown, Refusal, Unavailable
from treaty.core.registry import Token
from treaty.log.log import Leader, Log, LogDamagedError, LogUnavailableError
from treaty.node.chain import Decide, repeated
from treaty.node.follower import FIRST_PAUSE, Follower
from treaty.node.peers.carrier import Carrier
from treaty.node.peers.courier import Courier, GivenUpError, Letter
from treaty.node.pending import MovedError, Pending
from treaty.node.queue import Queue
from treaty.node.status import Counts
from treaty.wire.peer.message import Done, Failed, Handed, Late, Moved, PeerAwayError, ReadBarrier, Refused, Told

log = logging.getLogger("treaty.node")

HAND_AFTER = 2
"""Conflicts in a row after which the last winner is asked to decide, where nobody owns the log."""
YIELD_SECONDS = 1.0
"""How long it is asked then, as long as it goes on winning, before this node tries again itself."""
REST_SECONDS = 5.0
"""How long a winner that could not be asked is left alone."""
HOPS = 5
"""Nodes that a command is sent on to at once, each by word of the one before; then it waits a little."""
WATCH_SECONDS = 0.5
"""How often somebody who waits for another node's answer looks whether the log has another leader by now."""
MARGIN_SECONDS = 0.5
"""A node that decides for another one has so much less time (a tenth, if that is less), so that its word comes in time."""
BARRIER_SECONDS = 5.0
"""How long another node is given for a read barrier, before it is asked again."""
LONGEST_PAUSE = 1.0
LONGEST_SECONDS = 3600.0
HERE = Leader("", mine=True)


class Handing:
    """Decides where commands are decided, and carries those that are for others."""

    def __init__(
        self, queue: Queue, follower: Follower, *, log: Log, carrier: Carrier | None, counts: Counts, decide: Decide
    ) -> None:
        """Carry nothing yet; without a carrier nobody else can be asked."""
        self._queue = queue
        self._follower = follower
        self._log = log
        self._courier = None if carrier is None else Courier(carrier)
        self._counts = counts
        self._decide = decide
        self._until = 0.0
        """Until when the last winner is asked; loop time."""
        self._rests: dict[str, float] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._out: dict[Letter, tuple[Callable[[], bool], str]] = {}
        """What is with other nodes: whether nobody waits for it any more, and with whom it is."""
        self._watcher: asyncio.Task[None] | None = None

    async def where(self, conflicts: int) -> Leader | None:
        """Say who decides what waits here; None while nobody knows. Raises `LogUnavailableError`."""
        self._queue.hindrance = ""
        if self._log.single_writer:
            return await self._log.leader()
        if self._courier is None or self._log.lockable:
            return HERE
        now = asyncio.get_running_loop().time()
        if conflicts >= HAND_AFTER:
            self._until = now + YIELD_SECONDS
        if now >= self._until:
            return HERE
        leader = await self._log.leader()
        if leader is None or leader.mine or not leader.address or self._rests.get(leader.address, 0.0) > now:
            self._until = 0.0
            return HERE
        return leader

    async def is_lost(self) -> bool:
        """Tell whether somebody else owns the log, so that nothing can be written or settled from here."""
        if not self._log.single_writer:
            return False
        leader = await self._log.leader()
        return leader is not None and not leader.mine

    def send(self, batch: Iterable[Pending], leader: Leader | None) -> list[Pending]:
        """Send commands to who decides them; those that have to wait are returned."""
        waiting: list[Pending] = []
        address = "" if leader is None else leader.address
        self._queue.hindrance = _hindrance(leader, self._courier)
        for pending in batch:
            if self._settled(pending):
                continue
            if pending.taken and pending.own > self._follower.tables.sequence:
                pending.fail(OutcomeUnknown(pending.command.command_id))  # "ask there" would say that it is not here
            elif pending.taken:
                pending.fail(MovedError(address))
            elif leader is not None and self._courier is None and not self._queue.is_open(pending):
                pending.fail(Unavailable(self._queue.hindrance, YIELD_SECONDS))
            elif not address or self._courier is None:
                waiting.append(pending)
            else:
                task = asyncio.create_task(self._carry(pending, address, self._courier), name="hand")
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
        return waiting

    def _settled(self, pending: Pending) -> bool:
        """Answer a command that has been with another node from the log, where that has its outcome.

        Before the first look the tables may be those of a state file of another log.
        """
        tables = self._follower.tables
        if (
            self._follower.looked_at is None
            or not pending.elsewhere
            or tables.get("outcome", pending.command.outcome_key) is None
        ):
            return False
        verdict = repeated(tables, pending, self._decide)
        if verdict is not None:
            self._counts.repeated += 1
            pending.tell(verdict, tables.position)
        return True

    # ---------------------------------------------------------------------------------------------------- carrying

    async def _carry(self, pending: Pending, address: str, courier: Courier) -> None:
        """Carry one command until it is answered, or has to go back into the line here."""
        hops = 0
        while True:
            try:
                told = await self._asked(pending, address, courier)
            except Exception as fault:  # a fault must not leave the command waiting for nobody
                log.exception("a command could not be handed to %s", address)
                pending.fail(fault)
                return
            match told:
                case Done() | Refused() if await self._answered(pending, told):
                    return
                case Failed(message):
                    pending.fail(RuntimeError(f"{address}: {message}"))
                    return
                case Moved(other) if self._log.single_writer and other not in {"", address} and hops < HOPS:
                    hops, address = hops + 1, other
                    continue
            break
        late = isinstance(told, Late)
        if not late:
            self._rests[address] = asyncio.get_running_loop().time() + REST_SECONDS
        if self._log.single_writer or late:
            await asyncio.sleep(min(FIRST_PAUSE * 2**pending.journeys, LONGEST_PAUSE))
        pending.journeys = min(pending.journeys + 1, 10)
        self._queue.put_back(pending)

    async def _asked(self, pending: Pending, address: str, courier: Courier) -> Told | None:
        """Ask a node once; None where its word did not come."""
        loop, here = asyncio.get_running_loop(), self._follower.position
        left = min(pending.deadline - loop.time(), LONGEST_SECONDS)
        last, before = here.sequence + HANDED_WITHIN, pending.elsewhere
        handed = Handed(
            pending.command,
            max(0.0, left - min(MARGIN_SECONDS, left / 10)),
            last,
            before,
            here.token,
            pending.request_id,
        )

        def leaves() -> bool:
            if pending.over:
                return False  # it was told that it has left nothing
            pending.elsewhere = max(before, last)
            self._counts.handed += 1
            return True

        letter = courier.hand(address, handed, max(0.0, left), leaves)
        self._out[letter] = (lambda: pending.over), address
        self._watch()
        try:
            told = await letter.told
        except GivenUpError:
            return None
        except PeerAwayError as away:
            self._counts.lost += 1
            self._queue.hindrance = str(away)
            if not away.left:
                pending.elsewhere = before
            return None
        finally:
            del self._out[letter]
        if not isinstance(told, Done) and not (isinstance(told, Refused) and isinstance(told.error, OutcomeUnknown)):
            pending.elsewhere = before  # whatever it said, it will not be written by that node
        return told

    def _watch(self) -> None:
        """See that nobody waits in vain, as long as anybody waits."""
        if self._watcher is None:
            self._watcher = asyncio.create_task(self._watch_on(), name="watch")

    async def _watch_on(self) -> None:
        while self._out:
            await asyncio.sleep(WATCH_SECONDS)
            moved = {address: await self._has_moved(address) for address in {each for _, each in self._out.values()}}
            for letter, (over, address) in self._out.items():
                if over() or moved.get(address):
                    letter.lose(GivenUpError())
        self._watcher = None

    async def _has_moved(self, address: str) -> bool:
        """Tell whether an owned log has another leader than the one that was asked."""
        try:
            leader = await self._log.leader() if self._log.single_writer else None
        except LogUnavailableError:
            return False
        return leader is not None and leader.address != address

    async def _answered(self, pending: Pending, told: Done | Refused) -> bool:
        """Answer with what a node said, once the tables here show its place; False where its word settles nothing."""
        if isinstance(told, Refused):
            if isinstance(told.error, OutcomeUnknown):
                return False
            if isinstance(told.error, Unavailable) and (not self._log.single_writer or self._queue.is_open(pending)):
                return False  # it says what that node did, and not what others may do
        await self._wait_until_shown(told.reply.token if isinstance(told, Done) else told.token, lambda: pending.over)
        if pending.over:
            return True
        if isinstance(told, Done):
            pending.answered.set_result(told.reply)
        else:
            if isinstance(told.error, Refusal):
                self._counts.refused += 1
            pending.fail(told.error)
        return True

    async def _wait_until_shown(self, token: Token, over: Callable[[], bool]) -> bool:
        """Return True when the tables show a place, False when it is over: nobody waits for it any more."""
        while not over():
            here = self._follower.position.token
            if token.sequence <= here.sequence and (token.identity == here.identity or not token.sequence):
                return True
            with suppress(LogUnavailableError, LogDamagedError):  # the follower says so
                await self._follower.look()
            if self._follower.position.token == here:
                await asyncio.sleep(FIRST_PAUSE)
        return False

    # ---------------------------------------------------------------------------------------------------- barriers

    def pass_barrier(self, leader: Leader | None) -> None:
        """Have the leader pass a barrier for the strict reads that wait here; one at a time."""
        barriers, address = self._queue.barriers, "" if leader is None else leader.address
        barriers.send_away(address)
        if leader is not None and self._courier is None:
            barriers.fail(Unavailable(_hindrance(leader, self._courier), YIELD_SECONDS))
        elif address and self._courier is not None and barriers.due:
            task = asyncio.create_task(self._pass_barrier(address, self._courier), name="barrier")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _pass_barrier(self, address: str, courier: Courier) -> None:
        barriers, number, reloads = self._queue.barriers, self._follower.begin(), self._counts.reloads

        def over() -> bool:
            return self._counts.reloads != reloads or not barriers.waits(number)

        with barriers.asking():
            told = await self._barrier_passed(address, courier, number)
            if isinstance(told, Done):
                token = told.reply.token
                if await self._wait_until_shown(token, over) and self._is_remembered(token):
                    self._follower.finish(number)
                    barriers.accepted(number)
                    return
            elif told is not None:
                self._rests[address] = asyncio.get_running_loop().time() + REST_SECONDS
            barriers.lost(number)

    def _is_remembered(self, token: Token) -> bool:
        """Tell whether the tables came by a place; in a history that the log has lost another append ended there."""
        digest = self._follower.remembers(token.sequence)
        return digest is None or digest.hex() == token.digest

    async def _barrier_passed(self, address: str, courier: Courier, number: int) -> Told | None:
        """Ask a node once; None where its word did not come."""

        def over() -> bool:
            return not self._queue.barriers.waits(number)

        command = Command(ReadBarrier(), f"barrier {number}", 0)
        handed = Handed(command, BARRIER_SECONDS, 0, place=self._follower.position.token)
        letter = courier.hand(address, handed, BARRIER_SECONDS, lambda: not over())
        self._out[letter] = over, address
        self._watch()
        try:
            return await letter.told
        except GivenUpError:
            return None
        except PeerAwayError as away:
            self._counts.lost += 1
            self._queue.hindrance = str(away)
            self._rests[address] = asyncio.get_running_loop().time() + REST_SECONDS
            return None
        finally:
            del self._out[letter]

    async def close(self) -> None:
        """Stop carrying; what is on its way may be decided all the same."""
        tasks = [*self._tasks, *([self._watcher] if self._watcher is not None else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._courier is not None:
            await self._courier.close()


def _hindrance(leader: Leader | None, courier: Courier | None) -> str:
    """Why commands can't be decided now."""
    if leader is None:
        return "no node is known to own the log"
    if courier is None:
        return f"the log is owned by another node ({leader.address or 'which says no address'}), and this one has no way to it"
    if not leader.address:
        return "the log is owned by a node that says no address"
    return ""
