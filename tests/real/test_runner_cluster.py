"""`treaty runner` with a standalone cluster of Spark: its queries run on workers that are processes of their own."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.real.query_places import FLIGHTS, MORE, ROWS, Place
from tests.real.runner_process import print_command, read_until_running, started
from tests.real.test_runner_scale import wait
from tests.servers.cluster import Cluster
from treaty.assemble import connect
from treaty.metastore import Metastore
from treaty.metastore.records.destinations import RecordDestinations
from treaty.spark.planner.bodies import BodyPlanner

pytestmark = [pytest.mark.jvm, pytest.mark.soak]  # five JVMs on two cores


def test_queries_run_on_the_workers_of_a_cluster(
    spark: SparkSession, tmp_path: Path, figure: Callable[[str], None]
) -> None:
    url, data = f"sqlite://{tmp_path / 'registry.db'}", tmp_path / "data"
    data.mkdir()
    cluster = Cluster()
    try:
        with connect(url) as registry:
            metastore = Metastore(registry.registry, destination=RecordDestinations(files=data))
            metastore.run(FLIGHTS.replace("VALUE_FORMAT", "BAD_ROWS = 'true', VALUE_FORMAT"))
            place = Place(registry, spark, data, metastore, BodyPlanner(spark, tmp_path / "views"))
            place.insert("flights", ROWS)
            place.create("late", "STREAM", "SELECT id, delay FROM STREAM flights WHERE delay > 15", "flights")
            counted = "SELECT carrier, count(*) AS n FROM STREAM flights GROUP BY carrier"
            place.create("delays", "TABLE", counted, "flights")
            command = print_command(tmp_path / "shared", data, url, "--master", cluster.url)
            with started(command) as process:
                read_until_running(process, "late", "delays")
                wait(lambda: place.has("late", [(2, 20), (3, 30)]))
                place.insert("flights", MORE)
                wait(lambda: place.has("late", [(2, 20), (3, 30), (5, 50)]))
                wait(lambda: place.has("delays", [("AA", 3), ("DL", 1), ("UA", 1)]))
            figure(f"two queries on {cluster.executors()} executors of a standalone cluster")
            assert cluster.executors() == 2
    finally:
        cluster.stop()
        shutil.rmtree(cluster.folder, ignore_errors=True)
