"""The client of a log's partition, and opening the log of a URL."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from treaty.core.kafka import LastBrokerError, is_retriable
from treaty.core.schema import Pairs
from treaty.log.concurrency import SerialExecutor
from treaty.log.kafka.broker.election import GroupElection, ObserverElection, TakeoverElection
from treaty.log.kafka.broker.library import (
    LIBRARY_LOGGER,
    LOGGER,
    make_consumer_settings,
    make_unavailable_error,
    translate_errors,
)
from treaty.log.kafka.broker.reader import PartitionReader
from treaty.log.kafka.broker.sender import RecordSender
from treaty.log.kafka.broker.topic import LogTopic
from treaty.log.kafka.broker.topic_config import parse_topic_url
from treaty.log.kafka.broker.transactions import KafkaTransactionalProducer
from treaty.log.kafka.multi_writer.log import MultiWriterLog
from treaty.log.kafka.partition import OffsetOutOfRangeError, OffsetRange, RecordBatch
from treaty.log.kafka.single_writer.log import SingleWriterLog
from treaty.log.log import Log, LogUnavailableError

T = TypeVar("T")

ASK_SECONDS = 5.0
"""How long a question may take; one that a change of leaders spoils is asked again within that."""
PAUSE_SECONDS = 0.1
"""Between two tries of a question."""
UNKNOWN_TOPIC_CODES = frozenset({KafkaError._UNKNOWN_PARTITION, KafkaError._UNKNOWN_TOPIC})  # noqa: SLF001 - the library's public names
"""What the library says of a topic that a broker did not know while it began again. It continues saying so from memory."""


class PartitionAdmin:
    """Asks for the ends of the partition, and for the deletion of a prefix."""

    def __init__(self, topic: LogTopic, *, committed: bool) -> None:
        """Connect. A broker answers one request of a connection after the other, so this one is not the reader's."""
        cluster = topic.topic_url.cluster
        self._topic, self._where, self._log_topic = topic.topic_url.topic, cluster.servers, topic
        self._heard = LastBrokerError()
        own: dict[str, object] = {"error_cb": self._heard}
        self._consumer = Consumer(make_consumer_settings(cluster, committed=committed, own=own), logger=LIBRARY_LOGGER)
        self._executor = SerialExecutor("treaty log, asking")

    async def fetch_offset_range(self) -> OffsetRange:
        """The ends as the partition's leader says them, asked for after this call began."""
        return await self._executor.submit(self._ends)

    def _ends(self) -> OffsetRange:
        limit, refreshed = time.monotonic() + ASK_SECONDS, False
        while True:
            partition = TopicPartition(self._topic, 0)
            try:
                first, end = self._consumer.get_watermark_offsets(partition, timeout=max(limit - time.monotonic(), 0.1))
            except KafkaException as error:
                if error.args[0].code() in UNKNOWN_TOPIC_CODES and not refreshed:
                    refreshed = True
                    self._refresh_topic()
                elif not is_retriable(error.args[0]) or time.monotonic() > limit:
                    self._consumer.poll(0)  # the library tells from here only what it has heard
                    raise make_unavailable_error(error.args[0], self._where, self._heard) from error
                time.sleep(PAUSE_SECONDS)
            else:
                return OffsetRange(first, end)

    def _refresh_topic(self) -> None:
        """Have the library ask the brokers about the topic again; by itself it does so every five minutes."""
        LOGGER.info("the brokers did not know the topic %s; they are asked for it again", self._topic)
        with suppress(KafkaException):
            self._consumer.list_topics(self._topic, timeout=ASK_SECONDS)

    async def delete_records(self, before: int) -> None:
        """Delete the prefix up to an offset; one that is gone already is no error."""
        with translate_errors(self._where, self._heard):
            partition = TopicPartition(self._topic, 0, before)
            try:
                admin = self._log_topic.admin
                await _await_result(admin.delete_records([partition], request_timeout=ASK_SECONDS * 2)[partition])
            except KafkaException as error:
                if error.args[0].name() != "OFFSET_OUT_OF_RANGE" or (await self.fetch_offset_range()).first < before:
                    raise

    async def close(self) -> None:
        """Give the connections back."""
        try:
            closing = self._executor.submit(self._consumer.close)
        except LogUnavailableError:
            return
        self._executor.close()
        await closing


