"""The logs on a real Kafka broker, for the suites that must hold for all logs."""

import asyncio
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from uuid import uuid4

from tests.behaviours.logs.backends import KEPT, Node
from tests.servers.kafka import Kafka
from treaty.core.state.commit import Append
from treaty.log.kafka.broker.client import KafkaPartitionClient
from treaty.log.kafka.broker.topic import LogTopic
from treaty.log.kafka.broker.topic_config import TopicUrl, parse_topic_url
from treaty.log.kafka.broker.transactions import KafkaTransactionalProducer
from treaty.log.kafka.multi_writer.log import DEFAULT_POLICY, MultiWriterLog
from treaty.log.kafka.single_writer.log import SingleWriterLog
from treaty.log.log import AppendResult, Leader, Log


def unused(kafka: Kafka, writers: str) -> TopicUrl:
    """A topic that is not there yet."""
    return parse_topic_url(f"kafka://{kafka.bootstrap}/log-{uuid4().hex[:12]}?writers={writers}", ())


@dataclass(slots=True)
class Crown:
    """Who owns the log of a test: whoever asked last, since only an owner may append."""

    holder: int = 0


class Crowned:
    """An election that its own node wins whenever it asks."""

    def __init__(self, crown: Crown, node: int) -> None:
        self._crown, self._node, self.generation = crown, node, 0

    async def leader(self) -> Leader:
        if self._crown.holder != self._node:
            self._crown.holder = self._node
            self.generation += 1
        return Leader("", is_own=True)

    async def close(self) -> None:
        return


def _owner(kafka: Kafka) -> Node:
    """Who appends is the owner until that is done: one that is fenced between its records and its commit can't say more
    than that its fate is unknown, which is right, and not what these suites are about."""
    place, crown, numbers, turn = unused(kafka, "owner"), Crown(), itertools.count(1), asyncio.Lock()

    async def node() -> Log:
        topic = LogTopic(place)
        await topic.prepare()
        log = SingleWriterLog(
            KafkaPartitionClient(topic),
            KafkaTransactionalProducer(place),
            Crowned(crown, next(numbers)),
            appends_kept=KEPT,
        )
        append = log.append

        async def in_turn(one: Append) -> AppendResult:
            async with turn:
                return await append(one)

        log.append = in_turn  # type: ignore[method-assign, assignment]  # a log that waits for its turn, and is the same otherwise
        return log

    return node


def _any(kafka: Kafka) -> Node:
    place = unused(kafka, "any")

    async def node() -> Log:
        topic = LogTopic(place)
        await topic.prepare()
        return MultiWriterLog(KafkaPartitionClient(topic), policy=replace(DEFAULT_POLICY, appends_kept=KEPT))

    return node


BROKERS: Mapping[str, Callable[[Kafka], Node]] = {"kafka broker, any": _any, "kafka broker, owner": _owner}
