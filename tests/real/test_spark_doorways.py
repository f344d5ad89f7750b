"""Doors of Spark: what they refuse before a job runs, columns of one name, and addresses as registries."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from tests.behaviours.served import served
from tests.frames import frame, record
from tests.real.pipeline_files import Lines, ended, put, sound
from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.spark import (
    FilesSource,
    KafkaSource,
    LakeTable,
    Names,
    Pipeline,
    PipelineError,
    PlanError,
    check_history,
    decode,
    dry_run,
    from_avro,
    from_registry,
    ids_of,
    make_plan,
    preview,
    replay,
    run,
    to_avro,
    to_registry,
    to_topic,
    view,
)

pytestmark = pytest.mark.jvm

ORDER = record(("id", "int"), ("value", "string", ""))


def test_a_column_without_frames_is_named_before_a_job_runs(spark: SparkSession, registry: Connection) -> None:
    put(registry, ORDER, "a")
    rows = spark.createDataFrame([(1, "x", (b"",))], "n INT, value STRING, inside STRUCT<frame: BINARY>")
    for door in (
        lambda: from_registry(rows, registry, "a"),
        lambda: decode(rows, make_plan(registry, "a")),
        lambda: ids_of(rows),
        lambda: view(rows, registry, "a", "orders"),
        lambda: check_history(ORDER, rows, registry, "a"),
    ):
        with pytest.raises(PlanError, match="the column value is STRING, and frames are BINARY"):
            door()
    with pytest.raises(PlanError, match="the column n is INT, and frames are BINARY"):
        from_registry(rows, registry, "a", column="n")
    with pytest.raises(PlanError, match="part = 'values' is no half of a record"):
        decode(rows, make_plan(registry, "a"), column="inside.frame", part="values")
    with pytest.raises(PlanError, match="reader = 'lastest' is neither a reader nor a schema"):
        from_registry(rows.select("inside.frame"), registry, "a", column="frame", reader="lastest")


def test_columns_of_one_name_are_refused_or_get_a_prefix(spark: SparkSession, registry: Connection) -> None:
    schema_id = put(registry, ORDER, "a")
    value = frame(schema_id, ORDER, {"id": 7, "value": "x"})
    rows = spark.createDataFrame([(value, 1, "mine")], "value BINARY, ID INT, error STRING")
    with pytest.raises(PlanError, match="two columns would be called error"):
        from_registry(rows, registry, "a")
    with pytest.raises(PlanError, match="two columns would be called"):
        from_registry(rows, registry, "a", names=Names(error="why"), flatten=True)
    (found,) = from_registry(rows, registry, "a", names=Names(error="why", prefix="order_"), flatten=True).collect()
    assert found.asDict() == {
        "value": value, "ID": 1, "error": "mine", "why": None, "order_id": 7, "order_value": "x",
    }  # fmt: skip
    beside = rows.select("value", F.lit("mine").alias("record"))
    (seen,) = from_registry(beside, registry, "a", names=Names(prefix="order_"), flatten=True).collect()
    assert seen.asDict() == {"value": value, "record": "mine", "order_id": 7, "order_value": "x", "error": None}
    view(rows.drop("error", "ID"), registry, "a", "orders")
    (seen,) = spark.sql("select * from orders").collect()
    assert seen.asDict() == {"id": 7, "value": "x", "error": None}, "a field may have the name of the column of frames"
    negative = spark.createDataFrame([(b"\0\xff\xff\xff\xfe",)], "value BINARY")
    (row,) = from_registry(negative, registry, "a").collect()
    assert row["error"]["message"] == "the frame has the id -2, and no id is negative"


def test_a_pipeline_whose_tables_would_have_two_columns_of_one_name_is_refused(
    spark: SparkSession, registry: Connection, tmp_path: Path
) -> None:
    """Before its first row, if it is so from the beginning; a later version of that kind is bad, and the stream goes on."""
    lines = Lines(spark, tmp_path)
    old = record(("name", "string"), ("n", "int"))
    new = record(("name", "string"), ("n", "int"), ("offset", "long", 0))
    one = put(registry, old, "orders-value")
    lines.write(*sound(one, old, 1, 2))
    fine = lines.pipeline
    twice = Pipeline("orders-value", fine.good, fine.bad, fine.checkpoint, keep=("code",), source=fine.source)
    with pytest.raises(PipelineError, match="two columns of a table would be called code"):
        run(twice, registry, spark)
    (seen,) = preview(twice, registry, spark)
    assert seen.refused
    assert "called code" in seen.refused[0]
    wrong = FilesSource(str(tmp_path / "in"), schema="offset BIGINT, value STRING")
    with pytest.raises(PlanError, match="the column value is STRING, and frames are BINARY"):
        run(Pipeline("orders-value", fine.good, fine.bad, fine.checkpoint, source=wrong), registry, spark)

    ended(fine, registry, spark)
    two = put(registry, new, "orders-value")
    lines.write((frame(two, new, {"name": "x", "n": 1, "offset": 5}), "RESOLUTION"), *sound(one, old, 3))
    ended(fine, registry, spark)
    (message,) = lines.check().values()
    assert "two columns of" in message
    assert "would be called offset" in message
    (seen,) = preview(fine, registry, spark)
    assert "would be called offset" in seen.refused[0]


def test_an_address_is_taken_wherever_a_registry_is(spark: SparkSession, tmp_path: Path) -> None:
    with served("memory:") as running, connect(running.url) as far:
        place = running.url
        schema_id = put(far, ORDER, "orders-value")
        value = frame(schema_id, ORDER, {"id": 7, "value": "x"})
        rows = spark.createDataFrame([(value,)], "value BINARY")
        fields = spark.createDataFrame([(7, "x", ("x",))], "id INT, value STRING, r STRUCT<value: STRING>")
        found: list[Any] = [
            from_registry(rows, place, "orders-value").first(),
            view(rows, place, "orders-value", "orders").first(),
            rows.select(
                from_avro("value", subject=F.lit("orders-value"), schemaRegistryAddress=place).alias("r")
            ).first(),
        ]
        assert [row.asDict(recursive=True) for row in found] == [
            {"value": value, "record": {"id": 7, "value": "x"}, "error": None},
            {"id": 7, "value": "x", "error": None},
            {"r": {"id": 7, "value": "x"}},
        ]
        sent = fields.select("id", "value")
        written = [
            to_registry(sent, place, "orders-value", columns=("id", "value")),
            to_topic(sent.select(F.struct("id", "value").alias("value")), place, "orders").rows,
            sent.select(
                to_avro(F.struct("id", "value"), "orders-value", place, options={"register": "false"}).alias("value")
            ),
        ]
        assert [bytes(one.first()["value"]) for one in written] == [value] * 3  # type: ignore[index]
        assert dry_run(sent, place, "orders-value").plan is not None
        assert check_history(ORDER, rows, place, "orders-value").fine

        good, bad = (LakeTable(str(tmp_path / name), "parquet") for name in ("good", "bad"))
        rows.write.parquet(str(tmp_path / "in"))
        source = FilesSource(str(tmp_path / "in"), schema="value BINARY")
        pipeline = Pipeline("orders-value", good, bad, str(tmp_path / "checkpoint"), source=source)
        (seen,) = preview(pipeline, place, spark)
        assert seen.fine
        query = run(pipeline, place, spark)
        query.processAllAvailable()
        query.stop()
        assert replay(pipeline, place, spark).rows == 0
        assert spark.read.parquet(good.place).count() == 1


def test_an_option_of_another_format_is_refused_for_one_topic_and_passed_over_for_a_pattern(
    spark: SparkSession, registry: Connection, tmp_path: Path
) -> None:
    put(registry, ORDER, "orders-value")
    root = f"{tmp_path}/{{topic}}"
    for source, is_refused in (
        (KafkaSource("localhost:9", ("orders",)), True),
        (KafkaSource("localhost:9", pattern="orders.*"), False),
        (KafkaSource("localhost:9", ("orders", "trips")), False),
    ):
        pipeline = Pipeline("", f"{root}/good", f"{root}/bad", f"{tmp_path}/checkpoint", source=source, message="Order")
        seen = preview(pipeline, registry, spark, ("orders",))[0]
        refused = ("message = 'Order' is for PROTOBUF, and the rows to read are AVRO; leave it out",)
        assert seen.refused == (refused if is_refused else ())
    fixed = KafkaSource("localhost:9", pattern="orders.*")
    pipeline = Pipeline(
        "orders-value", f"{root}/good", f"{root}/bad", f"{tmp_path}/checkpoint", source=fixed, defaults=True
    )
    assert preview(pipeline, registry, spark)[0].refused


def test_what_is_given_twice_or_for_nothing_is_refused(registry: Connection) -> None:
    put(registry, ORDER, "a")
    for wrong, sentence in (
        ({"registry": registry, "schemaRegistryAddress": "x:1"}, "the registry is given twice"),
        ({"registry": registry, "options": {"confluent.schema.registry.ssl.ca.location": "x"}}, "is for an address"),
        ({"registry": registry, "jsonFormatSchema": ORDER, "options": {"reader": "1"}}, "the reader is given twice"),
    ):
        with pytest.raises(PlanError, match=sentence):
            from_avro("value", subject="a", **wrong)  # type: ignore[arg-type]
    with pytest.raises(PlanError, match="a registry is given and no subject"):
        from_avro("value", registry=registry, jsonFormatSchema=ORDER)
    with pytest.raises(PlanError, match="no subject: name one"):
        to_avro("value", options={"register": "true"})
