"""`TopicAdmin`: what topics of a cluster are, and the changes that make them what they should be. Every change can be repeated."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from treaty.client.kafka.library import LOGGER, load_library, translate_errors
from treaty.core.kafka import KafkaCluster, LastBrokerError

ADMIN_SECONDS = 10.0
"""Seconds for one request to the controller."""
RETENTION, CLEANUP = "retention.ms", "cleanup.policy"
DELETIONS = "delete.topic.enable"
READ_SETTINGS = (RETENTION, CLEANUP)
"""Settings of a topic that are read."""

_BY_HAND = "delete it by another client; its row goes then"


@dataclass(frozen=True, slots=True)
class TopicFacts:
    """A topic as the brokers have it: partitions, replicas of the first one, and settings."""

    partitions: int
    replicas: int
    settings: Mapping[str, str]


class TopicAdmin:
    """Reads and changes topics by one client, which is opened by the first request."""

    def __init__(self, cluster: KafkaCluster) -> None:
        """Take the brokers and the settings of clients. Opens nothing."""
        self._cluster = cluster
        self._heard = LastBrokerError()
        self._admin: Any = None

    def _open(self, kafka: ModuleType) -> Any:
        if self._admin is None:
            settings = self._cluster.client_settings({"error_cb": self._heard})
            self._admin = kafka.admin.AdminClient(settings, logger=LOGGER)
        return self._admin

    def describe(self, topics: Iterable[str]) -> dict[str, TopicFacts | None]:
        """Return the facts of each of these topics; None for one that is missing. Raises `KafkaClientError`."""
        kafka = load_library()
        with translate_errors(kafka, self._cluster.servers, self._heard):
            admin = self._open(kafka)
            try:
                listed = admin.list_topics(timeout=ADMIN_SECONDS).topics
            except kafka.KafkaException:
                admin.poll(0)  # the library calls back from here only
                raise
            names = sorted(set(topics))
            existing = [topic for topic in names if topic in listed and listed[topic].error is None]
            settings = self._read_settings(kafka, admin, existing)
        facts: dict[str, TopicFacts | None] = dict.fromkeys(names)
        for topic in existing:
            partitions = listed[topic].partitions
            if topic in settings:
                replicas = len(partitions[min(partitions)].replicas) if partitions else 0
                facts[topic] = TopicFacts(len(partitions), replicas, settings[topic])
        return facts

    def _read_settings(self, kafka: ModuleType, admin: Any, topics: Iterable[str]) -> dict[str, dict[str, str]]:
        resource = kafka.admin.ConfigResource
        resources = [resource(resource.Type.TOPIC, topic) for topic in topics]
        settings = {}
        for resource_asked, future in (
            admin.describe_configs(resources, request_timeout=ADMIN_SECONDS) if resources else {}
        ).items():
            try:
                entries = future.result(ADMIN_SECONDS * 2)
            except kafka.KafkaException as error:
                if error.args[0].name() != "UNKNOWN_TOPIC_OR_PART":  # it was deleted meanwhile
                    raise
                continue
            settings[resource_asked.name] = {name: entries[name].value for name in READ_SETTINGS if name in entries}
        return settings

    def create(self, topic: str, partitions: int, replicas: int, settings: Mapping[str, str]) -> bool:
        """Create a topic, with as many replicas as the brokers say for -1; return False where it is there already.

        Raises `KafkaClientError`.
        """
        kafka = load_library()
        with translate_errors(kafka, self._cluster.servers, self._heard):
            new_topic = kafka.admin.NewTopic(topic, partitions, replicas, config=dict(settings))
            (future,) = self._open(kafka).create_topics([new_topic], operation_timeout=ADMIN_SECONDS).values()
            try:
                future.result(ADMIN_SECONDS * 2)
            except kafka.KafkaException as error:
                if error.args[0].name() == "TOPIC_ALREADY_EXISTS":
                    return False
                raise
        return True

    def set(self, topic: str, settings: Mapping[str, str]) -> None:
        """Set settings of a topic; others stay. Raises `KafkaClientError`."""
        kafka = load_library()
        admin = kafka.admin
        with translate_errors(kafka, self._cluster.servers, self._heard):
            entries = [
                admin.ConfigEntry(name, value, incremental_operation=admin.AlterConfigOpType.SET)
                for name, value in sorted(settings.items())
            ]
            resource = admin.ConfigResource(admin.ConfigResource.Type.TOPIC, topic, incremental_configs=entries)
            (future,) = self._open(kafka).incremental_alter_configs([resource]).values()
            future.result(ADMIN_SECONDS * 2)

    def delete(self, topic: str) -> bool:
        """Delete a topic; return False where there is none. Raises `KafkaClientError`."""
        kafka = load_library()
        with translate_errors(kafka, self._cluster.servers, self._heard):
            (future,) = self._open(kafka).delete_topics([topic], operation_timeout=ADMIN_SECONDS).values()
            try:
                future.result(ADMIN_SECONDS * 2)
            except kafka.KafkaException as error:
                if error.args[0].name() == "UNKNOWN_TOPIC_OR_PART":
                    return False
                raise
        return True

    def find_obstacle(self, topic: str) -> str | None:
        """Return why the brokers don't delete a topic, with the remedy: empty where nothing stands against that, None where it is not there.

        Raises `KafkaClientError`.
        """
        kafka = load_library()
        admin_module = kafka.admin
        with translate_errors(kafka, self._cluster.servers, self._heard):
            admin = self._open(kafka)
            try:
                listed = admin.list_topics(timeout=ADMIN_SECONDS)
            except kafka.KafkaException:
                admin.poll(0)  # the library calls back from here only
                raise
            if topic not in listed.topics:
                return None
            described = self._await(
                kafka, admin.describe_topics(kafka.TopicCollection([topic]), include_authorized_operations=True)
            )
            allowed = getattr(described, "authorized_operations", None)
            if allowed is not None and admin_module.AclOperation.DELETE not in allowed:
                return (
                    f"the credentials of this cluster may not delete it: allow Delete on topic {topic}, or {_BY_HAND}"
                )
            broker = admin_module.ConfigResource(admin_module.ConfigResource.Type.BROKER, str(min(listed.brokers)))
            entry = (self._await(kafka, admin.describe_configs([broker])) or {}).get(DELETIONS)
        if entry is not None and entry.value == "false":
            return f"the brokers have {DELETIONS}=false: set it to true, or {_BY_HAND}"
        return ""

    @staticmethod
    def _await(kafka: ModuleType, futures: Mapping[Any, Any]) -> Any:
        """Return the one answer; None where the brokers don't give it."""
        (future,) = futures.values()
        try:
            return future.result(ADMIN_SECONDS * 2)
        except kafka.KafkaException:
            return None
