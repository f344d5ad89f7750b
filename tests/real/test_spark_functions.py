"""Columns and views for those who come from elsewhere."""

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from tests.behaviours.served import served
from tests.frames import frame, record
from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.core.answers import Config
from treaty.core.names import subject_of
from treaty.core.requests import Register, Scope, SetConfig
from treaty.core.schema import Draft
from treaty.spark import PlanError, from_avro, view

pytestmark = pytest.mark.jvm

V1 = record(("name", "string"), ("n", "int"))
V2 = record(("name", "string"), ("n", "long"), ("note", ["null", "string"], None))


def test_a_column_and_a_view_of_mixed_ids(spark: SparkSession, registry: Connection) -> None:
    one, two = (
        registry.ask(Register(subject_of("o-value"), Draft(text))).answer.version.schema_id for text in (V1, V2)
    )
    good = [frame(one, V1, {"name": "a", "n": 1}), frame(two, V2, {"name": "b", "n": 2**40, "note": "x"}), None]
    frames = spark.createDataFrame([(at, value) for at, value in enumerate([*good, b"oops!"])], "at INT, value BINARY")

    loose = frames.select("at", from_avro("value", "o-value", registry, {"mode": "PERMISSIVE"}).alias("r")).orderBy(
        "at"
    )
    assert [row["r"] and row["r"].asDict() for row in loose.collect()] == [
        {"name": "a", "n": 1, "note": None}, {"name": "b", "n": 2**40, "note": "x"}, None, None,
    ]  # fmt: skip
    strict = frames.select(from_avro(F.col("value"), "o-value", registry, {"reader": "1"}).alias("r"), "at")
    assert strict.filter("at = 0").first()["r"]["n"] == 1  # type: ignore[index]
    assert strict.filter("at = 2").first()["r"] is None  # type: ignore[index]
    with pytest.raises(PySparkException, match="no record of o-value: 6F6F707321"):
        strict.filter("at = 3").collect()

    with served("memory:") as running, connect(running.url) as far:
        for text in (V1, V2):
            far.ask(SetConfig(Scope("*"), Config(level="NONE")))
            far.ask(Register(subject_of("o-value"), Draft(text)))
        address, loose_too = running.url.removeprefix("http://"), {"mode": "PERMISSIVE"}
        latest = from_avro("value", options=loose_too, subject="o-value", schemaRegistryAddress=address)
        reader = from_avro("value", jsonFormatSchema=V1, subject="o-value", schemaRegistryAddress=address)
    (found,) = frames.filter("at = 0").select(latest.alias("l"), reader.alias("r")).collect()
    assert (found["l"].asDict(), found["r"].asDict()) == ({"name": "a", "n": 1, "note": None}, {"name": "a", "n": 1})

    view(frames, registry, "o-value", "orders")
    (summed,) = spark.sql("select sum(n) as n, count(error) as bad from orders").collect()
    assert summed.asDict() == {"n": 1 + 2**40, "bad": 1}


def test_options_that_are_none_are_told(registry: Connection) -> None:
    with pytest.raises(PlanError, match="option 'schema' is unknown"):
        from_avro("value", "o-value", registry, {"schema": "x"})
    with pytest.raises(PlanError, match="neither a subject nor a schema is named"):
        from_avro("value")
    with pytest.raises(PlanError, match="there is nobody to ask"):
        from_avro("value", subject="o-value")
    with pytest.raises(PlanError, match="mode 'LOOSE' is unknown"):
        from_avro("value", "o-value", registry, {"mode": "LOOSE"})
    registry.ask(Register(subject_of("j-value"), Draft("{}", "JSON")))
    with pytest.raises(PlanError, match="j-value is JSON, not AVRO"):
        from_avro("value", "j-value", registry)
