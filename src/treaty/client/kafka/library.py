"""The loader of Kafka's client library, which is an extra."""

import logging
from importlib import import_module
from types import ModuleType

LOGGER = logging.getLogger("treaty.kafka")
"""Takes what the library has to say; it is printed only where a program asks for it."""
LOGGER.addHandler(logging.NullHandler())


class KafkaMissingError(RuntimeError):
    """Kafka's client library is not installed."""

    def __init__(self) -> None:
        """Say what to install."""
        super().__init__("Kafka's client library is not installed; install it with: pip install 'treaty[kafka]'")


def load_library() -> ModuleType:
    """The module ``confluent_kafka``. Raises `KafkaMissingError` where it is not installed."""
    try:
        import confluent_kafka  # noqa: PLC0415 (an extra)

        import_module("confluent_kafka.admin")
    except ImportError as missing:
        raise KafkaMissingError from missing
    return confluent_kafka
