"""Election of a log's owner by a consumer group over its partition: who owns it, and after how many seconds one that was killed is replaced;
members, observers, and a lookup for single commands.
"""

import asyncio
import threading
from typing import Any

from confluent_kafka import Consumer, KafkaException
from confluent_kafka.admin import AdminClient

from treaty.core.kafka import KafkaCluster
from treaty.log.kafka.broker.library import LIBRARY_LOGGER, LOGGER, end_clients
from treaty.log.kafka.broker.topic_config import TopicUrl
from treaty.log.log import Leader

STALE_SECONDS = 1.0
"""Seconds for which an answer of the brokers is used."""
ASK_SECONDS = 3.0
"""How long the question may take."""
CLIENT_ID_PREFIX = "treaty "
"""What a member's client id begins with; the address of its node follows, where every other member can read it."""


class ElectionGroup:
    """Knows who has the partition; what it knows may be old by a moment."""

    def __init__(self, topic_url: TopicUrl) -> None:
        """Nothing is asked yet."""
        self.name = f"treaty-{topic_url.topic}"
        self.empty = False
        """Whether the group had no members when it was last asked for."""
        self._topic = topic_url.topic
        self._known_owner: str | None = None
        self._asked_at = float("-inf")
        self._turn = asyncio.Lock()
        self._settings: dict[str, Any] = topic_url.cluster.client_settings({})
        self._admin: AdminClient | None = None
        self._closed = False

    def forget(self) -> None:
        """What is known is old; any thread may say so."""
        self._asked_at = float("-inf")

    async def owner(self) -> str | None:
        """The address of the node that has the partition; None while there is none, or where no broker answers."""
        clock = asyncio.get_running_loop().time
        async with self._turn:
            if clock() >= self._asked_at + STALE_SECONDS and not self._closed:
                self._asked_at = clock()
                self._known_owner = await self._ask()
            return self._known_owner

    async def _ask(self) -> str | None:
        """Ask, by a client that is given up where no answer came in time.

        librdkafka ends the whole process when a broker that was away comes back to such a question later (its issue
        4605). So nothing is asked while no broker is there, and no question outlives its time.
        """
        self.empty = False
        admin, self._admin = self._admin or AdminClient(self._settings, logger=LIBRARY_LOGGER), None
        group, usable = None, True
        try:
            await asyncio.to_thread(admin.list_topics, self._topic, timeout=ASK_SECONDS)
            description = admin.describe_consumer_groups([self.name], request_timeout=ASK_SECONDS)[self.name]
            group = await asyncio.wrap_future(description)
        except KafkaException as error:
            self.empty = usable = error.args[0].name() == "GROUP_ID_NOT_FOUND"
            if not usable:
                LOGGER.warning(
                    "cannot read the log's owner from the election group %s: %s", self.name, error.args[0].str()
                )
        if usable and not self._closed:
            self._admin = admin
        else:
            given_up = [admin]
            del admin
            await end_clients(given_up)
        if group is None:
            return None
        self.empty = not group.members
        for member in group.members:
            parts = member.assignment.topic_partitions if member.assignment else ()
            if any(part.topic == self._topic for part in parts) and member.client_id.startswith(CLIENT_ID_PREFIX):
                return str(member.client_id.removeprefix(CLIENT_ID_PREFIX))
        return None

    async def close(self) -> None:
        """Ask no more, and give the connections back; those of a question that has begun go with its answer."""
        self._closed = True
        clients, self._admin = [self._admin], None
        await end_clients(clients)


SESSION_SECONDS = 6.0
"""How long a member that says nothing stays in the group; brokers take no less unless they are configured so."""
HEARTBEAT_SECONDS = 1.0
"""How often a member says that it is there; how soon it learns that another one left."""
POLL_SECONDS = 0.25
"""How long the thread waits for news of the group before it looks whether it should end."""


