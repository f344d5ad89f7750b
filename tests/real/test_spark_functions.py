"""Columns and views for those who come from elsewhere."""

import json

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from tests.behaviours.served import served
from tests.frames import frame, header, record, resolved
from tests.real.pipeline_files import put
from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.core.messages.registration import Register
from treaty.core.messages.settings import Config, Scope, SetConfig
from treaty.core.messages.versions import Lookup
from treaty.core.names import subject_of
from treaty.core.refusals import NotFound
from treaty.core.schema import Draft
from treaty.spark import PlanError, from_avro, to_avro, view

pytestmark = pytest.mark.jvm

V1 = record(("name", "string"), ("n", "int"))
V2 = record(("name", "string"), ("n", "long"), ("note", ["null", "string"], None))


def test_a_column_and_a_view_of_mixed_ids(spark: SparkSession, registry: Connection) -> None:
    one, two = (
        registry.ask(Register(subject_of("o-value"), Draft(text))).answer.version.schema_id for text in (V1, V2)
    )
    good = [frame(one, V1, {"name": "a", "n": 1}), frame(two, V2, {"name": "b", "n": 2**40, "note": "x"}), None]
    frames = spark.createDataFrame([(at, value) for at, value in enumerate([*good, b"oops!"])], "at INT, value BINARY")

    loose = frames.select(
        "at", from_avro("value", None, {"mode": "permissive"}, "o-value", registry).alias("r")
    ).orderBy("at")
    assert [row["r"] and row["r"].asDict() for row in loose.collect()] == [
        {"name": "a", "n": 1, "note": None}, {"name": "b", "n": 2**40, "note": "x"}, None, None,
    ]  # fmt: skip
    strict = frames.select(
        from_avro(F.col("value"), None, {"reader": "1"}, F.lit("o-value"), registry).alias("r"), "at"
    )
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

    assert frames.select(from_avro("value", subject="o-value", registry=registry)).columns == ["from_avro(value)"]
    three = put(registry, record(("name", "string"), name="Third"), "o-value")
    later = frames.withColumn("value", F.coalesce("value", F.lit(header(three) + b"\2c")))
    assert later.select(latest).filter(f"`{later.select(latest).columns[0]}` IS NULL").count() == 2
    restart = {"mode": "PERMISSIVE", "avroSchemaEvolutionMode": "restart"}
    with served("memory:") as running, connect(running.url) as far:
        put(far, V1, "o-value")
        stopped = later.select(from_avro("value", V1, restart, F.lit("o-value"), running.url))
    with pytest.raises(PySparkException, match=r"the id [23] came after this query was planned"):
        stopped.collect()

    view(frames, registry, "o-value", "orders")
    (summed,) = spark.sql("select sum(n) as n, count(error) as bad from orders").collect()
    assert summed.asDict() == {"n": 1 + 2**40, "bad": 1}


def test_a_column_decodes_each_row_once(spark: SparkSession, registry: Connection) -> None:
    """The test of the tail, of each text and each field of the record held the expression again: six times the cost."""
    item = json.loads(record(("sku", "string"), ("n", "int"), name="Item"))
    text = record(("name", "string"), ("at", "long"), ("items", {"type": "array", "items": item}))
    number = registry.ask(Register(subject_of("o-value"), Draft(text))).answer.version.schema_id
    rows = [{"name": f"é{n}", "at": n, "items": [{"sku": f"s{n}", "n": n}] * n} for n in range(3)]
    values = [frame(number, text, one) for one in rows]
    spoilt = [values[0] + b"\0", values[1][:-1], values[1].replace(b"s1", b"s\xff")]
    frames = spark.createDataFrame([(one,) for one in (*values, *spoilt)], "value BINARY").coalesce(1)
    for mode, source in (("PERMISSIVE", frames), ("FAILFAST", frames.limit(3))):
        read = source.select(from_avro("value", None, {"mode": mode}, "o-value", registry).alias("r"))
        found = [row["r"] and row["r"].asDict(recursive=True) for row in read.collect()]
        assert found == [*rows, None, None, None][: len(found)]
        plan = spark._jvm.PythonSQLUtils.explainString(read._jdf.queryExecution(), "simple")  # type: ignore[union-attr]
        assert plan.split("== Physical Plan ==")[-1].count("from_avro(") == 1


