"""`LogTopic`: the topic of a log; it is created if missing, and checked while in use."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from confluent_kafka import KafkaException, TopicCollection
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._config import ConfigResource
from confluent_kafka.cimpl import NewTopic

from treaty.core.kafka import GONE, LastBrokerError
from treaty.log.kafka.broker.library import LIBRARY_LOGGER, LOGGER, end_clients, make_unavailable_error
from treaty.log.kafka.broker.topic_config import (
    TopicUrl,
    describe_wrong_settings,
    find_wrong_settings,
    new_topic_settings,
)
from treaty.log.log import LogDamagedError, LogUnavailableError

ASK_SECONDS = 5.0
"""How long a question about the topic may take."""
CREATE_SECONDS = 15.0
"""How long a new topic may take until the brokers know it."""
PAUSE_SECONDS = 0.1
"""Between two looks for a new topic."""
MISSING_SECONDS = 3.0
"""How long a topic must be missing before it counts as deleted."""
CHECK_SECONDS = 5.0
"""How often a node makes sure that the topic is still the one that it began with."""
CHECK_SETTINGS_SECONDS = 60.0
"""How often it looks at the topic's settings, which somebody may change."""
REPLICAS = 3
"""Copies of a new topic where no number is given, and where there are as many brokers."""


@dataclass(frozen=True, slots=True)
class TopicDescription:
    """What the brokers say of a topic; `id` is "" at brokers that give topics none."""

    id: str
    partitions: int
    replicas: int


