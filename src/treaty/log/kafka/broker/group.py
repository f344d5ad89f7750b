"""`Group`: the consumer group of a log's owner, as the brokers tell about it."""

import asyncio
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from treaty.log.kafka.broker.place import Place
from treaty.log.kafka.broker.trouble import JOURNAL, LIBRARY

STALE_SECONDS = 1.0
"""How long what the brokers said is believed."""
ASK_SECONDS = 3.0
"""How long the question may take."""
CLIENT = "treaty "
"""What a member's client id begins with; the address of its node follows, where every other member can read it."""


class Group:
    """Knows who has the partition; what it knows may be old by a moment."""

    def __init__(self, place: Place) -> None:
        """Nothing is asked yet."""
        self.name = f"treaty-{place.topic}"
        self.empty = False
        """Whether the group had no members when it was last asked for."""
        self._topic = place.topic
        self._known: str | None = None
        self._asked = float("-inf")
        self._turn = asyncio.Lock()
        self._settings: dict[str, Any] = place.cluster.client_settings({})
        self._admin: AdminClient | None = None

    def forget(self) -> None:
        """What is known is old; any thread may say so."""
        self._asked = float("-inf")

    async def owner(self) -> str | None:
        """The address of the node that has the partition; None while nobody has, or where nobody answers."""
        clock = asyncio.get_running_loop().time
        async with self._turn:
            if clock() >= self._asked + STALE_SECONDS:
                self._asked = clock()
                self._known = await self._ask()
            return self._known

    async def _ask(self) -> str | None:
        """Ask, by a client that is given up where no answer came in time.

        librdkafka ends the whole process when a broker that was away comes back to such a question later (its issue 4605).
        So nothing is asked while no broker is there, and no question outlives its time.
        """
        self.empty = False
        admin, self._admin = self._admin or AdminClient(self._settings, logger=LIBRARY), None
        try:
            await asyncio.to_thread(admin.list_topics, self._topic, timeout=ASK_SECONDS)
            asked = admin.describe_consumer_groups([self.name], request_timeout=ASK_SECONDS)[self.name]
            group = await asyncio.wrap_future(asked)
            self._admin = admin
        except KafkaException as error:
            self.empty = error.args[0].name() == "GROUP_ID_NOT_FOUND"
            if self.empty:
                self._admin = admin
            else:
                JOURNAL.warning("the group %s can't be asked for the log's owner: %s", self.name, error.args[0].str())
                given_up = [admin]
                del admin
                await asyncio.to_thread(given_up.clear)  # ending its threads takes a while
            return None
        self.empty = not group.members
        for member in group.members:
            parts = member.assignment.topic_partitions if member.assignment else ()
            if any(part.topic == self._topic for part in parts) and member.client_id.startswith(CLIENT):
                return str(member.client_id.removeprefix(CLIENT))
        return None
