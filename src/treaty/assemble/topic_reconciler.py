"""`TopicReconciler`: makes topics what the sources over them say, and tries again until they are.

Rows of sources are the desired state, so nothing is remembered: after a kill at any step the next round compares again. Every change
can be repeated, so several servers may work at once. A topic that is there is never repartitioned.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from treaty.client.async_connection import run_exchange_async
from treaty.client.kafka.library import KafkaClientError, KafkaMissingError
from treaty.client.kafka.topic_admin import TopicAdmin
from treaty.core.kafka import KafkaCluster
from treaty.core.refusals import RegistryError
from treaty.core.registry import AsyncRegistry
from treaty.metastore.execution.pages import list_sources
from treaty.metastore.records.desired_topics import DesiredTopic, TopicDifference, compare, list_desired

logger = logging.getLogger("treaty.topics")
ROUND_SECONDS = 5.0
"""Seconds between two looks at the topics."""
LONGEST_SECONDS = 60.0
"""The longest wait after failures in a row; each is twice as long as the one before."""


@dataclass(slots=True)
class TopicReconciler:
    """Compares topics with sources, round by round. `step` is called before each change with its name, for tests of kills."""

    registry: AsyncRegistry
    clusters: Mapping[str, KafkaCluster]
    step: Callable[[str], None] = lambda _name: None
    _failures: int = 0

    async def run(self) -> None:
        """Work until the task is cancelled."""
        while True:
            self._failures = 0 if await self.settle() else self._failures + 1
            await asyncio.sleep(min(LONGEST_SECONDS, ROUND_SECONDS * 2 ** min(self._failures, 8)))

    async def settle(self) -> bool:
        """Make one round; return whether every cluster answered and every change was made."""
        try:
            desired = list_desired(await run_exchange_async(self.registry, list_sources()))
        except RegistryError as error:
            logger.warning("topics are not compared now: %s", error)
            return False
        is_settled = True
        for name, cluster in self.clusters.items():
            topics = [topic for topic in desired if topic.cluster == name]
            if topics:
                is_settled &= await asyncio.to_thread(self._settle_cluster, TopicAdmin(cluster), topics)
        return is_settled

    def _settle_cluster(self, admin: TopicAdmin, topics: list[DesiredTopic]) -> bool:
        """Change the topics of one cluster; return whether it answered and took every change."""
        try:
            facts = admin.describe(desired.topic for desired in topics)
        except (KafkaClientError, KafkaMissingError) as error:
            logger.warning("topics of the cluster %s are not compared now: %s", topics[0].cluster, error)
            return False
        is_settled = True
        for desired in topics:
            try:
                self._change(admin, desired, compare(desired, facts[desired.topic]))
            except KafkaClientError as error:
                logger.warning(
                    "topic %s of the cluster %s is not changed now: %s", desired.topic, desired.cluster, error
                )
                is_settled = False
        return is_settled

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
