"""Frames of every kind before the same payloads: each is read as Confluent's prefix is, and what it can't say is a bad row."""

import gzip
import io
import json
from collections.abc import Callable
from importlib.metadata import EntryPoint
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from tests.frames import header, record
from treaty.client.connection import Connection
from treaty.client.serializers.frames import encode_guid
from treaty.core.messages.registration import Register
from treaty.core.messages.versions import VersionFound
from treaty.core.names import subject_of
from treaty.core.schema import Draft
from treaty.formats.avro.fingerprint import crc64, md5
from treaty.plan import heads
from treaty.plan.avro.flat import parse_avro
from treaty.plan.registered_schema import RegisteredSchema
from treaty.spark import DecodePlan, Names, PlanError, decode, make_plan

pytestmark = pytest.mark.jvm

V1 = record(("name", "string"), ("n", "int"))
V2 = record(("name", "string"), ("n", "long"), ("note", ["null", "string"], None))
ROWS = ({"name": "a", "n": 7}, {"name": "b", "n": 2**40, "note": "x"})
READ = ({"name": "a", "n": 7, "note": None}, ROWS[1])
SCHEMA = "at INT, value BINARY, headers ARRAY<STRUCT<key: STRING, value: BINARY>>"


def put(registry: Connection, *texts: str) -> list[Any]:
    return [registry.ask(Register(subject_of("orders-value"), Draft(text))).answer.version for text in texts]


def payloads() -> list[bytes]:
    made = []
    for text, row in zip((V1, V2), ROWS, strict=True):
        out = io.BytesIO()
        fastavro.schemaless_writer(out, fastavro.parse_schema(json.loads(text)), row)
        made.append(out.getvalue())
    return made


def read(spark: SparkSession, plan: DecodePlan, *values: bytes | None, **more: Any) -> list[Any]:
    rows = [(at, value, more.get("headers", {}).get(at)) for at, value in enumerate(values)]
    found = decode(
        spark.createDataFrame(rows, SCHEMA), plan, names=Names(schema_id="id"), part=more.get("part", "value")
    )
    assert found.columns == ["at", "value", "headers", "record", "error", "id"]
    told = [row.asDict(recursive=True) for row in found.orderBy("at").collect()]
    for row in told:
        assert row["error"] is None or row["error"]["payload"] == row["value"]
    return told


@pytest.mark.parametrize(
    ("framing", "head", "strange"),
    [
        ("single-object", lambda one: b"\xc3\x01" + crc64(parse_avro(one)), {b"\xc3\x01" + b"\0" * 9: "UNKNOWN_ID", b"\xc3\x02" * 6: "BAD_MAGIC", b"\xc3\x01": "TOO_SHORT"}),
        ("md5", lambda one: md5(parse_avro(one)), {b"\0" * 17: "UNKNOWN_ID", b"\0" * 15: "TOO_SHORT"}),
        ("version", lambda one: bytes([2 * ((V1, V2).index(one) + 1)]), {b"\x06abc": "UNKNOWN_ID", b"\x80\x01a": "UNKNOWN_ID", b"": "TOO_SHORT"}),
    ],
)  # fmt: skip
def test_heads_say_the_writer(
    framing: str, head: Callable[[str], bytes], strange: dict[bytes, str], spark: SparkSession, registry: Connection
) -> None:
    ids = [one.schema_id for one in put(registry, V1, V2)]
    plan = make_plan(registry, "orders-value", framing=framing)
    assert DecodePlan.from_json(plan.to_json()) == plan
    assert f"framing  {framing}" in plan.explain()
    whole = [head(text) + payload for text, payload in zip((V1, V2), payloads(), strict=True)]
    rows = read(spark, plan, *whole, whole[0][:-1], whole[1] + b"x", None, *strange)
    assert [row["record"] for row in rows[:2]] == [*READ]
    assert [row["id"] for row in rows[:2]] == ids
    codes = [row["error"] and row["error"]["code"] for row in rows[2:]]
    assert codes == ["MALFORMED", "TRAILING", None, *strange.values()]


