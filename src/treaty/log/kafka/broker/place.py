"""`Place`: which topic holds a log, and who may write to it, from the log's URL."""

from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from treaty.core.kafka import KafkaCluster, KafkaSettingsError, parse_kafka_url
from treaty.core.schema import Pairs

WRITERS = ("any", "owner")
TOPIC_LENGTH = 249
"""Characters of a topic's name, as Kafka has it."""
_WRITE = "write kafka://host:port,host:port/topic, with ?writers=any or ?writers=owner, and &replication=N if you like"
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")


@dataclass(frozen=True, slots=True)
class Place:
    """A topic of a cluster. `replication` is the number of copies that were asked for, 0 where nobody said."""

    cluster: KafkaCluster
    topic: str
    writers: str = "any"
    replication: int = 0

    @property
    def url(self) -> str:
        """The URL, without settings."""
        more = f"&replication={self.replication}" if self.replication else ""
        return f"kafka://{self.cluster.servers}/{self.topic}?writers={self.writers}{more}"


def place_of(url: str, settings: Pairs) -> Place:
    """Read a log's URL. Where it does not say who writes, `any` node does: that works at every broker, without groups.

    Raises `KafkaSettingsError`.
    """
    parts = urlsplit(url)
    cluster, topic = parse_kafka_url(f"kafka://{parts.netloc}{parts.path}", settings)
    if not topic or len(topic) > TOPIC_LENGTH or not _LETTERS.issuperset(topic) or topic in {".", ".."}:
        raise KafkaSettingsError(f"{topic!r} is no topic: {_WRITE}; names have letters, digits, '.', '_' and '-'")
    words = parse_qsl(parts.query, keep_blank_values=True)
    asked = dict(words)
    if parts.fragment or len(asked) != len(words) or not asked.keys() <= {"writers", "replication"}:
        names = ", ".join(name for name, _ in words) or "what stands"
        raise KafkaSettingsError(
            f"{names} after the topic is not understood: {_WRITE}; settings of the library are no part of it"
        )
    writers, replication = asked.get("writers", "any"), asked.get("replication", "0")
    if writers not in WRITERS:
        raise KafkaSettingsError(f"writers={writers!r} is none of {' and '.join(WRITERS)}: {_WRITE}")
    if not (replication.isdecimal() and len(replication) < 4 and ("replication" not in asked or int(replication) > 0)):
        raise KafkaSettingsError(f"replication={replication!r} is no number of copies: {_WRITE}")
    return Place(cluster, topic, writers, int(replication))
