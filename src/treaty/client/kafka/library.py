"""The loader of Kafka's client library, which is an extra."""

import logging
from importlib import import_module
from types import ModuleType

LOGGER = logging.getLogger("treaty.kafka")
"""Receives log lines of the library, which are printed only if logging is configured to."""
LOGGER.addHandler(logging.NullHandler())


class KafkaMissingError(RuntimeError):
    """Kafka's client library is not installed."""

    def __init__(self) -> None:
        """Name the package to install."""
        super().__init__("Kafka's client library is not installed; install it with: pip install 'treaty[kafka]'")


def load_library() -> ModuleType:
    """Import ``confluent_kafka``. Raises `KafkaMissingError` if it is not installed."""
    try:
        import confluent_kafka  # noqa: PLC0415 (an extra)

        import_module("confluent_kafka.admin")
    except ImportError as missing:
        raise KafkaMissingError from missing
    return confluent_kafka
