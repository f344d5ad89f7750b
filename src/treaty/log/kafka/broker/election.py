"""Who owns a log, by a consumer group over its one partition: as a member of it, from outside, and passing by."""

import asyncio
import threading
from typing import Any

from confluent_kafka import Consumer, KafkaException

from treaty.core.kafka import KafkaCluster
from treaty.log.kafka.broker.group import CLIENT, Group
from treaty.log.kafka.broker.place import Place
from treaty.log.kafka.broker.trouble import JOURNAL, LIBRARY
from treaty.log.log import Leader

SESSION_SECONDS = 6.0
"""How long a member that says nothing stays in the group; brokers take no less unless they are told to."""
BEAT_SECONDS = 1.0
"""How often a member says that it is there; how soon it learns that another one left."""
TURN_SECONDS = 0.25
"""How long the thread waits for news of the group before it looks whether it should end."""


class BrokerElection:
    """An `Election`. The partition stays with who has it (cooperative sticky), and nothing is read from it here.

    The address of a node is its client id in the group, where every other member can read it.
    """

    def __init__(self, place: Place, address: str) -> None:
        """Join the group ``treaty-`` + topic, under the address of this node."""
        self._topic, self._address = place.topic, address
        self._group = Group(place)
        self._mine = False
        self._generation = 0
        self._closed = False
        self._consumer = Consumer(self._settings(place.cluster), logger=LIBRARY)
        self._thread = threading.Thread(target=self._run, name="treaty log, election", daemon=True)
        self._thread.start()

    def _settings(self, cluster: KafkaCluster) -> dict[str, object]:
        return cluster.client_settings(
            {
                "group.id": self._group.name,
                "client.id": f"{CLIENT}{self._address}",
                "group.protocol": "classic",
                "partition.assignment.strategy": "cooperative-sticky",
                "session.timeout.ms": int(SESSION_SECONDS * 1000),
                "heartbeat.interval.ms": int(BEAT_SECONDS * 1000),
                "enable.auto.commit": False,
                "auto.offset.reset": "latest",
                "allow.auto.create.topics": False,
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
                    JOURNAL.warning("the group %s of the log's owner: %s", self._group.name, error.str())
        except KafkaException as error:
            JOURNAL.error("the group %s of the log's owner can't be joined: %s", self._group.name, error)
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
        self._group.forget()

    async def leader(self) -> Leader | None:
        """This node where it has the partition, else who has it by the brokers' word of a moment ago."""
        if self._mine:
            return Leader(self._address, mine=True)
        owner = await self._group.owner()
        return None if owner is None or self._mine else Leader(owner, mine=False)

    @property
    def generation(self) -> int:
        """Counts how often the assignment has changed."""
        return self._generation

    async def close(self) -> None:
        """Leave the group, so that another member can take over at once."""
        if not self._closed:
            self._closed = True
            await asyncio.to_thread(self._thread.join)


class Onlooker:
    """An `Election` for a node that nobody reaches: it never becomes the owner of others, and decides while there is none."""

    def __init__(self, place: Place) -> None:
        """Join nothing."""
        self._group = Group(place)
        self._mine = False
        self._generation = 0

    async def leader(self) -> Leader | None:
        """Who has the partition; this node where nobody has it, None where that can't be said."""
        owner = await self._group.owner()
        mine = owner is None and self._group.empty
        if mine is not self._mine:
            self._mine = mine
            self._generation += 1
        if owner is not None:
            return Leader(owner, mine=False)
        return Leader("", mine=True) if mine else None

    @property
    def generation(self) -> int:
        """Counts how often it began or ceased to decide."""
        return self._generation

    async def close(self) -> None:
        """There is nothing to leave."""


class Visitor:
    """An `Election` for a command that writes to a log once: it takes it from the owner, who takes it back."""

    generation = 0

    async def leader(self) -> Leader | None:
        """This one."""
        return Leader("", mine=True)

    async def close(self) -> None:
        """There is nothing to leave."""
