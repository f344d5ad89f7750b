"""Frames decoded by Spark: good rows as fastavro has them, bad rows each with its reason, both engines alike."""

import datetime as dt
import json
import random
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.frames import frame, header, record, resolved
from tests.histories import history
from tests.shares import REST
from treaty.client.connection import Connection
from treaty.core.messages.registration import Register
from treaty.core.names import subject_of
from treaty.core.schema import Draft
from treaty.plan.avro.flat import parse_avro
from treaty.plan.avro.merge import merge
from treaty.plan.avro.planner import compose
from treaty.plan.errors import PlanError
from treaty.plan.registered_schema import RegisteredSchema
from treaty.spark import DecodePlan, Names, decode, engine_of, explain, from_registry, make_plan, to_registry
from treaty.spark.decode import check_frames
from treaty.spark.engines.repaired_records import read_avro_part
from treaty.spark.explain import find_missing_limits
from treaty.spark.frames import SPREAD_FROM

pytestmark = pytest.mark.jvm

LINE = json.loads(record(("sku", "string"), ("n", "int"), name="Line"))
KIND = {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}
V1 = record(("name", "string"), ("n", "int"), ("kind", KIND), ("lines", {"type": "array", "items": LINE}))
V2 = record(
    ("name", "string"),
    ("n", "long"),
    ("kind", KIND),
    ("lines", {"type": "array", "items": {**LINE, "fields": [*LINE["fields"], {"name": "tax", "type": "double", "default": 0.5}]}}),
    ("note", ["null", "string"], None),
)  # fmt: skip
V3 = record(
    ("name", "string"),
    {"name": "number", "type": "long", "aliases": ["n"]},
    ("kind", KIND),
    ("lines", {"type": "array", "items": LINE}),
    ("where", ["null", {"type": "record", "name": "Place", "fields": [{"name": "x", "type": "float"}]}], None),
)
WRITERS = (V1, V2, V3)


def put(registry: Connection, *texts: str, subject: str = "orders-value") -> list[int]:
    return [registry.ask(Register(subject_of(subject), Draft(text))).answer.version.schema_id for text in texts]


def row(version: int, dice: random.Random) -> dict[str, Any]:
    lines = [
        {"sku": dice.choice("abc") * dice.randrange(9), "n": dice.randrange(99), "tax": 1.5}
        for _ in range(dice.randrange(4))
    ]
    made = {
        "name": f"order {dice.randrange(10**6)}",
        "n": dice.randrange(2**30),
        "kind": dice.choice("AB"),
        "lines": lines,
    }
    return made | {"note": dice.choice(["é", None]), "number": made["n"], "where": dice.choice([None, {"x": 0.5}])}


def some(ids: list[int], count: int, dice: random.Random) -> list[tuple[bytes, int]]:
    """Good frames of all versions, and the place of the version each was written with."""
    places = [dice.randrange(len(WRITERS)) for _ in range(count)]
    return [(frame(ids[place], WRITERS[place], row(place, dice)), place) for place in places]


def framed(spark: SparkSession, values: list[bytes | None]) -> DataFrame:
    return spark.createDataFrame(list(enumerate(values)), "at INT, value BINARY")


def plain(value: Any) -> Any:
    """A Spark row as fastavro would give it."""
    if hasattr(value, "asDict"):
        return {name: plain(one) for name, one in value.asDict().items()}
    if isinstance(value, list):
        return [plain(one) for one in value]
    return bytes(value) if isinstance(value, bytearray) else value


def both(frame: DataFrame, plan: DecodePlan) -> list[Any]:
    """The rows of the first engine, after seeing that the second one has the same."""
    names = Names(schema_id="id", version="version", subject="subject")
    first = decode(frame, plan, names=names)
    rows = first.orderBy("at").collect()
    assert rows == decode(frame, replace(plan, engine="fastavro"), names=names).orderBy("at").collect()
    compare_fields(frame, plan, rows)
    return rows


