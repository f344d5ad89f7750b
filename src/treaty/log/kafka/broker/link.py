"""`BrokerLink`: the partition of a real topic, as the logs on Kafka take it."""

from collections.abc import Sequence

from treaty.log.kafka.broker.asker import Asker
from treaty.log.kafka.broker.sender import Sender
from treaty.log.kafka.broker.tail import Tail
from treaty.log.kafka.broker.topic import Topic
from treaty.log.kafka.link import Batch, CutAwayError, Ends


class BrokerLink:
    """A `Link`: one thread reads, one sends, one asks, and the event loop waits for none of them."""

    def __init__(self, topic: Topic) -> None:
        """Connect to a topic that is ready; a log of one owner reads what is committed only."""
        place = topic.place
        committed = place.writers == "owner"
        where = place.cluster.servers
        self._url = place.url
        self._sender = Sender(place.cluster, place.topic, where)
        self._tail = Tail(place.cluster, place.topic, where, committed=committed)
        self._topic = topic
        self._asker = Asker(topic, committed=committed)

    @property
    def url(self) -> str:
        """URL of the log, without secrets."""
        return self._url

    async def send(
        self, value: bytes, key: bytes | None = None, headers: Sequence[tuple[str, bytes]] = ()
    ) -> int | None:
        """Produce one record: its offset, or None where nobody knows."""
        await self._topic.same()
        return await self._sender.send(value, key, headers)

    async def ends(self) -> Ends:
        """Ask the leader, with a request that begins after this call."""
        await self._topic.same()
        return await self._asker.ends()

    async def fetch(self, offset: int, timeout: float) -> Batch:
        """Records from an offset on. Raises `CutAwayError`, and `LogDamagedError` where it is another topic."""
        await self._topic.same()
        try:
            return await self._tail.fetch(offset, timeout)
        except CutAwayError:
            await self._topic.same(now=True)
            raise

    async def cut(self, before: int) -> None:
        """Delete the prefix up to an offset."""
        await self._topic.same()
        await self._asker.cut(before)

    async def size(self) -> int:
        """Nobody tells the library what a partition takes."""
        return -1

    async def close(self) -> None:
        """Give back connections and threads."""
        await self._sender.close()
        await self._tail.close()
        await self._asker.close()
