"""`Tail`: the consumer that reads the partition from any offset on, in a thread of its own."""

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
from treaty.log.kafka.broker.trouble import LIBRARY, unavailable
from treaty.log.kafka.link import Batch, CutAwayError, Record
from treaty.log.log import LogUnavailableError

BATCH_RECORDS = 1_000
"""Records of one batch."""
SLICE_SECONDS = 0.1
"""How long the thread waits for records before it looks whether somebody else wants others."""
SHARED_SECONDS = 0.005
"""The same while somebody does."""
STREAMS = 2
"""Consumers of one node: one at the end of the log, and one that reads it from the beginning."""
PREFETCH_KBYTES = 32_768
"""Kilobytes that the library fetches ahead, which also bounds a batch."""
PLAIN_WAIT, COMMITTED_WAIT = 500, 10
"""Milliseconds that a broker keeps a request for records that are not there. Records come at once in any case; but that
there is nothing behind the marker of a transaction is known only from an answer without records, and looks wait for it."""
FETCHING: dict[str, object] = {
    "queued.max.messages.kbytes": PREFETCH_KBYTES,
    "max.partition.fetch.bytes": 8_388_608,
    "fetch.queue.backoff.ms": 20,
}
"""How a whole log is read quickly: by large pieces, and on again soon after the queue was full."""


def consuming(cluster: KafkaCluster, *, committed: bool, own: dict[str, object]) -> dict[str, object]:
    """Settings of a consumer without a group, which never jumps to another offset by itself."""
    words = {
        "group.id": "treaty-reads-without-a-group",
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "enable.partition.eof": True,
        "auto.offset.reset": "error",
        "allow.auto.create.topics": False,
        "isolation.level": "read_committed" if committed else "read_uncommitted",
    }
    return cluster.client_settings({**words, **own})


@dataclass(slots=True)
class _Job:
    offset: int
    deadline: float
    future: "asyncio.Future[Batch]"


@dataclass(slots=True)
class _Stream:
    """A consumer, and the offset of what it gives next."""

    consumer: Any
    at: int


class Tail:
    """Reads for one caller at a time; who waits for records makes room where somebody else asks."""

    def __init__(self, cluster: KafkaCluster, topic: str, where: str, *, committed: bool) -> None:
        """Start the thread. The consumer has no group, and needs no rights on one."""
        self._topic, self._where = topic, where
        self._loop = asyncio.get_running_loop()
        self._heard = LastBrokerError()
        wait = COMMITTED_WAIT if committed else PLAIN_WAIT
        own = {**FETCHING, "fetch.wait.max.ms": wait, "error_cb": self._heard}
        self._settings = consuming(cluster, committed=committed, own=own)
        self._streams: list[_Stream] = []
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="treaty log, reading", daemon=True)
        self._thread.start()

    def fetch(self, offset: int, timeout: float) -> "asyncio.Future[Batch]":
        """Records from an offset on; see `Link.fetch`."""
        if self._closed:
            raise LogUnavailableError("this log was closed")
        future: asyncio.Future[Batch] = self._loop.create_future()
        self._jobs.put(_Job(offset, time.monotonic() + timeout, future))
        return future

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                batch = self._serve(job)
            except BaseException as error:  # noqa: BLE001 - it belongs to the one who asked
                self._tell(job.future.set_exception, job.future, error)
            else:
                if batch is None:
                    self._jobs.put(job)
                else:
                    self._tell(job.future.set_result, job.future, batch)
        while self._streams:
            self._streams.pop().consumer.close()

    def _tell(self, what: Callable[[Any], None], future: "asyncio.Future[Batch]", result: object) -> None:
        def tell() -> None:
            if not future.done():
                what(result)

        with suppress(RuntimeError):  # the loop is gone, and with it everybody who could listen
            self._loop.call_soon_threadsafe(tell)

    def _serve(self, job: _Job) -> Batch | None:
        """The batch of a job; None where it should wait because somebody else asks too."""
        if job.future.cancelled() or self._closed:
            return Batch((), job.offset)
        stream = self._stream(job.offset)
        while True:
            left = job.deadline - time.monotonic()
            slice_ = SLICE_SECONDS if self._jobs.empty() else SHARED_SECONDS
            try:
                batch = self._batch(stream, max(min(left, slice_), 0.0))
            except BaseException:
                self._drop(stream)
                raise
            if batch.next != job.offset or left <= 0 or job.future.cancelled() or self._closed:
                return batch
            if not self._jobs.empty():
                return None

    def _stream(self, offset: int) -> _Stream:
        """The stream that stands at an offset; else a new one, in place of the one that was used longest ago.

        A new consumer costs less than a jump of an old one, which has to wait for the end of its request, and less than
        one that was idle, which asks for the topic a second later.
        """
        found = next((one for one in self._streams if one.at == offset), None)
        if found is not None:
            self._streams.remove(found)
        else:
            while len(self._streams) >= STREAMS:
                self._drop(self._streams[-1])
            try:
                consumer = Consumer(self._settings, logger=LIBRARY)
                consumer.assign([TopicPartition(self._topic, 0, offset)])
            except KafkaException as error:
                raise unavailable(error.args[0], self._where, self._heard) from error
            found = _Stream(consumer, offset)
        self._streams.insert(0, found)
        return found

    def _drop(self, stream: _Stream) -> None:
        self._streams.remove(stream)
        stream.consumer.close()

    def _batch(self, stream: _Stream, timeout: float) -> Batch:
        """What comes next within a time, and all that is there behind it; past gaps that end where the partition does."""
        first = stream.consumer.poll(timeout)
        messages: list[Any] = [] if first is None else [first, *stream.consumer.consume(BATCH_RECORDS - 1, 0)]
        records: list[Record] = []
        for message in messages:
            error = message.error()
            if error is None:
                headers = tuple((name, content or b"") for name, content in message.headers() or ())
                records.append(Record(message.offset(), message.key(), message.value(), headers))
                stream.at = message.offset() + 1
            elif error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 (that is its name)
                stream.at = max(stream.at, message.offset())
            elif error.name() == "GROUP_AUTHORIZATION_FAILED":
                continue  # the library asks for a group's coordinator, which is never needed here
            elif records:
                self._drop(stream)  # a new one, asked for what comes next, will say so again
                break
            elif error.code() == KafkaError._AUTO_OFFSET_RESET:  # noqa: SLF001 (that is its name)
                raise CutAwayError(f"{self._where} has no offset {stream.at}: {error.str()}")
            else:
                raise unavailable(error, self._where, self._heard)
        return Batch(tuple(records), stream.at)

    async def close(self) -> None:
        """End the thread; who still waits gets an empty batch."""
        if not self._closed:
            self._closed = True
            self._jobs.put(None)
            await asyncio.to_thread(self._thread.join)
