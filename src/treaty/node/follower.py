"""The follower: reads the log into the tables, and shares looks at the tip among all who wait for one."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager

from treaty.core.limits import POSITIONS_KEPT
from treaty.core.state.commit import START, Position, as_root
from treaty.core.state.root import roots_of
from treaty.core.state.rows import EncodedRow, Row
from treaty.core.state.tables import read
from treaty.core.state.view import Tables
from treaty.log.log import Log, LogDamagedError, LogDelta, LogUnavailableError, WrongRootError
from treaty.node.environment import Environment, trim_memory
from treaty.node.status import NodeCounts

log = logging.getLogger("treaty.node")

SLOW_SECONDS = 3.0
"""A look that takes longer is trouble with the log, and said as such while it goes on."""
TAIL_SECONDS = 30.0
"""How long the follower waits for news before it looks anyway."""
FIRST_PAUSE = 0.05
"""Seconds before a log that can't be reached is tried again; doubled each time, up to `LONGEST_PAUSE`."""
LONGEST_PAUSE = 2.0
MANY = 20_000
"""Rows from which on a load is made ready on a thread of its own: the loop would stop for long."""
AHEAD_ROWS = 200
"""Rows from which on they are decoded in slices before the tables take them."""
SLICE_SECONDS = 0.002
"""How long rows are decoded before others have their turn."""
WRONG_SECONDS = 60.0
"""How long rows that do not come to the root of the log are not read again, while its tip is the same."""
READS = 20
"""Reads that one look makes at most to come to the tip that it saw."""


