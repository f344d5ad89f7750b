"""`PartitionReader`: the consumer that reads the partition from any offset on, in a thread of its own."""

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from treaty.core.kafka import KafkaCluster, LastBrokerError
from treaty.log.kafka.broker.library import LIBRARY_LOGGER, make_consumer_settings, make_unavailable_error
from treaty.log.kafka.partition import OffsetOutOfRangeError, PartitionRecord, RecordBatch
from treaty.log.log import LogUnavailableError

BATCH_RECORDS = 1_000
"""Records of one batch."""
POLL_SECONDS = 0.1
"""How long the thread waits for records before it looks whether somebody else wants others."""
SHARED_POLL_SECONDS = 0.005
"""The same while somebody does."""
MAX_CONSUMERS = 2
"""Consumers of one node: one at the end of the log, and one that reads it from the beginning."""
PREFETCH_KBYTES = 32_768
"""Kilobytes that the library fetches ahead, which also bounds a batch."""
PLAIN_WAIT, COMMITTED_WAIT = 500, 10
"""Milliseconds that a broker keeps a request for records that are not there. Records come at once in any case; but that
there is nothing behind the marker of a transaction is known only from an answer without records, and looks wait for it."""
FETCH_SETTINGS: dict[str, object] = {
    "queued.max.messages.kbytes": PREFETCH_KBYTES,
    "max.partition.fetch.bytes": 8_388_608,
    "fetch.queue.backoff.ms": 20,
}
"""How a whole log is read quickly: by large pieces, and on again soon after the queue was full."""


@dataclass(slots=True)
class _Fetch:
    offset: int
    deadline: float
    future: "asyncio.Future[RecordBatch]"


@dataclass(slots=True)
class _ConsumerAt:
    """A consumer, and the offset of what it gives next."""

    consumer: Any
    at: int


class PartitionReader:
    """Reads for one caller at a time; who waits for records makes room where somebody else asks."""

    def __init__(self, cluster: KafkaCluster, topic: str, where: str, *, committed: bool) -> None:
        """Start the thread. The consumer has no group, and needs no rights on one."""
        self._topic, self._where = topic, where
        self._loop = asyncio.get_running_loop()
        self._heard = LastBrokerError()
        wait = COMMITTED_WAIT if committed else PLAIN_WAIT
        own = {**FETCH_SETTINGS, "fetch.wait.max.ms": wait, "error_cb": self._heard}
        self._settings = make_consumer_settings(cluster, committed=committed, own=own)
        self._consumers: list[_ConsumerAt] = []
        self._fetches: SimpleQueue[_Fetch | None] = SimpleQueue()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="treaty log, reading", daemon=True)
        self._thread.start()

    def fetch(self, offset: int, timeout: float) -> "asyncio.Future[RecordBatch]":
        """Records from an offset on; see `PartitionClient.fetch`."""
        if self._closed:
            raise LogUnavailableError("this log was closed")
        future: asyncio.Future[RecordBatch] = self._loop.create_future()
        self._fetches.put(_Fetch(offset, time.monotonic() + timeout, future))
        return future

    def _run(self) -> None:
        while (job := self._fetches.get()) is not None:
            try:
                batch = self._serve(job)
            except BaseException as error:  # noqa: BLE001 - it belongs to the one who asked
                self._deliver(job.future.set_exception, job.future, error)
            else:
                if batch is None:
                    self._fetches.put(job)
                else:
                    self._deliver(job.future.set_result, job.future, batch)
        while self._consumers:
            self._consumers.pop().consumer.close()

    def _deliver(self, what: Callable[[Any], None], future: "asyncio.Future[RecordBatch]", result: object) -> None:
        def deliver() -> None:
            if not future.done():
                what(result)

        with suppress(RuntimeError):  # the loop is gone, and with it everybody who could listen
            self._loop.call_soon_threadsafe(deliver)

    def _serve(self, job: _Fetch) -> RecordBatch | None:
        """The batch of a job; None where it should wait because somebody else asks too."""
        if job.future.cancelled() or self._closed:
            return RecordBatch((), job.offset)
        stream = self._consumer_at(job.offset)
        while True:
            left = job.deadline - time.monotonic()
            slice_ = POLL_SECONDS if self._fetches.empty() else SHARED_POLL_SECONDS
            try:
                batch = self._poll_batch(stream, max(min(left, slice_), 0.0))
            except BaseException:
                self._drop(stream)
                raise
            if batch.next != job.offset or left <= 0 or job.future.cancelled() or self._closed:
                return batch
            if not self._fetches.empty():
                return None

    def _consumer_at(self, offset: int) -> _ConsumerAt:
        """The stream that stands at an offset; else a new one, in place of the one that was used longest ago.

        A new consumer costs less than a jump of an old one, which has to wait for the end of its request, and less than
        one that was idle, which asks for the topic a second later.
        """
        standing = next((consumer for consumer in self._consumers if consumer.at == offset), None)
        if standing is not None:
            self._consumers.remove(standing)
        else:
            while len(self._consumers) >= MAX_CONSUMERS:
                self._drop(self._consumers[-1])
            try:
                consumer = Consumer(self._settings, logger=LIBRARY_LOGGER)
                consumer.assign([TopicPartition(self._topic, 0, offset)])
            except KafkaException as error:
                raise make_unavailable_error(error.args[0], self._where, self._heard) from error
            standing = _ConsumerAt(consumer, offset)
        self._consumers.insert(0, standing)
        return standing

    def _drop(self, stream: _ConsumerAt) -> None:
        self._consumers.remove(stream)
        stream.consumer.close()

    def _poll_batch(self, stream: _ConsumerAt, timeout: float) -> RecordBatch:
        """What comes next within a time, and all that is there behind it; past gaps that end where the partition does."""
        first = stream.consumer.poll(timeout)
        messages: list[Any] = [] if first is None else [first, *stream.consumer.consume(BATCH_RECORDS - 1, 0)]
        records: list[PartitionRecord] = []
        for message in messages:
            error = message.error()
            if error is None:
                headers = tuple((name, content or b"") for name, content in message.headers() or ())
                records.append(PartitionRecord(message.offset(), message.key(), message.value(), headers))
                stream.at = message.offset() + 1
            elif error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 (that is its name)
                stream.at = max(stream.at, message.offset())
            elif error.name() == "GROUP_AUTHORIZATION_FAILED":
                continue  # the library asks for a group's coordinator, which is never needed here
            elif records:
                self._drop(stream)  # a new one, asked for what comes next, will say so again
                break
            elif error.code() == KafkaError._AUTO_OFFSET_RESET:  # noqa: SLF001 (that is its name)
                raise OffsetOutOfRangeError(f"{self._where} has no offset {stream.at}: {error.str()}")
            else:
                raise make_unavailable_error(error, self._where, self._heard)
        return RecordBatch(tuple(records), stream.at)

    async def close(self) -> None:
        """End the thread; who still waits gets an empty batch."""
        if not self._closed:
            self._closed = True
            self._fetches.put(None)
            await asyncio.to_thread(self._thread.join)