def test_a_column_of_frames_by_the_names_and_places_that_databricks_has(spark: SparkSession) -> None:
    rows = spark.createDataFrame([(0, ("a", 1)), (1, ("b", 2)), (2, None)], "at INT, r STRUCT<name: STRING, n: INT>")
    with served("memory:") as running, connect(running.url) as far:
        far.ask(SetConfig(Scope("*"), Config(level="NONE")))
        one, key = (
            far.ask(Register(subject_of(subject), Draft(text))).answer.version.schema_id
            for subject, text in (("o-value", V1), ("o-key", '"int"'))
        )
        written = rows.select(
            "at",
            to_avro(F.col("at"), F.lit("o-key"), running.url).alias("key"),
            to_avro(data="r", subject=F.lit("o-value"), schemaRegistryAddress=running.url).alias("value"),
        )
        with pytest.raises(NotFound):
            to_avro("r", "o-value", far, V2)
        wide = rows.select("at", F.col("r").withField("n", F.col("r.n").cast("long")).alias("r"))
        wider = wide.select(to_avro("r", "o-value", running.url, V2, {"register": "true"}).alias("value"))
        two = far.ask(Lookup(subject_of("o-value"), Draft(V2))).answer.schema_id
        back = written.select(from_avro("value", subject="o-value", schemaRegistryAddress=running.url).alias("r"))
        again = to_avro("at", "o-key", far)
        older = rows.select(to_avro("r", "o-value", far, V1).alias("value"))
    found = {row["at"]: (row["key"], row["value"]) for row in written.collect()}
    assert {at: bytes(one) for at, (one, _) in found.items()} == {at: frame(key, '"int"', at) for at in range(3)}
    assert {at: value and bytes(value) for at, (_, value) in found.items()} == {
        0: frame(one, V1, {"name": "a", "n": 1}), 1: frame(one, V1, {"name": "b", "n": 2}), 2: None,
    }  # fmt: skip
    values = [bytes(row["value"]) for row in wider.collect() if row["value"]]
    assert [value[:5] for value in values] == [header(two)] * 2
    assert sorted(resolved(value, V2, V2)["n"] for value in values) == [1, 2]
    assert [row["r"] and row["r"]["n"] for row in back.collect()] == [1, 2, None]
    assert {bytes(row["value"] or b"")[:5] for row in older.collect()} == {header(one), b""}
    plain = rows.select("at", to_avro("at", '"int"').alias("plain"))
    assert rows.select(to_avro("at"), again).columns == ["to_avro(at)"] * 2
    assert plain.select(from_avro("plain", '"int"', {"mode": "FAILFAST"})).filter("`from_avro(plain)` = 2").count() == 1
    assert {row["at"]: bytes(row["plain"]) for row in plain.collect()} == {0: b"\0", 1: b"\2", 2: b"\4"}


@pytest.mark.usefixtures("spark")
def test_options_that_are_none_are_told(spark: SparkSession, registry: Connection) -> None:
    with pytest.raises(PlanError, match="option 'schema' is unknown"):
        from_avro("value", options={"schema": "x"}, subject="o-value", registry=registry)
    with pytest.raises(PlanError, match="neither a subject nor a schema is named"):
        from_avro("value")
    with pytest.raises(PlanError, match="no registry is given to look up the subject"):
        from_avro("value", subject="o-value")
    with pytest.raises(PlanError, match="'o-value', which is no schema: a subject is given by name"):
        from_avro("value", "o-value")
    with pytest.raises(PlanError, match="options are a mapping of texts, not Connection"):
        from_avro("value", "o-value", registry)  # type: ignore[arg-type]
    stores = {"confluent.schema.registry.ssl.truststore.location": "trust.jks"}
    with pytest.raises(PlanError, match=r"Java's key stores.*confluent.schema.registry.ssl.ca.location"):
        from_avro("value", None, stores, "o-value", "localhost:9")
    with pytest.raises(ValueError, match=r"'basic.auth.user.info' is a name, a colon and a password"):
        from_avro("value", None, {"confluent.schema.registry.basic.auth.user.info": "me"}, "o-value", "localhost:9")
    with pytest.raises(PlanError, match="avroSchemaEvolutionMode 'x' is unknown; allowed: none, restart"):
        from_avro("value", None, {"AVROSCHEMAEVOLUTIONMODE": "x"}, "o-value", registry)
    with pytest.raises(PlanError, match="mode 'LOOSE' is unknown"):
        from_avro("value", options={"mode": "LOOSE"}, subject="o-value", registry=registry)
    registry.ask(Register(subject_of("j-value"), Draft("{}", "JSON")))
    with pytest.raises(PlanError, match="j-value is JSON, not AVRO"):
        from_avro("value", subject="j-value", registry=registry)
    with pytest.raises(PlanError, match="j-value is JSON, not AVRO; to_registry"):
        to_avro("value", "j-value", registry)
    with pytest.raises(PlanError, match="option 'mode' is unknown; options are register"):
        to_avro("value", "o-value", registry, options={"mode": "PERMISSIVE"})
    with pytest.raises(PlanError, match=r"register = 'yes' is unknown"):
        to_avro("value", "o-value", registry, options={"register": "yes"})
    with pytest.raises(PlanError, match=r"the subject is Column.*give a text, or lit"):
        to_avro("value", F.col("subject"), registry)
    with pytest.raises(PlanError, match="no registry is given to look up the subject"):
        to_avro("value", "o-value")
