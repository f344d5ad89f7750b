"""`AnyLog`: a `Log` in one partition that any node may write to, without a coordinator."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from treaty.core.commit import ENVELOPE_FORMAT, START, Append, Position
from treaty.core.limits import APPENDS_KEPT, FOLD_BYTES, FOLD_MARGIN, FOLD_RECORDS, WINDOW_BYTES
from treaty.log.kafka.any import aid
from treaty.log.kafka.any.folding import fold, plan, sent
from treaty.log.kafka.any.reading import FoldDroppedError, changes, state
from treaty.log.kafka.any.records import ADDRESS
from treaty.log.kafka.any.scan import Scanned
from treaty.log.kafka.any.tailing import Tail
from treaty.log.kafka.link import Link
from treaty.log.log import AppendResult, Leader, LogDamagedError, LogDelta, LogUnavailableError, StoreStats

log = logging.getLogger("treaty.log")

T = TypeVar("T")

READ_BACK_SECONDS = 10.0
"""How long an acknowledged append may take to be read back, before its fate is unknown."""
LARGE = 2_000
"""Appends that are read in the event loop; more of them, or a fold, go to a thread."""


class Work(Protocol):
    """Does something heavy, somewhere."""

    async def __call__(self, work: Callable[[], T]) -> T:
        """Do it, and return what it came to."""
        ...


async def in_thread(work: Callable[[], T]) -> T:
    """Do heavy work beside the event loop."""
    return await asyncio.to_thread(work)


@dataclass(frozen=True, slots=True)
class Bounds:
    """When a log is folded and what is kept at hand; see the limits of the same names."""

    kept: int = APPENDS_KEPT
    window: int = WINDOW_BYTES
    records: int = FOLD_RECORDS
    bytes: int = FOLD_BYTES
    margin: int = FOLD_MARGIN


BOUNDS = Bounds()


class AnyLog:
    """A `Log` over a `Link`. An append is one record; it is true when it was read back as the next valid one."""

    lockable = False
    linearizable = False
    single_writer = False

    def __init__(
        self,
        link: Link,
        *,
        address: str = "",
        bounds: Bounds = BOUNDS,
        attempt: Callable[[], bytes] = lambda: os.urandom(16),
        work: Work = in_thread,
    ) -> None:
        """Take the way to the partition; `address` is told to other nodes, `attempt` makes ids of the log's own appends."""
        self.url = link.url
        self._link = link
        self._headers = ((ADDRESS, address.encode()),) if address else ()
        self._bounds = bounds
        self._attempt = attempt
        self._work = work
        self._tail = Tail(link, bounds.kept, bounds.window)
        self._folding: asyncio.Task[bool] | None = None
        self._busy = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._won = b""
        self._just: Position | None = None
        self._next_try = 0

    # ---------------------------------------------------------------------------------------------------- writing

    async def append(self, append: Append) -> AppendResult:
        """Send the append, and read back what became of it."""
        async with self._turn():
            await self._tail.begun()
            if append.first - 1 > self._tail.reading.tip.sequence:
                await self._look()
            if Position(append.identity, append.first - 1, append.parent) != self._base(append):
                return AppendResult.CONFLICT  # it would be a loser; nothing that nobody can place is ever sent
            return await self._send(append)

    def _base(self, append: Append) -> Position:
        """The tip, as the parent of an append; the first one brings its own identity."""
        tip = self._tail.reading.tip
        return tip if tip.sequence else Position(append.attempt)

    async def _send(self, append: Append) -> AppendResult:
        flying, fates = self._tail.reading.flying, self._tail.reading.fates
        flying[append.attempt] = append.commits
        try:
            offset = await self._link.send(append.envelope, headers=self._headers)
            try:
                async with asyncio.timeout(READ_BACK_SECONDS):
                    await (self._look() if offset is None else self._tail.at_offset(offset + 1))
            except (TimeoutError, LogUnavailableError, LogDamagedError):
                return fates.get(append.attempt, AppendResult.UNKNOWN)
            result = fates.get(append.attempt, AppendResult.UNKNOWN)
        finally:
            flying.pop(append.attempt, None)
            fates.pop(append.attempt, None)
        if result is AppendResult.ACCEPTED:
            self._won = append.attempt
            self._just = Position(append.identity, append.first - 1, append.parent)
            self._fold_if_due()
        return result

    @property
    def foreign_records(self) -> int:
        """Records without the magic, since the log was read as a whole."""
        return self._tail.foreign_records

    async def leader(self) -> Leader | None:
        """The node whose append won last: it has the newest state, and a round trip less to lose."""
        await self._tail.begun()
        reading = self._tail.reading
        mine = bool(reading.winner) and reading.winner == self._won
        return Leader(reading.address, mine) if reading.address or mine else None

    def lock(self) -> AbstractAsyncContextManager[None]:
        """Nobody can be kept out here."""
        raise NotImplementedError("a log that any node may write to can't be held; ask `lockable` first")

    # ---------------------------------------------------------------------------------------------------- reading

    async def tip(self) -> Position:
        """Ask for the end, read up to it, and return the place there."""
        async with self._turn():
            await self._tail.begun()
            await self._look()
            return self._tail.reading.tip

    async def _look(self) -> None:
        ends = await self._link.ends()
        await self._tail.at_offset(ends.end)

    async def read(self, after: Position) -> LogDelta:
        """Return everything after a place: from what is at hand, else from the log."""
        async with self._turn():
            await self._tail.begun()
            just, self._just = self._just, None
            if after != just:  # else an append of this node on that place was read back a moment ago
                await self._look()
            return await self._without_bad_folds(lambda: self._read(after))

    async def _read(self, after: Position) -> LogDelta:
        reading = self._tail.reading
        tip = reading.tip
        appends = reading.since(after) if after != START or tip == START else None
        if appends is not None:
            rows = changes(appends) if len(appends) < LARGE else await self._do(lambda: changes(appends))
            reading.give()
            return LogDelta(tip, rows)
        if reading.whole:
            chunks, all_appends = reading.chunks, tuple(reading.held)
            rows = await self._do(lambda: state(chunks, all_appends))
            reading.give()
            return LogDelta(tip, rows, reload=True)
        return await self._replay(after)

    async def _without_bad_folds(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do work that reads the rows of a fold; where they are wrong leave it aside, and do it again."""
        while True:
            try:
                return await work()
            except FoldDroppedError as error:
                await self._tail.drop(error)

    async def _replay(self, after: Position) -> LogDelta:
        """Read the whole partition once more: the place is not at hand, or not this log's."""
        scanned = await self._tail.scan(at_least=self._tail.next)
        await self._tail.at_offset(scanned.next)  # so that what comes after is at hand
        reading = scanned.reading
        appends = reading.since(after) if after != START else None
        if appends is not None:
            return LogDelta(reading.tip, await self._do(lambda: changes(appends)))
        return LogDelta(reading.tip, await self._do(lambda: state(reading.chunks, tuple(reading.held))), reload=True)

    async def wait(self, after: Position, timeout: float) -> None:
        """Return when an append came after the place."""
        await self._tail.begun()
        await self._tail.past(after, timeout)

    async def _do(self, work: Callable[[], T]) -> T:
        return await self._work(work)

    # ---------------------------------------------------------------------------------------------------- aid

    async def estimate_rows(self) -> int:
        """Rows of the fold that it begins at; 0 where there is none."""
        async with self._turn():
            await self._tail.begun()
            return self._tail.reading.folded[0]

    async def write_state_file(self, path: Path, place: Position, kind: int) -> None:
        """Keep a state file beside the fold, unless there is one that is young enough."""
        async with self._turn():
            await self._tail.begun()
            reading = self._tail.reading
            chunks = await self._do(lambda: aid.made(place, path, kind))
            young = reading.came_after(kind) <= max(self._bounds.bytes, sum(len(one.payload) for one in chunks))
            if young or not self._knows(place):
                return
            for chunk in chunks:
                if not await sent(self._link, chunk):
                    raise LogUnavailableError("whether the state file arrived in the log is not known")
            await self._look()

    async def read_state_file(self, path: Path, kind: int) -> bool:
        """Make a file of the state file that lay beside the fold when it was read; False where there was none."""
        async with self._turn():
            await self._tail.begun()
            chunks = self._tail.reading.aids.get(kind, ())
            return bool(chunks) and await self._do(lambda: aid.put(chunks, path))

    # ---------------------------------------------------------------------------------------------------- care

    def _fold_if_due(self) -> None:
        """Fold now and then. It is for who won last, so that mostly one node does it; two do no harm."""
        seen, (rows, size) = self._tail.reading.seen, self._tail.reading.folded
        if len(self._tail.reading.history.places) <= self._bounds.margin:
            return
        due = seen.records > max(self._bounds.records, rows // 2) or seen.bytes > max(self._bounds.bytes, size)
        if not due:
            self._next_try = 0
        elif (self._folding is None or self._folding.done()) and seen.records >= self._next_try:
            self._next_try = seen.records + self._bounds.records // 10  # should this one be broken off
            self._folding = asyncio.create_task(self._fold_quietly(), name="fold")

    async def _fold_quietly(self) -> bool:
        try:
            return await self._without_bad_folds(lambda: self._fold(self._bounds.margin))
        except (LogUnavailableError, LogDamagedError) as error:
            log.warning("a snapshot of the log was broken off, and will be tried again: %s", error)
            return False

    async def _fold(self, margin: int) -> bool:
        scanned = await self._scanned()
        chosen = plan(scanned, margin)
        if chosen is None:
            return False
        tail = self._tail

        async def arrived(told: bytes, payloads: Mapping[int, int]) -> None:
            await self._look()
            if tail.reading.folds.get(told) != payloads:
                raise LogUnavailableError("the chunks of a snapshot did not all arrive as they were sent")

        return await fold(
            self._link,
            scanned,
            chosen,
            append=self.append,
            tip=self.tip,
            arrived=arrived,
            knows=self._knows,
            attempt=self._attempt,
            work=self._do,
        )

    def _knows(self, place: Position) -> bool:
        return self._tail.reading.history.knows(place)

    async def _scanned(self) -> Scanned:
        await self._tail.begun()
        scanned = await self._tail.scan(at_least=self._tail.next)
        await self._tail.at_offset(scanned.next)
        return scanned

    async def read_stats(self) -> StoreStats:
        """Read the whole log and count."""
        async with self._turn():
            return await self._without_bad_folds(self._facts)

    async def _facts(self) -> StoreStats:
        reading = (await self._scanned()).reading
        live = len(await self._do(lambda: state(reading.chunks, tuple(reading.held))))
        return StoreStats(
            "kafka", ENVELOPE_FORMAT, await self._link.size(), live, 0, len(reading.held), reading.base.sequence
        )

    async def compact(self) -> None:
        """Fold everything that there is, now."""
        async with self._turn():
            if self._folding is not None:
                await asyncio.wait([self._folding])
            await self._without_bad_folds(lambda: self._fold(0))

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """Something that `close` waits for."""
        self._busy += 1
        self._idle.clear()
        try:
            yield
        finally:
            self._busy -= 1
            if not self._busy:
                self._idle.set()

    async def close(self) -> None:
        """Finish what is in flight, break off a fold, and give the link back."""
        await self._idle.wait()
        if self._folding is not None:
            self._folding.cancel()
            await asyncio.gather(self._folding, return_exceptions=True)
        await self._tail.close()
        await self._link.close()
