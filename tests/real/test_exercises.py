"""Each exercise in SQL gives the rows that it expects: statements, records in files, a run, Delta tables."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.exercises import CASES, EXERCISES, run_exercise


@pytest.mark.jvm
@pytest.mark.parametrize("name", EXERCISES)
def test_an_exercise_gives_the_rows_that_it_expects(spark: SparkSession, tmp_path: Path, name: str) -> None:
    assert run_exercise(spark, tmp_path, (CASES / f"{name}.sql").read_text()) == []
