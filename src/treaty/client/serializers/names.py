"""Which subject holds the schema of a topic's records: the three strategies that clients share."""

from collections.abc import Callable
from typing import Final

from treaty.client.serializers.framing import Part
from treaty.core.names import Subject, subject_of

NameOf = Callable[[str, Part, str], Subject]
"""From topic, part and the full name of the record type to the subject."""


def topic_name(topic: str, part: Part, record: str) -> Subject:
    """``orders-value``: one stream of versions for each topic and part."""
    _needs("topic", topic)
    return subject_of(f"{topic}-{part}")


def record_name(topic: str, part: Part, record: str) -> Subject:
    """``shop.Order``: one stream of versions for each record type, whatever the topic."""
    _needs("record type with a name", record)
    return subject_of(record)


def topic_record_name(topic: str, part: Part, record: str) -> Subject:
    """``orders-shop.Order``: several record types in one topic, each with its own stream of versions."""
    _needs("topic", topic)
    _needs("record type with a name", record)
    return subject_of(f"{topic}-{record}")


STRATEGIES: Final[dict[str, NameOf]] = {"topic": topic_name, "record": record_name, "topic-record": topic_record_name}


def _needs(what: str, value: str) -> None:
    if not value:
        raise ValueError(f"the subject's name needs a {what}, and there is none; choose another strategy")
