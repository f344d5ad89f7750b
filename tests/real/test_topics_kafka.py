"""Topics become what the sources over them say, whatever ends a reconciler, and stay as they are where that can't be changed."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.real.running import Running, serving
from tests.real.test_statements_kafka import post
from tests.servers.kafka import Kafka
from treaty import connect, connect_async
from treaty.assemble.topic_reconciler import TopicReconciler
from treaty.client.kafka.topic_admin import TopicAdmin
from treaty.core.kafka import KafkaCluster
from treaty.metastore import Metastore

STREAM = "CREATE STREAM {0} (v INT) WITH (KAFKA_TOPIC = '{0}', VALUE_FORMAT = 'AVRO'{1})"


@pytest.fixture(scope="module")
def server(kafka: Kafka, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving(
        tmp_path_factory.mktemp("server"), "--log", "memory:", "--cluster", f"main=kafka://{kafka.bootstrap}"
    ) as running:
        yield running


def test_a_topic_is_created_set_adopted_and_never_repartitioned(server: Running, kafka: Kafka) -> None:
    fresh, old, missing = (f"t{uuid4().hex}" for _ in range(3))
    kafka.topic(old, 2, {"retention.ms": "1000"})
    more = ", PARTITIONS = 3, RETENTION_MS = 86400000, CLEANUP_POLICY = 'compact,delete'"
    status, answer = post(
        server,
        f"{STREAM.format(fresh, more)}; {STREAM.format(old, ', PARTITIONS = 5, RETENTION_MS = 2000')}; {STREAM.format(missing, '')};"
        f"ASSERT TOPIC '{fresh}' WITH (PARTITIONS = 3, REPLICAS = 1) TIMEOUT 30 SECONDS; ASSERT NOT EXISTS TOPIC '{missing}';"
        f"INSERT INTO {old} VALUES (1); INSERT INTO {fresh} VALUES (1)",
    )
    assert answer["results"][3]["message"] == f"A topic {fresh} with 3 partitions and 1 replica exists"
    assert (status, answer["code"], len(answer["results"])) == (400, "TOPIC_REFUSES", 6), "a compacted topic needs keys"
    settings = kafka.settings(fresh)
    assert (settings["retention.ms"], settings["cleanup.policy"]) == ("86400000", "compact,delete")
    post(server, f"ALTER STREAM {fresh} SET (RETENTION_MS = 5000)")
    rows = wait_for(server, fresh, "5000")
    assert rows[fresh][2:8] == [3, fresh, 1, "5000", "compact,delete", "present"]
    assert (rows[old][2], rows[old][5], rows[old][7]) == (2, "2000", "differs")
    assert "it has 2 partitions, and PARTITIONS = 5" in rows[old][8]
    assert rows[missing][7] == "missing"
    status, answer = post(server, f"ASSERT TOPIC '{old}' WITH (PARTITIONS = 5) TIMEOUT 0 SECONDS")
    assert (status, answer["code"]) == (417, "ASSERT_FAILED")


def wait_for(server: Running, topic: str, retention: str) -> dict[str, list[Any]]:
    """The rows of SHOW TOPICS EXTENDED by topic, when a topic has this retention."""
    for _ in range(200):
        _, answer = post(server, "SHOW TOPICS EXTENDED")
        rows: dict[str, list[Any]] = {row[0]: row for row in answer["results"][0]["rows"]}
        if rows[topic][5] == retention:
            return rows
        time.sleep(0.1)
    raise AssertionError(rows[topic])


class EndedError(Exception):
    """A reconciler ends at a step."""


@pytest.mark.parametrize("place", range(4))
def test_after_an_end_at_any_step_the_next_round_completes(kafka: Kafka, tmp_path: Path, place: int) -> None:
    names = [f"t{uuid4().hex}" for _ in range(4)]
    for name in names[:2]:
        kafka.topic(name, 1, {"retention.ms": "1000"})
    cluster = KafkaCluster(kafka.bootstrap)

    sources = ";".join(
        STREAM.format(name, f", RETENTION_MS = 7000, PARTITIONS = {1 + (name in names[2:])}") for name in names
    )
    steps: list[str] = []

    def end(step: str) -> None:
        steps.append(step)
        if len(steps) > place:
            raise EndedError(step)

    async def rounds() -> None:
        async with connect_async(f"sqlite://{tmp_path / 'log.db'}") as connection:
            with pytest.raises(EndedError):
                await TopicReconciler(connection.registry, {"main": cluster}, end).settle()
            both = [TopicReconciler(connection.registry, {"main": cluster}) for _ in range(2)]
            assert await asyncio.gather(*(one.settle() for one in both)) == [True, True]
            quiet: list[str] = []
            assert await TopicReconciler(connection.registry, {"main": cluster}, quiet.append).settle()
            assert quiet == []

    with connect(f"sqlite://{tmp_path / 'log.db'}") as connection:
        Metastore(connection.registry).run(sources)
    asyncio.run(rounds())
    assert len(steps) == place + 1
    facts = TopicAdmin(cluster).describe(names)
    assert {name: one and one.settings["retention.ms"] for name, one in facts.items()} == dict.fromkeys(names, "7000")
    assert [one and one.partitions for one in (facts[name] for name in names)] == [1, 1, 2, 2]
