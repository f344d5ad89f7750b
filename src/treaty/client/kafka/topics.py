"""Topics of a cluster: a compacted one is made, or refused as unfit; end offsets, and offsets at a time."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from types import ModuleType
from typing import Any

from treaty.client.kafka.consumer import ASK, fetch_metadata, partitions_of
from treaty.client.kafka.library import LOGGER, KafkaClientError, load_library, translate_errors
from treaty.core.kafka import KafkaCluster, LastBrokerError

REPLICAS = 3
"""Replication factor of a new topic, if there are as many brokers."""


def ensure_compacted(cluster: KafkaCluster, topic: str, *, dry_run: bool = False) -> bool:
    """Ensure that a topic is compacted and has one partition; return whether it existed.

    A missing topic is created, except in a dry run. Raises `KafkaClientError` for a topic that a registry cannot use.
    """
    kafka = load_library()
    heard = LastBrokerError()
    with translate_errors(kafka, cluster.servers, heard):
        admin = kafka.admin.AdminClient(cluster.client_settings({"error_cb": heard}), logger=LOGGER)
        metadata = fetch_metadata(kafka, admin, topic)
        existing = metadata.topics[topic]
        if existing.error is None:
            _refuse_unfit(kafka, admin, topic, len(existing.partitions))
            return True
        if existing.error.code() != kafka.KafkaError.UNKNOWN_TOPIC_OR_PART:
            raise KafkaClientError(f"the topic {topic!r} can't be used: {existing.error.str()}")
        if not dry_run:
            _make(kafka, admin, topic, min(REPLICAS, len(metadata.brokers)))
        return False


def _make(kafka: ModuleType, admin: Any, topic: str, replicas: int) -> None:
    new_topic = kafka.admin.NewTopic(topic, 1, replicas, config={"cleanup.policy": "compact"})
    (future,) = admin.create_topics([new_topic], operation_timeout=ASK).values()
    future.result(ASK * 2)


def _refuse_unfit(kafka: ModuleType, admin: Any, topic: str, partitions: int) -> None:
    if partitions != 1:
        message = (
            f"the topic {topic!r} has {partitions} partitions; a registry's has 1, which keeps its records in order"
        )
        raise KafkaClientError(message)
    resource = kafka.admin.ConfigResource(kafka.admin.ConfigResource.Type.TOPIC, topic)
    (future,) = admin.describe_configs([resource], request_timeout=ASK).values()
    policy = future.result(ASK * 2)["cleanup.policy"].value
    if policy != "compact":
        remedy = "set cleanup.policy=compact there, or name another topic"
        raise KafkaClientError(
            f"the topic {topic!r} has cleanup.policy={policy}, so its records are deleted over time; {remedy}"
        )


def find_end_offsets(cluster: KafkaCluster, topic: str) -> dict[int, int]:
    """Return the end offset of each partition. Raises `KafkaClientError` if the topic does not exist."""
    return {number: end for number, (_, end) in find_offsets(cluster, topic).items()}


def find_offsets(cluster: KafkaCluster, topic: str) -> dict[int, tuple[int, int]]:
    """Return the first offset and the end offset of each partition. Raises `KafkaClientError` if the topic does not exist."""
    with _open_consumer(cluster) as (kafka, consumer):
        return {
            number: consumer.get_watermark_offsets(kafka.TopicPartition(topic, number), timeout=ASK)
            for number in partitions_of(kafka, consumer, cluster, topic)
        }


def find_offsets_at(cluster: KafkaCluster, topic: str, time: int) -> dict[int, int]:
    """Return of each partition the offset of the first record of a time (ms since the epoch) or later.

    A partition without one has its end offset. Raises `KafkaClientError` if the topic does not exist.
    """
    with _open_consumer(cluster) as (kafka, consumer):
        places = [kafka.TopicPartition(topic, one, time) for one in partitions_of(kafka, consumer, cluster, topic)]
        offsets = {one.partition: one.offset for one in consumer.offsets_for_times(places, timeout=ASK)}
        return {
            number: offset
            if offset >= 0
            else consumer.get_watermark_offsets(kafka.TopicPartition(topic, number), timeout=ASK)[1]
            for number, offset in offsets.items()
        }


@contextmanager
def _open_consumer(cluster: KafkaCluster) -> Iterator[tuple[ModuleType, Any]]:
    """A consumer that asks about offsets and reads nothing."""
    kafka = load_library()
    heard = LastBrokerError()
    own: dict[str, object] = {
        "group.id": "treaty-reads-without-a-group",
        "enable.auto.commit": False,
        "allow.auto.create.topics": False,
        "error_cb": heard,
    }
    with (
        translate_errors(kafka, cluster.servers, heard),
        closing(kafka.Consumer(cluster.client_settings(own), logger=LOGGER)) as consumer,
    ):
        yield kafka, consumer
