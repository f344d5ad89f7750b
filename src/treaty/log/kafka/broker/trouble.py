"""Kafka's errors in the log's words."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from confluent_kafka import KafkaException

from treaty.core.kafka import LastBrokerError, describe_error
from treaty.log.log import LogUnavailableError

OPTION = "--log-config"
"""Where people give settings of a log's library."""
JOURNAL = logging.getLogger("treaty.log.kafka")
"""Takes what this backend has to say to people."""
LIBRARY = logging.getLogger("treaty.log.kafka.library")
"""Takes what librdkafka says in passing; errors that matter are told by what is asked."""
LIBRARY.addHandler(logging.NullHandler())
LIBRARY.propagate = False


def unavailable(error: Any, where: str, heard: LastBrokerError | None = None) -> LogUnavailableError:
    """An error of the library as one of the log's."""
    return LogUnavailableError(describe_error(error, where, heard, OPTION)[0])


@contextmanager
def told(where: str, heard: LastBrokerError | None = None) -> Iterator[None]:
    """Turn the library's errors into `LogUnavailableError` while the block runs."""
    try:
        yield
    except KafkaException as error:
        raise unavailable(error.args[0], where, heard) from error