async def _await_result(future: Any) -> Any:
    """The answer to a question of the admin client."""
    return await asyncio.wrap_future(future)


class KafkaPartitionClient:
    """A `PartitionClient`: one thread reads, one sends, one asks, and the event loop waits for none of them."""

    def __init__(self, topic: LogTopic) -> None:
        """Connect to a topic that is ready, and is closed with this client; a log of one owner reads what is committed
        only.
        """
        topic_url = topic.topic_url
        committed = topic_url.writers == "owner"
        where = topic_url.cluster.servers
        self._url = topic_url.url
        self._sender = RecordSender(topic_url.cluster, topic_url.topic, where)
        self._reader = PartitionReader(topic_url.cluster, topic_url.topic, where, committed=committed)
        self._topic = topic
        self._admin_client = PartitionAdmin(topic, committed=committed)

    @property
    def url(self) -> str:
        """URL of the log, without secrets."""
        return self._url

    async def send(
        self, value: bytes, key: bytes | None = None, headers: Sequence[tuple[str, bytes]] = ()
    ) -> int | None:
        """Produce one record: its offset, or None where that is not known."""
        await self._topic.check_same()
        return await self._sender.send(value, key, headers)

    async def fetch_offset_range(self) -> OffsetRange:
        """Ask the leader, with a request that begins after this call."""
        await self._topic.check_same()
        return await self._admin_client.fetch_offset_range()

    async def fetch(self, offset: int, timeout: float) -> RecordBatch:
        """Records from an offset on. Raises `OffsetOutOfRangeError`, and `LogDamagedError` where it is another topic."""
        await self._topic.check_same()
        try:
            return await self._reader.fetch(offset, timeout)
        except OffsetOutOfRangeError:
            await self._topic.check_same(now=True)
            raise

    async def delete_records(self, before: int) -> None:
        """Delete the prefix up to an offset."""
        await self._topic.check_same()
        await self._admin_client.delete_records(before)

    async def size(self) -> int:
        """The library does not report the size of a partition."""
        return -1

    async def close(self) -> None:
        """Give back connections and threads."""
        await self._sender.close()
        await self._reader.close()
        await self._admin_client.close()
        await self._topic.close()


async def open_kafka_log(url: str, settings: Pairs, *, address: str, create: bool, is_command: bool) -> Log:
    """Open the log of a URL; see `LogOptions` for the rest.

    A topic whose front was cut is read at once: by a snapshot, or the front is lost and the log refused.
    Raises `KafkaSettingsError` for a URL or a setting that is none, `LogUnavailableError` and `LogDamagedError`.
    """
    topic = LogTopic(parse_topic_url(url, settings))
    close = topic.close
    try:
        await topic.prepare(create=create, is_command=is_command)
        link = KafkaPartitionClient(topic)
        close = link.close
        log = _make_log(link, topic, address, is_command=is_command)
        close = log.close
        if (await link.fetch_offset_range()).first > 0:
            await log.tip()
    except BaseException:
        await close()
        raise
    return log


def _make_log(link: KafkaPartitionClient, topic: LogTopic, address: str, *, is_command: bool) -> Log:
    topic_url = topic.topic_url
    if topic_url.writers == "any":
        return MultiWriterLog(link, address=address)
    election = (
        TakeoverElection()
        if is_command
        else GroupElection(topic_url, address)
        if address
        else ObserverElection(topic_url)
    )
    horizon = int(topic.settings["delete.retention.ms"]) / 1000
    return SingleWriterLog(link, KafkaTransactionalProducer(topic_url), election, horizon=horizon)
