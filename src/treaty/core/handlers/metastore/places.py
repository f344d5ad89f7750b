"""Where sources stand: rows of topics, and what a drop leaves behind."""

from dataclasses import replace
from itertools import islice

from treaty.core import limits
from treaty.core.sources import Source, Topic
from treaty.core.state.metastore.indexes import DROPPED_BY_TIME
from treaty.core.state.metastore.keys import DroppedKey, SourceKey, TopicKey
from treaty.core.state.metastore.tables import DROPPED, TOPIC
from treaty.core.state.rows import Row, make_row, make_tombstone
from treaty.core.state.view import View

KAFKA = "kafka"


def topic_of(source: Source) -> TopicKey | None:
    """Return the key of the topic that a source stands over."""
    return TopicKey(source.cluster, source.place) if source.connector == KAFKA and source.place else None


def topic_with(view: View, source: Source, key: SourceKey, *, present: bool, absent: bool = False) -> list[Row]:
    """Return the row of a source's topic with or without the source; with `absent` a topic without sources is to go."""
    topic = topic_of(source)
    if topic is None:
        return []
    there = view.get(TOPIC, topic) or Topic()
    names = tuple(sorted({*there.sources, key.name} if present else {*there.sources} - {key.name}))
    if names:
        value = replace(there, sources=names, desired="present")
        return [] if value == there else [make_row(TOPIC, topic, value)]
    return [
        make_row(TOPIC, topic, replace(there, sources=(), desired="absent")) if absent else make_tombstone(TOPIC, topic)
    ]


def expired_rows(view: View, time: int) -> list[Row]:
    """Return tombstones of dropped sources whose period of grace is over, a few, the oldest first."""
    entries = view.walk(DROPPED_BY_TIME, (), ("", time - limits.DROP_GRACE))
    return [make_tombstone(DROPPED, DroppedKey(entry[2])) for entry in islice(entries, limits.DROPPED_EXPIRED)]
