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
from treaty.log.upgrade import topic_records
from treaty.log.upgrade.old_format import (
    OldLogError,
    OldPosition,
    OldRow,
    OldState,
    make_concurrent_write_error,
    make_old_append,
)

FETCH_SECONDS = 5.0
"""How long records may stay away that the topic's end says are there."""
TRIES = 5
"""Times that a topic is read again because its front was cut meanwhile, or an append did not come back."""


async def open_old_topic(url: str, settings: Pairs) -> "OldMultiWriterLog | OldSingleWriterLog":
    """Reach the topic that a URL names. Raises `KafkaSettingsError`, `LogUnavailableError` or `LogDamagedError`."""
    topic_url = parse_topic_url(url, settings)
    topic = LogTopic(topic_url)
    try:
        await topic.prepare(create=False, is_command=True)
        client = KafkaPartitionClient(topic)
    except BaseException:
        await topic.close()
        raise
    return (
        OldSingleWriterLog(client, KafkaTransactionalProducer(topic_url))
        if topic_url.writers == "owner"
        else OldMultiWriterLog(client)
    )


async def _fetch_records(client: PartitionClient, first: int, end: int) -> AsyncIterator[PartitionRecord]:
    offset = first
    while offset < end:
        batch = await client.fetch(offset, FETCH_SECONDS)
        if batch.next <= offset:
            raise LogUnavailableError(f"{client.url} ends at offset {end}, and offset {offset} does not come")
        offset = batch.next
        for record in batch.records:
            yield record


class OldMultiWriterLog:
    """An `OldLog` in a topic with any writer."""

    living = True

    def __init__(self, client: PartitionClient) -> None:
        """Take the way to the topic."""
        self.url, self._client = client.url, client

    async def read(self) -> OldState:
        """The state at the end as it is when this call begins, or later."""
        for _ in range(TRIES):
            ends = await self._client.fetch_offset_range()
            try:
                records = [
                    (one.offset, one.value or b"") async for one in _fetch_records(self._client, ends.first, ends.end)
                ]
            except OffsetOutOfRangeError:
                continue
            position, rows = topic_records.read_multi_writer_state(records, ends.first)
            return OldState(self.url, position, rows)
        raise LogUnavailableError(f"{self.url}: its front was cut away again and again while it was read")

    async def write(self, base: OldPosition, row: OldRow, time: int) -> None:
        """Append one row: it counts where it is the first record on `base`, which reading it back shows."""
        append = make_old_append(base, os.urandom(16), [row], time)
        for _ in range(TRIES):
            await self._client.send(append.record)
            position = (await self.read()).position
            if position == append.position:
                return
            if position != base:
                raise make_concurrent_write_error(self.url)
        raise LogUnavailableError(f"{self.url}: the record that seals it did not come back")

    async def close(self) -> None:
        """Give back connections and threads."""
        await self._client.close()


class OldSingleWriterLog:
    """An `OldLog` in a compacted topic with one owner."""

    living = True

    def __init__(self, client: PartitionClient, producer: TransactionalProducer) -> None:
        """Take the ways to the topic."""
        self.url, self._client, self._producer = client.url, client, producer

    async def read(self) -> OldState:
        """The state at the end of what is committed as it is when this call begins, or later.

        Records that compaction takes meanwhile have later ones with the same key, which lie before an end that is asked
        for afterwards: so it reads on until the end stays where it is.
        """
        records: dict[int, PartitionRecord] = {}
        ends, at = await self._client.fetch_offset_range(), 0
        if ends.first:
            raise OldLogError(
                f"{self.url} has lost its front: it begins at offset {ends.first}; restore a dump with the old version"
            )
        while at < ends.end:
            async for one in _fetch_records(self._client, at, ends.end):
                records[one.offset] = one
            at, ends = ends.end, await self._client.fetch_offset_range()
        position, rows = topic_records.read_single_writer_state(
            (one.key or b"", one.value) for _, one in sorted(records.items())
        )
        return OldState(self.url, position, rows)

    async def write(self, base: OldPosition, row: OldRow, time: int) -> None:
        """Append one row as the owner: who owned the log before can't commit any more from here on."""
        try:
            await self._producer.fence()
            if (await self.read()).position != base:
                raise make_concurrent_write_error(self.url)
            at = (await self._client.fetch_offset_range()).end
            append = make_old_append(base, os.urandom(16), [row], time)
            committed = await self._producer.commit(topic_records.make_transaction(base, append, row), at)
        except ProducerFencedError as fenced:
            raise make_concurrent_write_error(self.url) from fenced
        if not committed and (await self._read_settled()) != append.position:
            raise LogUnavailableError(f"{self.url}: whether it is sealed is not known; run the command again")

    async def _read_settled(self) -> OldPosition:
        """The end, once nothing of this owner can come any more."""
        await self._producer.fence()
        return (await self.read()).position

    async def close(self) -> None:
        """Give back connections and threads."""
        await self._producer.close()
        await self._client.close()
