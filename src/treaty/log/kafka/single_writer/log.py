"""`kafka://…?writers=owner`: one node, elected by a consumer group, owns the log and fences earlier owners."""

import asyncio
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager

from treaty.core.limits import APPENDS_KEPT
from treaty.core.state.commit import START, Append, Position
from treaty.core.state.rows import EncodedRow
from treaty.log.capabilities import OrphanRow
from treaty.log.kafka.partition import (
    HangingTransactionError,
    OwnerElection,
    PartitionClient,
    ProducerFencedError,
    TransactionalProducer,
)
from treaty.log.kafka.single_writer.reader import TopicReader
from treaty.log.kafka.single_writer.records import END_FORMAT, make_transaction, read_row
from treaty.log.kafka.single_writer.state import CompactedState
from treaty.log.log import AppendResult, Leader, LogDamagedError, LogDelta, LogUnavailableError, StoreStats

DELETE_RETENTION = 86_400.0
"""Seconds that a topic keeps what says that a row is gone, by default."""
READ_BACK_SECONDS = 3.0
"""How long a committed append may take to be seen by its own reader before its result counts as unknown, and is
settled.

Where a broker forgot to end it, it never is, and everybody's commands wait for so long.
"""
STEADY_SECONDS = 1.0
"""After an append that took longer the next one fences first: brokers that hung, or began again, may still send its end
once more.

Such an end would commit the first half of what is written then, had that the same epoch of the producer.
"""
POLL_SECONDS = 1.0
"""How long one request for news waits."""


