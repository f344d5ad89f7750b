"""`KafkaTransactionalProducer`: the producer of a log's owner, which a newer owner fences."""

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from confluent_kafka import KafkaException, Producer

from treaty.core.kafka import LastBrokerError
from treaty.log.concurrency import SerialExecutor
from treaty.log.kafka.broker.library import (
    LIBRARY_LOGGER,
    make_producer_settings,
    make_unavailable_error,
    purge_producer,
)
from treaty.log.kafka.broker.topic_config import TopicUrl
from treaty.log.kafka.partition import HangingTransactionError, ProducerFencedError
from treaty.log.log import LogUnavailableError

log = logging.getLogger("treaty.log.kafka")

TRANSACTION_SECONDS = 10.0
"""How long a transaction may stay open: an owner that died in one hides what comes after it for so long at most."""
FENCE_SECONDS = 15.0
"""How long taking the transactional id may take, an open transaction of the old owner included."""
ABORT_SECONDS = 3.0
"""How long giving up a transaction may take; what is left open then is aborted by the next owner."""
HANGING = (
    "offsets {first} to {last} of {topic!r} hold what can't be read yet, so nothing is written after them. Where this "
    "lasts, somebody's transaction hangs there: `kafka-transactions.sh find-hanging` names it, and `abort` ends it"
)
"""Said where a transaction would begin behind the offset up to which was read.

Such a transaction may be one of this log's own. Kafka 4.3's coordinator, when it is loaded while its broker begins again after
a kill, takes partitions without a leader for deleted: it calls a commit complete of which they never got the marker. What
was written then stays open, and shares the result of the next transaction of the same id: so it is aborted with this one.
"""
UNKNOWN_OFFSET = "nobody knows where a transaction's first record lies, so it is given up"
FENCED_ERRORS = frozenset({"_FENCED", "PRODUCER_FENCED", "INVALID_PRODUCER_EPOCH", "TRANSACTIONAL_ID_NOT_FOUND"})
"""Errors by which a producer learns that another one has its transactional id."""


class KafkaTransactionalProducer:
    """A `TransactionalProducer` whose transactional id is the name of the topic. Its work is done in a thread, in turn."""

    def __init__(self, topic_url: TopicUrl) -> None:
        """No producer yet: the first `fence` makes one."""
        self._topic, self._where = topic_url.topic, topic_url.cluster.servers
        self._heard = LastBrokerError()
        milliseconds = int(TRANSACTION_SECONDS * 1000)
        own: dict[str, object] = {
            "transactional.id": f"treaty-{topic_url.topic}",
            "transaction.timeout.ms": milliseconds,
            "delivery.timeout.ms": milliseconds,
            "error_cb": self._heard,
        }
        self._settings = make_producer_settings(topic_url.cluster, own)
        self._producer: Any = None
        self._executor = SerialExecutor("treaty log, transactions")

    async def fence(self) -> None:
        """Take the transactional id with a new producer."""
        await self._executor.submit(self._fence)

    def _fence(self) -> None:
        self._drop()
        producer = Producer(self._settings, logger=LIBRARY_LOGGER)
        try:
            producer.list_topics(self._topic, FENCE_SECONDS)  # one without a connection would pause for half a second
            producer.init_transactions(FENCE_SECONDS)
        except KafkaException as error:
            producer.poll(0)  # the library tells from here only what it has heard
            raise make_unavailable_error(error.args[0], self._where, self._heard) from error
        self._producer = producer

    async def commit(self, records: Sequence[tuple[bytes, bytes | None]], at: int) -> bool:
        """Write records as one transaction. After anything but True only `fence` may follow."""
        return await self._executor.submit(lambda: self._commit(records, at))

    def _commit(self, records: Sequence[tuple[bytes, bytes | None]], at: int) -> bool:
        if self._producer is None:
            raise ProducerFencedError(f"{self._where}: no producer holds the log {self._topic!r}; fence first")
        landed = self._fill(records)
        if landed is None or landed > at:
            self._abort()
            reason = HANGING.format(first=at, last=landed - 1, topic=self._topic) if landed else UNKNOWN_OFFSET
            log.warning("%s: %s", self._where, reason)
            raise HangingTransactionError(f"{self._where}: {reason}")
        try:
            self._producer.commit_transaction(TRANSACTION_SECONDS)
        except KafkaException as error:
            if error.args[0].txn_requires_abort():
                self._abort()
                raise make_unavailable_error(error.args[0], self._where, self._heard) from error
            # It may have been committed before whatever went wrong, even before another producer took the id.
            self._drop()
            return False
        return True

    def _fill(self, records: Sequence[tuple[bytes, bytes | None]]) -> int | None:
        """Begin a transaction and send its records; returns where the first one lies. What goes wrong here is never committed.

        None says that it is not known: a broker that has a record already, and forgot since when, takes it for sent all the same.
        A record that a broker refuses is an error of the commit; -1 is returned.
        """
        producer = self._producer
        landed: list[int | None] = []

        def on_first_delivery(error: Any, message: Any) -> None:
            if error is None:
                offset = message.offset()
                landed.append(None if offset is None or offset < 0 else offset)

        try:
            producer.begin_transaction()
            for number, (key, value) in enumerate(records):
                self._produce(key, value, None if number else on_first_delivery)
            left = producer.flush(TRANSACTION_SECONDS)
        except KafkaException as error:
            self._give_up(error.args[0])
            raise make_unavailable_error(error.args[0], self._where, self._heard) from error
        except SystemError as error:
            # The library calls back with a fatal error of its own still in the air; Python takes that for the listener's fault.
            cause = error.__cause__
            if isinstance(cause, KafkaException):
                self._give_up(cause.args[0])
            self._drop()
            raise LogUnavailableError(f"{self._where}: records were not taken: {cause or error}") from error
        if left:
            self._drop()
            raise LogUnavailableError(f"{self._where}: records were not taken in {TRANSACTION_SECONDS:.0f} s")
        return landed[0] if landed else -1

    def _produce(self, key: bytes, value: bytes | None, on_delivery: Callable[[Any, Any], None] | None) -> None:
        while True:
            try:
                self._producer.produce(self._topic, value, key, partition=0, on_delivery=on_delivery)
            except BufferError:
                self._producer.poll(0.1)
            else:
                self._producer.poll(0)
                return

    def _give_up(self, error: Any) -> None:
        """Abort an open transaction. Raises `ProducerFencedError` where another producer has the id."""
        if error.name() in FENCED_ERRORS or (error.fatal() and not error.txn_requires_abort()):
            self._drop()
            raise ProducerFencedError(f"{self._where}: another node owns the log {self._topic!r} now ({error.str()})")
        self._abort()

    def _abort(self) -> None:
        """Abort, and give the producer up: what the library does next with one that failed is its own affair.

        Where the abort does not go through, the next `fence` does it.
        """
        with suppress(KafkaException, SystemError):
            self._producer.abort_transaction(ABORT_SECONDS)
        self._drop()

    def _drop(self) -> None:
        """Give up a producer without another word to the brokers."""
        producer, self._producer = self._producer, None
        if producer is not None:
            purge_producer(producer)

    async def close(self) -> None:
        """Finish what was asked for, and give the producer back."""
        try:
            dropped = self._executor.submit(self._drop)
        except LogUnavailableError:
            return
        self._executor.close()
        await dropped
