"""Reads records of a topic, from a start position to its end or without end. No consumer group is used, no offset
committed.

The end is found by the consumer's position, not by the offset of the last record: after compaction or transactions the
last offsets of a partition may have no record.
"""

import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from treaty.client.kafka.library import LOGGER, KafkaClientError, load_library, make_client_error, translate_errors
from treaty.client.kafka.offsets import BEGINNING, StartOffset
from treaty.client.serializers.frames import Headers
from treaty.core.kafka import KafkaCluster, LastBrokerError

SECONDS = 30.0
"""The longest time without a record before the end, in seconds."""
ASK = 10.0
"""Time-out of metadata requests, in seconds."""
BATCH = 500
"""Records fetched at once."""
IDLE = 0.25
"""Seconds after which the caller gets control while no records arrive."""


@dataclass(frozen=True, slots=True)
class TopicRecord:
    """One record of a topic; `time` is in milliseconds since 1970, or None where it has none."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Headers = ()
    time: int | None = None


@dataclass(frozen=True, slots=True)
class ReadRange:
    """The part of a topic to read."""

    start: StartOffset = BEGINNING
    partitions: tuple[int, ...] = ()
    """Partitions; empty for all."""
    follow: bool = False
    """Continue past the end, without end."""
    committed: bool = True
    """Skip records of aborted and open transactions."""


@dataclass(slots=True)
class _EndOffsets:
    """End offsets by partition; removed when reached."""

    left: dict[int, int] = field(default_factory=dict)

    def note_position(self, partition: int, position: int) -> None:
        if partition in self.left and position >= self.left[partition]:
            del self.left[partition]


def read_records(cluster: KafkaCluster, topic: str, span: ReadRange = ReadRange()) -> Generator[TopicRecord | None]:
    """Yield the records of a topic, and None now and then while no records arrive. Raises `KafkaClientError` if the
    topic does not exist, or no record arrives for `SECONDS` before the end.
    """
    kafka = load_library()
    heard = LastBrokerError()
    own: dict[str, object] = {
        "group.id": "treaty-reads-without-a-group",
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "enable.partition.eof": True,
        "auto.offset.reset": "error",
        "allow.auto.create.topics": False,
        "isolation.level": "read_committed" if span.committed else "read_uncommitted",
        "error_cb": heard,
    }
    with (
        translate_errors(kafka, cluster.servers, heard),
        closing(kafka.Consumer(cluster.client_settings(own), logger=LOGGER)) as consumer,
    ):
        partitions = span.partitions or partitions_of(kafka, consumer, cluster, topic)
        ends = _EndOffsets()
        begin = [_begin(kafka, consumer, kafka.TopicPartition(topic, one), span.start, ends) for one in partitions]
        consumer.assign(begin)
        yield from _records(kafka, consumer, cluster, heard, None if span.follow else ends)


@dataclass(frozen=True, slots=True)
class TopicRange:
    """Offsets of one partition of a topic, from `start` to before `end`."""

    topic: str
    partition: int
    start: int
    end: int


def read_range(cluster: KafkaCluster, span: TopicRange, *, lossy: bool = False) -> Generator[TopicRecord]:
    """Yield the committed records of a range, which may be fewer than its offsets.

    Raises `KafkaClientError` if nothing arrives for `SECONDS` before the end, and if the first offset was deleted; with `lossy` the range then
    begins at the first record that is left.
    """
    kafka = load_library()
    heard = LastBrokerError()
    own: dict[str, object] = {
        "group.id": "treaty-reads-without-a-group",
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "enable.partition.eof": True,
        "auto.offset.reset": "earliest" if lossy else "error",
        "allow.auto.create.topics": False,
        "isolation.level": "read_committed",
        "error_cb": heard,
    }
    with (
        translate_errors(kafka, cluster.servers, heard),
        closing(kafka.Consumer(cluster.client_settings(own), logger=LOGGER)) as consumer,
    ):
        consumer.assign([kafka.TopicPartition(span.topic, span.partition, span.start)])
        ends = _EndOffsets({span.partition: span.end})
        for record in _records(kafka, consumer, cluster, heard, ends):
            if record is not None and record.offset < span.end:
                yield record


def _records(
    kafka: ModuleType, consumer: Any, cluster: KafkaCluster, heard: LastBrokerError, ends: _EndOffsets | None
) -> Iterator[TopicRecord | None]:
    last = time.monotonic()
    while ends is None or ends.left:
        batch = consumer.consume(BATCH, IDLE)
        if batch:
            last = time.monotonic()
        elif ends is not None and time.monotonic() - last > SECONDS:
            why = f": {heard.last}" if heard.last else ""
            raise KafkaClientError(
                f"nothing came from {cluster.servers} for {SECONDS:.0f} s{why}; try again", is_retriable=True
            )
        else:
            yield None
        for message in batch:
            error = message.error()
            if error is None:
                record = make_record(message)
                if ends is None or record.partition in ends.left:
                    yield record
                position = record.offset + 1
            elif error.code() == kafka.KafkaError._PARTITION_EOF:  # noqa: SLF001 (that is its name)
                position = message.offset()
            else:
                raise make_client_error(error, cluster.servers, heard)
            if ends is not None:
                ends.note_position(message.partition(), position)


def make_record(message: Any) -> TopicRecord:
    """Return a message of the library as a record."""
    kind, stamp = message.timestamp()
    headers = tuple((name, content or b"") for name, content in message.headers() or ())
    return TopicRecord(
        message.partition(), message.offset(), message.key(), message.value(), headers, stamp if kind else None
    )


def fetch_metadata(kafka: ModuleType, client: Any, topic: str) -> Any:
    """Return the metadata of a topic; if no broker answers, the error is the one reported to `error_cb`."""
    try:
        return client.list_topics(topic, timeout=ASK)
    except kafka.KafkaException:
        client.poll(0)  # the library calls back from here only
        raise


def partitions_of(kafka: ModuleType, client: Any, cluster: KafkaCluster, topic: str) -> Sequence[int]:
    """Return the partitions of a topic. Raises `KafkaClientError` if it does not exist."""
    metadata = fetch_metadata(kafka, client, topic).topics[topic]
    if metadata.error is not None:
        if metadata.error.code() in {kafka.KafkaError.UNKNOWN_TOPIC_OR_PART, kafka.KafkaError.TOPIC_EXCEPTION}:
            raise KafkaClientError(f"there is no topic {topic!r} at {cluster.servers}; create it, or name another")
        raise make_client_error(metadata.error, cluster.servers)
    return sorted(metadata.partitions)


def _begin(kafka: ModuleType, consumer: Any, place: Any, start: StartOffset, ends: _EndOffsets) -> Any:
    """Return the start offset in a partition; notes the end offset if there is any record before it."""
    low, high = consumer.get_watermark_offsets(place, timeout=ASK)
    match start.kind:
        case "beginning":
            offset = low
        case "end":
            offset = high
        case "last":
            offset = max(low, high - start.number)
        case "offset":
            offset = start.number
            if not low <= offset <= high:
                message = f"offset {offset} is not in partition {place.partition}; it has {low} to {high}"
                raise KafkaClientError(message)
        case "time":
            (place_at_time,) = consumer.offsets_for_times(
                [kafka.TopicPartition(place.topic, place.partition, start.number)], timeout=ASK
            )
            offset = place_at_time.offset if place_at_time.offset >= 0 else high
    if offset < high:
        ends.left[place.partition] = high
    return kafka.TopicPartition(place.topic, place.partition, offset)