def compare_fields(frame: DataFrame, plan: DecodePlan, rows: list[Any]) -> None:
    """See that fields that are taken one by one are those of the records, and that bad rows have the same codes."""
    if (checked := check_frames(frame, plan, schema_id="id")) is None:
        return
    taken = F.struct(*(one.alias(name) for name, one in checked.fields.items())).alias("record")
    codes = (checked.code.alias("code"), checked.claimed_id.alias("claimed"), F.col("id").alias("number"))
    for row, other in zip(rows, checked.frame.select("at", taken, *codes).orderBy("at").collect(), strict=True):
        error = row["error"] or {"code": None, "schema_id": None}
        assert (other["code"], other["claimed"], other["number"]) == (error["code"], error["schema_id"], row["id"])
        assert other["record"] == row["record"] if row["record"] else set(other["record"]) == {None}


def test_good_rows_are_what_fastavro_makes_of_them(spark: SparkSession, registry: Connection) -> None:
    ids, dice = put(registry, *WRITERS), random.Random(1)
    values = some(ids, 300, dice)
    rows = both(framed(spark, [value for value, _ in values]), make_plan(registry, "orders-value", reader="latest"))
    for (value, place), found in zip(values, rows, strict=True):
        assert plain(found["record"]) == resolved(value, WRITERS[place], V3)
        assert (found["error"], found["id"], found["version"], found["subject"]) == (
            None,
            ids[place],
            place + 1,
            "orders-value",
        )


def decimal(precision: int, scale: int) -> dict[str, Any]:
    return {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}


def money(name: str, size: int, precision: int, scale: int) -> dict[str, Any]:
    return {
        "type": "fixed",
        "name": name,
        "size": size,
        "logicalType": "decimal",
        "precision": precision,
        "scale": scale,
    }


def order(unit: str, number: dict[str, Any], fixed: dict[str, Any]) -> str:
    instant = {"type": "long", "logicalType": f"timestamp-{unit}"}
    wall = {"type": "long", "logicalType": f"local-timestamp-{unit}"}
    inside = {
        "type": "record",
        "name": "In",
        "fields": [{"name": "p", "type": number}, {"name": "at", "type": ["null", instant]}],
    }
    return record(
        ("at", instant),
        ("wall", ["null", wall], None),
        ("list", {"type": "array", "items": number}),
        ("map", {"type": "map", "values": instant}),
        ("deep", {"type": "array", "items": inside}),
        ("by", {"type": "map", "values": "shop.In"}),
        ("fixed", fixed),
    )


def test_units_and_scales_come_out_right_wherever_they_stand(spark: SparkSession, registry: Connection) -> None:
    ids = put(
        registry,
        order("millis", decimal(6, 2), money("M", 4, 6, 2)),
        order("micros", decimal(9, 4), money("M", 4, 8, 2)),
    )
    instant = dt.datetime(2024, 2, 29, 12, 30, 15, 123000, tzinfo=dt.UTC)
    wall = instant.replace(tzinfo=None)
    inside = {"p": Decimal("-12.34"), "at": instant}
    value = {
        "at": instant, "wall": wall, "list": [Decimal("1.5"), Decimal(0)], "map": {"k": instant}, "deep": [inside, {**inside, "at": None}],
        "by": {"k": inside}, "fixed": Decimal("99.01"),
    }  # fmt: skip
    texts = [order("millis", decimal(6, 2), money("M", 4, 6, 2)), order("micros", decimal(9, 4), money("M", 4, 8, 2))]
    values: list[bytes | None] = [frame(one, text, value) for one, text in zip(ids, texts, strict=True)]
    rows = both(framed(spark, values), make_plan(registry, "orders-value"))
    naive = instant.astimezone().replace(tzinfo=None)
    for found in map(plain, rows):
        got = found["record"]
        assert got["at"] in {naive, wall}
        assert (got["wall"], got["list"], got["fixed"]) == (wall, value["list"], Decimal("99.01"))
        assert [one["p"] for one in (*got["deep"], got["by"]["k"])] == [Decimal("-12.34")] * 3
        assert got["deep"][1]["at"] is None
        assert got["deep"][0]["at"] == got["map"]["k"] == got["by"]["k"]["at"] == got["at"]


