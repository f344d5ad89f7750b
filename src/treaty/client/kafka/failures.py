"""What can go wrong with Kafka, as an error of this room."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from treaty.core.kafka import LastBrokerError, describe_error


class KafkaFailure(RuntimeError):
    """Kafka can't be used: nobody answers, it refuses, or something is not there. `again` says that trying may help."""

    def __init__(self, message: str, *, again: bool = False) -> None:
        """Keep the sentence."""
        super().__init__(message)
        self.again = again


def failure(error: Any, servers: str, heard: LastBrokerError | None = None) -> KafkaFailure:
    """A library's error as a sentence; what was `heard` before says more where nobody answers."""
    message, again = describe_error(error, servers, heard, "--kafka-config")
    return KafkaFailure(message, again=again)


@contextmanager
def told(kafka: ModuleType, servers: str, heard: LastBrokerError | None = None) -> Iterator[None]:
    """Turn the library's errors into `KafkaFailure` while the block runs."""
    try:
        yield
    except kafka.KafkaException as error:
        raise failure(error.args[0], servers, heard) from error
