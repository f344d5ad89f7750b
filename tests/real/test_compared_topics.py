"""EXPLAIN REPLACE COMPARE over a topic: recorded offsets, what is not there any more, and bad records."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest
from confluent_kafka import Producer, TopicPartition
from pyspark.sql import SparkSession

from tests.real.query_places import Place
from tests.real.test_query_comparison import compare, counts, open_metastore, sample
from tests.servers.kafka import Kafka
from treaty.client.connection import Connection
from treaty.core.kafka import KafkaCluster
from treaty.metastore import Metastore, PlanningOptions
from treaty.metastore.records.destinations import RecordDestinations
from treaty.spark.planner.bodies import BodyPlanner
from treaty.spark.planner.service.statements import StatementPlanner

pytestmark = pytest.mark.jvm
FLIGHTS = (
    "CREATE STREAM flights (id BIGINT KEY, carrier STRING, delay INT) WITH (KAFKA_TOPIC = '{}', VALUE_FORMAT = 'AVRO')"
)
NEWEST = "CREATE TABLE newest (carrier STRING PRIMARY KEY, delay INT) WITH (KAFKA_TOPIC = '{}', VALUE_FORMAT = 'AVRO')"
DELAYS = "TABLE delays WITH (CONNECTOR = 'delta', PATH = 'tables/delays') AS SELECT carrier, sum(delay) AS delay, count(*) AS n FROM STREAM flights WHERE {} GROUP BY carrier"
LATE = "TABLE late WITH (CONNECTOR = 'delta', PATH = 'tables/late') AS SELECT carrier, delay FROM newest WHERE {}"


@pytest.fixture
def place(spark: SparkSession, registry: Connection, kafka: Kafka, tmp_path: Path) -> Iterator[Place]:
    clusters = {"main": KafkaCluster(kafka.bootstrap)}
    planner = BodyPlanner(spark, tmp_path / "views")
    with closing(RecordDestinations(clusters, tmp_path)) as destination:
        planning = PlanningOptions(StatementPlanner(planner))
        metastore = Metastore(registry.registry, planning=planning, destination=destination)
        yield Place(registry, spark, tmp_path, metastore, planner, clusters)


def abort_record(kafka: Kafka, topic: str) -> None:
    """A record of a transaction that is given up: its offset and that of the mark have no record."""
    producer = Producer({"bootstrap.servers": kafka.bootstrap, "transactional.id": topic})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(topic, b"\0\0\0\0\1", bytes(8), partition=0)
    producer.flush(30)
    producer.abort_transaction(30)


def test_both_queries_read_the_recorded_offsets_and_what_is_not_there_is_told(place: Place, kafka: Kafka) -> None:
    topic = kafka.topic(f"f{uuid4().hex[:8]}", settings={"message.timestamp.type": "LogAppendTime"})
    place.metastore.run(FLIGHTS.format(topic))
    place.insert("flights", "(1, 'AA', 1), (2, 'AA', 20), (3, 'DL', 5), (4, 'UA', 40)")
    abort_record(kafka, topic)
    producer = Producer({"bootstrap.servers": kafka.bootstrap})
    producer.produce(topic, b"\0\0", bytes(8))
    assert producer.flush(30) == 0
    middle = datetime.now(UTC).isoformat()
    metastore = open_metastore(place)
    metastore.run(f"CREATE {DELAYS.format('delay > 0')}")
    place.insert("flights", "(5, 'AA', 100)")
    for future in kafka.admin.delete_records([TopicPartition(topic, 0, 1)]).values():
        future.result(30)

    rows = [tuple(one) for one in compare(metastore, DELAYS.format("delay > 10"))]
    read = f"the topic {topic}, partition 0: offsets 1 to before 8, 5 records; 2 offsets have no record: compacted away, or of transactions"
    assert ("range", "flights", f"{read}; records before offset 1 were deleted") in rows
    assert ("records", "flights", "5 records, 1 of them bad and left out of both: 1 TOO_SHORT") in rows
    assert counts(rows) == (3, 2, 2, 1, 0, 0)
    assert sample(rows) == [("only in the old", 'carrier "DL"', "delay 5, n 1")]
    assert any(part == "compared" and detail.startswith("as batches") for part, _, detail in rows)

    before = compare(metastore, DELAYS.format("delay > 10"), f"TO '{middle}'")
    assert counts(before) == (3, 2, 2, 1, 0, 0)
    after = compare(metastore, DELAYS.format("delay > 10"), f"FROM '{middle}'")
    assert counts(after) == (1, 1, 1, 0, 0, 0)


def test_a_table_over_a_topic_is_what_its_last_records_say(place: Place, kafka: Kafka) -> None:
    topic = kafka.topic(f"t{uuid4().hex[:8]}", partitions=3)
    place.metastore.run(NEWEST.format(topic))
    place.insert("newest", "('AA', 1), ('DL', 20), ('UA', 30)")
    place.insert("newest", "('AA', 10)")
    place.metastore.run("DELETE FROM newest WHERE carrier = 'UA'")
    metastore = open_metastore(place)
    metastore.run(f"CREATE {LATE.format('delay > 5')}")
    rows = compare(metastore, LATE.format("delay > 15"))
    assert sum(part == "range" for part, *_ in rows) == 3
    assert counts(rows) == (2, 1, 1, 1, 0, 0)
    assert sample(rows) == [("only in the old", 'carrier "AA"', "delay 10")]