def test_guids_in_headers_say_the_writer_and_prefixes_where_there_is_none(
    spark: SparkSession, registry: Connection
) -> None:
    one, two = put(registry, V1, V2)
    plan = make_plan(registry, "orders-value", framing="header")
    first, second = payloads()
    other = "00000000-0000-0000-0000-000000000000"
    headers = {
        0: [("__value_schema_id", encode_guid(one.guid)), ("trace", b"1")],
        2: [("__value_schema_id", encode_guid(other))],
        3: [("__value_schema_id", b"\1\2")],
        4: [("__value_schema_id", b"\0" * 17)],
    }
    values = (first, header(two.schema_id) + second, first, first, first, first)
    rows = read(spark, plan, *values, headers=headers)
    assert [row["record"] for row in rows[:2]] == [*READ]
    assert [row["error"]["code"] for row in rows[2:]] == ["UNKNOWN_ID", "TOO_SHORT", "BAD_MAGIC", "TOO_SHORT"]
    keys = read(spark, plan, first, headers={0: [("__key_schema_id", encode_guid(one.guid))]}, part="key")
    assert keys[0]["record"] == READ[0]


def test_message_indexes_stand_behind_the_guid_in_a_header(spark: SparkSession, registry: Connection) -> None:
    text = 'syntax = "proto3"; message A { int32 a = 1; } message B { string b = 1; }'
    found: VersionFound = registry.ask(Register(subject_of("orders-value"), Draft(text, "PROTOBUF"))).answer.version
    plan = make_plan(registry, "orders-value", framing="header", message="B")
    headers = {
        0: [("__value_schema_id", encode_guid(found.guid) + b"\2\2")],
        1: [("__value_schema_id", encode_guid(found.guid) + b"\0")],
    }
    rows = read(spark, plan, b"\x0a\x01x", b"\x08\x01", headers=headers)
    assert rows[0]["record"] == {"b": "x"}
    assert rows[1]["error"]["code"] == "RESOLUTION"


def test_rows_without_a_frame_have_the_schema_that_is_given(spark: SparkSession, registry: Connection) -> None:
    put(registry, V1, V2)
    first, second = payloads()
    assert [row["record"] for row in read(spark, make_plan(registry, "orders-value", framing="none"), second)] == [
        READ[1]
    ]
    older = make_plan(registry, "orders-value", framing="none", reader=1)
    rows = read(spark, older, first, first[:-1], b"")
    assert rows[0]["record"] == ROWS[0]
    assert [row["error"]["code"] for row in rows[1:]] == ["MALFORMED", "MALFORMED"]
    with pytest.raises(PlanError, match="let reader be its version"):
        make_plan(registry, "orders-value", framing="none", reader="union")


def own_head(known: RegisteredSchema) -> bytes:
    return b"v%d:" % known.version


def test_a_framing_of_another_package(
    spark: SparkSession, registry: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(registry, V1, V2)
    point = EntryPoint("ours", f"{__name__}:own_head", heads.GROUP)
    monkeypatch.setattr(heads, "entry_points", lambda group: [point] if group == heads.GROUP else [])
    plan = make_plan(registry, "orders-value", framing="ours")
    first, second = payloads()
    rows = read(spark, plan, b"v1:" + first, b"v2:" + second, b"v3:" + first)
    assert [row["record"] for row in rows] == [*READ, None]
    with pytest.raises(PlanError, match="'theirs' is no framing; there are header, md5, none, ours, prefix"):
        make_plan(registry, "orders-value", framing="theirs")


def test_pravegas_encodings_say_schema_and_codec(spark: SparkSession, registry: Connection) -> None:
    ids = [one.schema_id for one in put(registry, V1, V2)]
    plan = make_plan(registry, "orders-value", framing={0: (ids[0], ""), 1: (ids[1], "gzip"), 300: (ids[0], "snappy")})
    first, second = payloads()
    snappy = pa.Codec("snappy").compress(first).to_pybytes()
    values = [b"\1\0\0\0\0" + first, b"\1\0\0\0\1" + gzip.compress(second), b"\1\0\0\1\x2c" + snappy]
    strange = {
        b"\1\0\0\0\1" + gzip.compress(second)[:-3]: "MALFORMED", b"\1\0\0\0\1" + gzip.compress(second + b"x"): "TRAILING",
        b"\1\0\0\1\x2c" + first: "MALFORMED", b"\1\0\0\0\7" + first: "UNKNOWN_ID", header(ids[0]) + first: "BAD_MAGIC", b"\1\0": "TOO_SHORT",
    }  # fmt: skip
    rows = read(spark, plan, *values, *strange, None)
    assert [row["record"] for row in rows[:3]] == [READ[0], READ[1], READ[0]]
    assert [row["id"] for row in rows[:3]] == [ids[0], ids[1], ids[0]]
    assert [row["error"]["code"] for row in rows[3:-1]] == [*strange.values()]
    assert all(row["error"]["message"] for row in rows[3:-1])
    assert rows[-1]["error"] is None
