"""`ClusterWriter`: writes a few records at once to topics of a cluster, and says where each of them is. Thread-safe."""

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from treaty.client.kafka.consumer import partitions_of
from treaty.client.kafka.library import LOGGER, KafkaClientError, load_library, make_client_error, translate_errors
from treaty.client.kafka.producer import OutgoingRecord
from treaty.core.kafka import KafkaCluster, LastBrokerError
from treaty.core.limits import INSERT_SECONDS

UNCERTAIN = frozenset(
    {"_MSG_TIMED_OUT", "_TIMED_OUT", "REQUEST_TIMED_OUT", "NOT_ENOUGH_REPLICAS_AFTER_APPEND", "_PURGE_INFLIGHT"}
)
"""Errors after which a record may be in the topic all the same."""
LINGER = 0.05
"""Seconds of one wait for acknowledgements."""
SLACK = 5.0
"""Seconds beyond the library's own time-out for which acknowledgements are waited for."""


class UncertainWriteError(RuntimeError):
    """No acknowledgement came in time: records may have been written."""


@dataclass(frozen=True, slots=True)
class RecordPlace:
    """Where a record is."""

    partition: int
    offset: int


class ClusterWriter:
    """Writes records with acks=all by one idempotent producer, which is opened by the first write and kept."""

    def __init__(self, cluster: KafkaCluster) -> None:
        """Take the brokers and the settings of clients. Opens nothing."""
        self._cluster = cluster
        self._heard = LastBrokerError()
        self._lock = threading.Lock()
        self._producer: Any = None

    def _open(self, kafka: Any) -> Any:
        with self._lock:
            if self._producer is None:
                own: dict[str, object] = {
                    "enable.idempotence": True,
                    "acks": "all",
                    "message.timeout.ms": INSERT_SECONDS * 1_000,
                    "partitioner": "murmur2_random",  # as Java clients and Spark choose partitions
                    "linger.ms": 0,
                    "error_cb": self._heard,
                }
                self._producer = kafka.Producer(self._cluster.client_settings(own), logger=LOGGER)
            return self._producer

    def write(self, topic: str, records: Sequence[OutgoingRecord]) -> list[RecordPlace]:
        """Write records, and return where they are, in their order, when all replicas have them.

        Raises `KafkaClientError` where nothing was written (no broker, no topic, a refusal) and `UncertainWriteError` where some
        may have been.
        """
        kafka, servers = load_library(), self._cluster.servers
        with translate_errors(kafka, servers, self._heard):
            producer = self._open(kafka)
            partitions = frozenset(partitions_of(kafka, producer, self._cluster, topic))
            for record in records:
                if record.partition >= 0 and record.partition not in partitions:
                    raise KafkaClientError(
                        f"the topic {topic!r} has no partition {record.partition}; it has 0 to {max(partitions)}"
                    )
            acknowledged: list[Any] = [None] * len(records)
            for place, record in enumerate(records):
                self._produce(producer, record, acknowledged, place)
            end = time.monotonic() + INSERT_SECONDS + SLACK
            while any(one is None for one in acknowledged) and time.monotonic() < end:
                producer.poll(LINGER)
        return self._read(acknowledged, servers)

    @staticmethod
    def _produce(producer: Any, record: OutgoingRecord, acknowledged: list[Any], place: int) -> None:
        def on_delivery(error: Any, message: Any) -> None:
            acknowledged[place] = error if error is not None else RecordPlace(message.partition(), message.offset())

        words = {"partition": record.partition, "timestamp": record.time, "on_delivery": on_delivery}
        if record.headers:
            words["headers"] = list(record.headers)
        while True:
            try:
                producer.produce(record.topic, record.value, record.key, **words)
            except BufferError:
                producer.poll(LINGER)
            else:
                return

    def _read(self, acknowledged: list[Any], servers: str) -> list[RecordPlace]:
        """Return the places of all records; raises the error of the first that has none."""
        written = [one for one in acknowledged if isinstance(one, RecordPlace)]
        if len(written) == len(acknowledged):
            return written
        failed = next(one for one in acknowledged if not isinstance(one, RecordPlace))
        why = "no acknowledgement came" if failed is None else str(make_client_error(failed, servers, self._heard))
        if failed is None or failed.name() in UNCERTAIN or written:
            count = f"{len(written)} of {len(acknowledged)} records are written, others" if written else "The records"
            raise UncertainWriteError(
                f"{count} may have been written: {why}; read the topic before you send them again"
            )
        raise make_client_error(failed, servers, self._heard)

    def close(self) -> None:
        """Wait a moment for what is on its way, and close the producer."""
        with self._lock:
            if self._producer is not None:
                self._producer.flush(1)
                self._producer = None
