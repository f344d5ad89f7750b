"""`kafka://…?writers=owner`: one node owns the log, found through a consumer group, and fences the one before it."""

import asyncio
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager

from treaty.core.commit import START, Append, Position
from treaty.core.limits import APPENDS_KEPT
from treaty.core.rows import Encoded
from treaty.log.capabilities import OrphanRow
from treaty.log.kafka.link import Election, FencedError, HiddenError, Link, Transactions
from treaty.log.kafka.owner.forms import MARK_FORMAT, read_row, transaction
from treaty.log.kafka.owner.reader import Reader
from treaty.log.kafka.owner.view import View
from treaty.log.log import AppendResult, Leader, LogDamagedError, LogDelta, LogUnavailableError, StoreStats

DELETE_RETENTION = 86_400.0
"""Seconds that a topic keeps what says that a row is gone, unless told."""
SEEN_SECONDS = 3.0
"""How long a committed append may take to be seen by its own reader before its fate counts as unknown, and is settled.

Where a broker forgot to end it, it never is, and everybody's commands wait for so long.
"""
STEADY_SECONDS = 1.0
"""After an append that took longer the next one fences first: brokers that hung, or began again, may still send its end once more.

Such an end would commit the first half of what is written then, had that the same epoch of the producer.
"""
POLL_SECONDS = 1.0
"""How long one request for news waits."""