def test_times_of_day_are_counted_over(spark: SparkSession, registry: Connection) -> None:
    millis, micros = {"type": "int", "logicalType": "time-millis"}, {"type": "long", "logicalType": "time-micros"}
    nanos, instant = (
        {"type": "long", "logicalType": "timestamp-nanos"},
        {"type": "long", "logicalType": "timestamp-micros"},
    )
    older, newer = record(("t", millis), ("at", nanos)), record(("t", micros), ("at", instant))
    ids = put(registry, older, newer)
    values: list[bytes | None] = [
        header(ids[0]) + b"\xd0\x0f" + b"\x80\xa8\xd6\xb9\x07",  # 1000 ms, and 1_000_000_000 ns
        header(ids[1]) + b"\x80\x89\x7a" + b"\x00",
        header(ids[0])
        + b"\xd0\x0f"
        + b"\xce\xb7\xde\xff\xbb\xe1\xab\xb4\x2c",  # 1_600_000_000_123_456_999 ns, which no double holds
    ]
    strict = both(framed(spark, values), make_plan(registry, "orders-value"))
    assert [found["error"] and found["error"]["code"] for found in strict] == [None, None, "INVALID"]
    assert strict[2]["error"]["message"].startswith("a time has digits that the unit of the reader has not")
    assert [found["record"] and found["record"]["t"] for found in strict] == [1_000_000, 1_000_000, None]
    rows = both(framed(spark, values), make_plan(registry, "orders-value", lossy="allow"))
    assert [found["record"]["t"] for found in rows] == [1_000_000] * 3
    assert [found["error"] for found in rows] == [None] * 3
    assert rows[2]["record"]["at"].microsecond == 123_456
    with pytest.raises(PlanError, match="lossy = 'cut' is not allowed; allowed are refuse, double, allow"):
        make_plan(registry, "orders-value", lossy="cut")


def test_a_time_that_would_lose_digits_is_a_bad_row_wherever_it_stands(
    spark: SparkSession, registry: Connection
) -> None:
    def text(unit: str) -> str:
        wall = {"type": "long", "logicalType": f"local-timestamp-{unit}"}
        listed = {"type": "array", "items": {"type": "map", "values": ["null", wall]}}
        inner = {
            "type": "record",
            "name": "In",
            "fields": [{"name": "t", "type": ["null", {"type": "long", "logicalType": f"timestamp-{unit}"}]}],
        }
        return record(("listed", listed), ("inner", {"type": "array", "items": inner}))

    finer, coarser = text("nanos"), text("micros")
    ids = put(registry, finer, coarser)
    pairs = [(5_000, 7_000), (5_000, 7_001), (-5_001, 7_000), (None, None)]
    values: list[bytes | None] = [
        frame(ids[0], finer, {"listed": [{}, {"k": first}], "inner": [{"t": None}, {"t": second}]})
        for first, second in pairs
    ]
    rows = both(framed(spark, values), make_plan(registry, "orders-value"))
    assert [found["error"] and found["error"]["code"] for found in rows] == [None, "INVALID", "INVALID", None]
    rows = both(framed(spark, values), make_plan(registry, "orders-value", lossy="allow"))
    micros = [found["record"]["inner"][1]["t"] for found in rows]
    assert [one and one.microsecond for one in micros] == [7, 7, 7, None]
    assert [found["record"]["listed"][1]["k"] for found in rows][2] == dt.datetime.fromisoformat(
        "1969-12-31T23:59:59.999994"
    )


def test_every_kind_of_type_is_read_alike_by_both_engines(spark: SparkSession, registry: Connection) -> None:
    fields = [
        ("none", "null"), ("flag", "boolean"), ("i", "int"), ("l", "long"), ("f", "float"), ("d", "double"), ("b", "bytes"), ("s", "string"),
        ("fix", {"type": "fixed", "name": "Fix", "size": 3}), ("map", {"type": "map", "values": ["null", "int"]}),
        ("pick", ["null", "int", "string"]), ("wide", ["int", "long"]), ("day", {"type": "int", "logicalType": "date"}),
        ("id", {"type": "string", "logicalType": "uuid"}), ("nothing", {"type": "record", "name": "Empty", "fields": []}),
        ("deep", {"type": "array", "items": {"type": "array", "items": "shop.Fix"}}),
    ]  # fmt: skip
    text = record(*fields)
    (schema_id,) = put(registry, text)
    base = {
        "none": None, "flag": True, "i": -(2**31), "l": 2**63 - 1, "f": 0.5, "d": 1e300, "b": b"\0\xff", "s": "né\U0001f600", "fix": b"abc",
        "map": {"a": 1, "b": None}, "pick": "x", "wide": 5, "day": dt.date(1969, 12, 31), "id": "0e8400e2-29b4-41d4-a716-446655440000",
        "nothing": {}, "deep": [[b"123"], []],
    }  # fmt: skip
    rows = both(
        framed(
            spark,
            [
                frame(schema_id, text, base),
                frame(schema_id, text, {**base, "pick": 7}),
                frame(schema_id, text, {**base, "pick": None}),
            ],
        ),
        make_plan(registry, "orders-value"),
    )
    found = plain(rows[0])["record"]
    assert {**found, "pick": "x", "wide": 5} == base
    assert [plain(one)["record"]["pick"] for one in rows] == [
        {"member0": None, "member1": "x"},
        {"member0": 7, "member1": None},
        None,
    ]


