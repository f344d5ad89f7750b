"""Subject name strategies: the subject with the schema of a topic's records."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from treaty.client.cache import LoadingCache
from treaty.client.serializers.frames import Part
from treaty.core.messages.associations import ANY, ListAssociations, OfName
from treaty.core.names import Subject, subject_of
from treaty.core.refusals import NotFound, NotOffered
from treaty.core.registry import Registry

SubjectNameStrategy = Callable[[str, Part, str], Subject]
"""A function from topic, part and full name of the record type to the subject."""

MAX_TOPICS = 10_000
"""The most topics whose associations are cached."""


def topic_name(topic: str, part: Part, record: str) -> Subject:
    """``orders-value``: one subject per topic and part."""
    _needs("topic", topic)
    return subject_of(f"{topic}-{part}")


def record_name(topic: str, part: Part, record: str) -> Subject:
    """``shop.Order``: one subject per record type, for all topics."""
    _needs("record type with a name", record)
    return subject_of(record)


def topic_record_name(topic: str, part: Part, record: str) -> Subject:
    """``orders-shop.Order``: one subject per topic and record type."""
    _needs("topic", topic)
    _needs("record type with a name", record)
    return subject_of(f"{topic}-{record}")


STRATEGIES: Final[dict[str, SubjectNameStrategy]] = {
    "topic": topic_name,
    "record": record_name,
    "topic-record": topic_record_name,
}


@dataclass(frozen=True, slots=True)
class AssociatedNameStrategy:
    """The subject that the registry associates with the topic; without an association that of the `fallback` strategy.

    With the fallback ``none`` a topic without association is an error.
    """

    fallback: Literal["topic", "record", "topic-record", "none"] = "topic"
    cluster: str = ANY
    """Namespace of the topic: the id of its Kafka cluster; ``-`` is any."""
    seconds: float = 60.0
    """Time to live of an answer, in seconds."""


class SubjectNaming:
    """Returns the subjects of records, by a strategy. Thread-safe."""

    def __init__(self, registry: Registry, how: SubjectNameStrategy | AssociatedNameStrategy) -> None:
        """Use this registry, if the strategy needs one."""
        self._registry = registry
        self._how = how
        self._found: LoadingCache[tuple[str, Part], tuple[Subject, ...]] = LoadingCache(MAX_TOPICS)
        self.is_stable = not isinstance(how, AssociatedNameStrategy) and how in STRATEGIES.values()
        """Whether topic, part and record always have the same subject."""

    def subject(self, topic: str, part: Part, record: str) -> Subject:
        """Return the subject of a topic's records of a type. Raises `ValueError` if the strategy needs a name that is
        missing.
        """
        how = self._how
        if not isinstance(how, AssociatedNameStrategy):
            return how(topic, part, record)
        _needs("topic", topic)
        associated = self._found.get((topic, part), lambda: self._find_associated(how, topic, part), ttl=how.seconds)
        if associated:
            return associated[0]
        if how.fallback == "none":
            raise ValueError(
                f"the registry associates no subject with {part}s of topic {topic}, and there is no fallback"
            )
        return STRATEGIES[how.fallback](topic, part, record)

    def _find_associated(self, how: AssociatedNameStrategy, topic: str, part: Part) -> tuple[Subject, ...]:
        try:
            answer = self._registry.ask(ListAssociations(OfName(topic, how.cluster), kinds=(part,))).answer
        except (NotFound, NotOffered):
            return ()
        subjects = sorted({each.subject for each in answer.associations})
        if len(subjects) > 1:
            names = ", ".join(subjects)
            raise ValueError(
                f"{part}s of topic {topic} have more than one subject: {names}; name the cluster to choose"
            )
        return tuple(map(subject_of, subjects))


def _needs(what: str, value: str) -> None:
    if not value:
        raise ValueError(f"the subject name needs a {what}, but there is none; choose another strategy")
