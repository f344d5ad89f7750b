"""Topics as a whole: made where they are missing, and whether they are compacted."""

from types import ModuleType
from typing import Any

from treaty.client.kafka.failures import KafkaFailure, told
from treaty.client.kafka.library import LOGGER, library
from treaty.client.kafka.reading import ASK, metadata
from treaty.core.kafka import KafkaCluster, LastBrokerError

REPLICAS = 3
"""Copies of a new topic, where there are as many brokers."""


def compacted(cluster: KafkaCluster, topic: str, *, dry_run: bool = False) -> bool:
    """See that a topic is compacted and has one partition; returns whether it is there.

    One that is missing is made, unless this is a dry run. Raises `KafkaFailure` for one that a registry could not use.
    """
    kafka = library()
    heard = LastBrokerError()
    with told(kafka, cluster.servers, heard):
        admin = kafka.admin.AdminClient(cluster.client_settings({"error_cb": heard}), logger=LOGGER)
        found = metadata(kafka, admin, topic)
        there = found.topics[topic]
        if there.error is None:
            _refuse_unfit(kafka, admin, topic, len(there.partitions))
            return True
        if there.error.code() != kafka.KafkaError.UNKNOWN_TOPIC_OR_PART:
            raise KafkaFailure(f"the topic {topic!r} can't be used: {there.error.str()}")
        if not dry_run:
            _make(kafka, admin, topic, min(REPLICAS, len(found.brokers)))
        return False


def _make(kafka: ModuleType, admin: Any, topic: str, replicas: int) -> None:
    wanted = kafka.admin.NewTopic(topic, 1, replicas, config={"cleanup.policy": "compact"})
    (made,) = admin.create_topics([wanted], operation_timeout=ASK).values()
    made.result(ASK * 2)


def _refuse_unfit(kafka: ModuleType, admin: Any, topic: str, partitions: int) -> None:
    if partitions != 1:
        message = (
            f"the topic {topic!r} has {partitions} partitions; a registry's has 1, which keeps its records in order"
        )
        raise KafkaFailure(message)
    resource = kafka.admin.ConfigResource(kafka.admin.ConfigResource.Type.TOPIC, topic)
    (asked,) = admin.describe_configs([resource], request_timeout=ASK).values()
    policy = asked.result(ASK * 2)["cleanup.policy"].value
    if policy != "compact":
        remedy = "set cleanup.policy=compact there, or name another topic"
        raise KafkaFailure(f"the topic {topic!r} has cleanup.policy={policy}, so its records go with time; {remedy}")
