"""The error of Kafka clients."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from treaty.core.kafka import LastBrokerError, describe_error


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