def test_a_schema_that_is_no_record_is_one_column(spark: SparkSession, registry: Connection) -> None:
    ids = put(registry, '"int"', '"long"', '{"type": "array", "items": "string"}')
    values: list[bytes | None] = [frame(ids[0], '"int"', 4), frame(ids[1], '"long"', 2**40), header(ids[2]) + b"\0"]
    rows = both(framed(spark, values), make_plan(registry, "orders-value", reader=2))
    assert [found["record"] for found in rows] == [4, 2**40, None]
    assert rows[2]["error"]["code"] == "RESOLUTION"


def test_a_hostile_length_is_a_bad_row_and_not_the_end_of_the_jvm(spark: SparkSession, registry: Connection) -> None:
    fields = (("list", {"type": "array", "items": "long"}), ("map", {"type": "map", "values": "long"}))
    nothings = ("none", {"type": "array", "items": "null"})
    text = record(*fields, nothings, ("text", "string"), ("raw", "bytes"))
    (schema_id,) = put(registry, text)
    head, huge, half = header(schema_id), b"\xfe\xff\xff\xff\x0f", b"\xfe\xff\xff\xff\x0e"
    payloads = {
        "items": huge, "entries": b"\0" + huge, "nothings": b"\0\0" + huge, "nothings in a sized block": b"\0\0\xff\xff\xff\xff\x0f\2",
        "text": b"\0\0\0" + half, "bytes": b"\0\0\0\0" + half, "fewer than none": b"\0\0\0\x01",
        "a number without an end": b"\xff" * 60,
    }  # fmt: skip
    values: list[bytes | None] = [head + one + b"\0" * 9 for one in payloads.values()]
    values.append(frame(schema_id, text, {"list": [], "map": {}, "none": [None] * 9, "text": "x", "raw": b""}))
    rows = both(framed(spark, values), make_plan(registry, "orders-value"))
    codes = [found["error"] and found["error"]["code"] for found in rows]
    assert dict(zip(payloads, codes[:-1], strict=True)) == dict.fromkeys(payloads, "MALFORMED")
    assert codes[-1] is None
    assert rows[-1]["record"]["none"] == [None] * 9
    tree = record(("next", ["null", "shop.Order"], None))
    (schema_id,) = put(registry, tree, subject="trees-value")
    deep: list[bytes | None] = [header(schema_id) + b"\2" * count + b"\0" for count in (3, 31, 32, 100_000)]
    trees = both(framed(spark, deep), make_plan(registry, "trees-value"))
    assert [found["error"] and found["error"]["code"] for found in trees] == [None, None, "MALFORMED", "MALFORMED"]


def test_flat_columns_and_one_decoding_under_a_filter(spark: SparkSession, registry: Connection) -> None:
    ids = put(registry, V1)
    source = framed(spark, [frame(ids[0], V1, row(0, random.Random(5))), b"", None])
    flat = from_registry(source, registry, "orders-value", flatten=True, names=Names(schema_id="id"))
    assert flat.columns == ["at", "value", "error", "id", "name", "n", "kind", "lines"]
    kept = flat.filter(F.col("error").isNull() & F.col("name").isNotNull())
    assert kept.count() == 1
    plan = spark._jvm.PythonSQLUtils.explainString(kept._jdf.queryExecution(), "simple")  # type: ignore[union-attr]
    # The reading of all rows, and that of rows which the seal refuses.
    assert plan.split("== Physical Plan ==")[-1].count("from_avro(") == 2


