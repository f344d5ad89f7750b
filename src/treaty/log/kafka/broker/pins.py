"""How a topic has to be set so that a log in it loses nothing, and what to do where it is not."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from treaty.core.limits import COMMIT_BYTES

RECORD_BYTES = 2 * COMMIT_BYTES
"""Bytes that the topic takes in one batch: the largest commit as JSON inside JSON, every character of it escaped."""
TOMBSTONE_MILLISECONDS = 86_400_000
"""How long a compacted topic keeps its tombstones at least: who reads for longer than that begins anew."""
LAG_MILLISECONDS = 600_000
"""For how long a new record of a compacted topic is left alone: a reader, or a state file, that is less behind reads on."""
SEGMENT_BYTES = 67_108_864
"""Size of a topic's files: a file goes as a whole, once nothing in it is needed."""


@dataclass(frozen=True, slots=True)
class Pin:
    """A setting of the topic: what it is made with, which other values are as good, and what goes wrong with others."""

    name: str
    value: str
    fits: Callable[[str], bool]
    because: str


def _exactly(name: str, value: str, because: str) -> Pin:
    return Pin(name, value, lambda found: found == value, because)


def _least(name: str, value: int, because: str) -> Pin:
    return Pin(name, str(value), lambda found: found.lstrip("-").isdecimal() and int(found) >= value, because)


_COMMON = (
    _exactly(
        "unclean.leader.election.enable", "false", "a copy that lags behind could become the leader, and writes be lost"
    ),
    _least("max.message.bytes", RECORD_BYTES, "a large commit would not fit"),
    _exactly("compression.type", "producer", "the brokers would pack every record anew"),
    _exactly(
        "message.timestamp.type",
        "LogAppendTime",
        "records of a node whose clock is wrong would be refused or kept apart",
    ),
)
_ANY = (
    _exactly("cleanup.policy", "delete", "compaction would take records of the log's history"),
    _exactly("retention.ms", "-1", "the front of the log would go with time"),
    _exactly("retention.bytes", "-1", "the front of the log would go with its size"),
)
_OWNER = (
    _exactly("cleanup.policy", "compact", "rows would go with time, or none would ever go"),
    _least("delete.retention.ms", TOMBSTONE_MILLISECONDS, "who is away for long would not learn what was deleted"),
)
CHOSEN: Mapping[str, Mapping[str, str]] = {
    "any": {"segment.bytes": str(SEGMENT_BYTES)},
    "owner": {
        "segment.bytes": str(SEGMENT_BYTES),
        "min.cleanable.dirty.ratio": "0.2",
        "min.compaction.lag.ms": str(LAG_MILLISECONDS),
    },
}
"""What a new topic is made with besides, by who writes; other values lose nothing."""


def pins(writers: str, replicas: int) -> tuple[Pin, ...]:
    """The settings that a topic with so many copies must have: two of them have a write before it is acknowledged."""
    synced = _least(
        "min.insync.replicas",
        min(2, replicas),
        "a write could be acknowledged that one broker alone has, and go with its disk",
    )
    return (*_COMMON, *(_ANY if writers == "any" else _OWNER), synced)


def wanted(writers: str, replicas: int) -> dict[str, str]:
    """What a new topic is made with."""
    return {**{one.name: one.value for one in pins(writers, replicas)}, **CHOSEN[writers]}


def wrong(found: Mapping[str, str], writers: str, replicas: int) -> Iterator[Pin]:
    """The settings that do not fit. One that a broker does not know is not looked at."""
    return (one for one in pins(writers, replicas) if one.name in found and not one.fits(found[one.name]))


def refusal(topic: str, servers: str, faults: Mapping[str, str], writers: str, replicas: int) -> str:
    """Each wrong setting with its value, the value that is wanted and the reason, and the command that sets them all."""
    told = [one for one in pins(writers, replicas) if one.name in faults]
    lines = [f"  {one.name} is {faults[one.name]}, wanted {one.value}: {one.because}" for one in told]
    setting = ",".join(f"{one.name}={one.value}" for one in told)
    command = (
        f"kafka-configs.sh --bootstrap-server {servers} --entity-type topics --entity-name {topic} --alter --add-config"
    )
    return "\n".join(
        [f"the topic {topic!r} at {servers} could lose what is in the log:", *lines, f"mend it: {command} {setting}"]
    )