class GroupElection:
    """An `OwnerElection`. The partition stays with who has it (cooperative sticky), and nothing is read from it here.

    The address of a node is its client id in the group, where every other member can read it.
    """

    def __init__(self, topic_url: TopicUrl, address: str) -> None:
        """Join the group ``treaty-`` + topic, under the address of this node."""
        self._topic, self._address = topic_url.topic, address
        self._group = ElectionGroup(topic_url)
        self._is_owner = False
        self._generation = 0
        self._closed = False
        self._consumer = Consumer(self._settings(topic_url.cluster), logger=LIBRARY_LOGGER)
        self._thread = threading.Thread(target=self._run, name="treaty log, election", daemon=True)
        self._thread.start()

    def _settings(self, cluster: KafkaCluster) -> dict[str, object]:
        return cluster.client_settings(
            {
                "group.id": self._group.name,
                "client.id": f"{CLIENT_ID_PREFIX}{self._address}",
                "group.protocol": "classic",
                "partition.assignment.strategy": "cooperative-sticky",
                "session.timeout.ms": int(SESSION_SECONDS * 1000),
                "heartbeat.interval.ms": int(HEARTBEAT_SECONDS * 1000),
                "enable.auto.commit": False,
                "auto.offset.reset": "latest",
                "allow.auto.create.topics": False,
            }
        )

    def _run(self) -> None:
        try:
            self._consumer.subscribe(
                [self._topic], on_assign=self._on_assign, on_revoke=self._on_revoke, on_lost=self._on_revoke
            )
            while not self._closed:
                message = self._consumer.poll(POLL_SECONDS)
                error = None if message is None else message.error()
                if error is not None:
                    LOGGER.warning("error of the election group %s: %s", self._group.name, error.str())
        except KafkaException as error:
            LOGGER.error("cannot join the election group %s: %s", self._group.name, error)
        self._consumer.close()

    def _on_assign(self, consumer: Any, partitions: list[Any]) -> None:
        if partitions:
            consumer.incremental_assign(partitions)
            consumer.pause(partitions)
            self._note_change(is_owner=True)

    def _on_revoke(self, consumer: Any, partitions: list[Any]) -> None:
        if partitions:
            self._note_change(is_owner=False)

    def _note_change(self, *, is_owner: bool) -> None:
        """Called in the thread. What is known of others is old news now."""
        self._is_owner = is_owner
        self._generation += 1
        self._group.forget()

    async def leader(self) -> Leader | None:
        """This node where it has the partition, else who has it by the brokers' word of a moment ago."""
        if self._is_owner:
            return Leader(self._address, is_own=True)
        owner = await self._group.owner()
        return None if owner is None or self._is_owner else Leader(owner, is_own=False)

    @property
    def generation(self) -> int:
        """Counts how often the assignment has changed."""
        return self._generation

    async def close(self) -> None:
        """Leave the group, so that another member can take over at once."""
        self._closed = True
        await asyncio.to_thread(self._thread.join)
        await self._group.close()


class ObserverElection:
    """An `OwnerElection` for a node that no other node reaches: it never becomes the owner of others, and decides while
    there is none.
    """

    def __init__(self, topic_url: TopicUrl) -> None:
        """Join nothing."""
        self._group = ElectionGroup(topic_url)
        self._is_owner = False
        self._generation = 0

    async def leader(self) -> Leader | None:
        """Who has the partition; this node where no node has it, None where that can't be said."""
        owner = await self._group.owner()
        is_owner = owner is None and self._group.empty
        if is_owner is not self._is_owner:
            self._is_owner = is_owner
            self._generation += 1
        if owner is not None:
            return Leader(owner, is_own=False)
        return Leader("", is_own=True) if is_owner else None

    @property
    def generation(self) -> int:
        """Counts how often it began or ceased to decide."""
        return self._generation

    async def close(self) -> None:
        """Give the connections back; there is no group to leave."""
        await self._group.close()


class TakeoverElection:
    """An `OwnerElection` for a command that writes to a log once: it takes it from the owner, who takes it back."""

    generation = 0

    async def leader(self) -> Leader | None:
        """This one."""
        return Leader("", is_own=True)

    async def close(self) -> None:
        """There is nothing to leave."""
