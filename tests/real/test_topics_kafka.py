"""Topics become what the sources over them say, whatever ends a reconciler, and stay as they are where that can't be changed."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.real.running import Running, serving
from tests.real.test_statements_kafka import post
from tests.servers.kafka import Kafka
from treaty import connect, connect_async
from treaty.assemble.topic_lease import STALE_SECONDS, TopicLeases
from treaty.assemble.topic_reconciler import ROUND_SECONDS, TopicReconciler
from treaty.client.kafka.topic_admin import TopicAdmin
from treaty.core.kafka import KafkaCluster
from treaty.core.messages.metastore.deleted_topics import DeletedTopics, ListDeletedTopics
from treaty.core.refusals import Refusal
from treaty.core.registry import AsyncRegistry
from treaty.metastore import Metastore
from treaty.metastore.records.destinations import RecordDestinations

pytestmark = pytest.mark.jvm  # of the broker
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


LIVES = 200
GRACE = ", RETENTION_MS = 7000, PARTITIONS = {}, DELETE_GRACE_MS = 0"


@pytest.mark.parametrize("place", [0, 3, 7])
def test_after_an_end_at_any_step_each_topic_is_as_its_row_says(kafka: Kafka, tmp_path: Path, place: int) -> None:
    steps = live_and_end(kafka, tmp_path / "log.db", place)
    assert len(steps) == place + 1, "the reconciler has ended before its work was done"


@pytest.mark.soak
def test_after_200_ends_each_topic_is_as_its_row_says(kafka: Kafka, tmp_path: Path) -> None:
    ends = [live_and_end(kafka, tmp_path / f"log-{number}.db", number % 12) for number in range(LIVES)]
    assert {steps[-1].split()[0] for steps in ends} >= {"lease", "set", "create", "delete", "note"}


def live_and_end(kafka: Kafka, log: Path, place: int) -> list[str]:
    """A reconciler ends at its step of this number; afterwards two others do the rest. Returns the steps up to the end.

    Two topics are to be set, two to be created, and two to be deleted, one of which is not there any more.
    """
    names = [f"t{uuid4().hex}" for _ in range(6)]
    for name in (*names[:2], names[4]):
        kafka.topic(name, 1, {"retention.ms": "1000"})
    cluster = KafkaCluster(kafka.bootstrap)
    sources = [STREAM.format(name, GRACE.format(1 + (name in names[2:4]))) for name in names]
    drops = [f"DROP STREAM {name} DELETE TOPIC" for name in names[4:]]
    steps: list[str] = []

    def end(step: str) -> None:
        steps.append(step)
        if len(steps) > place:
            raise EndedError(step)

    async def rounds() -> None:
        async with connect_async(f"sqlite://{log}") as connection:
            registry = connection.registry
            with suppress(EndedError):
                await TopicReconciler(registry, {"main": cluster}, end).settle()
            (lease,) = (await registry.ask(ListDeletedTopics())).answer.leases or (None,)
            now = [0.0]
            both = [
                TopicReconciler(registry, {"main": cluster}, leases=TopicLeases(clock=lambda: now[0])) for _ in "ab"
            ]
            assert await both[0].settle()
            now[0] = STALE_SECONDS if lease is not None else 0.0  # who ended has not given its lease back
            assert await asyncio.gather(*(one.settle() for one in both)) == [True, True]
            await await_quiet(registry, cluster)
            assert (await registry.ask(ListDeletedTopics())).answer == DeletedTopics()

    with connect(f"sqlite://{log}") as connection:
        Metastore(connection.registry).run("; ".join([*sources, *drops]))
    asyncio.run(rounds())
    facts = TopicAdmin(cluster).describe(names)
    for _ in range(100):
        if facts[names[4]] is None:
            break
        time.sleep(0.1)  # a broker may show a deletion later than it is acknowledged
        facts = TopicAdmin(cluster).describe(names)
    assert [one and one.settings["retention.ms"] for one in facts.values()].count("7000") == 4
    assert [one and one.partitions for one in (facts[name] for name in names)] == [1, 1, 2, 2, None, None]
    return steps


async def await_quiet(registry: AsyncRegistry, cluster: KafkaCluster) -> None:
    """Wait until a round has nothing to do: a broker may show a change only after it was acknowledged, and the round repeats it."""
    for _ in range(100):
        steps: list[str] = []
        assert await TopicReconciler(registry, {"main": cluster}, steps.append).settle()
        if not steps:
            return
        await asyncio.sleep(0.1)
    raise AssertionError(steps)


def test_a_deletion_that_the_brokers_refuse_is_shown_with_the_remedy_and_tried_ever_less_often(
    kafka: Kafka, tmp_path: Path
) -> None:
    """One try a round, the other topics are changed all the same, and the topic goes once its deletion is allowed."""
    kept, other = kafka.topic(f"t{uuid4().hex}"), f"t{uuid4().hex}"
    cluster = KafkaCluster(kafka.bootstrap)
    steps: list[str] = []

    def show() -> list[Any]:
        with connect(url) as connection, closing(RecordDestinations({"main": cluster})) as destination:
            metastore = Metastore(connection.registry, destination=destination)
            return next((list(row) for row in metastore.run("SHOW TOPICS EXTENDED")[0].rows if row[0] == kept), [])

    async def work(count: int) -> list[float]:
        async with connect_async(url) as connection:
            reconciler = TopicReconciler(connection.registry, {"main": cluster}, steps.append)
            return [await reconciler.work() for _ in range(count)]

    url = f"sqlite://{tmp_path / 'log.db'}"
    with connect(url) as connection:
        metastore = Metastore(connection.registry)
        metastore.run(f"{STREAM.format(kept, ', DELETE_GRACE_MS = 0')}; DROP STREAM {kept} DELETE TOPIC")
        metastore.run(STREAM.format(other, ", PARTITIONS = 1"))
    with kafka.keeping(kept):
        await_obstacle(cluster, kept)
        assert asyncio.run(work(5)) == [10.0, 20.0, 40.0, 60.0, 60.0], steps
        assert [steps.count(f"{word} {topic}") for word, topic in (("delete", kept), ("create", other))] == [5, 1]
        row = show()
        assert row[7] == "refused"
        assert f"allow Delete on topic {kept}, or delete it by another client" in row[8]
        with connect(url) as connection, pytest.raises(Refusal) as refused:
            Metastore(connection.registry).run(STREAM.format(kept, ""))
        assert refused.value.reason.rule == "TOPIC_DELETING"
    asyncio.run(let_leases_pass(url, cluster))
    assert show() == []
    assert TopicAdmin(cluster).describe([kept]) == {kept: None}


def await_obstacle(cluster: KafkaCluster, topic: str) -> None:
    """Wait until the brokers have taken a rule that forbids the deletion of a topic."""
    for _ in range(200):
        if TopicAdmin(cluster).find_obstacle(topic):
            return
        time.sleep(0.1)
    raise AssertionError(topic)


async def let_leases_pass(url: str, cluster: KafkaCluster) -> None:
    """Settle by a server that sees the lease of one that is gone as stale."""
    async with connect_async(url) as connection:
        now = [0.0]
        reconciler = TopicReconciler(connection.registry, {"main": cluster}, leases=TopicLeases(clock=lambda: now[0]))
        await reconciler.work()
        now[0] = STALE_SECONDS
        assert await reconciler.work() == ROUND_SECONDS
        await await_quiet(connection.registry, cluster)


def test_of_two_servers_one_works_and_a_dropped_topic_goes_once(kafka: Kafka, tmp_path: Path) -> None:
    """The metric, SHOW TOPICS and DESCRIBE say what is open; one of both servers has changed the topic."""
    topic, gone = f"t{uuid4().hex}", f"t{uuid4().hex}"
    kafka.topic(gone)
    log = ("--log", f"kafka://{kafka.bootstrap}/log-{uuid4().hex}", "--cluster", f"main=kafka://{kafka.bootstrap}")
    with serving(tmp_path, *log) as first, serving(tmp_path, *log) as second:
        drop = f"{STREAM.format(gone, ', DELETE_GRACE_MS = 0')}; DROP STREAM {gone} DELETE TOPIC"
        missing = STREAM.format(f"{topic}_missing", "")
        _, answer = post(first, f"{STREAM.format(topic, ', PARTITIONS = 2')}; {missing}; {drop}")
        assert "its topic goes after" in answer["results"][-1]["message"]
        _, answer = post(second, f"DESCRIBE {topic}_missing EXTENDED")
        (state,) = (row[1] for row in answer["results"][0]["rows"] if row[0] == "topic")
        assert state.startswith("WAITING: the topic")
        await_absence(second, gone)
        status, _ = post(second, f"ASSERT TOPIC '{topic}' WITH (PARTITIONS = 2) TIMEOUT 30 SECONDS")
        assert status == 200
        texts = [one.said.read_text() for one in (first, second)]
        assert sum(text.count(f"topic {topic} of the cluster main is created") for text in texts) == 1
        assert sum(text.count(f"topic {gone} of the cluster main is deleted") for text in texts) == 1
        await_metrics(first, second)
    assert TopicAdmin(KafkaCluster(kafka.bootstrap)).describe([gone]) == {gone: None}


def await_absence(server: Running, topic: str) -> None:
    """Wait until a topic is not there, and its row is gone."""
    post(server, f"ASSERT NOT EXISTS TOPIC '{topic}' TIMEOUT 30 SECONDS")
    for _ in range(100):
        _, answer = post(server, "SHOW TOPICS")
        if topic not in [row[0] for row in answer["results"][0]["rows"]]:
            return
        time.sleep(0.1)
    raise AssertionError(answer)


def await_metrics(*servers: Running) -> None:
    """Wait until the metrics of servers say that no topic is to be changed."""
    for _ in range(200):
        pages = [one.text("/metrics") for one in servers]
        if all('treaty_topics_open{worker="0"} 0.0' in page for page in pages):
            return
        time.sleep(0.1)
    raise AssertionError(pages)