class LogTopic:
    """Knows the id of its topic from the first look on; a topic of the same name made later is another one."""

    def __init__(self, topic_url: TopicUrl) -> None:
        """Connect; nothing is asked yet."""
        self.topic_url = topic_url
        self._where = topic_url.cluster.servers
        self._heard = LastBrokerError()
        settings: dict[str, Any] = topic_url.cluster.client_settings({"error_cb": self._heard})
        self._admin: AdminClient | None = AdminClient(settings, logger=LIBRARY_LOGGER)
        self.settings: Mapping[str, str] = {}
        """The settings in force when they were last looked at."""
        self._description: TopicDescription | None = None
        self._checked_at = self._settings_checked_at = float("-inf")
        self._turn = asyncio.Lock()

    @property
    def admin(self) -> AdminClient:
        """The client that asks about the topic. Raises `LogUnavailableError` after `close`."""
        if self._admin is None:
            raise LogUnavailableError("this log was closed")
        return self._admin

    async def prepare(self, *, create: bool = True, is_command: bool = False) -> None:
        """Make the topic if it is not there, and see that it fits; who only visits gets no word on durability.

        Raises `LogUnavailableError` where it can't be made or reached, `LogDamagedError` where it does not fit.
        """
        description = await self._describe()
        if description is None:
            if not create:
                raise LogDamagedError(
                    f"there is no topic {self.topic_url.topic!r} at {self._where}; `treaty serve` makes one, or name another"
                )
            await self._create()
            description = await self._wait_until_created()
        if description.partitions != 1:
            raise LogDamagedError(
                f"the topic {self.topic_url.topic!r} at {self._where} has {description.partitions} partitions, wanted 1, which keeps "
                "records in order: name another topic; one that is not there is made"
            )
        if description.replicas < self.topic_url.replication:
            raise LogDamagedError(
                f"the topic {self.topic_url.topic!r} at {self._where} has {description.replicas} copies, wanted "
                f"{self.topic_url.replication} by its URL: add copies with kafka-reassign-partitions.sh, or say "
                f"replication={description.replicas}"
            )
        self._description, self._checked_at = description, asyncio.get_running_loop().time()
        await self._check_settings()
        if not is_command:
            self._report_replicas(description.replicas)

    def _report_replicas(self, replicas: int) -> None:
        if replicas == 1:
            LOGGER.warning(
                "%s has one copy: what is acknowledged goes with that broker's disk, and a power cut may take the last "
                "writes; with three brokers a topic has three copies",
                self.topic_url.url,
            )
        else:
            LOGGER.info("%s has %d copies; acknowledged means that two brokers have it", self.topic_url.url, replicas)

    async def _describe(self) -> TopicDescription | None:
        """What the brokers say of the topic; None where there is none."""
        answers = self.admin.describe_topics(TopicCollection([self.topic_url.topic]), request_timeout=ASK_SECONDS)
        try:
            answer = await asyncio.wrap_future(answers[self.topic_url.topic])
        except KafkaException as error:
            if error.args[0].name() in GONE:
                return None
            raise self._make_unavailable_error(error) from error
        copies = min((len(partition.replicas) for partition in answer.partitions), default=0)
        return TopicDescription(str(answer.topic_id or ""), len(answer.partitions), copies)

    def _make_unavailable_error(self, error: KafkaException) -> LogUnavailableError:
        self.admin.poll(0)  # the library tells from here only what it has heard
        return make_unavailable_error(error.args[0], self._where, self._heard)

    async def _create(self) -> None:
        try:
            cluster = await asyncio.wrap_future(self.admin.describe_cluster(request_timeout=ASK_SECONDS))
            replicas = self.topic_url.replication or min(REPLICAS, len(cluster.nodes))
            settings = new_topic_settings(self.topic_url.writers, replicas)
            new = NewTopic(self.topic_url.topic, 1, replicas, config=settings)
            (created,) = self.admin.create_topics([new], operation_timeout=ASK_SECONDS).values()
            await asyncio.wrap_future(created)
        except KafkaException as error:
            if error.args[0].name() == "TOPIC_ALREADY_EXISTS":
                return  # another node was quicker
            raise LogUnavailableError(
                f"the topic {self.topic_url.topic!r} can't be made at {self._where}: {error.args[0].str()}; make it yourself, "
                f"with 1 partition and {', '.join(f'{n}={v}' for n, v in new_topic_settings(self.topic_url.writers, 3).items())}"
            ) from error
        LOGGER.info(
            "the topic %s was made at %s with %d %s",
            self.topic_url.topic,
            self._where,
            replicas,
            "copies" if replicas > 1 else "copy",
        )

    async def _wait_until_created(self) -> TopicDescription:
        """The new topic, as soon as it has a partition."""
        clock = asyncio.get_running_loop().time
        limit = clock() + CREATE_SECONDS
        while clock() < limit:
            description = await self._describe()
            if description is not None and description.partitions and description.replicas:
                return description
            await asyncio.sleep(PAUSE_SECONDS)
        raise LogUnavailableError(
            f"the topic {self.topic_url.topic!r} was made at {self._where}, but is not there after {CREATE_SECONDS:.0f} s"
        )

    async def check_same(self, *, now: bool = False) -> None:
        """See that it is the topic of the start, and set as it was, where that was not seen lately.

        Raises `LogDamagedError` where it is not, `LogUnavailableError` where the brokers don't answer.
        """
        if not now and asyncio.get_running_loop().time() < self._checked_at + CHECK_SECONDS:
            return
        async with self._turn:
            begun = asyncio.get_running_loop().time()
            if not now and begun < self._checked_at + CHECK_SECONDS:
                return
            if (await self._describe_existing()).id != (self._description.id if self._description else ""):
                raise LogDamagedError(
                    f"the topic {self.topic_url.topic!r} at {self._where} was deleted and made again while this node held its "
                    "log: stop all nodes and restore a dump into a new topic, or start them again to begin with an empty log"
                )
            if begun >= self._settings_checked_at + CHECK_SETTINGS_SECONDS:
                await self._check_settings()
            self._checked_at = begun

    async def _describe_existing(self) -> TopicDescription:
        """The topic, which was there; a broker that has just started may not know it for a moment."""
        clock = asyncio.get_running_loop().time
        limit = clock() + MISSING_SECONDS
        while (description := await self._describe()) is None:
            if clock() > limit:
                raise LogDamagedError(
                    f"the topic {self.topic_url.topic!r} at {self._where} is gone: stop all nodes and restore a dump into a new one"
                )
            await asyncio.sleep(PAUSE_SECONDS)
        return description

    async def _check_settings(self) -> None:
        description = self._description
        assert description is not None
        begun = asyncio.get_running_loop().time()
        settings = await self._read_settings()
        writers = self.topic_url.writers
        if next(find_wrong_settings(settings, writers, description.replicas), None) is not None:
            raise LogDamagedError(
                describe_wrong_settings(self.topic_url.topic, self._where, settings, writers, description.replicas)
            )
        self.settings, self._settings_checked_at = settings, begun

    async def _read_settings(self) -> Mapping[str, str]:
        """Ask for the settings that are in force, the brokers' defaults included."""
        resource = ConfigResource(ConfigResource.Type.TOPIC, self.topic_url.topic)
        (answer,) = self.admin.describe_configs([resource], request_timeout=ASK_SECONDS).values()
        try:
            entries = await asyncio.wrap_future(answer)
        except KafkaException as error:
            raise self._make_unavailable_error(error) from error
        return {name: str(entry.value) for name, entry in entries.items() if entry.value is not None}

    async def close(self) -> None:
        """Give the connections back. Who still waits for an answer gets `LogUnavailableError`."""
        clients, self._admin = [self._admin], None
        await end_clients(clients)
