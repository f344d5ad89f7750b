"""Kafka's client library: its loader, because it is an extra, and its errors as errors of this client."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any

from treaty.core.kafka import LastBrokerError, describe_error
from treaty.distribution import install_command

LOGGER = logging.getLogger("treaty.kafka")
"""Receives log lines of the library, which are printed only if logging is configured to."""
LOGGER.addHandler(logging.NullHandler())


class KafkaMissingError(RuntimeError):
    """Kafka's client library is not installed."""

    def __init__(self) -> None:
        """Name the package to install."""
        super().__init__(f"Kafka's client library is not installed; install it with: {install_command('kafka')}")


def load_library() -> ModuleType:
    """Import ``confluent_kafka``. Raises `KafkaMissingError` if it is not installed."""
    try:
        import confluent_kafka  # noqa: PLC0415 (an extra)

        import_module("confluent_kafka.admin")
    except ImportError as missing:
        raise KafkaMissingError from missing
    return confluent_kafka


class KafkaClientError(RuntimeError):
    """Kafka failed: no broker answers, a broker refuses, or a topic is missing. `is_retriable`: a retry may help."""

    def __init__(self, message: str, *, is_retriable: bool = False) -> None:
        """Keep the sentence."""
        super().__init__(message)
        self.is_retriable = is_retriable


def make_client_error(error: Any, servers: str, heard: LastBrokerError | None = None) -> KafkaClientError:
    """Return an error of the library as a sentence; `heard` has the reason if no broker answers."""
    message, again = describe_error(error, servers, heard, "--kafka-config")
    return KafkaClientError(message, is_retriable=again)


@contextmanager
def translate_errors(kafka: ModuleType, servers: str, heard: LastBrokerError | None = None) -> Iterator[None]:
    """Turn the library's errors into `KafkaClientError` while the block runs."""
    try:
        yield
    except kafka.KafkaException as error:
        raise make_client_error(error.args[0], servers, heard) from error
