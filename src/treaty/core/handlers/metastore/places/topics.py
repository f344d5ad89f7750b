"""The topics of sources: a row for each, which sources share, and what a drop leaves behind."""

from dataclasses import replace
from itertools import islice
from typing import Any

from treaty.core import limits
from treaty.core.command import Command
from treaty.core.refusals import InvalidSource, SourceUsed
from treaty.core.sources import DELETED, DELETING, PRESENT, Source, Topic
from treaty.core.state.metastore.indexes import DROPPED_BY_TIME
from treaty.core.state.metastore.keys import DroppedKey, SourceKey, TopicKey
from treaty.core.state.metastore.tables import DROPPED, TOPIC
from treaty.core.state.rows import Row, make_row, make_tombstone
from treaty.core.state.view import View

KAFKA, FILES = "kafka", "files"
REGISTRY_TOPICS = ("_schemas", "_schema_encoders")
"""Topics in which registries of Confluent's kind keep their schemas, by default."""
RESERVED_PREFIXES = ("__", "_confluent")
"""What topics begin with that belong to Kafka itself, to ksqlDB and to Confluent's products."""


def refuse_reserved_topic(command: Command[Any], topic: str, path: str) -> None:
    """Raise `InvalidSource` for a topic that no statement may write to: of this log, a registry, ksqlDB or Kafka (KLIP-18, R46)."""
    owner = ""
    if topic in command.log_topics:
        owner = "the log of this registry"
    elif topic in REGISTRY_TOPICS:
        owner = "the log of a registry"
    elif topic.startswith(RESERVED_PREFIXES):
        owner = "a topic of Kafka, ksqlDB or a registry"
    if owner:
        raise InvalidSource.of(
            "TOPIC_RESERVED",
            f"The topic {topic} is {owner}, and statements do not read or write it",
            path=path,
            new=topic,
            allowed="a topic of your own",
        )


def topic_of(source: Source) -> TopicKey | None:
    """Return the key of the topic that a source stands over."""
    return TopicKey(source.cluster, source.place) if source.connector == KAFKA and source.place else None


def topic_with(view: View, source: Source, key: SourceKey, *, present: bool, due: int | None = None) -> list[Row]:
    """Return the row of a source's topic with or without the source; with `due` a topic without sources goes then (ms).

    Raises `SourceUsed` for a topic that is being deleted and that a source is to stand over.
    """
    topic = topic_of(source)
    if topic is None:
        return []
    stored = view.get(TOPIC, topic) or Topic()
    if present and stored.desired == DELETING:
        raise SourceUsed.of(
            "TOPIC_DELETING",
            f"The topic {topic.topic} is being deleted",
            path="/name",
            old=topic.topic,
            allowed="send it again when the topic is gone, which takes seconds; SHOW TOPICS says so",
        )
    names = tuple(sorted({*stored.sources, key.name} if present else {*stored.sources} - {key.name}))
    if names:
        value = replace(stored, sources=names, desired=PRESENT, due=0)
        return [] if value == stored else [make_row(TOPIC, topic, value)]
    if due is None:
        return [make_tombstone(TOPIC, topic)]
    return [make_row(TOPIC, topic, replace(stored, sources=(), desired=DELETED, due=due))]


def expired_rows(view: View, time: int) -> list[Row]:
    """Return tombstones of dropped sources whose period of grace is over, a few, the oldest first."""
    entries = view.walk(DROPPED_BY_TIME, (), ("", time - limits.DROP_GRACE))
    return [make_tombstone(DROPPED, DroppedKey(entry[2])) for entry in islice(entries, limits.DROPPED_EXPIRED)]
