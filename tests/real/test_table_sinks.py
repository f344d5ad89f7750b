"""A sink whose query was replaced: its table gets the columns that come, and keeps those that come no more."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from treaty.spark.lake.table import LakeTable
from treaty.spark.runner.sinks import LAKES, TableSink

pytestmark = pytest.mark.jvm


def read_rows(spark: SparkSession, folder: Path, connector: str) -> list[tuple[Any, ...]]:
    frame = spark.read.format("delta").load(str(folder)) if connector == "delta" else None
    if frame is None:
        spark.catalog.refreshTable(LAKES[connector].name(spark, LakeTable(str(folder), connector)))
        frame = spark.table(LAKES[connector].name(spark, LakeTable(str(folder), connector)))
    return sorted(map(tuple, frame.select("k", "n", "more").collect()), key=repr)


@pytest.mark.parametrize("connector", ["delta", "iceberg"])
def test_a_table_has_the_columns_of_all_queries_that_filled_it(
    spark: SparkSession, tmp_path: Path, connector: str
) -> None:
    def frame(text: str, *columns: str) -> DataFrame:
        return spark.sql(f"SELECT * FROM VALUES {text} AS t({', '.join(columns)})")

    def write(folder: Path, rows: DataFrame, number: int, key: tuple[str, ...]) -> None:
        TableSink(str(folder), "w", rows.schema, key, connector).write(rows, number)

    keyed, appended = tmp_path / "keyed", tmp_path / "appended"
    for folder, key in ((keyed, ("k",)), (appended, ())):
        write(folder, frame("('a', 1), ('b', 2)", "k", "n"), 0, key)
        write(folder, frame("('b', 3, 'x'), ('c', 4, 'y')", "k", "n", "more"), 1, key)
        write(folder, frame("('c', 5)", "k", "n"), 2, key)
    assert read_rows(spark, keyed, connector) == [("a", 1, None), ("b", 3, "x"), ("c", 5, None)]
    assert read_rows(spark, appended, connector) == [
        ("a", 1, None), ("b", 2, None), ("b", 3, "x"), ("c", 4, "y"), ("c", 5, None),
    ]  # fmt: skip
    result = frame("('a', 7)", "k", "n")
    sink = TableSink(str(keyed), "w", result.schema, ("k",), connector)
    sink.write_changes(result, frame("('a'), ('b')", "k"), 3)
    assert read_rows(spark, keyed, connector) == [("a", 7, None), ("c", 5, None)]


@pytest.mark.parametrize("connector", ["delta", "iceberg"])
def test_a_table_gets_a_record_whose_fields_have_any_names(spark: SparkSession, tmp_path: Path, connector: str) -> None:
    folder = tmp_path / "t"
    for number, text in enumerate(("SELECT 'a' AS k", "SELECT 'b' AS k, named_struct('a-b', 1, 'order', 'x') AS more")):
        rows = spark.sql(text)
        TableSink(str(folder), "w", rows.schema, (), connector).write(rows, number)
    table = LAKES[connector].name(spark, LakeTable(str(folder), connector))
    if connector == "iceberg":
        spark.catalog.refreshTable(table)
    rows = spark.table(table) if connector == "iceberg" else spark.read.format("delta").load(str(folder))
    assert sorted(map(tuple, rows.collect())) == [("a", None), ("b", (1, "x"))]
