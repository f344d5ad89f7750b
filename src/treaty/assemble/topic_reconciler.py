"""`TopicReconciler`: makes topics what the sources over them say, and tries again until they are.

Rows of sources are the desired state, so nothing is remembered: after a kill at any step the next round compares again. Every change
can be repeated, so several servers may work at once. A topic that is there is never created anew and never repartitioned.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from treaty.client.async_connection import run_exchange_async
from treaty.client.kafka.library import KafkaClientError, KafkaMissingError
from treaty.client.kafka.topic_admin import TopicAdmin
from treaty.core.kafka import KafkaCluster
from treaty.core.refusals import RegistryError
from treaty.core.registry import AsyncRegistry
from treaty.metastore.execution.pages import list_sources
from treaty.metastore.records.desired_topics import DesiredTopic, compare, list_desired

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
    _reported: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)

    async def run(self) -> None:
        """Work until the task is cancelled."""
        while True:
            done = await self.settle()
            self._failures = 0 if done else self._failures + 1
            await asyncio.sleep(min(LONGEST_SECONDS, ROUND_SECONDS * 2 ** min(self._failures, 8)))

    async def settle(self) -> bool:
        """Make one round; return whether every cluster answered and every change was made."""
        try:
            desired = list_desired(await run_exchange_async(self.registry, list_sources()))
        except RegistryError as error:
            logger.warning("topics are not compared now: %s", error)
            return False
        done = True
        for name, cluster in self.clusters.items():
            wanted = [one for one in desired if one.cluster == name]
            if wanted:
                done &= await asyncio.to_thread(self._settle_cluster, name, TopicAdmin(cluster), wanted)
        return done

    def _settle_cluster(self, name: str, admin: TopicAdmin, wanted: list[DesiredTopic]) -> bool:
        try:
            facts = admin.describe(one.topic for one in wanted)
        except (KafkaClientError, KafkaMissingError) as error:
            logger.warning("topics of the cluster %s are not compared now: %s", name, error)
            return False
        done = True
        for one in wanted:
            lacks = compare(one, facts[one.topic])
            try:
                if lacks.create:
                    self.step(f"create {one.topic}")
                    if admin.create(one.topic, one.partitions, one.replicas, one.settings):
                        logger.info(
                            "topic %s of the cluster %s is created: %d partitions", one.topic, name, one.partitions
                        )
                elif lacks.settings:
                    self.step(f"set {one.topic}")
                    admin.set(one.topic, lacks.settings)
                    words = ", ".join(f"{key}={value}" for key, value in sorted(lacks.settings.items()))
                    logger.info("topic %s of the cluster %s has other settings now: %s", one.topic, name, words)
            except KafkaClientError as error:
                logger.warning("topic %s of the cluster %s is not changed now: %s", one.topic, name, error)
                done = False
            self._report(one, lacks.fixed)
        return done

    def _report(self, one: DesiredTopic, fixed: tuple[str, ...]) -> None:
        """Log once what can't be changed."""
        key = (one.cluster, one.topic)
        if fixed and self._reported.get(key) != fixed:
            logger.warning("topic %s stays as it is: %s", one.topic, "; ".join(fixed))
        if fixed:
            self._reported[key] = fixed
        else:
            self._reported.pop(key, None)
