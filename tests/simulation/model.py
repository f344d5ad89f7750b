"""Models of the memory log and of the SQL log: the `Log` protocol with delays, lost answers and late commits."""

import asyncio
import math
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from tests.simulation.disk import Disk
from treaty.core.state.commit import Append, Position
from treaty.log.concurrency import LockOwner
from treaty.log.log import AppendResult, Leader, LogDamagedError, LogDelta, LogUnavailableError, StoreStats

LONGEST = 4.0
"""Seconds that one step takes at the longest: clients of brokers and databases give a request up, too."""


@dataclass(slots=True)
class Weather:
    """How bad things are. Times are seconds, the rest are chances from 0 to 1; `calm` makes them all 0."""

    latency: float
    unknown: float = 0.0
    """An append whose answer is lost: a third of them landed, a third never do, a third land later."""
    unavailable: float = 0.0
    twice: float = 0.0
    """An append that reaches the log a second time, later."""
    crash: float = 0.0
    """A node dies at a step of its conversation with the log."""
    hint_lost: float = 0.0
    stall: float = 0.0
    """A step that takes a hundred times as long: a node that was suspended, a line that was cut."""
    full: bool = False
    """There is no space for appends; reading goes on."""
    damage: str = ""
    """What is wrong with the store; nothing can be read or written while it is."""
    longest: float = math.inf
    """No step takes longer, whatever its latency."""

    def calm(self) -> None:
        """From now on everything works."""
        self.full, self.damage = False, ""
        self.unknown = self.unavailable = self.twice = self.crash = self.hint_lost = self.stall = 0.0


class LogModel:
    """One node's way to the disk. `rows` tells whether reads work as SQL's (by row) or as memory's (by append)."""

    lockable = True
    linearizable = True
    foreign_records = 0
    single_writer = False

    def __init__(
        self,
        disk: Disk,
        weather: Weather,
        chance: random.Random,
        *,
        rows: bool = True,
        step: Callable[[str], None] = lambda _: None,
        sends: Callable[[Append], None] = lambda _: None,
    ) -> None:
        self.url = "model:rows" if rows else "model:appends"
        self._disk = disk
        self._weather = weather
        self._chance = chance
        self._rows = rows
        self._step = step
        """Told of every step; may kill the node."""
        self._sends = sends
        self._lock_owner = LockOwner()
        self._open: list[asyncio.Task[AppendResult]] = []

    def turn_to(self, disk: Disk) -> None:
        """From now on another history stands in the log's place, as after a restore."""
        self._disk = disk

    async def _delay(self, what: str, factor: float = 1.0) -> None:
        self._step(what)
        if self._chance.random() < self._weather.stall:
            factor *= 100
        await asyncio.sleep(min(self._weather.latency * factor * self._chance.expovariate(1.0), self._weather.longest))

    async def _way(self, what: str) -> None:
        """The way to the disk, which may be blocked."""
        await self._delay(what)
        if self._weather.damage:
            raise LogDamagedError(self._weather.damage)
        if self._chance.random() < self._weather.unavailable:
            raise LogUnavailableError("the line is dead")

    async def append(self, append: Append) -> AppendResult:
        self._sends(append)
        await self._way("append")
        if self._weather.full:
            raise LogUnavailableError("no space is left")
        inside = self._lock_owner.is_current_task
        fortune = "told"
        if self._chance.random() < self._weather.unknown:
            fortune = self._chance.choice(["landed", "never", "late"])
        if fortune == "never":
            await self._delay("lost")
            return AppendResult.UNKNOWN
        job = self._disk.jobs.spawn(self._commit(append, inside=inside, factor=8 if fortune == "late" else 0.5))
        if inside:
            self._open.append(job)
        if self._chance.random() < self._weather.twice:
            self._disk.jobs.spawn(self._once_more(job, append))
        if fortune == "late":
            await self._delay("lost", 0.5)
            return AppendResult.UNKNOWN
        fate: AppendResult = await asyncio.shield(job)
        await self._delay("told")
        return fate if fortune == "told" else AppendResult.UNKNOWN

    async def _commit(self, append: Append, *, inside: bool, factor: float) -> AppendResult:
        disk, life = self._disk, self._disk.life
        await asyncio.sleep(self._weather.latency * factor * self._chance.expovariate(1.0))
        if inside:
            return disk.take(append) if disk.life == life else AppendResult.UNKNOWN
        async with disk.lock:
            await asyncio.sleep(self._weather.latency * 0.2)
            return disk.take(append) if disk.life == life else AppendResult.UNKNOWN

    async def _once_more(self, job: asyncio.Task[AppendResult], append: Append) -> None:
        """The same append arrives again, after it was dealt with: now its parent is not the last any more."""
        await asyncio.wait([job])
        if job.result() is not AppendResult.UNKNOWN:
            assert await self._commit(append, inside=False, factor=6) is not AppendResult.ACCEPTED

    async def leader(self) -> Leader | None:
        """All nodes are alike."""
        return None

    async def tip(self) -> Position:
        await self._way("look")
        tip = self._disk.tip
        await self._delay("seen")
        return tip

    async def read(self, after: Position) -> LogDelta:
        await self._way("read")
        delta = self._disk.since_by_row(after) if self._rows else self._disk.since_by_append(after)
        await self._delay("got")
        return delta

    async def wait(self, after: Position, timeout: float) -> None:
        lost = self._chance.random() < self._weather.hint_lost
        try:
            async with asyncio.timeout(min(timeout, 20 * self._weather.latency) if lost else timeout):
                await (asyncio.sleep(timeout) if lost else self._disk.news(after))
        except TimeoutError:
            pass

    @asynccontextmanager
    async def lock(self) -> AsyncIterator[None]:
        await self._way("hold")
        disk = self._disk
        await disk.lock.acquire()
        try:
            with self._lock_owner.acquire():
                yield
        finally:
            jobs, self._open = self._open, []
            disk.jobs.spawn(self._release(disk, jobs))

    async def _release(self, disk: Disk, jobs: list[asyncio.Task[AppendResult]]) -> None:
        """The lock is the transaction's: a commit that is still on its way keeps it."""
        for job in jobs:
            await asyncio.wait([job])
        disk.lock.release()

    async def read_stats(self) -> StoreStats:
        live = sum(row.value is not None for _, row in self._disk.rows.values())
        kept = self._disk.appends[-self._disk.remembered :]
        oldest = kept[0].last if kept else 0
        dead = sum(row.value is None and sequence > oldest for sequence, row in self._disk.rows.values())
        return StoreStats("model", 1, -1, live, dead, len(kept), oldest)

    async def compact(self) -> None:
        await self._way("compact")
        self._disk.compact(self._chance.randint(1, self._disk.remembered))

    async def close(self) -> None:
        await self._disk.jobs.rest()
