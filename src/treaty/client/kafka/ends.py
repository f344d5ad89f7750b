"""Where the partitions of a topic end now."""

from contextlib import closing

from treaty.client.kafka.failures import told
from treaty.client.kafka.library import LOGGER, library
from treaty.client.kafka.reading import ASK, partitions_of
from treaty.core.kafka import KafkaCluster, LastBrokerError


def ends(cluster: KafkaCluster, topic: str) -> dict[int, int]:
    """The offset after the last record of each partition. Raises `KafkaFailure` where the topic is not there."""
    kafka = library()
    heard = LastBrokerError()
    own: dict[str, object] = {
        "group.id": "treaty-reads-without-a-group",
        "enable.auto.commit": False,
        "allow.auto.create.topics": False,
        "error_cb": heard,
    }
    with (
        told(kafka, cluster.servers, heard),
        closing(kafka.Consumer(cluster.client_settings(own), logger=LOGGER)) as consumer,
    ):
        return {
            number: consumer.get_watermark_offsets(kafka.TopicPartition(topic, number), timeout=ASK)[1]
            for number in partitions_of(kafka, consumer, cluster, topic)
        }
