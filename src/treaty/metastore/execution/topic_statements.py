"""SHOW TOPICS and ASSERT TOPIC: topics by the rows of sources, and with EXTENDED as the brokers have them."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from treaty.client.kafka.library import KafkaClientError, KafkaMissingError
from treaty.client.kafka.topic_admin import CLEANUP, RETENTION, TopicAdmin, TopicFacts
from treaty.core.kafka import KafkaCluster
from treaty.core.limits import ASSERT_SECONDS
from treaty.core.messages.metastore.deleted_topics import DeletedTopic, ListDeletedTopics
from treaty.core.refusals import NotOffered, Unavailable
from treaty.core.registry import Exchange, request_answer
from treaty.core.sources import Source
from treaty.metastore.execution.pages import list_sources
from treaty.metastore.execution.results import ResultRows
from treaty.metastore.records.desired_topics import (
    ADOPTED,
    CREATING,
    DELETED,
    DELETING,
    MISSING,
    PRESENT,
    REFUSED,
    UNKNOWN,
    WAITING,
    DesiredTopic,
    list_desired,
    state_of,
)
from treaty.metastore.records.destinations import missing_cluster
from treaty.metastore.records.steps import StatementStep
from treaty.metastore.sql.statements import AssertTopicStatement
from treaty.metastore.sql.values import format_time

MAIN = "main"
"""The cluster of a statement that names none."""
POLL_SECONDS = 0.2


class TopicClusters(Protocol):
    """Where clusters are known by name."""

    clusters: Mapping[str, KafkaCluster]


@dataclass(frozen=True, slots=True)
class ReadTopics(StatementStep[dict[str, TopicFacts | None]]):
    """A step of a statement that reads topics of a cluster."""

    cluster: str
    topics: tuple[str, ...]

    def run(self, destination: object) -> dict[str, TopicFacts | None]:
        """Return the facts by topic. Raises `Unavailable` where the cluster does not answer, and `NotOffered` where it is not known."""
        with _open_admin(destination, self.cluster) as admin:
            return admin.describe(self.topics)


@dataclass(frozen=True, slots=True)
class FindObstacles(StatementStep[dict[str, str | None]]):
    """A step of a statement that asks why topics of a cluster are not deleted, up to the first that gets no answer."""

    cluster: str
    topics: tuple[str, ...]

    def run(self, destination: object) -> dict[str, str | None]:
        """Return why by topic, empty where that is not known, None where the topic is gone. Raises as `ReadTopics` does."""
        with _open_admin(destination, self.cluster) as admin:
            return {topic: admin.find_obstacle(topic) for topic in self.topics}


@contextmanager
def _open_admin(destination: object, cluster: str) -> Iterator[TopicAdmin]:
    """The admin client of a cluster, with its errors as those of a registry."""
    clusters: Mapping[str, KafkaCluster] = getattr(destination, "clusters", {})
    if cluster not in clusters:
        raise NotOffered(missing_cluster(cluster, clusters))
    try:
        yield TopicAdmin(clusters[cluster])
    except KafkaMissingError as missing:
        raise NotOffered(str(missing)) from missing
    except KafkaClientError as error:
        raise Unavailable(str(error)) from error


@dataclass(frozen=True, slots=True)
class AwaitTopic(StatementStep[bool]):
    """A step of ASSERT TOPIC: whether the topic is as the statement says, before its time-out or at its end."""

    statement: AssertTopicStatement

    def run(self, destination: object) -> bool:
        """Read the topic until it is as asserted, or the time is over. Raises as `ReadTopics` does."""
        assertion = self.statement
        end = time.monotonic() + min(assertion.timeout / 1_000, ASSERT_SECONDS)
        while True:
            facts = ReadTopics(MAIN, (assertion.topic,)).run(destination)[assertion.topic]
            if _holds(assertion, facts) is assertion.exists:
                return True
            if time.monotonic() + POLL_SECONDS > end:
                return False
            time.sleep(POLL_SECONDS)


def _holds(assertion: AssertTopicStatement, facts: TopicFacts | None) -> bool:
    """Return whether a topic is there with these partitions and replicas."""
    return (
        facts is not None
        and assertion.partitions in {0, facts.partitions}
        and assertion.replicas in {0, facts.replicas}
    )


def show_topics(*, extended: bool) -> Exchange[ResultRows]:
    """Return the topics of all sources that the caller may read, and those that are to be deleted."""
    desired = list_desired((yield from list_sources()))
    deleted = yield from request_answer(ListDeletedTopics())
    plain = ("topic", "cluster", "partitions", "sources")
    if not extended:
        listing = ResultRows((*plain, "desired"))
        for topic in desired:
            desired_state = PRESENT if topic.partitions else ADOPTED
            listing.add(topic.topic, topic.cluster, topic.partitions or None, ", ".join(topic.sources), desired_state)
        for gone in deleted.topics:
            listing.add(gone.topic, gone.cluster, None, "", _describe_deletion(gone))
        return listing
    listing = ResultRows((*plain, "replicas", "retention_ms", "cleanup_policy", "state", "detail"))
    facts, troubles = yield from _read_facts(desired)
    for topic in desired:
        topic_facts = facts.get((topic.cluster, topic.topic))
        state, detail = (
            (UNKNOWN, troubles[topic.cluster]) if topic.cluster in troubles else state_of(topic, topic_facts)
        )
        settings = {} if topic_facts is None else topic_facts.settings
        listing.add(
            topic.topic, topic.cluster, topic_facts.partitions if topic_facts else topic.partitions or None, ", ".join(topic.sources),
            topic_facts.replicas if topic_facts else None, settings.get(RETENTION), settings.get(CLEANUP), state, detail,
        )  # fmt: skip
    going, troubles = yield from _find_obstacles(deleted.topics)
    for gone in deleted.topics:
        state, detail = DELETING if gone.begun else DELETED, _describe_deletion(gone)
        if obstacle := going.get((gone.cluster, gone.topic)):
            state, detail = REFUSED, f"{obstacle}; a server tries again, at most a minute later"
        elif gone.begun and gone.cluster in troubles:
            detail = f"{detail}; {troubles[gone.cluster]}"
        listing.add(gone.topic, gone.cluster, None, "", None, None, None, state, detail)
    return listing


def _find_obstacles(
    deleted: Sequence[DeletedTopic],
) -> Exchange[tuple[dict[tuple[str, str], str | None], dict[str, str]]]:
    """Return why topics that are being deleted are there still, by cluster and topic, and by cluster why that is not known."""
    obstacles: dict[tuple[str, str], str | None] = {}
    troubles: dict[str, str] = {}
    for cluster in sorted({one.cluster for one in deleted if one.begun}):
        topics = tuple(one.topic for one in deleted if one.begun and one.cluster == cluster)
        try:
            reasons = yield from request_answer(FindObstacles(cluster, topics))
        except (NotOffered, Unavailable) as error:
            troubles[cluster] = str(error)
        else:
            obstacles.update({(cluster, topic): why for topic, why in reasons.items()})
    return obstacles, troubles


def _read_facts(
    desired: Sequence[DesiredTopic],
) -> Exchange[tuple[dict[tuple[str, str], TopicFacts | None], dict[str, str]]]:
    """Return what the brokers have, by cluster and topic, and by cluster why that is not known."""
    facts: dict[tuple[str, str], TopicFacts | None] = {}
    troubles: dict[str, str] = {}
    for cluster in sorted({one.cluster for one in desired}):
        topics = tuple(one.topic for one in desired if one.cluster == cluster)
        try:
            topics_read = yield from request_answer(ReadTopics(cluster, topics))
        except Unavailable as error:
            troubles[cluster] = str(error)
        else:
            facts.update({(cluster, topic): one for topic, one in topics_read.items()})
    return facts, troubles


def _describe_deletion(gone: DeletedTopic) -> str:
    """Return in words when a topic goes."""
    if gone.begun:
        return "is being deleted"
    return f"deleted after {format_time(gone.due)}, unless UNDROP or another CREATE takes it back"


def describe_topic(source: Source) -> Exchange[str]:
    """Return the state of a source's topic in words: present, WAITING with the reason, or unknown; empty where nothing is known here."""
    (topic,) = list_desired([source]) or (None,)
    if topic is None:
        return ""
    try:
        facts = yield from request_answer(ReadTopics(topic.cluster, (topic.topic,)))
    except NotOffered:
        return ""
    except Unavailable as error:
        return f"{UNKNOWN}: {error}"
    state, detail = state_of(topic, facts[topic.topic])
    if state in {MISSING, CREATING}:
        return f"{WAITING}: the topic {topic.topic} of the cluster {topic.cluster} is not there; {detail}"
    return f"{state}: {detail}" if detail else state


def describe_assertion(statement: AssertTopicStatement) -> str:
    """Return what an ASSERT TOPIC is about, in words."""
    parts = [f"topic {statement.topic}"]
    parts += [f"{statement.partitions} partition{'s' * (statement.partitions != 1)}"] if statement.partitions else []
    parts += [f"{statement.replicas} replica{'s' * (statement.replicas != 1)}"] if statement.replicas else []
    return " with ".join(filter(None, [parts[0], " and ".join(parts[1:])]))
