"""Shared by all clients of the Kafka library: settings, loggers, and the conversion of its errors."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from confluent_kafka import KafkaException

from treaty.core.kafka import KafkaCluster, LastBrokerError, describe_error
from treaty.log.log import LogUnavailableError

OPTION = "--log-config"
"""Where people give settings of a log's library."""
LOGGER = logging.getLogger("treaty.log.kafka")
"""Takes what this backend has to say to people."""
LIBRARY_LOGGER = logging.getLogger("treaty.log.kafka.library")
"""Takes what librdkafka says in passing; errors that matter come with what is asked."""
LIBRARY_LOGGER.addHandler(logging.NullHandler())
LIBRARY_LOGGER.propagate = False
MESSAGE_BYTES = 33_554_432
"""Bytes of a record before it is compressed: a commit of the largest size, with every character escaped, and more."""
PRODUCER_DEFAULTS: dict[str, object] = {"linger.ms": 0, "compression.type": "zstd"}
"""What a producer does by default: no waiting for more, and small records."""


def make_consumer_settings(cluster: KafkaCluster, *, committed: bool, own: dict[str, object]) -> dict[str, object]:
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


def make_producer_settings(cluster: KafkaCluster, own: dict[str, object]) -> dict[str, object]:
    """Settings of a producer whose acknowledgement means that all replicas in sync have the record, once."""
    words = {"acks": "all", "enable.idempotence": True, "message.max.bytes": MESSAGE_BYTES}
    return {**PRODUCER_DEFAULTS, **cluster.client_settings({**words, **own})}


def make_unavailable_error(error: Any, where: str, heard: LastBrokerError | None = None) -> LogUnavailableError:
    """An error of the library as one of the log's."""
    return LogUnavailableError(describe_error(error, where, heard, OPTION)[0])


@contextmanager
def translate_errors(where: str, heard: LastBrokerError | None = None) -> Iterator[None]:
    """Turn the library's errors into `LogUnavailableError` while the block runs."""
    try:
        yield
    except KafkaException as error:
        raise make_unavailable_error(error.args[0], where, heard) from error


def purge_producer(producer: Any) -> None:
    """Have a producer forget what it has not sent: what waits for a report of that would keep it."""
    producer.purge()
    with suppress(KafkaException, SystemError):  # one that failed tells again why it can't continue
        producer.poll(0)


async def end_clients(clients: list[Any]) -> None:
    """End clients of the library: their threads, connections and open files go with the last reference.

    The caller has dropped its own. A thread does it, because the library waits for its threads.
    """
    await asyncio.to_thread(clients.clear)