class SingleWriterLog:
    """A `Log` in a compacted topic that one node at a time may write to.

    Who owns it is a hint. What makes an append true is the transactional id: who takes it has ended all work of those
    before it, and then reads to the end, so that nothing can come between what it has read and what it writes. That
    nothing did is seen by the offset at which its first record lands, before it commits: brokers report an earlier end
    to read-committed readers while any transaction is open, and one that was just started may have left open one of
    this log.
    """

    lockable = False
    linearizable = False
    foreign_records = 0
    single_writer = True

    def __init__(
        self,
        client: PartitionClient,
        producer: TransactionalProducer,
        election: OwnerElection,
        *,
        horizon: float = DELETE_RETENTION,
        appends_kept: int = APPENDS_KEPT,
    ) -> None:
        """Take the ways to the topic; `horizon` is its delete.retention.ms in seconds, `appends_kept` how many appends to
        remember.
        """
        self.url = client.url
        self._client = client
        self._producer = producer
        self._election = election
        self._reader = TopicReader(client, horizon=horizon, appends_kept=appends_kept)
        self._append_turn = asyncio.Lock()
        self._fenced_generation: int | None = None
        """Generation of the assignment in which this node has fenced and read to the end; None where it has to do so
        again.
        """
        self._unsettled = False
        """Whether the result of an append of this node may be unknown."""
        self._own_base: Position | None = None
        self._handed_over: tuple[Position, int] | None = None
        self._closed = False

    # ---------------------------------------------------------------------------------------------------- writing

    async def leader(self) -> Leader | None:
        """Say who owns the log, as far as this node knows."""
        return await self._election.leader()

    async def append(self, append: Append) -> AppendResult:
        """Append as the owner. A conflict after an unknown result says that the unknown append is settled as well."""
        async with self._append_turn:
            try:
                return await self._append(append)
            except HangingTransactionError:
                return await self._append(
                    append
                )  # what a broker forgot to end was given up with it: the way may be free now

    async def _append(self, append: Append) -> AppendResult:
        try:
            state = await self._take_ownership()
        except ProducerFencedError as fenced:
            if self._unsettled:
                raise LogUnavailableError(f"{self.url}: another node is taking over") from fenced
            return AppendResult.CONFLICT
        if state is None or not _is_next(append, state.position):
            return AppendResult.CONFLICT
        return await self._commit(append, state)

    async def _take_ownership(self) -> CompactedState | None:
        """Fence and read to the end, unless that holds still; None where this node has nothing to write.

        A node that lost the log while an append of its own was open fences too: only that settles it.
        """
        leader = await self._election.leader()
        generation = self._election.generation
        if (leader is None or not leader.is_own) and not self._unsettled:
            return None
        state = self._reader.state
        if self._fenced_generation != generation or state is None:
            self._fenced_generation = None
            await self._producer.fence()
            state = await self._reader.catch_up()
            self._fenced_generation, self._unsettled = generation, False
        return state

    async def _commit(self, append: Append, state: CompactedState) -> AppendResult:
        """Write the transaction and see it. Whatever goes wrong, the next append fences first."""
        generation, self._fenced_generation = self._fenced_generation, None
        began, self._unsettled = asyncio.get_running_loop().time(), True
        try:
            committed = await self._producer.commit(make_transaction(append), state.end)
        except ProducerFencedError:
            self._unsettled = False
            return AppendResult.CONFLICT
        except LogUnavailableError:
            self._unsettled = False
            raise
        if not committed or not await self._wait_until_read(append.position, state):
            return AppendResult.UNKNOWN
        steady = asyncio.get_running_loop().time() - began <= STEADY_SECONDS
        self._fenced_generation, self._unsettled = generation if steady else None, False
        self._own_base = Position(append.identity, append.first - 1, append.parent)
        return AppendResult.ACCEPTED

    async def _wait_until_read(self, position: Position, state: CompactedState) -> bool:
        """Read until the append is there. False where it does not come in time, or can't be known any more."""
        loop = asyncio.get_running_loop()
        end = loop.time() + READ_BACK_SECONDS
        try:
            while not state.recent.knows(position):
                left = end - loop.time()
                if left <= 0 or self._reader.state is not state:
                    return False
                await self._reader.fetch_more(min(left, POLL_SECONDS))
        except (LogUnavailableError, LogDamagedError):
            return False
        return True

    def lock(self) -> AbstractAsyncContextManager[None]:
        """No node can keep others out here; the owner alone writes anyway."""
        raise LogUnavailableError(f"{self.url} has no lock: only its owner writes")

    # ---------------------------------------------------------------------------------------------------- reading

    async def tip(self) -> Position:
        """Ask the brokers for the end, read up to it, and return the position."""
        return (await self._reader.catch_up()).position

    async def read(self, after: Position) -> LogDelta:
        """Return everything after a position: the rows of recent appends, or all rows where it is not among these."""
        own_base, self._own_base = self._own_base, None
        state = self._reader.state if own_base is not None and own_base == after else None
        if state is None:
            state = await self._reader.catch_up()
        since = None if after == START else state.recent.changes_since(after)
        if after.agrees(state.position) or since is not None:
            state.take_values()
            self._handed_over = state.position, state.end_record_offset
            return LogDelta(state.position, _decode_rows(since or {}))
        values = state.take_values()
        if values is None:
            state = await self._reader.load()
            values = state.values
        assert values is not None
        self._handed_over = state.position, state.end_record_offset
        return LogDelta(
            state.position,
            _decode_rows({key: value for key, value in values.items() if value is not None}),
            reload=True,
        )

    def bookmark(self, position: Position) -> int | None:
        """The offset of the end record of a position, if that is the one up to which was read last."""
        is_last_position = (
            self._handed_over is not None and self._handed_over[0] == position and self._handed_over[1] >= 0
        )
        return self._handed_over[1] if is_last_position and self._handed_over is not None else None

    def resume_at(self, position: Position, bookmark: int) -> None:
        """Read on from a position whose rows the node has; what does not follow on it is loaded from the start."""
        self._reader.resume_at(position, bookmark)

    async def wait(self, after: Position, timeout: float) -> None:
        """Return when the state shows another position, at the latest after `timeout` seconds."""
        loop = asyncio.get_running_loop()
        end = loop.time() + timeout
        while self._reader.position == after and not self._closed:
            left = end - loop.time()
            if left <= 0:
                return
            await self._reader.fetch_more(min(left, POLL_SECONDS))

    async def read_stats(self) -> StoreStats:
        """Read the whole topic and count."""
        state = await self._reader.load()
        values = state.values or {}
        live = sum(value is not None for value in values.values())
        appends, oldest = len(state.recent), state.recent.oldest.sequence
        return StoreStats(
            "kafka, writers=owner", END_FORMAT, await self._client.size(), live, len(values) - live, appends, oldest
        )

    async def find_orphan_rows(self) -> tuple[OrphanRow, ...]:
        """Read the whole topic, and return the rows that belong to no transaction, as far as that can be known."""
        state = await self._reader.load(watched=True)
        assert state.orphan_rows is not None
        return state.orphan_rows.find_orphan_rows(state.values or {}, state.position)

    async def compact(self) -> None:
        """Nothing to do: the brokers compact the topic by themselves, all but the segment that is being written."""

    async def close(self) -> None:
        """Leave the group, so that another node takes over at once, and give back what reaches the brokers."""
        async with self._append_turn:
            self._closed = True
            await self._election.close()
            await self._producer.close()
            await self._reader.close()
            await self._client.close()


def _is_next(append: Append, tip: Position) -> bool:
    if append.parent != tip.digest or append.first != tip.sequence + 1:
        return False
    return tip == START or append.identity == tip.identity


def _decode_rows(records: Mapping[bytes, bytes | None]) -> tuple[EncodedRow, ...]:
    return tuple(read_row(key, value) for key, value in records.items())
