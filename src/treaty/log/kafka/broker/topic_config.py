"""The topic and the writers in the URL of a log, and the settings with which the topic loses no data."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl

from treaty.core.kafka import KafkaCluster, KafkaSettingsError, parse_kafka_url
from treaty.core.limits import COMMIT_BYTES
from treaty.core.schema import Pairs
from treaty.core.urls import split_url

WRITERS = ("any", "owner")
TOPIC_LENGTH = 249
"""Characters of a topic's name, as Kafka has it."""
_USAGE = "write kafka://host:port,host:port/topic, with ?writers=any or ?writers=owner, and &replication=N if you like"
_TOPIC_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")


@dataclass(frozen=True, slots=True)
class TopicUrl:
    """A topic of a cluster. `replication` is the number of copies that were asked for, 0 where none was given."""

    cluster: KafkaCluster
    topic: str
    writers: str = "any"
    replication: int = 0

    @property
    def url(self) -> str:
        """The URL, without settings."""
        more = f"&replication={self.replication}" if self.replication else ""
        return f"kafka://{self.cluster.servers}/{self.topic}?writers={self.writers}{more}"


def parse_topic_url(url: str, settings: Pairs) -> TopicUrl:
    """Read a log's URL. Where it does not say who writes, `any` node does: that works at every broker, without groups.

    Raises `KafkaSettingsError`.
    """
    parts = split_url(url)
    cluster, topic = parse_kafka_url(url if "@" in url else f"kafka://{parts.netloc}{parts.path}", settings)
    if not topic or len(topic) > TOPIC_LENGTH or not _TOPIC_CHARACTERS.issuperset(topic) or topic in {".", ".."}:
        raise KafkaSettingsError(f"{topic!r} is no topic: {_USAGE}; names have letters, digits, '.', '_' and '-'")
    words = parse_qsl(parts.query, keep_blank_values=True)
    options = dict(words)
    if parts.fragment or len(options) != len(words) or not options.keys() <= {"writers", "replication"}:
        names = ", ".join(name for name, _ in words) or "what stands"
        raise KafkaSettingsError(
            f"{names} after the topic is not understood: {_USAGE}; settings of the library are no part of it"
        )
    writers, replication = options.get("writers", "any"), options.get("replication", "0")
    if writers not in WRITERS:
        raise KafkaSettingsError(f"writers={writers!r} is none of {' and '.join(WRITERS)}: {_USAGE}")
    if not (
        replication.isdecimal() and len(replication) < 4 and ("replication" not in options or int(replication) > 0)
    ):
        raise KafkaSettingsError(f"replication={replication!r} is no number of copies: {_USAGE}")
    return TopicUrl(cluster, topic, writers, int(replication))


RECORD_BYTES = 2 * COMMIT_BYTES
"""Bytes that the topic takes in one batch: the largest commit as JSON inside JSON, every character of it escaped."""
TOMBSTONE_MILLISECONDS = 86_400_000
"""How long a compacted topic keeps its tombstones at least: who reads for longer than that begins again."""
LAG_MILLISECONDS = 600_000
"""For how long a new record of a compacted topic is left alone: a reader, or a state file, that is less behind reads on."""
SEGMENT_BYTES = 67_108_864
"""Size of a topic's files: a file goes as a whole, once nothing in it is needed."""


@dataclass(frozen=True, slots=True)
class RequiredSetting:
    """A setting of the topic: what it is made with, which other values are as good, and what goes wrong with others."""

    name: str
    value: str
    accepts: Callable[[str], bool]
    reason: str


def _require_value(name: str, value: str, because: str) -> RequiredSetting:
    return RequiredSetting(name, value, lambda actual: actual == value, because)


def _require_at_least(name: str, value: int, because: str) -> RequiredSetting:
    return RequiredSetting(
        name, str(value), lambda actual: actual.lstrip("-").isdecimal() and int(actual) >= value, because
    )


_COMMON = (
    _require_value(
        "unclean.leader.election.enable", "false", "a copy that lags behind could become the leader, and writes be lost"
    ),
    _require_at_least("max.message.bytes", RECORD_BYTES, "a large commit would not fit"),
    _require_value("compression.type", "producer", "the brokers would pack every record anew"),
    _require_value(
        "message.timestamp.type",
        "LogAppendTime",
        "records of a node whose clock is wrong would be refused or kept apart",
    ),
)
_MULTI_WRITER = (
    _require_value("cleanup.policy", "delete", "compaction would take records of the log's history"),
    _require_value("retention.ms", "-1", "the front of the log would go with time"),
    _require_value("retention.bytes", "-1", "the front of the log would go with its size"),
)
_SINGLE_WRITER = (
    _require_value("cleanup.policy", "compact", "rows would go with time, or none would ever go"),
    _require_at_least(
        "delete.retention.ms", TOMBSTONE_MILLISECONDS, "who is away for long would not learn what was deleted"
    ),
)
PREFERRED_SETTINGS: Mapping[str, Mapping[str, str]] = {
    "any": {"segment.bytes": str(SEGMENT_BYTES)},
    "owner": {
        "segment.bytes": str(SEGMENT_BYTES),
        "min.cleanable.dirty.ratio": "0.2",
        "min.compaction.lag.ms": str(LAG_MILLISECONDS),
    },
}
"""What a new topic is made with besides, by who writes; other values lose nothing."""


def required_settings(writers: str, replicas: int) -> tuple[RequiredSetting, ...]:
    """The settings that a topic with so many copies must have: two of them have a write before it is acknowledged."""
    synced = _require_at_least(
        "min.insync.replicas",
        min(2, replicas),
        "a write could be acknowledged that one broker alone has, and go with its disk",
    )
    return (*_COMMON, *(_MULTI_WRITER if writers == "any" else _SINGLE_WRITER), synced)


def new_topic_settings(writers: str, replicas: int) -> dict[str, str]:
    """What a new topic is made with."""
    return {
        **{setting.name: setting.value for setting in required_settings(writers, replicas)},
        **PREFERRED_SETTINGS[writers],
    }


def find_wrong_settings(settings: Mapping[str, str], writers: str, replicas: int) -> Iterator[RequiredSetting]:
    """The settings that do not fit. One that a broker does not know is not looked at."""
    return (
        setting
        for setting in required_settings(writers, replicas)
        if setting.name in settings and not setting.accepts(settings[setting.name])
    )


def describe_wrong_settings(topic: str, servers: str, settings: Mapping[str, str], writers: str, replicas: int) -> str:
    """Each wrong setting with its value, the value that is wanted and the reason, and the command that sets them all.

    A topic that fits the other layout may hold a log of it, which that command would destroy: then the layout comes first.
    """
    offending = [*find_wrong_settings(settings, writers, replicas)]
    lines = [
        f"  {setting.name} is {settings[setting.name]}, wanted {setting.value}: {setting.reason}"
        for setting in offending
    ]
    setting = ",".join(f"{required.name}={required.value}" for required in offending)
    command = (
        f"kafka-configs.sh --bootstrap-server {servers} --entity-type topics --entity-name {topic} --alter --add-config"
    )
    other = "owner" if writers == "any" else "any"
    mend = f"mend it: {command} {setting}"
    if next(find_wrong_settings(settings, other, replicas), None) is None:
        lines.append(
            f"its settings are those of writers={other}: if its log is of that layout, change nothing and write "
            f"kafka://{servers}/{topic}?writers={other}"
        )
        mend = f"if it is not, {mend}"
    return "\n".join([f"the topic {topic!r} at {servers} could lose what is in the log:", *lines, mend])
