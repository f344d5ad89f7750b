"""A way to a log whose faults are chosen: it tells before and after each step, and each step takes its time."""

import asyncio
import random
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from tests.simulation.disk import Disk
from tests.simulation.model import LogModel, Weather
from tests.simulation.texts import Truth
from tests.traces.clock import TracedLoop
from tests.traces.trace import Trace, describe_error
from treaty.core.command import Command, Decision
from treaty.core.decide import decide
from treaty.core.messages.request import Request
from treaty.core.state.commit import START, Append, Commit, Position, make_append, roots_after
from treaty.core.state.rows import EncodedRow, encode_row
from treaty.core.state.tables import DictTables
from treaty.log.log import AppendResult, Leader, LogDamagedError, LogDelta, LogUnavailableError, NewerLogFormatError

SECONDS = {"tip": 0.01, "read": 0.02, "append": 0.03, "leader": 0.001, "lock": 0.004, "wait": 0.0}
"""How long the steps of a log take."""
LATE_SECONDS = 0.7
"""When an append arrives that is late."""
ERRORS: dict[str, Callable[[], Exception]] = {
    "away": lambda: LogUnavailableError("the line is cut"),
    "full": lambda: LogUnavailableError("no space is left"),
    "damaged": lambda: LogDamagedError("a page is torn"),
    "newer": lambda: NewerLogFormatError("of format 9, which this version does not know"),
    "odd": lambda: KeyError("odd"),
}


class Crown:
    """Who leads a log of one owner, or won last: the address, and what nodes believe where that is not so."""

    def __init__(self, holder: str = "") -> None:
        self.holder = holder
        self.believed: dict[str, str] = {}


class TracedLog(LogModel):
    """A node's way to a disk.

    Faults are words by step: those of `once` come one after the other, those of `always` until they are taken away. Beside `ERRORS`
    there are ``slow N`` (seconds more), and for an append ``overtaken`` (another writer comes first), ``lost`` (it is in the log,
    and nobody says so), ``gone`` (it is not), ``late`` (it will be) and ``back N`` (the log is put back to sequence N behind it).
    """

    def __init__(self, disk: Disk, trace: Trace, loop: TracedLoop, name: str, crown: Crown | None = None) -> None:
        super().__init__(disk, Weather(0.0), random.Random(0))
        self.name, self.trace, self.loop, self.crown = name, trace, loop, crown
        self.lockable = False
        self.once: defaultdict[str, list[str]] = defaultdict(list)
        self.always: dict[str, str] = {}
        self.rivals: list[Request[Any]] = []
        """What another writer writes when it overtakes this one; nothing where there is none left."""
        self.on_step: Callable[[str], None] = lambda _: None

    async def _step_to(self, step: str, detail: str = "") -> str:
        fault = self.once[step].pop(0) if self.once[step] else self.always.get(step, "")
        self.trace.add(f"log {step}{detail}{f' [{fault}]' if fault else ''}", self.name)
        self.on_step(step)
        more = float(fault.removeprefix("slow ")) if fault.startswith("slow ") else 0.0
        try:
            await self.loop.pause(SECONDS[step] + more)
        except asyncio.CancelledError:
            self.trace.add(f"log {step} is cancelled", self.name)
            raise
        if fault in ERRORS:
            error = ERRORS[fault]()
            self.trace.add(f"log {step}: {describe_error(error)}", self.name)
            raise error
        return fault

    async def leader(self) -> Leader | None:
        await self._step_to("leader")
        if self.crown is None:
            return None
        address = self.crown.believed.get(self.name, self.crown.holder)
        leader = Leader(address.removesuffix("?"), is_own=address == self.name) if address else None
        if leader is not None and address.endswith("?"):
            leader = Leader("", is_own=False)
        self.trace.add(f"log leader: {address or 'unknown'}", self.name)
        return leader

    async def append(self, append: Append) -> AppendResult:
        names = ", ".join(f"{each.command_id or 'nothing'} {len(each.rows)}" for each in append.commits)
        place = self.trace.names.name(append.parent.hex())
        fault = await self._step_to("append", f" {append.first}-{append.last} on {place} ({names})")
        fate = self._take(append, fault)
        self.trace.add(f"log append: {fate.value} as {self.trace.names.name(append.digest.hex())}", self.name)
        return fate

    def _take(self, append: Append, fault: str) -> AppendResult:
        disk = self._disk
        if fault == "overtaken":
            write_foreign(disk, self.rivals.pop(0) if self.rivals else None)
        if fault == "gone" or fault.startswith("gone"):
            return AppendResult.UNKNOWN
        if fault == "late":
            disk.jobs.spawn(self._land_late(append))
            return AppendResult.UNKNOWN
        if self.crown is not None and self.single_writer and self.crown.holder != self.name:
            return AppendResult.CONFLICT
        fate = disk.take(append)
        if fault == "lost":
            return AppendResult.UNKNOWN
        if fault.startswith("back "):
            put_back(disk, int(fault.removeprefix("back ")))
        if fate is AppendResult.ACCEPTED and self.crown is not None and not self.single_writer:
            self.crown.holder = self.name
        return fate

    async def _land_late(self, append: Append) -> None:
        await self.loop.pause(LATE_SECONDS)
        self.trace.add(f"the late append comes: {self._disk.take(append).value}")

    async def tip(self) -> Position:
        await self._step_to("tip")
        tip = self._disk.tip
        self.trace.add(f"log tip: {self.trace.names.position(tip)}", self.name)
        return tip

    async def read(self, after: Position) -> LogDelta:
        fault = await self._step_to("read", f" after {self.trace.names.position(after)}")
        delta = self._disk.since_by_row(after)
        if fault == "wrong":
            delta = LogDelta(delta.tip, delta.rows[1:], delta.reload)
        if fault == "stale":
            delta = LogDelta(after, ())
        more = " reload" if delta.reload else ""
        self.trace.add(f"log read: {len(delta.rows)} rows to {self.trace.names.position(delta.tip)}{more}", self.name)
        return delta

    async def wait(self, after: Position, timeout: float) -> None:
        fault = await self._step_to("wait", f" after {self.trace.names.position(after)} for {timeout:g}")
        try:
            async with asyncio.timeout(timeout):
                await (asyncio.Event().wait() if fault == "deaf" else self._disk.news(after))
        except TimeoutError:
            self.trace.add("log wait: nothing came", self.name)
            return
        self.trace.add("log wait: there is news", self.name)

    @asynccontextmanager
    async def lock(self) -> AsyncIterator[None]:
        await self._step_to("lock")
        await self._disk.lock.acquire()
        self.trace.add("log is locked", self.name)
        try:
            with self._lock_owner.acquire():
                yield
        finally:
            self._disk.lock.release()
            self.trace.add("log is unlocked", self.name)

    async def close(self) -> None:
        self.trace.add("log is closed", self.name)


