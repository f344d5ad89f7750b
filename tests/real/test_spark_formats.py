"""Frames of Protobuf and JSON decoded by Spark: good rows as their own libraries read them, bad rows with their reasons."""

import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from google.protobuf.json_format import ParseDict
from google.protobuf.message_factory import GetMessageClass
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.frames import header
from treaty.client.connection import Connection
from treaty.core.messages.registration import Register
from treaty.core.names import subject_of
from treaty.core.schema import Draft
from treaty.formats.protobuf.runtime import build_pool
from treaty.plan.registry_queries import parse_text
from treaty.spark import Names, decode, explain, make_plan

pytestmark = pytest.mark.jvm

HEAD = 'syntax = "proto3"; package shop; '
MESSAGES = (
    HEAD + "message Order { string name = 1; int32 n = 2; repeated Line lines = 3; message Line { string sku = 1; } }",
    HEAD
    + "message Order { string name = 1; int64 n = 2; repeated Line lines = 3; optional double tax = 4;"
    + " map<string, Kind> kinds = 5; enum Kind { NEW = 0; OLD = 1; } message Line { string sku = 1; int32 count = 2; } }",
)
DOCUMENTS = (
    {"name": {"type": "string"}, "n": {"type": "integer"}, "lines": {"type": "array", "items": {"type": "object", "properties": {"sku": {"type": "string"}}}}},
    {"name": {"type": "string"}, "n": {"type": "number"}, "at": {"type": "string", "format": "date-time"}, "open": {}},
)  # fmt: skip


def put(registry: Connection, format_: str, *texts: str) -> list[int]:
    drafts = [Draft(text, format_) for text in texts]
    return [registry.ask(Register(subject_of("orders-value"), one)).answer.version.schema_id for one in drafts]


def stored(spark: SparkSession, folder: Path, values: list[bytes | None]) -> DataFrame:
    path = folder / "rows.parquet"
    numbers = pa.array(range(len(values)), pa.int64())
    pq.write_table(pa.table({"at": numbers, "value": pa.array(values, pa.binary())}), path, row_group_size=1000)
    return spark.read.parquet(str(path))


def rows(found: DataFrame) -> dict[int, Any]:
    return {row["at"]: row.asDict(recursive=True) for row in found.collect()}


def test_messages_of_two_versions_are_rows_of_one_table(
    spark: SparkSession, registry: Connection, tmp_path: Path
) -> None:
    ids = put(registry, "PROTOBUF", *MESSAGES)
    kinds = [
        GetMessageClass(build_pool(parse_text("PROTOBUF", text)).FindMessageTypeByName("shop.Order"))
        for text in MESSAGES
    ]
    dice = random.Random(5)
    values: list[bytes | None] = []
    expected: list[Any] = []
    for at in range(3_000):
        version = dice.randrange(2)
        row: dict[str, Any] = {
            "name": f"ä{at}",
            "n": dice.randrange(2**31),
            "lines": [{"sku": "x"}] * dice.randrange(3),
        }
        if version:
            row |= {"tax": 0.5, "kinds": {"a": dice.randrange(2)}}
        values.append(header(ids[version]) + b"\0" + bytes(ParseDict(row, kinds[version]()).SerializeToString()))
        lines = [{"sku": "x", "count": 0}] * len(row["lines"])
        extra = {
            "tax": row.get("tax"),
            "kinds": {key: ("NEW", "OLD")[one] for key, one in row.get("kinds", {}).items()},
        }
        expected.append({**row, **extra, "lines": lines})
    spoilt: dict[int, tuple[bytes | None, str | None]] = {
        5: (None, None), 17: (b"", "TOO_SHORT"), 100: (b"\1" + values[100][1:], "BAD_MAGIC"),  # type: ignore[index]
        200: (header(999), "UNKNOWN_ID"), 300: (values[300][:-1], "MALFORMED"), 400: (values[400][:5] + b"\2\4", "MALFORMED"),  # type: ignore[index]
    }  # fmt: skip
    for at, (value, _) in spoilt.items():
        values[at] = value
    plan = make_plan(registry, "orders-value", reader="union")
    assert "Protobuf's runtime" in explain(plan, spark)
    found = rows(decode(stored(spark, tmp_path, values), plan, names=Names(version="version")))
    for at, one in found.items():
        if at in spoilt:
            assert one["record"] is None
            assert (one["error"] and one["error"]["code"]) == spoilt[at][1], at
            assert one["error"] is None or one["error"]["payload"] == values[at]
        else:
            assert (one["record"], one["error"]) == (expected[at], None)
    assert len(found) == len(values)
    flat = decode(stored(spark, tmp_path, values), plan, flatten=True).filter(F.col("name").isNotNull())
    assert flat.count() == len(values) - len(spoilt)


def test_documents_of_two_versions_are_rows_of_one_table(
    spark: SparkSession, registry: Connection, tmp_path: Path
) -> None:
    texts = [json.dumps({"type": "object", "properties": one}) for one in DOCUMENTS]
    ids = put(registry, "JSON", *texts)
    plan = make_plan(registry, "orders-value", reader="union")
    line = "ARRAY<STRUCT<`sku`: STRING>>"
    expected = {"name": "STRING", "n": "DOUBLE", "lines": line, "at": "TIMESTAMP", "open": "STRING"}
    assert dict(plan.columns) == expected

    def value(schema_id: int, text: str) -> bytes:
        return header(schema_id) + text.encode()

    cases: list[tuple[bytes | None, str | None, dict[str, Any] | None]] = [
        (value(ids[0], '{"name": "ä", "n": 7, "lines": [{"sku": "x", "more": 1}]}'), None, {"name": "ä", "lines": [{"sku": "x"}]}),
        (value(ids[1], '{"n": 0.5, "at": "2024-02-29T12:00:00.25Z", "open": {"a": [1, null]}}'), None, {"n": 0.5, "open": '{"a":[1,null]}'}),
        (value(ids[1], '{"at": "2024-02-29T12:00:00+02:00"}'), None, {"name": None}),
        (value(ids[0], "{}"), None, {"name": None, "lines": None}),
        (value(ids[0], '{"name": "a"'), "MALFORMED", None),
        (value(ids[0], '{"n": "seven"}'), "MALFORMED", None),
        (value(ids[0], '{"lines": {"sku": 1}}'), "MALFORMED", None),
        (value(ids[0], "[1]"), "MALFORMED", None),
        (value(ids[0], ""), "MALFORMED", None),
        (header(ids[0]) + b'{"name": "\xff"}', "MALFORMED", None),
        (value(77, "{}"), "UNKNOWN_ID", None),
        (b"\0\0", "TOO_SHORT", None),
        (None, None, None),
    ]  # fmt: skip
    found = rows(decode(stored(spark, tmp_path, [one for one, _, _ in cases]), plan))
    for at, (_, code, record) in enumerate(cases):
        assert (found[at]["error"] and found[at]["error"]["code"]) == code, (at, found[at])
        got = found[at]["record"]
        assert (got is None) == (record is None), (at, found[at])
        assert record is None or {name: got[name] for name in record} == record
    assert found[1]["record"]["at"].isoformat() == "2024-02-29T12:00:00.250000"
    assert found[2]["record"]["at"].isoformat() == "2024-02-29T10:00:00"
