"""`TopicReconciler`: makes topics what the sources over them say, and tries again until they are.

Rows are the desired state, so nothing is remembered: after a kill at any step the next round compares again, and every change can
be repeated. A topic that is there is never repartitioned. While a topic of a cluster is to be changed, one server has the lease on
that cluster's topics, and the others look on.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from treaty.assemble.topic_lease import TopicLeases
from treaty.client.async_connection import run_exchange_async
from treaty.client.kafka.library import KafkaClientError, KafkaMissingError
from treaty.client.kafka.topic_admin import TopicAdmin
from treaty.core.kafka import KafkaCluster
from treaty.core.messages.metastore.deleted_topics import DeletedTopic, DeletedTopics, ListDeletedTopics
from treaty.core.refusals import RegistryError
from treaty.core.registry import AsyncRegistry
from treaty.metastore.execution.pages import list_sources
from treaty.metastore.records.desired_topics import DesiredTopic, TopicDifference, compare, list_desired

logger = logging.getLogger("treaty.topics")
ROUND_SECONDS = 5.0
"""Seconds between two looks at the topics."""
LONGEST_SECONDS = 60.0
"""The longest wait after failures in a row; each is twice as long as the one before."""
RELEASE_SECONDS = 5.0
"""Seconds for which a server that stops tries to give its leases back."""


def ignore_open(_count: int) -> None:
    """Ignore how many topics are to be changed."""


@dataclass(frozen=True, slots=True)
class ClusterWork:
    """What is to be done in one cluster: topics to create or set, and topics to delete."""

    changes: Sequence[tuple[DesiredTopic, TopicDifference]]
    deletions: Sequence[DeletedTopic]

    def __len__(self) -> int:
        """How many topics are to be changed."""
        return len(self.changes) + len(self.deletions)


@dataclass(slots=True)
class TopicReconciler:
    """Compares topics with sources, round by round.

    `step` is called before each change with its name, for tests of kills. `tell_open` gets after each look how many topics are to be
    changed.
    """

    registry: AsyncRegistry
    clusters: Mapping[str, KafkaCluster]
    step: Callable[[str], None] = lambda _name: None
    leases: TopicLeases = field(default_factory=TopicLeases)
    tell_open: Callable[[int], None] = ignore_open
    _failures: int = 0

    async def run(self) -> None:
        """Work until the task is cancelled; then give the leases back."""
        try:
            while True:
                seconds = await self.work()
                await asyncio.sleep(seconds)
        finally:
            with suppress(RegistryError, TimeoutError):
                await asyncio.wait_for(self.leases.release_all(self.registry), RELEASE_SECONDS)

    async def work(self) -> float:
        """Make one round; return the seconds until the next one, more after each that left something."""
        self._failures = 0 if await self.settle() else self._failures + 1
        seconds: float = ROUND_SECONDS * 2 ** min(self._failures, 8)
        return min(LONGEST_SECONDS, seconds)

    async def settle(self) -> bool:
        """Make one round; return whether every cluster answered and every change was made, by this server or another."""
        is_settled, count = True, 0
        try:
            desired = list_desired(await run_exchange_async(self.registry, list_sources()))
            deleted = (await self.registry.ask(ListDeletedTopics())).answer
            for name in self.clusters:
                work = await self._find_work(name, desired, deleted)
                if work is None:
                    is_settled = False
                    continue
                count += len(work)
                left = await self._settle_cluster(name, work, deleted)
                count -= 0 if left is None else len(work) - left
                is_settled &= not left
        except RegistryError as error:
            logger.warning("topics are not compared now: %s", error)
            return False
        finally:
            self.tell_open(count)
        return is_settled

    async def _find_work(
        self, cluster: str, desired: Sequence[DesiredTopic], deleted: DeletedTopics
    ) -> ClusterWork | None:
        """Return what is to be done in a cluster; None where it does not answer."""
        topics = [topic for topic in desired if topic.cluster == cluster]
        now = int(time.time() * 1_000)
        deletions = [one for one in deleted.topics if one.cluster == cluster and (one.begun or one.due <= now)]
        if not topics:
            return ClusterWork((), deletions)
        admin = TopicAdmin(self.clusters[cluster])
        try:
            facts = await asyncio.to_thread(admin.describe, [topic.topic for topic in topics])
        except (KafkaClientError, KafkaMissingError) as error:
            logger.warning("topics of the cluster %s are not compared now: %s", cluster, error)
            return None
        compared = [(topic, compare(topic, facts[topic.topic])) for topic in topics]
        return ClusterWork([one for one in compared if one[1].create or one[1].settings], deletions)

    async def _settle_cluster(self, cluster: str, work: ClusterWork, deleted: DeletedTopics) -> int | None:
        """Change the topics of one cluster; return how many it did not take, None where another server works."""
        if not work:
            await self.leases.release(self.registry, cluster, deleted.leases)
            return 0
        begin = tuple(one.topic for one in work.deletions)
        self.step(f"lease {cluster}")
        held = await self.leases.take(self.registry, cluster, deleted.leases, begin)
        if held is None:
            return None
        admin, left, gone = TopicAdmin(self.clusters[cluster]), 0, list[str]()
        for desired, lacks in work.changes:
            if not await self.leases.keep(self.registry, cluster):
                return None
            left += not await self._try_change(cluster, desired.topic, partial(self._change, admin, desired, lacks))
        for topic in held.deleting:
            if not await self.leases.keep(self.registry, cluster):
                return None
            if await self._try_change(cluster, topic, partial(self._delete, admin, cluster, topic)):
                gone.append(topic)
            else:
                left += 1
        self.step(f"note {cluster}")
        await self.leases.note(self.registry, cluster, tuple(gone), release=not left)
        return left

    async def _try_change(self, cluster: str, topic: str, change: Callable[[], None]) -> bool:
        """Carry out a change on a thread; return whether the cluster took it."""
        try:
            await asyncio.to_thread(change)
        except (KafkaClientError, KafkaMissingError) as error:
            logger.warning("topic %s of the cluster %s is not changed now: %s", topic, cluster, error)
            return False
        return True

    def _change(self, admin: TopicAdmin, desired: DesiredTopic, lacks: TopicDifference) -> None:
        """Create a topic or set its settings, where it lacks that."""
        place = f"topic {desired.topic} of the cluster {desired.cluster}"
        if lacks.create:
            self.step(f"create {desired.topic}")
            if admin.create(desired.topic, desired.partitions, desired.replicas, desired.settings):
                logger.info("%s is created: %d partitions", place, desired.partitions)
        elif lacks.settings:
            self.step(f"set {desired.topic}")
            admin.set(desired.topic, lacks.settings)
            words = ", ".join(f"{name}={value}" for name, value in sorted(lacks.settings.items()))
            logger.info("%s has other settings now: %s", place, words)
        if lacks.fixed:
            logger.debug("%s stays as it is: %s", place, "; ".join(lacks.fixed))

    def _delete(self, admin: TopicAdmin, cluster: str, topic: str) -> None:
        """Delete a topic, if it is there."""
        self.step(f"delete {topic}")
        if admin.delete(topic):
            logger.info("topic %s of the cluster %s is deleted: its last source was dropped with it", topic, cluster)
