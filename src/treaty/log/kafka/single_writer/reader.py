"""The reader: keeps the state of the topic up to its last complete transaction."""

import asyncio

from treaty.core.limits import APPENDS_KEPT
from treaty.core.state.commit import Position
from treaty.log.kafka.partition import OffsetOutOfRangeError, OffsetRange, PartitionClient
from treaty.log.kafka.single_writer.orphan_rows import OrphanRowCollector
from treaty.log.kafka.single_writer.records import EndRecordFormatError
from treaty.log.kafka.single_writer.state import CompactedState, HistoryForkError, SequenceGapError
from treaty.log.log import LogDamagedError, LogUnavailableError, NewerLogFormatError

STEP_SECONDS = 1.0
"""How long one request for records waits for some at most."""
STUCK_SECONDS = 15.0
"""How long records may stay away that the topic's end says are there."""
TRIES = 12
"""Loads, and questions for the end, that one look makes at most before it gives up for now."""


class TopicReader:
    """One state for all who ask, brought forward by who needs more."""

    def __init__(self, client: PartitionClient, *, horizon: float, appends_kept: int = APPENDS_KEPT) -> None:
        """Know nothing yet. `horizon` is how many seconds the topic keeps what says that a row is gone."""
        self.state: CompactedState | None = None
        self._client = client
        self._load_seconds = horizon / 2
        """Seconds within which a load must end, and a state must have seen the end: half, since clocks are not one."""
        self._kept = appends_kept
        self._loop = asyncio.get_running_loop()
        self._seen_end_at = 0.0
        self._request: asyncio.Task[None] | None = None
        self._loading = asyncio.Lock()
        self._resume_point: tuple[Position, int] | None = None
        """A position whose rows the node has, and the offset of its end record; tried once."""

    @property
    def position(self) -> Position | None:
        """The position that the state shows; None while there is none."""
        return None if self.state is None else self.state.position

    def resume_at(self, position: Position, end_record_offset: int) -> None:
        """Try to read on from a position first, whose end record was at an offset, instead of loading everything."""
        self._resume_point = position, end_record_offset

    async def catch_up(self) -> CompactedState:
        """Come to the end as it was when this call began, or later, and return the state.

        Raises `LogUnavailableError` or `LogDamagedError`.
        """
        for _ in range(TRIES):
            state = self.state or await self._ensure_loaded()
            asked_at, offset = self._loop.time(), state.offset
            ends = await self._fetch_range()
            if ends.end < offset or asked_at - self._seen_end_at > self._load_seconds:
                self.drop(state)  # the topic lost its end, or rows may have gone without a word
            elif ends.end == offset or (await self._forward(state, ends.end) and state.covers(ends.end)):
                self._seen_end_at = max(self._seen_end_at, asked_at)
                return state
        raise LogUnavailableError(f"{self._client.url} changes faster than it can be read; trying again")

    async def fetch_more(self, timeout: float) -> None:
        """Take what is there, as soon as there is something. All who wait at one time share one request."""
        if self._request is None:
            if self.state is None:
                return
            self._request = asyncio.create_task(self._fetch(self.state, timeout), name="fetch")
            self._request.add_done_callback(self._on_fetched)
        request = self._request
        await asyncio.wait([request])
        if not request.cancelled():
            request.result()

    async def _fetch(self, state: CompactedState, timeout: float) -> None:
        try:
            batch = await self._client.fetch(state.offset, timeout)
            state.add(batch)
        except (SequenceGapError, OffsetOutOfRangeError):
            self.drop(state)

    def _on_fetched(self, request: asyncio.Task[None]) -> None:
        self._request = None
        if not request.cancelled():
            request.exception()  # who waits for it hears of it; no waiter may be left

    async def _forward(self, state: CompactedState, end: int) -> bool:
        """Bring the state to an offset; False where it turned out to be no good."""
        before, at = state.offset, self._loop.time()
        while state.offset < end:
            await self.fetch_more(STEP_SECONDS)
            if self.state is not state:
                return False
            if state.offset > before:
                before, at = state.offset, self._loop.time()
            elif self._loop.time() - at > STUCK_SECONDS:
                raise LogUnavailableError(
                    f"{self._client.url} ends at offset {end}, but gives nothing from {before} on"
                )
        return True

    def drop(self, state: CompactedState) -> None:
        """Forget a state that can't be trusted."""
        if self.state is state:
            self.state = None

    async def close(self) -> None:
        """Stop a request that is on its way."""
        if self._request is not None:
            self._request.cancel()
            await asyncio.wait([self._request])

    # ---------------------------------------------------------------------------------------------------- loading

    async def _ensure_loaded(self) -> CompactedState:
        """Load the state, once for all who need it."""
        async with self._loading:
            if self.state is None:
                began = self._loop.time()
                self.state = await self._resume(began) or await self._load()
                self._seen_end_at = began
            return self.state

    async def _resume(self, began: float) -> CompactedState | None:
        """The state from a known position on, up to the end as it is now; None where the topic does not show that it is
        right.

        It is, however old the position is, if its end record is still there or the next transaction names it as its
        parent, and if all after that are whole, deletions included: then nothing was taken away in between.
        """
        resume_point, self._resume_point = self._resume_point, None
        if resume_point is None:
            return None
        ends = await self._fetch_range()
        state = CompactedState.after(*resume_point, appends_kept=self._kept)
        if ends.end <= state.offset:
            return None
        try:
            await self._read(state, ends.end, began + self._load_seconds)
        except (SequenceGapError, OffsetOutOfRangeError, TimeoutError):
            return None
        return state if state.is_proven else None

    async def load(self, *, watched: bool = False) -> CompactedState:
        """Read the whole topic, into a state of its own that shows at least the end as it was when this call began.

        It is `watched` for rows that belong to no transaction, if that is asked for.
        """
        async with self._loading:
            return await self._load(watched=watched)

    async def _load(self, *, watched: bool = False) -> CompactedState:
        for _ in range(TRIES):
            began = self._loop.time()
            ends = await self._fetch_range()
            state = CompactedState(ends.first, appends_kept=self._kept)
            state.orphan_rows = OrphanRowCollector() if watched else None
            try:
                await self._fill(state, ends, began + self._load_seconds)
            except EndRecordFormatError as other:
                raise NewerLogFormatError(
                    f"of a newer version of Treaty than this node's: {other}; nothing is lost, upgrade this node"
                ) from other
            except HistoryForkError as fork:
                raise LogDamagedError(
                    f"{self._client.url} is damaged, or no log of Treaty with writers=owner: {fork}. "
                    "Stop all nodes, and restore a dump into a new topic"
                ) from fork
            except (OffsetOutOfRangeError, TimeoutError):
                continue
            return state
        raise LogUnavailableError(
            f"{self._client.url} can't be read within {self._load_seconds:.0f} s, half of its delete.retention.ms: raise that"
        )

    async def _fill(self, state: CompactedState, ends: OffsetRange, until: float) -> None:
        """Read until the state is right at its last end record.

        It is not at the first end that was asked for: compaction may have taken, before it was read, what later records
        replace. These lie before the end that is asked for afterwards. So either that one is where the state is
        already; or the state reads on to it, and sees every transaction in between whole.
        """
        await self._read(state, ends.end, until)
        while (later := await self._fetch_range()).end > state.offset:
            await self._read(state, later.end, until)
            if state.whole_from <= ends.end and state.covers(later.end):
                break
            ends = later
        state.finish_loading()

    async def _read(self, state: CompactedState, end: int, until: float) -> None:
        heard = self._loop.time()
        while state.offset < end:
            batch = await self._client.fetch(state.offset, STEP_SECONDS)
            now = self._loop.time()
            if now > until:
                raise TimeoutError
            if batch.next > state.offset:
                heard = now
            elif now - heard > STUCK_SECONDS:
                raise LogUnavailableError(f"{self._client.url} gives nothing from offset {state.offset} on")
            state.add(batch)

    async def _fetch_range(self) -> OffsetRange:
        ends = await self._client.fetch_offset_range()
        if ends.first > 0:
            raise LogDamagedError(
                f"{self._client.url} has lost its front: it begins at offset {ends.first}, although compaction takes nothing from "
                "there. Its retention deletes, or somebody has deleted records: set cleanup.policy=compact alone, and "
                "restore a dump into a new topic"
            )
        return ends
