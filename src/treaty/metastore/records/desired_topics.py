"""What topics should be, by the properties of the sources that stand over them, and how a topic differs from that."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from treaty.client.kafka.topic_admin import CLEANUP, RETENTION, TopicFacts
from treaty.core.sources import Source

SETTINGS: Mapping[str, str] = {"RETENTION_MS": RETENTION, "CLEANUP_POLICY": CLEANUP}
"""By property, the setting of the topic."""
PRESENT, MISSING, CREATING, DIFFERS, UNKNOWN = "present", "missing", "creating", "differs", "unknown"
"""States of a topic: as it should be; not there, and no source says how many partitions; not there yet; unlike what sources say;
or not known, because the cluster is not known here or does not answer."""
ADOPTED = "present, with the partitions that it has: no source says PARTITIONS, so it is not created"
"""What is wanted of a topic whose sources do not say how many partitions it has."""
DELETED, DELETING, REFUSED = "deleted", "deleting", "refused"
"""States of a topic whose last source was dropped with it: it goes when its time comes; it is being deleted; the brokers don't delete it."""
WAITING = "WAITING"
"""The state of a source whose topic is not there."""
BROKER_REPLICAS = -1
"""As many replicas as the brokers say."""


@dataclass(frozen=True, slots=True)
class DesiredTopic:
    """What the sources over a topic say of it; 0 partitions: none of them says how many, so it is not created."""

    cluster: str
    topic: str
    sources: tuple[str, ...] = ()
    partitions: int = 0
    replicas: int = BROKER_REPLICAS
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TopicDifference:
    """What a topic lacks: `create` it, `settings` to be set, and what can't be changed, in words."""

    create: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)
    fixed: tuple[str, ...] = ()


def list_desired(sources: Iterable[Source]) -> list[DesiredTopic]:
    """Return the topics of sources by cluster and name. Of several sources over one topic the oldest that names a property counts."""
    by_topic: dict[tuple[str, str], list[Source]] = {}
    for source in sources:
        if source.connector == "kafka" and source.place:
            by_topic.setdefault((source.cluster, source.place), []).append(source)
    return [_merge(place, sorted(over, key=lambda one: one.generation)) for place, over in sorted(by_topic.items())]


def _merge(place: tuple[str, str], over: list[Source]) -> DesiredTopic:
    properties: dict[str, str] = {}
    for source in over:
        for name, value in source.properties:
            properties.setdefault(name, value)
    settings = {setting: properties[name] for name, setting in SETTINGS.items() if properties.get(name)}
    return DesiredTopic(
        *place, tuple(sorted(one.name for one in over)), _read_count(properties.get("PARTITIONS", ""), 0),
        _read_count(properties.get("REPLICAS", ""), BROKER_REPLICAS), settings,
    )  # fmt: skip


def _read_count(text: str, absent: int) -> int:
    """A count; `absent` for a text that is none, which an operation may have stored though no statement says it."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else absent


def compare(desired: DesiredTopic, facts: TopicFacts | None) -> TopicDifference:
    """Return what a topic lacks. Partitions and replicas of a topic that is there never change."""
    if facts is None:
        return TopicDifference(create=desired.partitions > 0)
    settings = {
        name: value
        for name, value in desired.settings.items()
        if _split_setting(facts.settings.get(name, "")) != _split_setting(value)
    }
    fixed = []
    if desired.partitions not in {0, facts.partitions}:
        fixed.append(f"it has {facts.partitions} partitions, and PARTITIONS = {desired.partitions}")
    if desired.replicas not in {BROKER_REPLICAS, facts.replicas}:
        fixed.append(f"it has {facts.replicas} replicas, and REPLICAS = {desired.replicas}")
    return TopicDifference(settings=settings, fixed=tuple(fixed))


def _split_setting(value: str) -> frozenset[str]:
    """Return the words of a setting: of cleanup policies there may be two, in any order."""
    return frozenset(word.strip() for word in value.split(","))


def state_of(desired: DesiredTopic, facts: TopicFacts | None) -> tuple[str, str]:
    """Return the state of a topic, and in words what is not as it should be."""
    lacks = compare(desired, facts)
    if facts is None:
        if lacks.create:
            return CREATING, "a server with its cluster creates it"
        return MISSING, "create it, or say PARTITIONS: ALTER … SET (PARTITIONS = 3)"
    words = [
        *lacks.fixed,
        *(f"{name} is {facts.settings.get(name)}, to be {value}" for name, value in lacks.settings.items()),
    ]
    return (DIFFERS, "; ".join(words)) if words else (PRESENT, "")
