"""Lake tables of every format: appends that happen once, and tables that grow only as far as they may."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from pyspark.sql import DataFrame, SparkSession

from treaty.spark.lake import delta, parquet, tables
from treaty.spark.lake.changes import EvolutionError
from treaty.spark.lake.comments import Docs, add_comments
from treaty.spark.lake.iceberg import settings
from treaty.spark.lake.table import FORMATS, LakeTable, WriteId

pytestmark = pytest.mark.jvm


@pytest.fixture(params=FORMATS)
def table(request: pytest.FixtureRequest, tmp_path: Path) -> LakeTable:
    return LakeTable(str(tmp_path / "table"), request.param)


def rows(spark: SparkSession, schema: str, *values: Any) -> DataFrame:
    return spark.createDataFrame(list(values), schema)


def held(spark: SparkSession, table: LakeTable) -> list[Any]:
    found = tables.read(spark, table)
    return sorted((row.asDict(recursive=True) for row in found.collect()), key=lambda row: row["n"])


def test_a_batch_that_comes_twice_is_written_once(spark: SparkSession, table: LakeTable) -> None:
    assert tables.schema(spark, table) is None
    first, nothing = rows(spark, "n INT", (1,), (2,)), rows(spark, "n INT")
    for batch in (WriteId("a", 0), WriteId("a", 0), WriteId("b", 0), WriteId("a", 1), WriteId("a", 1), WriteId("a", 0)):
        tables.append(first, table, batch)
    tables.append(nothing, table, WriteId("a", 2))
    tables.append(nothing, table, WriteId("a", 2))
    assert [row["n"] for row in held(spark, table)] == [1, 1, 1, 2, 2, 2]


def test_a_table_whose_driver_was_killed_as_it_made_it_is_made(spark: SparkSession, tmp_path: Path) -> None:
    half = LakeTable(str(tmp_path / "half"), "delta")
    (tmp_path / "half" / "_delta_log").mkdir(parents=True)  # what Delta makes before its first commit
    columns = rows(spark, "n INT, `two words` INT").schema

    assert tables.schema(spark, half) is None
    tables.create(spark, half, columns, "a comment")
    tables.create(spark, half, columns)
    assert tables.schema(spark, half) == columns
    assert spark.sql(f"DESCRIBE DETAIL {delta.name(spark, half)}").collect()[0]["description"] == "a comment"
    tables.append(rows(spark, "n BIGINT, `two words` INT", (2**40, 1)), half, WriteId("a", 0))
    assert held(spark, half) == [{"n": 2**40, "two words": 1}]


def test_a_table_grows_in_breadth_and_width_and_old_rows_stay(spark: SparkSession, table: LakeTable) -> None:
    small = "n INT, price DECIMAL(5, 2), inner STRUCT<a: INT>, many ARRAY<STRUCT<x: FLOAT>>, by MAP<STRING, INT>"
    large = (
        "N BIGINT, price DECIMAL(9, 2), inner STRUCT<b: STRING, a: BIGINT>, many ARRAY<STRUCT<x: DOUBLE, y: INT>>,"
        " by MAP<STRING, BIGINT>, note STRING, `two words` STRUCT<`a.b`: INT, `c,d=`: INT>"
    )
    said: Docs = ((("n",), "how many"), (("inner", "a"), "it's deep"), (("many", "[]", "x"), "an item"))
    more: Docs = ((("N",), "how many now"), (("two words", "a.b"), "dotted"))
    tables.append(rows(spark, small, (1, None, (1,), [(0.5,)], {"k": 1})), table, WriteId("a", 0), docs=said)
    odd = (2**40, None, ("b", 2**40), [(0.5, 7)], {"k": 2**40}, "x", (1, 2))
    tables.append(rows(spark, large, odd), table, WriteId("a", 1), docs=more)
    empty = rows(spark, f"{small}, hollow VOID, husk STRUCT<v: VOID>", (3, None, None, [None], {"k": None}, None, None))
    tables.append(empty, table, WriteId("a", 2))
    old = {"price": None, "note": None, "two words": None}
    assert held(spark, table) == [
        {"n": 1, "inner": {"a": 1, "b": None}, "many": [{"x": 0.5, "y": None}], "by": {"k": 1}, **old},
        {"n": 3, "inner": None, "many": [None], "by": {"k": None}, **old},
        {"n": 2**40, "price": None, "inner": {"a": 2**40, "b": "b"}, "many": [{"x": 0.5, "y": 7}], "by": {"k": 2**40},
         "note": "x", "two words": {"a.b": 1, "c,d=": 2}},
    ]  # fmt: skip
    found = tables.schema(spark, table)
    assert found is not None
    assert found["price"].dataType.simpleString() == "decimal(9,2)"
    told = add_comments(found, (*said[1:], (("n",), "how many now"), more[1]))
    assert found == told, "the comments are those of the newest words, and the others are kept"


def test_spark_does_not_warn_of_the_columns_of_a_parquet_table(spark: SparkSession, tmp_path: Path) -> None:
    table, jvm = LakeTable(str(tmp_path / "table"), "parquet"), cast("Any", spark.sparkContext)._jvm
    told = jvm.java.io.StringWriter()
    root = jvm.org.apache.logging.log4j.LogManager.getRootLogger()
    appender = jvm.org.apache.logging.log4j.core.appender.WriterAppender.createAppender(
        None, None, told, "told", False, False
    )
    appender.start()
    root.addAppender(appender)
    # Commands that ran in this session before may have told it to warn of nothing.
    spark.sparkContext.setLogLevel("WARN")
    try:
        for number, columns in enumerate(("n INT", "n BIGINT")):
            tables.append(rows(spark, columns, (number,)), table, WriteId("a", number))
        assert held(spark, table) == [{"n": 0}, {"n": 1}]
        assert told.toString() == ""
        spark.read.schema("number INT").json(f"{table.folder}/{parquet.COLUMNS}")
        assert "All paths were ignored" in told.toString()  # what Spark would say of the folder itself
    finally:
        root.removeAppender(appender)


def test_a_table_that_must_not_grow_does_not(spark: SparkSession, table: LakeTable) -> None:
    tables.append(rows(spark, "n INT", (1,)), table, WriteId("a", 0))
    wider, more = rows(spark, "n BIGINT", (2,)), rows(spark, "n INT, m INT", (3, 4))
    for frame, told in ((wider, "n grows from int to bigint"), (more, "m int is new")):
        with pytest.raises(EvolutionError, match=told):
            tables.append(frame, table, WriteId("a", 1), "fail")
    with pytest.raises(EvolutionError, match="n grows from int to bigint"):
        tables.append(wider, table, WriteId("a", 1), "none")
    tables.append(more, table, WriteId("a", 1), "none")
    with pytest.raises(EvolutionError, match=r"n is int in the table and string in the rows\..*write the table again"):
        tables.append(rows(spark, "n STRING", ("x",)), table, WriteId("a", 2))
    twins = rows(spark, "n INT, New INT, new INT", (4, 5, 6))
    with pytest.raises(EvolutionError, match="New and new differ in nothing but upper and lower case"):
        tables.append(twins, table, WriteId("a", 2))
    assert held(spark, table) == [{"n": 1}, {"n": 3}]


def test_writers_at_one_time_lose_neither_rows_nor_columns(spark: SparkSession, table: LakeTable) -> None:
    tables.append(rows(spark, "n INT", (0,)), table, WriteId("first", 0))

    def write(writer: int) -> None:
        for turn in range(3):
            number = 10 * writer + turn
            frame = rows(spark, f"n INT, w{number} INT", (number, number))
            tables.append(frame, table, WriteId(f"writer {writer}", turn))

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(write, writer) for writer in (1, 2)]:
            done.result()
    numbers = [10, 11, 12, 20, 21, 22]
    found = held(spark, table)
    assert [row["n"] for row in found] == [0, *numbers]
    for row in found:
        assert {name: value for name, value in row.items() if value is not None} == (
            {"n": row["n"], f"w{row['n']}": row["n"]} if row["n"] else {"n": 0}
        )
        assert row.keys() == {"n", *(f"w{number}" for number in numbers)}


def test_a_table_may_have_a_name_and_sql_writes_to_it_too(spark: SparkSession, tmp_path: Path) -> None:
    spark.sql(f"CREATE DATABASE IF NOT EXISTS named LOCATION '{tmp_path}/named'")
    for setting, value in settings("lake", f"{tmp_path}/lake").items():
        spark.conf.set(setting, value)
    try:
        for table in (LakeTable("named.orders", "delta"), LakeTable("lake.shop.orders", "iceberg")):
            for turn, kind in enumerate(("INT", "BIGINT")):
                frame = rows(spark, f"n {kind}, day STRING", (turn, "a"))
                tables.append(
                    frame, replace(table, partitions=("day",)), WriteId("a", turn), docs=((("n",), "how many"),)
                )
            spark.sql(f"INSERT INTO {table.place} VALUES (7, 'b')")
            assert held(spark, table) == [{"n": 0, "day": "a"}, {"n": 1, "day": "a"}, {"n": 7, "day": "b"}]
            assert tables.read(spark, table).schema["n"].metadata["comment"] == "how many"
    finally:
        spark.sql("DROP DATABASE named CASCADE")


def test_partitions_and_comments_are_made_with_the_table(spark: SparkSession, tmp_path: Path) -> None:
    for format_ in FORMATS:
        table = LakeTable(str(tmp_path / format_), format_, partitions=("day",))
        frame = rows(spark, "n INT, day STRING", (1, "a"), (2, "b"))
        frame = frame.withMetadata("n", {"comment": "how many"})
        tables.append(frame, table, WriteId("a", 0))
        assert list((tmp_path / format_).rglob("day=a")), format_
        assert held(spark, table) == [{"n": 1, "day": "a"}, {"n": 2, "day": "b"}]
        found = tables.schema(spark, table)
        assert found is not None
        assert found["n"].metadata == {"comment": "how many"}


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(ValueError, match="'csv' is no format of a table"):
        LakeTable("/tmp/x", "csv")
    with pytest.raises(ValueError, match="'x' is no path"):
        LakeTable("x", "parquet")
