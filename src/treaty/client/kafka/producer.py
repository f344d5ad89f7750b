"""`RecordProducer` writes records to topics and reports each failed delivery, also one that takes longer than SECONDS."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from types import ModuleType, TracebackType
from typing import Any, Self

from treaty.client.kafka.consumer import partitions_of
from treaty.client.kafka.library import LOGGER, KafkaClientError, load_library, make_client_error, translate_errors
from treaty.client.serializers.frames import Headers
from treaty.core.kafka import KafkaCluster, LastBrokerError

SECONDS = 60.0
"""Delivery time-out of a record, in milliseconds."""
ANY = -1
"""The partition of a record without one: chosen by the hash of the key."""


@dataclass(frozen=True, slots=True)
class OutgoingRecord:
    """A record to be sent; `time` is in milliseconds since 1970, 0 is now."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: Headers = ()
    partition: int = ANY
    time: int = 0


@dataclass(slots=True)
class RecordProducer(AbstractContextManager["RecordProducer"]):
    """A producer for the block: idempotent, acknowledged by all replicas. `on_failure` is called with each undelivered
    record and its error.
    """

    cluster: KafkaCluster
    on_failure: Callable[[str, str], None]
    compression: str = "none"
    sent: int = 0
    bytes: int = 0
    _heard: LastBrokerError = field(default_factory=LastBrokerError)
    _kafka: ModuleType = field(init=False)
    _producer: Any = field(init=False)

    def __post_init__(self) -> None:
        """Configure the library; raises `KafkaClientError` for invalid settings."""
        self._kafka = load_library()
        own: dict[str, object] = {
            "enable.idempotence": True,
            "acks": "all",
            "compression.type": self.compression,
            "message.timeout.ms": int(SECONDS * 1000),
            "error_cb": self._heard,
        }
        with translate_errors(self._kafka, self.cluster.servers):
            self._producer = self._kafka.Producer(self.cluster.client_settings(own), logger=LOGGER)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait for the delivery of all records; after an error only as long as needed to know their state."""
        if kind is None or kind is KeyboardInterrupt:
            self.flush()
        else:
            self._producer.purge()
            self._producer.flush(1)

    def __enter__(self) -> Self:
        return self

    def find_partitions(self, topic: str, partition: int = ANY) -> frozenset[int]:
        """Return the partitions of a topic; raises `KafkaClientError` if the topic or this partition does not exist."""
        with translate_errors(self._kafka, self.cluster.servers, self._heard):
            partitions = partitions_of(self._kafka, self._producer, self.cluster, topic)
        if partition not in {ANY, *partitions}:
            raise KafkaClientError(f"the topic {topic!r} has no partition {partition}; it has 0 to {max(partitions)}")
        return frozenset(partitions)

    def send(self, record: OutgoingRecord, name: str) -> None:
        """Send a record; `name` is passed to `on_failure` if it does not arrive. Raises `KafkaClientError`."""

        def on_delivery(error: Any, message: Any) -> None:
            if error is None:
                self.sent += 1
                self.bytes += len(message.value() or b"") + len(message.key() or b"")
            else:
                self.on_failure(name, str(make_client_error(error, self.cluster.servers, self._heard)))

        words = {"partition": record.partition, "timestamp": record.time, "on_delivery": on_delivery}
        if record.headers:
            words["headers"] = list(record.headers)
        with translate_errors(self._kafka, self.cluster.servers, self._heard):
            while True:
                try:
                    self._producer.produce(record.topic, record.value, record.key, **words)
                except BufferError:
                    self._producer.poll(0.5)
                else:
                    break
        self._producer.poll(0)

    def flush(self) -> None:
        """Wait until every record is delivered or failed."""
        while self._producer.flush(1):
            pass
