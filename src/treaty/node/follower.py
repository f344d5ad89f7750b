"""The follower: reads the log into the tables, and shares each read barrier among all waiting requests."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from functools import partial

from treaty.core.limits import LOOP_BYTES, POSITIONS_KEPT
from treaty.core.state.commit import START, Position, as_root, roots_of
from treaty.core.state.rows import EncodedRow, Row
from treaty.core.state.tables import read, read_many
from treaty.core.state.view import Tables
from treaty.log.log import Log, LogDamagedError, LogDelta, LogUnavailableError, WrongRootError
from treaty.node.environment import Environment, trim_memory
from treaty.node.own_append import OwnAppend
from treaty.node.status import NodeCounts

log = logging.getLogger("treaty.node")

SLOW_SECONDS = 3.0
"""A read of the tip that takes longer is reported as an error of the log."""
TAIL_SECONDS = 30.0
"""Seconds after which the follower reads the tip without a notification."""
FIRST_PAUSE = 0.05
"""Seconds before a retry of an unreachable log; doubled each time, up to `LONGEST_PAUSE`."""
LONGEST_PAUSE = 2.0
MANY = 20_000
"""From this number of rows on a load is prepared on a thread, because it would block the event loop."""
AHEAD_ROWS = 200
"""From this number of rows on rows are decoded in slices before they are applied."""
SLICE_SECONDS = 0.002
"""Seconds of decoding between two pauses."""
WRONG_SECONDS = 60.0
"""Seconds before rows with a wrong state root are read again, while the tip is the same."""
READS = 20
"""The most reads of the log to reach a tip."""

PutTables = Callable[[], Callable[[], None]]
"""Puts tables in place; what it returns lets go of the rows of before."""
ReadyTables = Callable[[Collection[EncodedRow], Position, Mapping[EncodedRow, Row] | None], PutTables | None]
"""Prepares tables of a state file: from the rows that came after it, their position and decoded rows to what puts them
in place; None where the rows do not come to the state root.
"""


class Follower:
    """Applies the log to the tables; nothing else changes them.

    Reads of the tip, called looks, are numbered. A request that arrives during look n waits for look n + 1, because an
    earlier look does not prove that the answer is as new as the request.
    """

    def __init__(self, source: Log, tables: Tables, environment: Environment, counts: NodeCounts) -> None:
        """Read nothing yet; `catch_up` reads the whole log."""
        self.tables = tables
        self.begun = 0
        """Number of the last started look."""
        self.done = 0
        """Highest number of a completed look: the tables show at least its tip."""
        self.tip = START
        """The last tip seen."""
        self.first_sequence = -1  # of the log at the first look
        self.caught_up_at: float | None = None
        self._barrier_since: float | None = None
        """Start time of the running look."""
        self._unreachable_reason = ""
        self.damage = ""
        """Why the log cannot be trusted or read here, as a sentence; stays until the node is restarted."""
        self.wrong: WrongRootError | None = None
        """The mismatch of the log's rows and its state root; None if there is none. The tables stay at the last
        matching position, or are empty if it was found after they had changed.
        """
        self.proven = tables.position == START
        """Whether the tables match the state root of their position. Only then requests are answered."""
        self._wrong_at = 0.0
        self._log = source
        self._environment = environment
        self._counts = counts
        self._next: asyncio.Future[None] | None = None
        self._barrier_task: asyncio.Task[None] | None = None
        self._reading = asyncio.Lock()
        self._pausing = asyncio.Lock()
        self._expected: OwnAppend | None = None
        self._callbacks: list[Callable[[], None]] = []
        self._ends: OrderedDict[int, bytes] = OrderedDict()

    @property
    def position(self) -> Position:
        """The position of the tables."""
        return self.tables.position

    @property
    def unreachable_reason(self) -> str:
        """Why the log is unreachable: the error of the last look, or the duration of the running one."""
        waited = 0.0 if self._barrier_since is None else self._environment.now() - self._barrier_since
        if waited > SLOW_SECONDS and not self._unreachable_reason:
            return f"{self._log.url} has not answered for {waited:.0f} seconds"
        return self._unreachable_reason

    @property
    def standing(self) -> str:
        """The last known position and its age, for messages."""
        if self.caught_up_at is None:
            return "this node has not read the log yet"
        ago = self._environment.now() - self.caught_up_at
        return f"this node shows sequence {self.position.sequence}, as of {ago:.0f} seconds ago"

    @property
    def next_barrier(self) -> int:
        """Number of the next look to start."""
        return self.begun + 1

    @asynccontextmanager
    async def pause(self) -> AsyncIterator[None]:
        """Freeze the tables for the block. New rows wait for at most one such block."""
        async with self._pausing, self._reading:
            yield

    def on_change(self, callback: Callable[[], None]) -> None:
        """Call `callback` after every change of the tables, before any request is answered from them."""
        self._callbacks.append(callback)

    # ---------------------------------------------------------------------------------------------------- looking

    async def catch_up(self) -> None:
        """Wait for a look that starts after this call; the tables then show at least its tip. Raises
        `LogUnavailableError` or `LogDamagedError`.
        """
        if self._next is None:
            self._next = asyncio.get_running_loop().create_future()
            self._next.add_done_callback(_ignore_error)
            if self._barrier_task is None:
                self._barrier_task = asyncio.create_task(self._catch_up_all(), name="catch up")
        await asyncio.shield(self._next)

    async def _catch_up_all(self) -> None:
        """Look once for all waiting requests, and again for those that arrived meanwhile."""
        while self._next is not None:
            waiters, self._next = self._next, None
            number = self.begin()
            self._barrier_since = self._environment.now()
            try:
                await self._catch_up_with_tip()
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

    async def _catch_up_with_tip(self) -> None:
        before = self.position
        self._counts.looks += 1
        self.tip = tip = await self._log.tip()
        if (
            self.wrong is not None
            and self.wrong.tip.agrees(tip)
            and self._environment.now() - self._wrong_at < WRONG_SECONDS
        ):
            raise WrongRootError(self._log.url, tip, self.wrong.rows_root)
        if (
            self.tables.damaged
            or not self.proven
            or self.wrong is not None
            or (tip == START != before)
            or (tip.identity == before.identity and tip.sequence < before.sequence)
        ):
            await self._read()  # nothing is proven yet, the log was wrong, or it has lost what was read from it
        await self.reach(tip)
        self.caught_up_at = self._environment.now()
        self.first_sequence = tip.sequence if self.first_sequence < 0 else self.first_sequence

    async def catch_up_locked(self) -> None:
        """Look while this node holds the log lock: one read is enough, because no other node appends. Raises as
        `catch_up`.
        """
        number = self.begin()
        self._counts.looks += 1
        await self._read()
        self.tip, self.caught_up_at = self.position, self._environment.now()
        self.finish(number)

    def hear_of(self, error: LogDamagedError) -> None:
        """Note that the log is damaged: the node writes nothing any more. A wrong state root may be repaired while the
        node runs.
        """
        if not isinstance(error, WrongRootError):
            self.damage = error.reason

    def begin(self) -> int:
        """Return the number of a new look. An append counts as one: if it is accepted, its base was the tip."""
        self.begun += 1
        return self.begun

    def finish(self, number: int) -> None:
        """Note that the tables show at least the tip of look `number`."""
        self.done = max(self.done, number)

    # ---------------------------------------------------------------------------------------------------- reading

    async def reach(self, target: Position) -> None:
        """Read until the tables show `target`, a later position, or another history."""
        for _ in range(READS):
            if self.shows(target):
                return
            await self._read()
        message = f"the log shows sequence {target.sequence} as its tip, but does not give it"
        raise LogUnavailableError(message)

    def shows(self, target: Position) -> bool:
        """Return whether the tables are at or after a position, as far as known. After a state file they may be there
        with another root.
        """
        position = self.position
        if position.identity != target.identity:
            return target == START
        return position.sequence > target.sequence or position.agrees(target)

    def remembers(self, sequence: int) -> bytes | None:
        """Return the digest of the append that ended at a sequence, if known."""
        return self._ends.get(sequence)

    async def _read(self) -> None:
        """Read new rows. One read at a time, so that an older result never follows a newer one."""
        async with self._reading:
            self._counts.reads += 1
            if self.tables.damaged:
                log.warning("the state file under the tables is damaged; everything is read from the log again")
                self._drop()
            if not await self._take(await self._log.read(self.position)):
                await self._read_all()

    async def _read_all(self) -> None:
        """Read all rows again, because the state root did not match. Raises `WrongRootError` if it still does not."""
        log.warning("the rows do not match the state root that %s states; all rows are read again", self._log.url)
        self._counts.wrong_roots += 1
        delta = await self._log.read(START)
        if not await self._take(LogDelta(delta.tip, delta.rows, reload=True)):
            self.wrong = WrongRootError(self._log.url, delta.tip, as_root(roots_of(delta.rows)))
            self._wrong_at = self._environment.now()
            log.error("%s", self.wrong)
            raise self.wrong

    def _drop(self) -> None:
        """Clear the tables; requests wait until the log is read."""
        self.proven = False
        self.tables.load((), START)

    async def _take(self, delta: LogDelta) -> bool:
        """Apply rows to the tables. Returns False if the state root does not match: without a change, or with empty tables
        where the rows are this node's own append, which is compared after it is applied.
        """
        before = self.position
        if delta.reload:
            many = len(delta.rows) >= MANY
            is_large = any(len(row.value or "") > LOOP_BYTES for row in delta.rows)
            if many:
                put = await asyncio.to_thread(self._stage, delta)
            else:
                put = await self._environment.run_large(partial(self._stage, delta)) if is_large else self._stage(delta)
            if put is None:
                return False
            self._counts.reloads += 1
            self._ends.clear()
            put()
        elif not await self._advance(delta):
            return False
        self.proven, self.wrong = True, None
        position = self.position
        if position != before or delta.reload:
            self._announce(position)
        if delta.reload and many:
            del delta, put
            await asyncio.to_thread(trim_memory)
        return True

    async def _advance(self, delta: LogDelta) -> bool:
        """Apply rows that came after the position of the tables; returns as `_take`."""
        own = self._expected
        if own is None or not own.is_all_of(delta, self.position):
            return self.tables.advance(delta.rows, delta.tip, await self._read_ahead(delta.rows))
        is_applied = self.tables.advance_own(own.rows, delta.tip)
        if not is_applied:
            self._drop()
        return is_applied

    def _stage(self, delta: LogDelta) -> Callable[[], None] | None:
        """Prepare a load, on any thread; None if its rows do not match the state root of its tip."""
        if as_root(roots_of(delta.rows)) != delta.tip.root:
            return None
        return self.tables.ready(delta.rows, delta.tip)

    async def settle_in(self, prepare: Callable[[], Awaitable[None]]) -> None:
        """Run `prepare` before the first read of the log; it may load a state file. Requests wait for it."""
        async with self._reading:
            await prepare()
            self.proven = self.position == START

    async def change_over(self, ready: ReadyTables, position: Position) -> bool:
        """Take rows of `position` and what came after it by `ready`, on a thread, and follow the log from there.

        Returns False, without a change, if the log does not know that position any more, or the state root does not
        match. Requests see the tables of before until then, and all callbacks are called.
        """
        async with self._reading:
            before, delta = self.position, await self._log.read(position)
            if delta.reload:
                return False
            if self._ends and delta.tip != before and (await self._log.read(before)).reload:
                self._ends.clear()  # the tables may have stood on a history that the log has lost
            decoded_rows = await self._read_ahead(delta.rows)
            put = await self._environment.run_large(partial(ready, delta.rows, delta.tip, decoded_rows))
            if put is None:
                self._counts.wrong_roots += 1
                log.warning("a state file is not used: its rows do not match the state root of %s", self._log.url)
                return False
            release = put()
            self.proven, self.wrong = True, None
            self._announce(self.position)
        await self._environment.run_large(release)
        return True

    async def _read_ahead(self, rows: Collection[EncodedRow]) -> Mapping[EncodedRow, Row] | None:
        """Return decoded rows. Many are decoded and hashed in slices, large ones on a thread, before one turn applies all."""
        expected = {} if self._expected is None else self._expected.by_encoded()
        large = [row for row in rows if len(row.value or "") > LOOP_BYTES and row not in expected]
        if len(rows) < AHEAD_ROWS and not large:
            return expected
        decoded_rows, now = dict(expected), self._environment.now
        if large:
            decoded_rows |= await self._environment.run_large(lambda: read_many(large, decoded_rows))
        end = now() + SLICE_SECONDS
        for row in rows:
            if row not in decoded_rows:
                _, decoded, is_exact = read(row)
                if is_exact:
                    decoded_rows[row] = decoded
            row.digest  # noqa: B018 (computed once, and kept in the row)
            if now() > end:
                await self._environment.sleep(0)
                end = now() + SLICE_SECONDS
        return decoded_rows

    def _announce(self, position: Position) -> None:
        """Store the position of the tables, and call all callbacks."""
        self._ends[position.sequence] = position.digest
        while len(self._ends) > POSITIONS_KEPT:
            self._ends.popitem(last=False)
        for callback in self._callbacks:
            callback()

    def expect(self, append: OwnAppend | None) -> None:
        """Pass this node's append in flight, so that nothing of it need be worked out again."""
        self._expected = append

    # ---------------------------------------------------------------------------------------------------- following

    async def follow(self) -> None:
        """Follow the log until cancelled."""
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
                log.exception("the log could not be followed; it is tried again")
                self._unreachable_reason = f"{type(error).__name__}: {error}"
                await self._environment.sleep(LONGEST_PAUSE)

    async def close(self) -> None:
        """Cancel a running look."""
        if self._barrier_task is not None:
            self._barrier_task.cancel()
            await asyncio.gather(self._barrier_task, return_exceptions=True)
        if self._next is not None:
            self._next.cancel()


def _ignore_error(future: asyncio.Future[None]) -> None:
    """Retrieve the exception of an abandoned look, so that it is not logged."""
    if not future.cancelled():
        future.exception()