def test_rows_become_frames_again(spark: SparkSession, registry: Connection) -> None:
    ids, dice = put(registry, *WRITERS), random.Random(6)
    plan = make_plan(registry, "orders-value", reader="union")
    values: list[bytes | None] = [value for value, _ in some(ids, 50, dice)]
    rows = decode(framed(spark, values), plan).select("at", "record.*").withColumnRenamed("n", "number")
    wanted = rows.drop("at", "note").withColumn(
        "lines", F.expr("transform(lines, x -> named_struct('sku', x.sku, 'n', x.n))")
    )
    encoded = to_registry(wanted, registry, "orders-value", version=3)
    assert encoded.filter("error IS NOT NULL").count() == 0
    again = decode(encoded.select("value"), make_plan(registry, "orders-value", reader=3)).select("record.*")
    assert sorted(again.collect()) == sorted(wanted.select(again.columns).collect())


def test_a_row_that_the_schema_cannot_hold_is_told_and_the_job_goes_on(
    spark: SparkSession, registry: Connection
) -> None:
    text = record(("k", KIND), ("n", "int"), ("tags", {"type": "array", "items": "string"}), ("note", "string", "none"))
    put(registry, text)
    rows = [("A", 1, ["x"]), ("C", 1, ["x"]), ("A", 2**40, ["x"]), ("A", 1, [None]), (None, 1, [])]
    encoded = to_registry(
        spark.createDataFrame(rows, "k STRING, n BIGINT, tags ARRAY<STRING>"), registry, "orders-value"
    )
    told = [(one["value"] is None, one["error"] and one["error"]["message"]) for one in encoded.collect()]
    assert told == [
        (False, None),
        (True, "/k is none of A, B"),
        (True, "/n does not fit into INT"),
        (True, "/tags/[] is null, and the schema has no null there"),
        (True, "/k is null, and the schema has no null there"),
    ]
    good = from_registry(encoded.select("value"), registry, "orders-value").first()
    assert good is not None
    assert good["record"]["note"] == "none"


def test_explain_says_what_the_session_has(spark: SparkSession, registry: Connection) -> None:
    put(registry, V1)
    assert engine_of(spark) == "spark"
    assert find_missing_limits(spark) == ()
    assert "guarded" in explain(make_plan(registry, "orders-value"), spark)


@pytest.mark.parametrize("seeds", [range(2), pytest.param(range(2, 6), marks=REST)], ids=str)
def test_random_histories_are_read_alike_by_both_engines(spark: SparkSession, seeds: range) -> None:
    for seed in seeds:
        texts, values = history(seed, 4)
        schemas = [parse_avro(text) for text in texts]
        known = [
            RegisteredSchema(place + 1, "orders-value", place + 1, "AVRO", one) for place, one in enumerate(schemas)
        ]
        spoilt = [part for value in values for part in (value, value[:-1], value + b"\0")]
        rows = both(framed(spark, list(spoilt)), compose(known, merge(schemas)))
        assert [row["record"] is not None for row in rows] == [True, False, False] * len(values)


def test_hundreds_of_ids_of_a_few_shapes(spark: SparkSession, registry: Connection) -> None:
    fields: list[tuple[Any, ...]] = [("n", "int"), ("name", "string"), ("at", ["null", "long"], None)]
    texts = [
        record(*fields[turn % 3 :], *fields[: turn % 3], doc=f"it's version {turn}") for turn in range(SPREAD_FROM + 50)
    ]
    ids = put(registry, *texts)
    lost = put(registry, record(("n", "boolean")))
    rows = [{"n": turn, "name": f"order {turn}", "at": None if turn % 2 else turn} for turn, _ in enumerate(texts)]
    frames = [frame(*each) for each in zip(ids, texts, rows, strict=True)]
    frames += [header(one) + b"\2" for one in (*lost, ids[-1] + 1000)]
    plan = make_plan(registry, "orders-value", reader=len(texts))
    data = spark.createDataFrame([(one,) for one in frames], "value BINARY")
    found = decode(data, plan, names=Names(version="version", subject="subject")).collect()

    assert sorted(set(read_avro_part(plan).branches)) == [0, 1, 2]
    assert [row["record"].asDict() for row in found[:-2]] == rows
    assert [(row["version"], row["subject"]) for row in found[:-2]] == [
        (n + 1, "orders-value") for n in range(len(ids))
    ]
    assert [row["error"]["code"] for row in found[-2:]] == ["RESOLUTION", "UNKNOWN_ID"]
    assert plan.rejected[0].message == found[-2]["error"]["message"]
