"""`Asker`: questions to the brokers about the partition, over connections that no long fetch stands in the way of."""

import asyncio
import time
from contextlib import suppress
from typing import Any, TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from treaty.core.kafka import LastBrokerError
from treaty.log.concurrency import SerialExecutor
from treaty.log.kafka.broker.tail import consuming
from treaty.log.kafka.broker.topic import Topic
from treaty.log.kafka.broker.trouble import JOURNAL, LIBRARY, told, unavailable
from treaty.log.kafka.link import Ends
from treaty.log.log import LogUnavailableError

T = TypeVar("T")

ASK_SECONDS = 5.0
"""How long a question may take; one that a change of leaders spoils is asked again within that."""
PAUSE_SECONDS = 0.1
"""Between two tries of a question."""
UNKNOWN = frozenset({KafkaError._UNKNOWN_PARTITION, KafkaError._UNKNOWN_TOPIC})  # noqa: SLF001 - the library's public names
"""What the library says of a topic that a broker did not know while it began again. It goes on saying so from memory."""


class Asker:
    """Asks for the ends of the partition, and for the deletion of a prefix."""

    def __init__(self, topic: Topic, *, committed: bool) -> None:
        """Connect. A broker answers one request of a connection after the other, so this one is not the reader's."""
        cluster = topic.place.cluster
        self._topic, self._where, self._admin = topic.place.topic, cluster.servers, topic.admin
        self._heard = LastBrokerError()
        own: dict[str, object] = {"error_cb": self._heard}
        self._consumer = Consumer(consuming(cluster, committed=committed, own=own), logger=LIBRARY)
        self._executor = SerialExecutor("treaty log, asking")

    async def ends(self) -> Ends:
        """The ends as the partition's leader says them, asked for after this call began."""
        return await self._executor.submit(self._ends)

    def _ends(self) -> Ends:
        limit, refreshed = time.monotonic() + ASK_SECONDS, False
        while True:
            place = TopicPartition(self._topic, 0)
            try:
                first, end = self._consumer.get_watermark_offsets(place, timeout=max(limit - time.monotonic(), 0.1))
            except KafkaException as error:
                if error.args[0].code() in UNKNOWN and not refreshed:
                    refreshed = True
                    self._refresh()
                elif not error.args[0].retriable() or time.monotonic() > limit:
                    self._consumer.poll(0)  # the library tells from here only what it has heard
                    raise unavailable(error.args[0], self._where, self._heard) from error
                time.sleep(PAUSE_SECONDS)
            else:
                return Ends(first, end)

    def _refresh(self) -> None:
        """Have the library ask the brokers about the topic again; by itself it does so every five minutes."""
        JOURNAL.info("the brokers did not know the topic %s; they are asked for it again", self._topic)
        with suppress(KafkaException):
            self._consumer.list_topics(self._topic, timeout=ASK_SECONDS)

    async def cut(self, before: int) -> None:
        """Delete the prefix up to an offset; one that is gone already is no trouble."""
        with told(self._where, self._heard):
            place = TopicPartition(self._topic, 0, before)
            try:
                await _result(self._admin.delete_records([place], request_timeout=ASK_SECONDS * 2)[place])
            except KafkaException as error:
                if error.args[0].name() != "OFFSET_OUT_OF_RANGE" or (await self.ends()).first < before:
                    raise

    async def close(self) -> None:
        """Give the connections back."""
        try:
            closing = self._executor.submit(self._consumer.close)
        except LogUnavailableError:
            return
        self._executor.close()
        await closing


async def _result(future: Any) -> Any:
    """The answer to a question of the admin client."""
    return await asyncio.wrap_future(future)
