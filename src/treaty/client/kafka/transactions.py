"""`TransactionalSender`: records that come into topics all together or not at all, and of one sender at a time."""

from collections.abc import Iterable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from types import ModuleType, TracebackType
from typing import Any, Self

from treaty.client.kafka.consumer import TopicRange, read_range
from treaty.client.kafka.library import LOGGER, KafkaClientError, load_library, translate_errors
from treaty.client.kafka.producer import OutgoingRecord
from treaty.client.kafka.topics import find_offsets
from treaty.client.serializers.frames import Headers
from treaty.core.kafka import KafkaCluster, LastBrokerError

TRANSACTION_SECONDS = 900
"""How long a transaction may stay open: what brokers allow unless a setting says otherwise (`transaction.max.timeout.ms`)."""
TIMEOUT = "transaction.timeout.ms"
FENCE_SECONDS = 60.0
"""How long taking the transactional id may take, an open transaction of another sender included."""
COMMIT_SECONDS = 60.0
"""How long a commit or an abort may take."""


@dataclass(slots=True)
class TransactionalSender(AbstractContextManager["TransactionalSender"]):
    """A sender for the block. From its start on no other one of the same transactional id can commit, and what such a one has begun is aborted.

    Keys choose partitions as Java's clients do. Its start raises `KafkaClientError`.
    """

    cluster: KafkaCluster
    name: str
    """The transactional id."""
    _heard: LastBrokerError = field(default_factory=LastBrokerError)
    _kafka: ModuleType = field(init=False)
    _producer: Any = field(init=False)

    def __enter__(self) -> Self:
        """Take the transactional id."""
        self._kafka = load_library()
        own: dict[str, object] = {
            "transactional.id": self.name,
            TIMEOUT: dict(self.cluster.settings).get(TIMEOUT, TRANSACTION_SECONDS * 1_000),
            "partitioner": "murmur2_random",
            "error_cb": self._heard,
        }
        with translate_errors(self._kafka, self.cluster.servers, self._heard):
            self._producer = self._kafka.Producer(self.cluster.client_settings(own), logger=LOGGER)
            self._producer.init_transactions(FENCE_SECONDS)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give the sender up; what is still on its way is not waited for."""
        self._producer.purge()
        self._producer.flush(0)

    def send_all(self, records: Iterable[OutgoingRecord]) -> int:
        """Send records in one transaction; return how many. Raises `KafkaClientError`, and what `records` raises.

        Where the error is `UncertainCommitError`, no client knows yet whether the records are there; else none of them ever will be.
        """
        number = 0
        with translate_errors(self._kafka, self.cluster.servers, self._heard):
            try:
                self._producer.begin_transaction()
                for record in records:
                    self._send(record)
                    number += 1
                left = self._producer.flush(COMMIT_SECONDS)
            except BaseException:
                self._abort()
                raise
            if left:
                self._abort()
                raise KafkaClientError(
                    f"Kafka at {self.cluster.servers} did not take all records in {COMMIT_SECONDS:.0f} s"
                )
            self._commit()
        return number

    def _send(self, record: OutgoingRecord) -> None:
        words = {"partition": record.partition, "timestamp": record.time, "headers": list(record.headers)}
        while True:
            try:
                self._producer.produce(record.topic, record.value, record.key, **words)
            except BufferError:
                self._producer.poll(0.5)
            else:
                self._producer.poll(0)
                return

    def _commit(self) -> None:
        try:
            self._producer.commit_transaction(COMMIT_SECONDS)
        except self._kafka.KafkaException as error:
            if error.args[0].txn_requires_abort():
                self._abort()
                raise
            raise UncertainCommitError(f"Kafka at {self.cluster.servers}: {error.args[0].str()}") from error

    def _abort(self) -> None:
        """Abort. Where that fails, the next sender of this transactional id does it, or the brokers once the transaction has lasted too long."""
        with suppress(self._kafka.KafkaException):
            self._producer.purge()
            self._producer.abort_transaction(COMMIT_SECONDS)


class UncertainCommitError(KafkaClientError):
    """A commit was sent, and no broker said that it is done."""


def has_record_with(cluster: KafkaCluster, topic: str, starts: dict[int, int], headers: Headers) -> bool:
    """Return whether a committed record with these headers is in a topic, at the offsets `starts` of its partitions or behind them; of others from
    their beginning. Raises `KafkaClientError`.
    """
    for partition, (first, end) in find_offsets(cluster, topic).items():
        start = starts.get(partition, first)
        begin = first if start > end else max(start, first)  # a topic that was made anew begins at 0
        if begin < end:
            for record in read_range(cluster, TopicRange(topic, partition, begin, end), lossy=True):
                if set(headers) <= set(record.headers):
                    return True
    return False
