"""Topics of format 1 on real brokers: read whole, and sealed by one more append."""

import os
from collections.abc import AsyncIterator

from treaty.core.schema import Pairs
from treaty.log.kafka.broker.link import BrokerLink
from treaty.log.kafka.broker.place import place_of
from treaty.log.kafka.broker.topic import Topic
from treaty.log.kafka.broker.transactions import BrokerTransactions
from treaty.log.kafka.link import CutAwayError, FencedError, Link, Record, Transactions
from treaty.log.log import LogUnavailableError
from treaty.log.upgrade import compacted, partition
from treaty.log.upgrade.old import OldLogError, OldPlace, OldRow, OldState, make_append, overtaken

FETCH_SECONDS = 5.0
"""How long records may stay away that the topic's end says are there."""
TRIES = 5
"""Times that a topic is read anew because its front was cut meanwhile, or an append did not come back."""


async def open_topic(url: str, settings: Pairs) -> "OldAny | OldOwner":
    """Reach the topic that a URL names. Raises `ClusterError`, `LogUnavailableError` or `LogDamagedError`."""
    place = place_of(url, settings)
    topic = Topic(place)
    await topic.ready(make=False, visit=True)
    link = BrokerLink(topic)
    return OldOwner(link, BrokerTransactions(place)) if place.writers == "owner" else OldAny(link)


async def _records(link: Link, first: int, end: int) -> AsyncIterator[Record]:
    offset = first
    while offset < end:
        batch = await link.fetch(offset, FETCH_SECONDS)
        if batch.next <= offset:
            raise LogUnavailableError(f"{link.url} ends at offset {end}, and offset {offset} does not come")
        offset = batch.next
        for record in batch.records:
            yield record


class OldAny:
    """An `OldLog` in a topic with any writer."""

    living = True

    def __init__(self, link: Link) -> None:
        """Take the way to the topic."""
        self.url, self._link = link.url, link

    async def read(self) -> OldState:
        """The state at the end as it is when this call begins, or later."""
        for _ in range(TRIES):
            ends = await self._link.ends()
            try:
                records = [(one.offset, one.value or b"") async for one in _records(self._link, ends.first, ends.end)]
            except CutAwayError:
                continue
            place, rows = partition.state_of(records, ends.first)
            return OldState(self.url, place, rows)
        raise LogUnavailableError(f"{self.url}: its front was cut away again and again while it was read")

    async def write(self, base: OldPlace, row: OldRow, time: int) -> None:
        """Append one row: it counts where it is the first record on `base`, which reading it back tells."""
        append = make_append(base, os.urandom(16), [row], time)
        for _ in range(TRIES):
            await self._link.send(append.record)
            place = (await self.read()).place
            if place == append.place:
                return
            if place != base:
                raise overtaken(self.url)
        raise LogUnavailableError(f"{self.url}: the record that seals it did not come back")

    async def close(self) -> None:
        """Give back connections and threads."""
        await self._link.close()


class OldOwner:
    """An `OldLog` in a compacted topic with one owner."""

    living = True

    def __init__(self, link: Link, transactions: Transactions) -> None:
        """Take the ways to the topic."""
        self.url, self._link, self._transactions = link.url, link, transactions

    async def read(self) -> OldState:
        """The state at the end of what is committed as it is when this call begins, or later.

        Records that compaction takes meanwhile have later ones with the same key, which lie before an end that is asked for
        afterwards: so it reads on until the end stays where it is.
        """
        records: dict[int, Record] = {}
        ends, at = await self._link.ends(), 0
        if ends.first:
            raise OldLogError(
                f"{self.url} has lost its front: it begins at offset {ends.first}; restore a dump with the old version"
            )
        while at < ends.end:
            async for one in _records(self._link, at, ends.end):
                records[one.offset] = one
            at, ends = ends.end, await self._link.ends()
        place, rows = compacted.state_of((one.key or b"", one.value) for _, one in sorted(records.items()))
        return OldState(self.url, place, rows)

    async def write(self, base: OldPlace, row: OldRow, time: int) -> None:
        """Append one row as the owner: whoever owned the log before can't commit any more from here on."""
        try:
            await self._transactions.fence()
            if (await self.read()).place != base:
                raise overtaken(self.url)
            at = (await self._link.ends()).end
            append = make_append(base, os.urandom(16), [row], time)
            told = await self._transactions.commit(compacted.transaction(base, append, row), at)
        except FencedError as fenced:
            raise overtaken(self.url) from fenced
        if not told and (await self._settled()) != append.place:
            raise LogUnavailableError(f"{self.url}: nobody knows whether it is sealed; run the command again")

    async def _settled(self) -> OldPlace:
        """The end, once nothing of this owner can come any more."""
        await self._transactions.fence()
        return (await self.read()).place

    async def close(self) -> None:
        """Give back connections and threads."""
        await self._transactions.close()
        await self._link.close()
