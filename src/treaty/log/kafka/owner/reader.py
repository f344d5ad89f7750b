"""The reader: keeps a view of the topic, and tells it apart from what must not be shown."""

import asyncio

from treaty.core.commit import Position
from treaty.core.limits import APPENDS_KEPT
from treaty.log.kafka.link import CutAwayError, Ends, Link
from treaty.log.kafka.owner.forms import OtherMarkError
from treaty.log.kafka.owner.unmarked import Watch
from treaty.log.kafka.owner.view import ForkError, GapError, View
from treaty.log.log import LogDamagedError, LogUnavailableError, NewerLogFormatError, OlderLogFormatError

STEP_SECONDS = 1.0
"""How long one request for records waits for some at most."""
STUCK_SECONDS = 15.0
"""How long records may stay away that the topic's end says are there."""
TRIES = 12
"""Loads, and questions for the end, that one look makes at most before it gives up for now."""


class Reader:
    """One view for all who ask, brought forward by whoever needs more."""

    def __init__(self, link: Link, *, horizon: float, kept: int = APPENDS_KEPT) -> None:
        """Know nothing yet. `horizon` is how many seconds the topic keeps what says that a row is gone."""
        self.view: View | None = None
        self._link = link
        self._patience = horizon / 2
        """Seconds within which a load must end, and a view must have seen the end: half, since clocks are not one."""
        self._kept = kept
        self._loop = asyncio.get_running_loop()
        self._fresh = 0.0
        self._flight: asyncio.Task[None] | None = None
        self._loading = asyncio.Lock()
        self._begun_at: tuple[Position, int] | None = None
        """A place whose rows the node has, and the offset of its mark; tried once."""

    @property
    def position(self) -> Position | None:
        """The place that the view shows; None while there is none."""
        return None if self.view is None else self.view.position

    def resume_at(self, place: Position, marked: int) -> None:
        """Try to read on from a place first, whose mark was at an offset, instead of loading everything."""
        self._begun_at = place, marked

    async def look(self) -> View:
        """Come to the end as it was when this call began, or later, and return the view.

        Raises `LogUnavailableError` or `LogDamagedError`.
        """
        for _ in range(TRIES):
            view = self.view or await self._begin()
            asked, here = self._loop.time(), view.offset
            ends = await self._ends()
            if ends.end < here or asked - self._fresh > self._patience:
                self.drop(view)  # the topic lost its end, or rows may have gone without a word
            elif ends.end == here or (await self._forward(view, ends.end) and view.covers(ends.end)):
                self._fresh = max(self._fresh, asked)
                return view
        raise LogUnavailableError(f"{self._link.url} changes faster than it can be read; trying again")

    async def step(self, timeout: float) -> None:
        """Take what is there, as soon as there is something. All who wait at one time share one request."""
        if self._flight is None:
            if self.view is None:
                return
            self._flight = asyncio.create_task(self._fetch(self.view, timeout), name="fetch")
            self._flight.add_done_callback(self._landed)
        flight = self._flight
        await asyncio.wait([flight])
        if not flight.cancelled():
            flight.result()

    async def _fetch(self, view: View, timeout: float) -> None:
        try:
            batch = await self._link.fetch(view.offset, timeout)
            view.feed(batch)
        except (GapError, CutAwayError):
            self.drop(view)

    def _landed(self, flight: asyncio.Task[None]) -> None:
        self._flight = None
        if not flight.cancelled():
            flight.exception()  # who waits for it hears of it; nobody may be left

    async def _forward(self, view: View, end: int) -> bool:
        """Bring the view to an offset; False where it turned out to be no good."""
        before, at = view.offset, self._loop.time()
        while view.offset < end:
            await self.step(STEP_SECONDS)
            if self.view is not view:
                return False
            if view.offset > before:
                before, at = view.offset, self._loop.time()
            elif self._loop.time() - at > STUCK_SECONDS:
                raise LogUnavailableError(f"{self._link.url} ends at offset {end}, but gives nothing from {before} on")
        return True

    def drop(self, view: View) -> None:
        """Forget a view that can't be trusted."""
        if self.view is view:
            self.view = None

    async def close(self) -> None:
        """Stop a request that is on its way."""
        if self._flight is not None:
            self._flight.cancel()
            await asyncio.wait([self._flight])

    # ---------------------------------------------------------------------------------------------------- loading

    async def _begin(self) -> View:
        """Load the view, once for all who need it."""
        async with self._loading:
            if self.view is None:
                began = self._loop.time()
                self.view = await self._resumed(began) or await self._load()
                self._fresh = began
            return self.view

    async def _resumed(self, began: float) -> View | None:
        """The view from a known place on, up to the end as it is now; None where the topic does not show that it is right.

        It is, however old the place is, if its mark is still there or the next transaction names it as its parent, and
        if all after that are whole, deletions included: then nothing was taken away in between.
        """
        known, self._begun_at = self._begun_at, None
        if known is None:
            return None
        ends = await self._ends()
        view = View.after(*known, kept=self._kept)
        if ends.end <= view.offset:
            return None
        try:
            await self._read(view, ends.end, began + self._patience)
        except (GapError, CutAwayError, TimeoutError):
            return None
        return view if view.proven else None

    async def load(self, *, watched: bool = False) -> View:
        """Read the whole topic, into a view of its own that shows at least the end as it was when this call began.

        It is `watched` for rows that belong to no transaction, if that is asked for.
        """
        async with self._loading:
            return await self._load(watched=watched)

    async def _load(self, *, watched: bool = False) -> View:
        for _ in range(TRIES):
            began = self._loop.time()
            ends = await self._ends()
            view = View(ends.first, kept=self._kept)
            view.watch = Watch() if watched else None
            try:
                await self._fill(view, ends, began + self._patience)
            except OtherMarkError as other:
                raise _other_format(other) from other
            except ForkError as fork:
                raise LogDamagedError(
                    f"{self._link.url} is damaged, or no log of Treaty with writers=owner: {fork}. "
                    "Stop all nodes, and restore a dump into a new topic"
                ) from fork
            except (CutAwayError, TimeoutError):
                continue
            return view
        raise LogUnavailableError(
            f"{self._link.url} can't be read within {self._patience:.0f} s, half of its delete.retention.ms: raise that"
        )

    async def _fill(self, view: View, ends: Ends, until: float) -> None:
        """Read until the view is right at its last mark.

        It is not at the first end that was asked for: compaction may have taken, before it was read, what later records
        replace. These lie before the end that is asked for afterwards. So either that one is where the view is
        already; or the view reads on to it, and sees every transaction in between whole.
        """
        await self._read(view, ends.end, until)
        while (later := await self._ends()).end > view.offset:
            await self._read(view, later.end, until)
            if view.run <= ends.end and view.covers(later.end):
                break
            ends = later
        view.loaded()

    async def _read(self, view: View, end: int, until: float) -> None:
        heard = self._loop.time()
        while view.offset < end:
            batch = await self._link.fetch(view.offset, STEP_SECONDS)
            now = self._loop.time()
            if now > until:
                raise TimeoutError
            if batch.next > view.offset:
                heard = now
            elif now - heard > STUCK_SECONDS:
                raise LogUnavailableError(f"{self._link.url} gives nothing from offset {view.offset} on")
            view.feed(batch)

    async def _ends(self) -> Ends:
        ends = await self._link.ends()
        if ends.first > 0:
            raise LogDamagedError(
                f"{self._link.url} has lost its front: it begins at offset {ends.first}, although compaction takes nothing from "
                "there. Its retention deletes, or somebody has deleted records: set cleanup.policy=compact alone, and "
                "restore a dump into a new topic"
            )
        return ends


def _other_format(mark: OtherMarkError) -> LogDamagedError:
    """The error for a topic of another format than the one that this version reads."""
    if mark.newer:
        return NewerLogFormatError(
            f"of a newer version of Treaty than this node's: {mark}; nothing is lost, upgrade this node"
        )
    return OlderLogFormatError(
        f"of an older format: {mark}. Stop its nodes and carry it into a new log with `treaty log upgrade OLD NEW`"
    )
