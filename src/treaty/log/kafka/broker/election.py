"""`BrokerElection`: who owns a log, by a consumer group over its one partition."""

import asyncio
import threading
from typing import Any

from confluent_kafka import Consumer, KafkaException
from confluent_kafka.admin import AdminClient

from treaty.core.brokers import Heard
from treaty.core.cluster import Cluster
from treaty.log.kafka.broker.place import Place
from treaty.log.kafka.broker.trouble import JOURNAL, LIBRARY
from treaty.log.log import Leader

SESSION_SECONDS = 6.0
"""How long a member that says nothing stays in the group; brokers take no less unless they are told to."""
BEAT_SECONDS = 1.0
"""How often a member says that it is there; how soon it learns that another one left."""
STALE_SECONDS = 1.0
"""How long what the brokers said about the owner is believed."""
ASK_SECONDS = 3.0
"""How long the question may take."""
TURN_SECONDS = 0.25
"""How long the thread waits for news of the group before it looks whether it should end."""
_PREFIX = "treaty "
"""What a member's client id begins with; the address of its node follows."""


class BrokerElection:
    """An `Election`. The partition stays with who has it (cooperative sticky), and nothing is read from it here.

    The address of a node is its client id in the group, where every other member can read it.
    """

    def __init__(self, place: Place, address: str) -> None:
        """Join the group ``treaty-`` + topic, under the address of this node."""
        self._topic, self._group, self._address = place.topic, f"treaty-{place.topic}", address
        self._loop = asyncio.get_running_loop()
        self._heard = Heard()
        self._mine = False
        self._generation = 0
        self._known: Leader | None = None
        self._asked = float("-inf")
        self._turn = asyncio.Lock()
        self._closed = False
        admin: dict[str, Any] = place.cluster.merged({"error_cb": self._heard})
        self._admin = AdminClient(admin, logger=LIBRARY)
        self._consumer = Consumer(self._settings(place.cluster), logger=LIBRARY)
        self._thread = threading.Thread(target=self._run, name="treaty log, election", daemon=True)
        self._thread.start()

    def _settings(self, cluster: Cluster) -> dict[str, object]:
        return cluster.merged(
            {
                "group.id": self._group,
                "client.id": f"{_PREFIX}{self._address}",
                "group.protocol": "classic",
                "partition.assignment.strategy": "cooperative-sticky",
                "session.timeout.ms": int(SESSION_SECONDS * 1000),
                "heartbeat.interval.ms": int(BEAT_SECONDS * 1000),
                "enable.auto.commit": False,
                "auto.offset.reset": "latest",
                "allow.auto.create.topics": False,
                "error_cb": self._heard,
            }
        )

    def _run(self) -> None:
        try:
            self._consumer.subscribe(
                [self._topic], on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._revoked
            )
            while not self._closed:
                message = self._consumer.poll(TURN_SECONDS)
                error = None if message is None else message.error()
                if error is not None:
                    JOURNAL.warning("the group %s of the log's owner: %s", self._group, error.str())
        except KafkaException as error:
            JOURNAL.error("the group %s of the log's owner can't be joined: %s", self._group, error)
        self._consumer.close()

    def _assigned(self, consumer: Any, partitions: list[Any]) -> None:
        if partitions:
            consumer.incremental_assign(partitions)
            consumer.pause(partitions)
            self._changed(mine=True)

    def _revoked(self, consumer: Any, partitions: list[Any]) -> None:
        if partitions:
            self._changed(mine=False)

    def _changed(self, *, mine: bool) -> None:
        """Called in the thread. What is known of others is old news now."""
        self._mine = mine
        self._generation += 1
        self._asked = float("-inf")

    async def leader(self) -> Leader | None:
        """This node where it has the partition, else who has it by the brokers' word of a moment ago."""
        async with self._turn:
            if self._mine:
                return Leader(self._address, mine=True)
            if self._loop.time() >= self._asked + STALE_SECONDS:
                self._asked = self._loop.time()
                self._known = await self._ask()
            return self._known

    async def _ask(self) -> Leader | None:
        """Who has the partition as the group's coordinator knows it; None where that is open or it does not answer."""
        asked = self._admin.describe_consumer_groups([self._group], request_timeout=ASK_SECONDS)[self._group]
        try:
            group = await asyncio.wrap_future(asked)
        except KafkaException as error:
            JOURNAL.warning("the group %s can't be asked for the log's owner: %s", self._group, error.args[0].str())
            return None
        for member in group.members:
            parts = member.assignment.topic_partitions if member.assignment else ()
            if any(part.topic == self._topic for part in parts) and member.client_id.startswith(_PREFIX):
                address = member.client_id.removeprefix(_PREFIX)
                return Leader(address, mine=False)
        return None

    @property
    def generation(self) -> int:
        """Counts how often the assignment has changed."""
        return self._generation

    async def close(self) -> None:
        """Leave the group, so that another member can take over at once."""
        if not self._closed:
            self._closed = True
            await asyncio.to_thread(self._thread.join)
