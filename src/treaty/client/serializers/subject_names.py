"""Which subject holds the schema of a topic's records: the strategies that clients share."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from treaty.client.cache import LoadingCache
from treaty.client.serializers.frames import Part
from treaty.core.associations import ANY, ListAssociations, OfName
from treaty.core.names import Subject, subject_of
from treaty.core.refusals import NotFound, NotOffered
from treaty.core.registry import Registry

SubjectNameStrategy = Callable[[str, Part, str], Subject]
"""From topic, part and the full name of the record type to the subject."""

MAX_TOPICS = 10_000
"""Topics whose associations are remembered."""


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


STRATEGIES: Final[dict[str, SubjectNameStrategy]] = {
    "topic": topic_name,
    "record": record_name,
    "topic-record": topic_record_name,
}


@dataclass(frozen=True, slots=True)
class AssociatedNameStrategy:
    """The subject that the registry associates with the topic; where it associates none, the `fallback`'s.

    A registry that knows no associations has none. With ``none`` a topic without association is an error.
    """

    fallback: Literal["topic", "record", "topic-record", "none"] = "topic"
    cluster: str = ANY
    """The namespace of the topic: the id of its Kafka cluster, or any."""
    seconds: float = 60.0
    """How long an answer holds."""


class SubjectNaming:
    """Names the subjects of records, by a strategy. Safe to share between threads."""

    def __init__(self, registry: Registry, how: SubjectNameStrategy | AssociatedNameStrategy) -> None:
        """Ask this registry where the strategy wants it."""
        self._registry = registry
        self._how = how
        self._found: LoadingCache[tuple[str, Part], tuple[Subject, ...]] = LoadingCache(MAX_TOPICS)
        self.is_stable = not isinstance(how, AssociatedNameStrategy) and how in STRATEGIES.values()
        """The same topic, part and record lead to the same subject for ever."""

    def subject(self, topic: str, part: Part, record: str) -> Subject:
        """The subject of a topic's records of a type. Raises `ValueError` where a word for its name is missing."""
        how = self._how
        if not isinstance(how, AssociatedNameStrategy):
            return how(topic, part, record)
        _needs("topic", topic)
        found = self._found.get((topic, part), lambda: self._associated(how, topic, part), ttl=how.seconds)
        if found:
            return found[0]
        if how.fallback == "none":
            raise ValueError(
                f"the registry associates no subject with {part}s of topic {topic}, and there is no fallback"
            )
        return STRATEGIES[how.fallback](topic, part, record)

    def _associated(self, how: AssociatedNameStrategy, topic: str, part: Part) -> tuple[Subject, ...]:
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
        raise ValueError(f"the subject's name needs a {what}, and there is none; choose another strategy")
