"""One Spark for all tests that need one: starting it costs more than most of them."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from treaty.spark.session import QUICK, session


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    started = session("treaty tests", master="local[2]", iceberg=True, java_options=QUICK)
    yield started
    started.stop()
