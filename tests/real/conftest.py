"""One Spark for all tests that need one: starting it costs more than most of them."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.real.query_places import Place
from tests.servers.small import SMALL
from treaty.client.connection import Connection
from treaty.metastore import Metastore
from treaty.metastore.records.destinations import RecordDestinations
from treaty.spark.planner.bodies import BodyPlanner
from treaty.spark.session import QUICK_START, session

ROOMY = "-Xms900m -Xmn400m"
"""Plans of a hundred queries are young objects: with more room they are looked through a third as often."""


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    options = f"{QUICK_START} {ROOMY}"
    started = session("treaty tests", master="local[2]", iceberg=True, kafka=True, java_options=options, settings=SMALL)
    yield started
    started.stop()


@pytest.fixture
def place(spark: SparkSession, registry: Connection, tmp_path: Path) -> Iterator[Place]:
    root = tmp_path / "data"
    root.mkdir()
    with closing(RecordDestinations(files=root)) as destination:
        metastore = Metastore(registry.registry, destination=destination)
        yield Place(registry, spark, root, metastore, BodyPlanner(spark, tmp_path / "views"))
