"""Queries over topics that hold no record: they run, write nothing, and take the first record that comes."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest
from pyspark.sql import SparkSession

from tests.real.query_places import Place, running, status_of, until
from tests.servers.kafka import Kafka
from treaty.client.connection import Connection
from treaty.core.kafka import KafkaCluster
from treaty.metastore import Metastore, PlanningOptions
from treaty.metastore.records.destinations import RecordDestinations
from treaty.spark.planner.bodies import BodyPlanner
from treaty.spark.planner.service.statements import StatementPlanner

pytestmark = pytest.mark.jvm
SETUP = """
CREATE STREAM flights (id BIGINT KEY, carrier STRING, delay INT, ts TIMESTAMP) WITH (KAFKA_TOPIC = '{0}-a', VALUE_FORMAT = 'AVRO', BAD_ROWS = true);
CREATE STREAM bookings (id BIGINT KEY, seat STRING, ts TIMESTAMP) WITH (KAFKA_TOPIC = '{0}-b', VALUE_FORMAT = 'JSON');
CREATE STREAM late WITH (CONNECTOR = 'delta', PATH = 'tables/late') AS SELECT id, delay FROM STREAM flights WHERE delay > 15;
CREATE TABLE counts WITH (CONNECTOR = 'delta', PATH = 'tables/counts') AS SELECT carrier, count(*) AS n FROM STREAM flights GROUP BY carrier;
CREATE STREAM minutes WITH (CONNECTOR = 'delta', PATH = 'tables/minutes') AS
  SELECT window.start AS start, count(*) AS n FROM STREAM flights WATERMARK ts DELAY OF INTERVAL 1 MINUTE GROUP BY window(ts, '1 minute') EMIT FINAL;
CREATE STREAM seats WITH (CONNECTOR = 'delta', PATH = 'tables/seats') AS
  SELECT f.id AS id, b.seat AS seat FROM STREAM flights WATERMARK ts DELAY OF INTERVAL 1 MINUTE AS f
  JOIN STREAM bookings WATERMARK ts DELAY OF INTERVAL 1 MINUTE AS b ON f.id = b.id AND b.ts BETWEEN f.ts AND f.ts + INTERVAL 1 HOUR
"""
QUERIES = ("late", "counts", "minutes", "seats")


@pytest.fixture
def place(spark: SparkSession, registry: Connection, kafka: Kafka, tmp_path: Path) -> Iterator[Place]:
    clusters = {"main": KafkaCluster(kafka.bootstrap)}
    planner = BodyPlanner(spark, tmp_path / "views")
    with closing(RecordDestinations(clusters, tmp_path)) as destination:
        planning = PlanningOptions(StatementPlanner(planner))
        metastore = Metastore(registry.registry, planning=planning, destination=destination)
        yield Place(registry, spark, tmp_path, metastore, planner, clusters)


def test_queries_over_topics_without_a_record_run_and_take_the_first_one(place: Place, kafka: Kafka) -> None:
    name = f"f{uuid4().hex[:8]}"
    for topic in "ab":
        kafka.topic(f"{name}-{topic}", 2)
    place.metastore.run(SETUP.format(name))
    with running(place) as runner:
        for query in QUERIES:
            until(lambda query=query: status_of(runner, query).state == "RUNNING", runner)  # type: ignore[misc] # a default binds the loop's value
        assert [(status_of(runner, one).lag or 0, status_of(runner, one).bad) for one in QUERIES] == [(0, ())] * 4
        for query in QUERIES:
            until(lambda query=query: place.has(query, []), runner)  # type: ignore[misc] # as above
        place.insert("flights", "(1, 'AA', 20, TIMESTAMP '2026-01-01 00:00:10Z')")
        until(lambda: place.has("late", [(1, 20)]) and place.has("counts", [("AA", 1)]), runner)
        place.insert("bookings", "(1, '7A', TIMESTAMP '2026-01-01 00:00:20Z')")
        until(lambda: place.has("seats", [(1, "7A")]), runner)
    assert place.bad_rows("flights_bad") == []