# ---------------------------------------------------------------------------------------------------------- other writers


def tables_of(disk: Disk) -> DictTables:
    """The rows of a disk, as another writer reads them."""
    tables, delta = DictTables(), disk.since_by_row(START)
    tables.load(delta.rows, delta.tip)
    return tables


def write_foreign(disk: Disk, request: Request[Any] | None = None, rows: tuple[EncodedRow, ...] = ()) -> None:
    """Append what another writer decides, or these rows, or nothing."""
    tables, number = tables_of(disk), disk.tip.sequence + 1
    command_id = ""
    if request is not None:
        command_id = f"foreign {number}"
        decision = decide(tables, Command(request, command_id, 1_700_000_000_000 + number), Truth())
        assert isinstance(decision, Decision), decision
        rows = tuple(encode_row(row) for row in decision.rows)
    chance = random.Random(number)
    commits = (Commit(number, rows, command_id, number),)
    assert disk.take(make_append(disk.tip, chance.randbytes(16), commits, roots_after(tables, rows))) is (
        AppendResult.ACCEPTED
    )


def put_back(disk: Disk, sequence: int) -> None:
    """Put a log back to a sequence; everything behind it is lost."""
    places = [START, *(each.position for each in disk.appends)]
    disk.put_back(next(place for place in reversed(places) if place.sequence <= sequence))


def harm(disk: Disk, table: str = "subject") -> None:
    """Change a row past the log, so that its rows do not come to its state root."""
    key, (at, row) = next((key, each) for key, each in sorted(disk.rows.items()) if key[0] == table)
    disk.rows[key] = (at, EncodedRow(row.table, row.key, (row.value or "{}").replace("{", '{"x":1,', 1)))