class Follower:
    """Only this object changes the tables, and only by what the log says.

    Looks are numbered. Who arrives while look n is on its way waits for look n + 1: a look that began before a request
    can't prove that the answer is as new as the request.
    """

    def __init__(self, source: Log, tables: Tables, environment: Environment, counts: NodeCounts) -> None:
        """Follow nothing yet; `catch_up` reads everything there is."""
        self.tables = tables
        self.begun = 0
        """Number of the look that began last."""
        self.done = 0
        """Highest number of a look that has ended: the tables show at least what it saw."""
        self.tip = START
        """The last tip seen."""
        self.caught_up_at: float | None = None
        self._barrier_since: float | None = None
        """When the look began that is on its way."""
        self._unreachable_reason = ""
        self.damage = ""
        """Why the log can't be trusted or read here, as a sentence; it stays until the node is started anew."""
        self.wrong: WrongRootError | None = None
        """The rows of the log do not come to the root that it states; None again when they do. The tables then stay where
        they were right."""
        self.proven = tables.position == START
        """Whether the tables come to the root that the log states for their place. Nobody is answered from others."""
        self._wrong_at = 0.0
        self._log = source
        self._environment = environment
        self._counts = counts
        self._next: asyncio.Future[None] | None = None
        self._barrier_task: asyncio.Task[None] | None = None
        self._reading = asyncio.Lock()
        self._pausing = asyncio.Lock()
        self._expected: Mapping[EncodedRow, Row] | None = None
        self._callbacks: list[Callable[[], None]] = []
        self._ends: OrderedDict[int, bytes] = OrderedDict()

    @property
    def position(self) -> Position:
        """The place that the tables show."""
        return self.tables.position

    @property
    def unreachable_reason(self) -> str:
        """Why the log can't be looked at: what the last look met, or that the one on its way takes too long."""
        waited = 0.0 if self._barrier_since is None else self._environment.now() - self._barrier_since
        if waited > SLOW_SECONDS and not self._unreachable_reason:
            return f"{self._log.url} has not answered for {waited:.0f} seconds"
        return self._unreachable_reason

    @property
    def standing(self) -> str:
        """How far the log is known here, and since when nothing newer is; for messages."""
        if self.caught_up_at is None:
            return "this node has not read it yet"
        ago = self._environment.now() - self.caught_up_at
        return f"this node shows sequence {self.position.sequence}, as of {ago:.0f} seconds ago"

    @property
    def next_barrier(self) -> int:
        """Number of the first look that begins from now on."""
        return self.begun + 1

    @asynccontextmanager
    async def paused(self) -> AsyncIterator[None]:
        """Have the tables stay as they are while the block runs. What is read from the log waits for one such block at most."""
        async with self._pausing, self._reading:
            yield

    def on_change(self, callback: Callable[[], None]) -> None:
        """Have `callback` called after every change of the tables, before anybody is answered from them."""
        self._callbacks.append(callback)

    # ---------------------------------------------------------------------------------------------------- looking

    async def catch_up(self) -> None:
        """Wait for the next look at the tip: one that begins after this call. The tables then show at least that tip.

        Raises `LogUnavailableError` or `LogDamagedError`.
        """
        if self._next is None:
            self._next = asyncio.get_running_loop().create_future()
            self._next.add_done_callback(_ignore_error)
            if self._barrier_task is None:
                self._barrier_task = asyncio.create_task(self._catch_up_all(), name="catch up")
        await asyncio.shield(self._next)

    async def _catch_up_all(self) -> None:
        """Look once for all who wait, and again for those who came meanwhile."""
        while self._next is not None:
            waiters, self._next = self._next, None
            number = self.begin()
            self._barrier_since = self._environment.now()
            try:
                await self._catch_up_once()
            except asyncio.CancelledError:
                waiters.cancel()
                raise
            except Exception as error:  # noqa: BLE001 - those who wait have to hear of it, whatever it is
                if isinstance(error, LogDamagedError):
                    self.hear_of(error)
                elif isinstance(error, LogUnavailableError):
                    self._unreachable_reason = str(error)
                waiters.set_exception(error)
            else:
                self._unreachable_reason = ""
                self.finish(number)
                waiters.set_result(None)
            self._barrier_since = None
        self._barrier_task = None

    async def _catch_up_once(self) -> None:
        before = self.position
        self._counts.looks += 1
        tip = await self._log.tip()
        if (
            self.wrong is not None
            and self.wrong.tip.agrees(tip)
            and self._environment.now() - self._wrong_at < WRONG_SECONDS
        ):
            raise WrongRootError(self._log.url, tip, self.wrong.found)
        if (
            self.tables.damaged
            or not self.proven
            or (tip == START != before)
            or (tip.identity == before.identity and tip.sequence < before.sequence)
        ):
            await self._read()  # nothing is proven yet, or the log has lost what was read from it
        await self.reach(tip)
        self.tip, self.caught_up_at = tip, self._environment.now()

    async def catch_up_locked(self) -> None:
        """Look while this node holds the log: one read shows the tip, and nobody else moves it. Raises as `catch_up`."""
        number = self.begin()
        self._counts.looks += 1
        await self._read()
        self.tip, self.caught_up_at = self.position, self._environment.now()
        self.finish(number)

    def hear_of(self, error: LogDamagedError) -> None:
        """The log is damaged: nothing is written any more. A wrong root may be mended while the node runs."""
        if not isinstance(error, WrongRootError):
            self.damage = error.reason

    def begin(self) -> int:
        """Number a new look. An append is one too: if it is accepted, its base was the tip."""
        self.begun += 1
        return self.begun

    def finish(self, number: int) -> None:
        """The tables now show at least what look `number` saw."""
        self.done = max(self.done, number)

    # ---------------------------------------------------------------------------------------------------- reading

    async def reach(self, target: Position) -> None:
        """Read until the tables show `target` or something later, or another history in its place."""
        for _ in range(READS):
            if self.shows(target):
                return
            await self._read()
        message = f"the log shows sequence {target.sequence} as its tip, but does not give it"
        raise LogUnavailableError(message)

    def shows(self, target: Position) -> bool:
        """Return whether the tables are at a place or after it, as far as can be told from here. A state file may have put them at
        the place with another root.
        """
        here = self.position
        if here.identity != target.identity:
            return target == START
        return here.sequence > target.sequence or here.agrees(target)

    def remembers(self, sequence: int) -> bytes | None:
        """Digest of the append that ended at a sequence, if it is known here."""
        return self._ends.get(sequence)

    async def _read(self) -> None:
        """Read what is new. One at a time: an older answer must never come after a newer one."""
        async with self._reading:
            self._counts.reads += 1
            if self.tables.damaged:
                log.warning("the state file under the tables is damaged; everything is read from the log again")
                self._drop()
            if not await self._take(await self._log.read(self.position)):
                await self._read_all()

    async def _read_all(self) -> None:
        """Read everything from rows, because what was read did not come to the root that the log states.

        Raises `WrongRootError` where the rows do not either: the tables then stay as they are.
        """
        log.warning(
            "what was read does not come to the state root that %s states; everything is read again", self._log.url
        )
        self._counts.wrong_roots += 1
        delta = await self._log.read(START)
        if not await self._take(LogDelta(delta.tip, delta.rows, reload=True)):
            self.wrong = WrongRootError(self._log.url, delta.tip, as_root(roots_of(delta.rows)))
            self._wrong_at = self._environment.now()
            log.error("%s", self.wrong)
            raise self.wrong

    def _drop(self) -> None:
        """Have nothing in the tables, and nobody answered, until the log was read."""
        self.proven = False
        self.tables.load((), START)

    async def _take(self, delta: LogDelta) -> bool:
        """Have the tables show what was read. Where it does not come to the root that the log states nothing changes: False."""
        before = self.position
        if delta.reload:
            many = len(delta.rows) >= MANY
            put = await asyncio.to_thread(self._ready, delta) if many else self._ready(delta)
            if put is None:
                return False
            self._counts.reloads += 1
            self._ends.clear()
            put()
        elif not self.tables.advance(delta.rows, delta.tip, await self._read_ahead(delta.rows)):
            return False
        self.proven, self.wrong = True, None
        if self.position != before or delta.reload:
            self._announce()
        if delta.reload and many:
            del delta, put
            await asyncio.to_thread(trim_memory)
        return True

    def _ready(self, delta: LogDelta) -> Callable[[], None] | None:
        """Make everything ready to be shown, on any thread; None where its rows do not come to the root of its tip."""
        if as_root(roots_of(delta.rows)) != delta.tip.root:
            return None
        return self.tables.ready(delta.rows, delta.tip)

    async def settle_in(self, prepare: Callable[[], Awaitable[None]]) -> None:
        """Read nothing before what `prepare` begins has ended, which may stand the tables on something; who asks waits for it."""
        async with self._reading:
            await prepare()
            self.proven = self.position == START

    async def change_over(self, stand: Callable[[], Callable[[], None]], position: Position) -> bool:
        """Have `stand` put other rows under the tables, which show `position`, and come to the tip from there. It returns
        what takes these rows away again.

        False, and nothing is done, where the log does not know that place any more, or the rows do not come to its root.
        Nobody sees the state in between, and all callbacks are called, wherever the tables stood before.
        """
        async with self._reading:
            before, delta = self.position, await self._log.read(position)
            if delta.reload:
                return False
            if self._ends and delta.tip != before and (await self._log.read(before)).reload:
                self._ends.clear()  # the tables may have stood on a history that the log has lost
            known = await self._read_ahead(delta.rows)
            back = stand()
            if not self.tables.advance(delta.rows, delta.tip, known):
                back()
                self._counts.wrong_roots += 1
                log.warning(
                    "the rows of a state file do not come to the state root that %s states; it is not used",
                    self._log.url,
                )
                return False
            self.proven, self.wrong = True, None
            self._announce()
            return True

    async def _read_ahead(self, rows: Collection[EncodedRow]) -> Mapping[EncodedRow, Row] | None:
        """Return rows that need not be decoded again. Many rows are decoded and digested here, in slices, before all are
        put into the tables in one turn of the event loop.
        """
        if len(rows) < AHEAD_ROWS:
            return self._expected
        known, now = dict(self._expected or ()), self._environment.now
        end = now() + SLICE_SECONDS
        for row in rows:
            if row not in known:
                _, decoded, is_exact = read(row)
                if is_exact:
                    known[row] = decoded
            row.digest  # noqa: B018 (computed once, and kept in the row)
            if now() > end:
                await self._environment.sleep(0)
                end = now() + SLICE_SECONDS
        return known

    def _announce(self) -> None:
        """Remember the place that the tables show now, and call all callbacks."""
        self._ends[self.position.sequence] = self.position.digest
        while len(self._ends) > POSITIONS_KEPT:
            self._ends.popitem(last=False)
        for callback in self._callbacks:
            callback()

    def expect(self, rows: Mapping[EncodedRow, Row] | None) -> None:
        """Tell which rows are on their way from this node, so that they need not be decoded."""
        self._expected = rows

    # ---------------------------------------------------------------------------------------------------- following

    async def follow(self) -> None:
        """Look whenever something may have come, for ever."""
        pause = FIRST_PAUSE
        while True:
            try:
                await self.catch_up()
                self._unreachable_reason, pause = "", FIRST_PAUSE
                await self._log.wait(self.position, TAIL_SECONDS)
            except LogUnavailableError as error:
                self._unreachable_reason = str(error)  # waiting for news may meet it too
                await self._environment.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE)
            except LogDamagedError:
                await self._environment.sleep(LONGEST_PAUSE)
            except Exception as error:
                log.exception("the tail of the log could not be followed; trying again")
                self._unreachable_reason = f"{type(error).__name__}: {error}"
                await self._environment.sleep(LONGEST_PAUSE)

    async def close(self) -> None:
        """Stop a look that is on its way."""
        if self._barrier_task is not None:
            self._barrier_task.cancel()
            await asyncio.gather(self._barrier_task, return_exceptions=True)
        if self._next is not None:
            self._next.cancel()


def _ignore_error(future: asyncio.Future[None]) -> None:
    """A failed look that nobody waits for any more is no news."""
    if not future.cancelled():
        future.exception()
