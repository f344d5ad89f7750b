"""Lake tables of every format: appends that happen once, and tables that grow only as far as they may."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from treaty.spark.lake import lakes
from treaty.spark.lake.changes import EvolutionError
from treaty.spark.lake.table import FORMATS, Batch, Table

pytestmark = pytest.mark.jvm


@pytest.fixture(params=FORMATS)
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Table:
    return Table(str(tmp_path / "table"), request.param)


def rows(spark: SparkSession, schema: str, *values: Any) -> DataFrame:
    return spark.createDataFrame(list(values), schema)


def held(spark: SparkSession, table: Table) -> list[Any]:
    found = lakes.read(spark, table)
    return sorted((row.asDict(recursive=True) for row in found.collect()), key=lambda row: row["n"])


def test_a_batch_that_comes_twice_is_written_once(spark: SparkSession, table: Table) -> None:
    assert lakes.schema(spark, table) is None
    first = rows(spark, "n INT", (1,), (2,))
    for batch in (Batch("a", 0), Batch("a", 0), Batch("b", 0), Batch("a", 1), Batch("a", 1), Batch("a", 0)):
        lakes.append(first, table, batch)
    assert [row["n"] for row in held(spark, table)] == [1, 1, 1, 2, 2, 2]


def test_a_table_grows_in_breadth_and_width_and_old_rows_stay(spark: SparkSession, table: Table) -> None:
    small = "n INT, price DECIMAL(5, 2), inner STRUCT<a: INT>, many ARRAY<STRUCT<x: FLOAT>>, by MAP<STRING, INT>"
    large = (
        "n BIGINT, price DECIMAL(9, 2), inner STRUCT<b: STRING, a: BIGINT>, many ARRAY<STRUCT<x: DOUBLE, y: INT>>,"
        " by MAP<STRING, BIGINT>, note STRING"
    )
    lakes.append(rows(spark, small, (1, None, (1,), [(0.5,)], {"k": 1})), table, Batch("a", 0))
    lakes.append(rows(spark, large, (2**40, None, ("b", 2**40), [(0.5, 7)], {"k": 2**40}, "x")), table, Batch("a", 1))
    lakes.append(rows(spark, small, (3, None, None, None, None)), table, Batch("a", 2))
    assert held(spark, table) == [
        {"n": 1, "price": None, "inner": {"a": 1, "b": None}, "many": [{"x": 0.5, "y": None}], "by": {"k": 1}, "note": None},
        {"n": 3, "price": None, "inner": None, "many": None, "by": None, "note": None},
        {"n": 2**40, "price": None, "inner": {"a": 2**40, "b": "b"}, "many": [{"x": 0.5, "y": 7}], "by": {"k": 2**40}, "note": "x"},
    ]  # fmt: skip
    assert dict(lakes.read(spark, table).dtypes)["price"] == "decimal(9,2)"


def test_a_table_that_must_not_grow_does_not(spark: SparkSession, table: Table) -> None:
    lakes.append(rows(spark, "n INT", (1,)), table, Batch("a", 0))
    wider, more = rows(spark, "n BIGINT", (2,)), rows(spark, "n INT, m INT", (3, 4))
    for frame, told in ((wider, "n grows from int to bigint"), (more, "m int is new")):
        with pytest.raises(EvolutionError, match=told):
            lakes.append(frame, table, Batch("a", 1), "fail")
    with pytest.raises(EvolutionError, match="n grows from int to bigint"):
        lakes.append(wider, table, Batch("a", 1), "none")
    lakes.append(more, table, Batch("a", 1), "none")
    with pytest.raises(EvolutionError, match=r"n is int in the table and string in the rows\..*write the table anew"):
        lakes.append(rows(spark, "n STRING", ("x",)), table, Batch("a", 2))
    assert held(spark, table) == [{"n": 1}, {"n": 3}]


def test_partitions_and_comments_are_made_with_the_table(spark: SparkSession, tmp_path: Path) -> None:
    for format_ in FORMATS:
        table = Table(str(tmp_path / format_), format_, partitions=("day",))
        frame = rows(spark, "n INT, day STRING", (1, "a"), (2, "b"))
        frame = frame.withMetadata("n", {"comment": "how many"})
        lakes.append(frame, table, Batch("a", 0))
        assert list((tmp_path / format_).rglob("day=a")), format_
        assert held(spark, table) == [{"n": 1, "day": "a"}, {"n": 2, "day": "b"}]
        found = lakes.schema(spark, table)
        assert found is not None
        assert found["n"].metadata == {"comment": "how many"}


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(ValueError, match="'csv' is no format of a table"):
        Table("/tmp/x", "csv")
    with pytest.raises(ValueError, match="'x' is no path"):
        Table("x", "parquet")
