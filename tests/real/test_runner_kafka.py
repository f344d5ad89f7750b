"""The runner over topics of a real broker: read with all schema ids, written with the schema of the query, bad rows counted."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest
from confluent_kafka import Producer
from pyspark.sql import SparkSession

from tests.frames import frame
from tests.real.query_places import Place, running, status_of, until
from tests.servers.kafka import Kafka
from treaty.client.connection import Connection
from treaty.client.kafka.consumer import TopicRecord, read_records
from treaty.core.kafka import KafkaCluster
from treaty.core.messages.metastore.sources import DescribeSource
from treaty.metastore import Metastore, PlanningOptions
from treaty.metastore.records.destinations import RecordDestinations
from treaty.plan.rows import BadRowFilter
from treaty.spark.planner.bodies import BodyPlanner
from treaty.spark.planner.service.statements import StatementPlanner
from treaty.spark.runner.query_start import QueryStarter
from treaty.spark.runner.replays.replay import BadRowReplayer
from treaty.spark.runner.service.runner import QueryRunner

pytestmark = pytest.mark.jvm
SETUP = """
CREATE STREAM flights (id BIGINT KEY, carrier STRING, delay INT) WITH (KAFKA_TOPIC = '{0}-in', VALUE_FORMAT = 'AVRO', BAD_ROWS = true);
CREATE STREAM late WITH (KAFKA_TOPIC = '{0}-late', TRIGGER = '1 second', VALUE_FORMAT = 'JSON')
AS SELECT id, if(delay = 96, DOUBLE('NaN'), DOUBLE(delay)) AS delay FROM STREAM flights WHERE delay > 15;
CREATE TABLE delays WITH (KAFKA_TOPIC = '{0}-delays') AS SELECT carrier, count(*) AS n FROM STREAM flights GROUP BY carrier;
CREATE STREAM again WITH (CONNECTOR = 'delta', PATH = 'tables/again') AS SELECT id, delay FROM STREAM late
"""

POSITIVE = """CREATE OR REPLACE TABLE delays WITH (KAFKA_TOPIC = '{0}-delays', ON_CHANGE = 'empty')
AS SELECT carrier, count(*) AS n FROM STREAM flights WHERE delay > 0 GROUP BY carrier"""


@pytest.fixture
def place(spark: SparkSession, registry: Connection, kafka: Kafka, tmp_path: Path) -> Iterator[Place]:
    clusters = {"main": KafkaCluster(kafka.bootstrap)}
    planner = BodyPlanner(spark, tmp_path / "views")
    with closing(RecordDestinations(clusters, tmp_path)) as destination:
        planning = PlanningOptions(StatementPlanner(planner))
        metastore = Metastore(registry.registry, planning=planning, destination=destination)
        yield Place(registry, spark, tmp_path, metastore, planner, clusters)


def read_topic(kafka: Kafka, topic: str) -> list[TopicRecord]:
    return [one for one in read_records(KafkaCluster(kafka.bootstrap), topic) if one is not None]


def test_topics_are_read_and_written_with_all_schema_ids_and_bad_rows_are_kept(place: Place, kafka: Kafka) -> None:
    name = f"f{uuid4().hex[:8]}"
    place.metastore.run(SETUP.format(name))
    kafka.topic(f"{name}-in")
    kafka.topic(f"{name}-delays")
    place.insert("flights", "(1, 'AA', 10), (2, 'DL', 20), (-3, 'AA', 30)")
    with running(place) as runner:
        until(lambda: f"the topic {name}-late" in status_of(runner, "late").reason, runner)
        kafka.topic(f"{name}-late")
        until(lambda: place.has("again", [(-3, 30), (2, 20)]), runner)
        until(lambda: status_of(runner, "late").lag == 0, runner)
        send_others(place, kafka, f"{name}-in")
        until(lambda: place.has("again", [(-3, 30), (2, 20), (9, 90)]), runner)
        until(lambda: status_of(runner, "late").bad == (("INVALID", 1), ("TOO_SHORT", 1), ("UNKNOWN_ID", 1)), runner)
        until(lambda: len(place.bad_rows("flights_bad")) == 3, runner)
        until(lambda: read_keys(kafka, f"{name}-delays") == {b"AA", b"DL", b"UA"}, runner)
        replay_early(place, kafka, f"{name}-in", runner)
        place.insert("flights", "(12, NULL, 1)")
        until(lambda: dict(status_of(runner, "delays").bad).get("NULL_KEY") == 1, runner)
        began = status_of(runner, "delays").began
        place.metastore.run(POSITIVE.format(name))
        until(lambda: status_of(runner, "delays").began != began, runner)
        place.insert("flights", "(4, 'ZZ', 10)")
        until(lambda: b"ZZ" in read_keys(kafka, f"{name}-delays"), runner)
    records = read_topic(kafka, f"{name}-late")
    assert [one.key for one in records] == [None] * len(records), "a stream that says no KEY has none"
    headers = [{key: int(value or b"") for key, value in one.headers} for one in records]
    assert [sorted(one) for one in headers] == [
        ["treaty-attempt", "treaty-batch", "treaty-incarnation", "treaty-query"]
    ] * len(records)
    writers: dict[int, set[bytes | None]] = {}
    for one in read_topic(kafka, f"{name}-delays"):
        writers.setdefault(int(dict(one.headers)["treaty-incarnation"] or b""), set()).add(one.key)
    assert [keys for _, keys in sorted(writers.items())] == [{b"AA", b"DL", b"UA"}, {b"ZZ"}], "nothing is read twice"


def replay_early(place: Place, kafka: Kafka, topic: str, runner: QueryRunner) -> None:
    """Records whose schema comes after them are bad at first; a replay sends what the query makes of them, and queries behind it go on.

    What the topic does not take, a NaN in JSON, is set aside, and blocks nothing.
    """
    text, version = place.registry.version(f"{topic}-value", -1).text, place.registry.version(f"{topic}-value", -1)
    schema = json.loads(text)
    schema["fields"].append({"name": "gate", "type": ["null", "string"], "default": None})
    newer = json.dumps(schema)
    producer = Producer({"bootstrap.servers": kafka.bootstrap})
    for delay in (95, 96, 97):
        value = frame(version.schema_id + 1, newer, {"carrier": "DL", "delay": delay, "note": None, "gate": "B"})
        producer.produce(topic, value, (delay).to_bytes(8))
    assert producer.flush(30) == 0
    until(lambda: dict(status_of(runner, "late").bad).get("UNKNOWN_ID") == 4, runner)
    until(lambda: dict(status_of(runner, "delays").bad).get("UNKNOWN_ID") == 4, runner)
    until(lambda: len(place.bad_rows("flights_bad")) == 6, runner)
    assert place.registry.register(f"{topic}-value", newer).version.schema_id == version.schema_id + 1
    starter = QueryStarter(
        place.spark, place.registry.registry, place.root, str(place.root / "_checkpoints"), clusters=place.clusters
    )
    replayer = BadRowReplayer(starter, place.registry.ask(DescribeSource("flights_bad")).answer.source)
    again = {("", "good", 3), ("delays", "refused", 3), ("late", "fails", 1)}
    for outcomes in ({*again, ("late", "appended", 2)}, again):
        counts = replayer.run(BadRowFilter(schema_id=version.schema_id + 1))[0].counts
        assert {(one.reader, one.outcome, one.rows) for one in counts} == outcomes
    (message,) = (one.message for one in counts if one.code == "QUERY_FAILS")
    assert "TREATY_NOT_ENCODED value" in message
    until(lambda: place.has("again", [(-3, 30), (2, 20), (9, 90), (95, 95), (97, 97)]), runner)


def read_keys(kafka: Kafka, topic: str) -> set[bytes | None]:
    return {one.key for one in read_topic(kafka, topic)}


def send_others(place: Place, kafka: Kafka, topic: str) -> None:
    """Records of a version that came after the start, of an id that the registry has not, one that is no frame, and one whose key is no number."""
    subject = f"{topic}-value"
    schema = json.loads(place.registry.version(subject, -1).text)
    schema["fields"].append({"name": "note", "type": ["null", "string"], "default": None})
    text = json.dumps(schema)
    version = place.registry.register(subject, text).version
    value = {"carrier": "UA", "delay": 90, "note": "new"}
    producer = Producer({"bootstrap.servers": kafka.bootstrap})
    for key, one in ((7, b"\0\0"), (8, frame(999_999, text, value)), (9, frame(version.schema_id, text, value))):
        producer.produce(topic, one, key.to_bytes(8))
    producer.produce(topic, frame(version.schema_id, text, value), bytes(9))
    assert producer.flush(30) == 0
