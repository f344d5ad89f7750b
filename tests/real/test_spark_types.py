"""Several record types in one stream on Spark: each row is read as its own type, in every format and every shape."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.frames import frame, header, record
from treaty.client.connection import Connection
from treaty.core.messages.registration import Register
from treaty.core.names import subject_of
from treaty.core.schema import Draft
from treaty.spark import DecodePlan, decode, make_plan

pytestmark = pytest.mark.jvm

ORDER = record(("id", "int"), ("amount", "int"))
ORDER_2 = record(("id", "long"), ("amount", "int"), ("raw", ["null", "bytes"], None))
PAYMENT = record(("id", "long"), ("amount", "string"), ("none", "null"), name="Payment")
PROTO = 'syntax = "proto3"; package shop; message Order { int32 id = 1; map<int32, string> by = 2; } message Pay { string id = 1; optional double y = 2; message In {} }'
JSON = (
    '{"title": "Order", "type": "object", "properties": {"id": {"type": "integer"}, "x": {"type": "string"}}}',
    '{"title": "Pay", "type": "object", "properties": {"id": {"type": "string"}}}',
    '{"title": "Ping", "type": "integer"}',
)


def put(registry: Connection, subject: str, text: str, format_: str = "AVRO") -> int:
    return registry.ask(Register(subject_of(subject), Draft(text, format=format_))).answer.version.schema_id


def read(frames: DataFrame, plan: DecodePlan) -> list[dict[str, Any]]:
    assert DecodePlan.from_json(plan.to_json()) == plan
    rows = decode(frames, plan, flatten=True).orderBy("at").drop("at", "value").collect()
    return [{**row.asDict(recursive=True), "error": row["error"] and row["error"]["code"]} for row in rows]


def test_avro_types_are_read_by_one_call_and_alike_by_both_engines(
    spark: SparkSession, registry: Connection, tmp_path: Path
) -> None:
    ids = [put(registry, "t-Order", ORDER), put(registry, "t-Order", ORDER_2), put(registry, "t-Payment", PAYMENT)]
    paid = frame(ids[2], PAYMENT, {"id": 5, "amount": "9", "none": None})
    values = [
        frame(ids[0], ORDER, {"id": 1, "amount": 2}),
        frame(ids[1], ORDER_2, {"id": 2, "amount": 3, "raw": b"\0\xff"}),
        paid, paid[:-1], paid + b"\0", header(99) + b"\0", None,
    ]  # fmt: skip
    frames = spark.createDataFrame(list(enumerate(values)), "at INT, value BINARY")
    bad = ["MALFORMED", "TRAILING", "UNKNOWN_ID", None]
    plan = make_plan(registry, "t-*", reader="types")
    rows = read(frames, plan)
    assert rows == read(frames, replace(plan, engine="fastavro"))
    assert rows[:3] == [
        {"error": None, "record_type": "shop.Order", "Order": {"id": 1, "amount": 2, "raw": None}, "Payment": None},
        {
            "error": None,
            "record_type": "shop.Order",
            "Order": {"id": 2, "amount": 3, "raw": b"\0\xff"},
            "Payment": None,
        },
        {
            "error": None,
            "record_type": "shop.Payment",
            "Order": None,
            "Payment": {"id": 5, "amount": "9", "none": None},
        },
    ]
    assert [row["error"] for row in rows[3:]] == bad
    assert {row["record_type"] for row in rows[3:]} == {None}
    wide = read(frames, make_plan(registry, "t-*", reader="wide"))
    assert [(row["id"], row["amount"], row["amount_Payment"]) for row in wide[:3]] == [
        (1, 2, None),
        (2, 3, None),
        (5, None, "9"),
    ]
    plan = make_plan(registry, "t-*", reader="variant")
    assert [row["record"] and json.loads(row["record"].toJson()) for row in read(frames, plan)] == [
        {"id": 1, "amount": 2, "raw": None}, {"id": 2, "amount": 3, "raw": "AP8="}, {"id": 5, "amount": "9", "none": None}, *[None] * 4,
    ]  # fmt: skip
    table = str(tmp_path / "table")
    decode(frames, plan, flatten=True).select("record_type", "record").write.format("delta").save(table)
    stored = spark.read.format("delta").load(table).selectExpr("record_type", "record:id::bigint AS id")
    assert sorted(stored.dropna().collect()) == [("shop.Order", 1), ("shop.Order", 2), ("shop.Payment", 5)]


def test_a_member_without_a_name_has_its_column(spark: SparkSession, registry: Connection) -> None:
    texts = (
        '{"title": "Order", "type": "object", "properties": {"id": {"type": "integer"}, "": {"type": "string"}}}',
        '{"title": "Pay", "type": "object", "properties": {"id": {"type": "integer"}}}',
    )
    ids = [put(registry, f"n-{place}", text, "JSON") for place, text in enumerate(texts)]
    values = [header(ids[0]) + b'{"id": 1, "": "e"}', header(ids[1]) + b'{"id": 2}']
    frames = spark.createDataFrame(list(enumerate(values)), "at INT, value BINARY")
    rows = read(frames, make_plan(registry, "n-*", reader="wide"))
    assert [(row["id"], row[""], row["error"]) for row in rows] == [(1, "e", None), (2, None, None)]


def test_json_and_protobuf_types_are_read_as_their_own(spark: SparkSession, registry: Connection) -> None:
    ids = [put(registry, f"j-{place}", text, "JSON") for place, text in enumerate(JSON)]
    texts = (b'{"id": 1, "x": "q"}', b'{"id": "k"}', b"7", b'{"id": "k"}', b"{")
    values = [header(ids[place]) + text for place, text in zip((0, 1, 2, 0, 1), texts, strict=True)]
    frames = spark.createDataFrame(list(enumerate(values)), "at INT, value BINARY")
    nothing = {"Order": None, "Pay": None, "Ping": None}
    assert read(frames, make_plan(registry, "j-*", reader="types")) == [
        {"error": None, "record_type": "Order", **nothing, "Order": {"id": 1, "x": "q"}},
        {"error": None, "record_type": "Pay", **nothing, "Pay": {"id": "k"}},
        {"error": None, "record_type": "Ping", **nothing, "Ping": 7},
        {"error": "MALFORMED", "record_type": None, **nothing},
        {"error": "MALFORMED", "record_type": None, **nothing},
    ]
    made = put(registry, "p-1", PROTO, "PROTOBUF")
    payloads = (
        b"\x00\x08\x05\x12\x05\x08\x01\x12\x01a", b"\x02\x02\x0a\x01k", b"\x00", b"\x04\x02\x00", b"\x00\x08", b"\x02\x04",
    )  # fmt: skip
    frames = spark.createDataFrame(
        [(at, header(made) + one) for at, one in enumerate(payloads)], "at INT, value BINARY"
    )
    rows = read(frames, make_plan(registry, "p-1", reader="variant"))
    assert [row["record"] and json.loads(row["record"].toJson()) for row in rows[:3]] == [
        {"id": 5, "by": {"1": "a"}}, {"id": "k", "y": None}, {"id": 0, "by": {}},
    ]  # fmt: skip
    assert [(row["record_type"], row["error"]) for row in rows] == [
        ("shop.Order", None), ("shop.Pay", None), ("shop.Order", None), (None, "RESOLUTION"), (None, "MALFORMED"), (None, "MALFORMED"),
    ]  # fmt: skip