class OwnerLog:
    """A `Log` in a compacted topic that one node at a time may write to.

    Who owns it is a hint. What makes an append true is the transactional id: whoever takes it has ended all work of those
    before it, and then reads to the end, so that nothing can come between what it has read and what it writes. That nothing
    did is seen by the offset at which its first record lands, before it commits: brokers tell readers of what is committed
    an end that lies back while any transaction is open, and one that was just started may have left open one of this log.
    """

    lockable = False
    linearizable = False
    foreign_records = 0
    single_writer = True

    def __init__(
        self,
        link: Link,
        transactions: Transactions,
        election: Election,
        *,
        horizon: float = DELETE_RETENTION,
        kept: int = APPENDS_KEPT,
    ) -> None:
        """Take the ways to the topic; `horizon` is its delete.retention.ms in seconds, `kept` how many appends to remember."""
        self.url = link.url
        self._link = link
        self._transactions = transactions
        self._election = election
        self._reader = Reader(link, horizon=horizon, kept=kept)
        self._turn = asyncio.Lock()
        self._held: int | None = None
        """Generation of the assignment in which this node has fenced and read to the end; None where it has to do so again."""
        self._open = False
        """Whether the fate of an append of this node may be unknown."""
        self._ready: Position | None = None
        self._given: tuple[Position, int] | None = None
        self._closed = False

    # ---------------------------------------------------------------------------------------------------- writing

    async def leader(self) -> Leader | None:
        """Say who owns the log, as far as this node knows."""
        return await self._election.leader()

    async def append(self, append: Append) -> AppendResult:
        """Append as the owner. A conflict after an unknown fate says that the unknown append is settled as well."""
        async with self._turn:
            try:
                return await self._try(append)
            except HiddenError:
                return await self._try(
                    append
                )  # what a broker forgot to end was given up with it: the way may be free now

    async def _try(self, append: Append) -> AppendResult:
        try:
            view = await self._take_over()
        except FencedError as fenced:
            if self._open:
                raise LogUnavailableError(f"{self.url}: another node is taking over") from fenced
            return AppendResult.CONFLICT
        if view is None or not _follows(append, view.position):
            return AppendResult.CONFLICT
        return await self._commit(append, view)

    async def _take_over(self) -> View | None:
        """Fence and read to the end, unless that holds still; None where this node has nothing to write.

        A node that lost the log while an append of its own was open fences too: only that settles it.
        """
        leader = await self._election.leader()
        generation = self._election.generation
        if (leader is None or not leader.mine) and not self._open:
            return None
        view = self._reader.view
        if self._held != generation or view is None:
            self._held = None
            await self._transactions.fence()
            view = await self._reader.look()
            self._held, self._open = generation, False
        return view

    async def _commit(self, append: Append, view: View) -> AppendResult:
        """Write the transaction and see it. Whatever goes wrong, the next append fences first."""
        held, self._held = self._held, None
        began, self._open = asyncio.get_running_loop().time(), True
        try:
            told = await self._transactions.commit(transaction(append), view.end)
        except FencedError:
            self._open = False
            return AppendResult.CONFLICT
        except LogUnavailableError:
            self._open = False
            raise
        if not told or not await self._seen(append.position, view):
            return AppendResult.UNKNOWN
        steady = asyncio.get_running_loop().time() - began <= STEADY_SECONDS
        self._held, self._open = held if steady else None, False
        self._ready = Position(append.identity, append.first - 1, append.parent)
        return AppendResult.ACCEPTED

    async def _seen(self, position: Position, view: View) -> bool:
        """Read until the append is there. False where it does not come in time, or can't be told any more."""
        loop = asyncio.get_running_loop()
        end = loop.time() + SEEN_SECONDS
        try:
            while not view.window.knows(position):
                left = end - loop.time()
                if left <= 0 or self._reader.view is not view:
                    return False
                await self._reader.step(min(left, POLL_SECONDS))
        except (LogUnavailableError, LogDamagedError):
            return False
        return True

    def lock(self) -> AbstractAsyncContextManager[None]:
        """Nobody can keep others out here; the owner alone writes anyway."""
        raise LogUnavailableError(f"{self.url} can't be held: its owner writes")

    # ---------------------------------------------------------------------------------------------------- reading

    async def tip(self) -> Position:
        """Ask the brokers for the end, read up to it, and return the place."""
        return (await self._reader.look()).position

    async def read(self, after: Position) -> LogDelta:
        """Return everything after a place: the rows of recent appends, or all rows where it is not among these."""
        ready, self._ready = self._ready, None
        view = self._reader.view if ready is not None and ready == after else None
        if view is None:
            view = await self._reader.look()
        since = None if after == START else view.window.since(after)
        if after.agrees(view.position) or since is not None:
            view.whole = None
            self._given = view.position, view.marked
            return LogDelta(view.position, _rows(since or {}))
        whole, view.whole = view.whole, None
        if whole is None:
            view = await self._reader.load()
            whole = view.whole
        assert whole is not None
        self._given = view.position, view.marked
        return LogDelta(
            view.position, _rows({key: value for key, value in whole.items() if value is not None}), reload=True
        )

    def bookmark(self, place: Position) -> int | None:
        """The offset of the mark of a place, if that is the one up to which was read last."""
        known = self._given is not None and self._given[0] == place and self._given[1] >= 0
        return self._given[1] if known and self._given is not None else None

    def resume_at(self, place: Position, bookmark: int) -> None:
        """Read on from a place whose rows the node has; what does not follow on it is loaded from the start."""
        self._reader.resume_at(place, bookmark)

    async def wait(self, after: Position, timeout: float) -> None:
        """Return when the view shows another place, at the latest after `timeout` seconds."""
        loop = asyncio.get_running_loop()
        end = loop.time() + timeout
        while self._reader.position == after and not self._closed:
            left = end - loop.time()
            if left <= 0:
                return
            await self._reader.step(min(left, POLL_SECONDS))

    async def read_stats(self) -> StoreStats:
        """Read the whole topic and count."""
        view = await self._reader.load()
        whole = view.whole or {}
        live = sum(value is not None for value in whole.values())
        appends, oldest = len(view.window), view.window.oldest.sequence
        return StoreStats(
            "kafka, writers=owner", MARK_FORMAT, await self._link.size(), live, len(whole) - live, appends, oldest
        )

    async def find_orphan_rows(self) -> tuple[OrphanRow, ...]:
        """Read the whole topic, and return the rows that belong to no transaction, as far as that can be told."""
        view = await self._reader.load(watched=True)
        assert view.watch is not None
        return view.watch.find_orphan_rows(view.whole or {}, view.position)

    async def compact(self) -> None:
        """Nothing to do: the brokers compact the topic by themselves, all but the segment that is being written."""

    async def close(self) -> None:
        """Leave the group, so that another node takes over at once, and give back what reaches the brokers."""
        async with self._turn:
            self._closed = True
            await self._election.close()
            await self._transactions.close()
            await self._reader.close()
            await self._link.close()


def _follows(append: Append, tip: Position) -> bool:
    if append.parent != tip.digest or append.first != tip.sequence + 1:
        return False
    return tip == START or append.identity == tip.identity


def _rows(records: Mapping[bytes, bytes | None]) -> tuple[Encoded, ...]:
    return tuple(read_row(key, value) for key, value in records.items())
