"""Topics of format 1 on real brokers: read whole, and sealed by one more append."""

import os
from collections.abc import AsyncIterator

from treaty.core.schema import Pairs
from treaty.log.kafka.broker.client import KafkaPartitionClient
from treaty.log.kafka.broker.topic import LogTopic
from treaty.log.kafka.broker.topic_config import parse_topic_url
from treaty.log.kafka.broker.transactions import KafkaTransactionalProducer
from treaty.log.kafka.partition import (
    OffsetOutOfRangeError,
    PartitionClient,
    PartitionRecord,
    ProducerFencedError,
    TransactionalProducer,
)
from treaty.log.log import LogUnavailableError
from treaty.log.upgrade import compacted, partition
from treaty.log.upgrade.old import OldLogError, OldPlace, OldRow, OldState, make_append, overtaken

FETCH_SECONDS = 5.0
"""How long records may stay away that the topic's end says are there."""
TRIES = 5
"""Times that a topic is read anew because its front was cut meanwhile, or an append did not come back."""


async def open_topic(url: str, settings: Pairs) -> "OldAny | OldOwner":
    """Reach the topic that a URL names. Raises `KafkaSettingsError`, `LogUnavailableError` or `LogDamagedError`."""
    place = parse_topic_url(url, settings)
    topic = LogTopic(place)
    await topic.prepare(create=False, is_command=True)
    link = KafkaPartitionClient(topic)
    return OldOwner(link, KafkaTransactionalProducer(place)) if place.writers == "owner" else OldAny(link)


async def _records(link: PartitionClient, first: int, end: int) -> AsyncIterator[PartitionRecord]:
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

    def __init__(self, link: PartitionClient) -> None:
        """Take the way to the topic."""
        self.url, self._link = link.url, link

    async def read(self) -> OldState:
        """The state at the end as it is when this call begins, or later."""
        for _ in range(TRIES):
            ends = await self._link.fetch_offset_range()
            try:
                records = [(one.offset, one.value or b"") async for one in _records(self._link, ends.first, ends.end)]
            except OffsetOutOfRangeError:
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

    def __init__(self, link: PartitionClient, transactions: TransactionalProducer) -> None:
        """Take the ways to the topic."""
        self.url, self._link, self._transactions = link.url, link, transactions

    async def read(self) -> OldState:
        """The state at the end of what is committed as it is when this call begins, or later.

        Records that compaction takes meanwhile have later ones with the same key, which lie before an end that is asked for
        afterwards: so it reads on until the end stays where it is.
        """
        records: dict[int, PartitionRecord] = {}
        ends, at = await self._link.fetch_offset_range(), 0
        if ends.first:
            raise OldLogError(
                f"{self.url} has lost its front: it begins at offset {ends.first}; restore a dump with the old version"
            )
        while at < ends.end:
            async for one in _records(self._link, at, ends.end):
                records[one.offset] = one
            at, ends = ends.end, await self._link.fetch_offset_range()
        place, rows = compacted.state_of((one.key or b"", one.value) for _, one in sorted(records.items()))
        return OldState(self.url, place, rows)

    async def write(self, base: OldPlace, row: OldRow, time: int) -> None:
        """Append one row as the owner: whoever owned the log before can't commit any more from here on."""
        try:
            await self._transactions.fence()
            if (await self.read()).place != base:
                raise overtaken(self.url)
            at = (await self._link.fetch_offset_range()).end
            append = make_append(base, os.urandom(16), [row], time)
            told = await self._transactions.commit(compacted.transaction(base, append, row), at)
        except ProducerFencedError as fenced:
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
