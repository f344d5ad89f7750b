"""Rows encoded by Spark: read again they are what they were, other libraries read them, and bad rows are told apart."""

import base64
import json
import random
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.unknown_fields import UnknownFieldSet
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from tests.drawn import columns, row
from tests.frames import record, resolved
from treaty.client.connection import Connection
from treaty.client.serializers.protobuf import messages
from treaty.core.messages.registration import Register
from treaty.core.messages.versions import GetVersion
from treaty.core.names import subject_of
from treaty.core.schema import Draft
from treaty.core.state.columns import Columns, ColumnType, List, Map, Struct
from treaty.formats.jsonschema.data.value import check_value
from treaty.formats.protobuf.runtime import build_pool
from treaty.plan.registry_queries import parse_text
from treaty.spark import DeriveOptions, EncodeColumns, EncodeOptions, Names, decode, make_plan, to_registry, to_topic
from treaty.spark.encoding.conversion import UNLIKELY
from treaty.spark.types import spark_schema

pytestmark = pytest.mark.jvm

ROWS = 400


def plain(value: Any, kind: ColumnType, format_: str) -> Any:
    """A value as a format gives it back: Protobuf has empty lists for null ones, JSON has Base64 for bytes."""
    if value is None:
        return (
            []
            if format_ == "PROTOBUF" and isinstance(kind, List)
            else {}
            if format_ == "PROTOBUF" and isinstance(kind, Map)
            else None
        )
    match kind:
        case Struct(inside):
            return {one.name: plain(part, one.type, format_) for one, part in zip(inside, value, strict=True)}
        case List(element):
            return [plain(one, element, format_) for one in value]
        case Map(_, part):
            return {key: plain(one, part, format_) for key, one in value.items()}
    if isinstance(value, bytes | bytearray):
        return base64.b64encode(value).decode() if format_ == "JSON" else bytes(value)
    return value


def told(value: Any) -> Any:
    """A Spark value as plain Python."""
    if isinstance(value, Row):
        return {name: told(one) for name, one in value.asDict().items()}
    if isinstance(value, list):
        return [told(one) for one in value]
    if isinstance(value, dict):
        return {key: told(one) for key, one in value.items()}
    return bytes(value) if isinstance(value, bytearray) else value


def read_elsewhere(format_: str, text: str, value: bytes) -> None:
    """Raises where the format's own library does not read a frame, or the validator has something against it."""
    if format_ == "AVRO":
        resolved(value, text, text)
    elif format_ == "PROTOBUF":
        model = parse_text("PROTOBUF", text)
        message = GetMessageClass(build_pool(model).FindMessageTypeByName(messages(model)[(0,)]))()
        assert value[5:6] == b"\0"
        message.ParseFromString(value[6:])
        assert message.SerializeToString(deterministic=True) == value[6:]
        assert len(UnknownFieldSet(message)) == 0
    else:
        json.loads(value[5:])
        assert check_value(parse_text("JSON", text), value[5:].decode()) == ()


@pytest.mark.parametrize("format_", ["AVRO", "PROTOBUF", "JSON"])
def test_what_is_read_is_what_was_written(spark: SparkSession, registry: Connection, format_: str) -> None:
    dice = random.Random(f"encode {format_}")
    made = columns(dice, 30, deep=format_ != "PROTOBUF")
    rows = [row(dice, made) for _ in range(ROWS)]
    source = spark.createDataFrame(rows, spark_schema(Columns(made)))
    wish = EncodeOptions(derive=DeriveOptions(format_), register=True, validate=format_ == "JSON")
    encoded = to_registry(source, registry, "drawn-value", wish, names=EncodeColumns(error="refused"))
    names = [one.name for one in made]
    plan = make_plan(registry, "drawn-value")
    found = decode(encoded, plan).select("value", "refused", "record", "error", F.struct(*names).alias("was")).collect()
    wrong = [str(one["refused"] or one["error"])[:300] for one in found if one["refused"] or one["error"]]
    assert not wrong, (len(wrong), wrong[:3])
    kind = Struct(made)
    for given, one in zip(rows, found, strict=True):
        assert told(one["record"]) == plain(given, kind, format_)
    text = registry.ask(GetVersion(subject_of("drawn-value"), -1)).answer.text
    for one in found:
        read_elsewhere(format_, text, bytes(one["value"]))


NESTED = [
    {"name": "id", "type": "int"},
    {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}},
    {"name": "code", "type": {"type": "fixed", "name": "Code", "size": 2}},
    {"name": "pick", "type": ["null", "int", "string"]},
    {"name": "wide", "type": ["int", "long"]},
    {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2}},
    {"name": "ratio", "type": "float"},
    {"name": "at", "type": {"type": "long", "logicalType": "timestamp-nanos"}},
    {"name": "by", "type": {"type": "map", "values": "int"}},
    {"name": "lines", "type": {"type": "array", "items": {"type": "record", "name": "Line", "fields": [{"name": "n", "type": "int"}, {"name": "b", "type": "bytes", "default": "\u00ff"}]}}},
    {"name": "text", "type": "string"},
    {"name": "more", "type": {"type": "record", "name": "More", "fields": [{"name": "x", "type": ["null", "int"]}]}, "default": {"x": None}},
    {"name": "chosen", "type": [{"type": "record", "name": "Chosen", "fields": [{"name": "a", "type": "int"}, {"name": "b", "type": ["string", "null"]}]}, "string"],
     "default": {"a": 1, "b": "x"}},
]  # fmt: skip
AVRO_FRAME = (
    "id BIGINT, kind STRING, code BINARY, pick STRUCT<member0: INT, member1: STRING>, wide BIGINT, price DECIMAL(10, 3),"
    " ratio DOUBLE, at TIMESTAMP, by MAP<DOUBLE, INT>, lines ARRAY<STRUCT<n: STRING>>, text BINARY"
)
AVRO_GOOD = (
    "7L, 'A', binary('ab'), named_struct('member0', null, 'member1', 'x'), 5000000000L, 12.340BD, 0.5D,"
    " timestamp'2024-02-29 12:00:00', map(1.5D, 2), array(named_struct('n', '5')), binary('ä')"
)
AVRO_CASES = [
    ("", AVRO_GOOD),
    ("/id does not fit into INT", AVRO_GOOD.replace("7L", "5000000000L")),
    ("/id is null, and the schema has no null there", AVRO_GOOD.replace("7L", "null")),
    ("/kind is none of A, B", AVRO_GOOD.replace("'A'", "'C'")),
    ("/code has not 2 bytes", AVRO_GOOD.replace("'ab'", "'abc'")),
    ("/pick has not exactly one member set", AVRO_GOOD.replace("'member0', null", "'member0', 3")),
    ("/pick has not exactly one member set", AVRO_GOOD.replace("'member1', 'x'", "'member1', null")),
    ("/price does not fit into DECIMAL(4, 2)", AVRO_GOOD.replace("12.340BD", "123.400BD")),
    ("/price would lose digits as DECIMAL(4, 2)", AVRO_GOOD.replace("12.340BD", "12.345BD")),
    ("/ratio is too large for FLOAT", AVRO_GOOD.replace("0.5D", "1e300D")),
    ("/ratio would lose digits as FLOAT", AVRO_GOOD.replace("0.5D", "0.1D")),
    ("/at does not fit into BIGINT", AVRO_GOOD.replace("'2024", "'9024")),
    ("/by/{} is null, and the schema has no null there", AVRO_GOOD.replace("map(1.5D, 2)", "map(1.5D, null)")),
    ("/lines/[] is null, and the schema has no null there", AVRO_GOOD.replace("array(", "array(null, ")),
    ("/lines/[]/n does not fit into INT", AVRO_GOOD.replace("'5'", "'five'")),
    ("/lines/[]/n is null, and the schema has no null there", AVRO_GOOD.replace("'5'", "null")),
    ("/text is no UTF-8", AVRO_GOOD.replace("binary('ä')", "x'ff'")),
    ("", AVRO_GOOD.replace("named_struct('member0', null, 'member1', 'x')", "null")),
]

MESSAGE = (
    'syntax = "proto2"; package shop; import "google/protobuf/timestamp.proto"; import "google/protobuf/wrappers.proto";'
    'import "google/protobuf/struct.proto"; import "google/type/date.proto"; message Order { required int32 id = 1;'
    " optional Kind kind = 2; oneof by { string mail = 3; int32 fax = 4; } optional uint32 small = 5; optional uint64 large = 6;"
    " optional google.protobuf.Timestamp at = 7; optional google.protobuf.Int32Value n = 8; optional google.protobuf.Value more = 9;"
    " map<int32, Line> lines = 10; repeated string tags = 11; optional google.type.Date day = 12; repeated Kind kinds = 13;"
    " optional google.protobuf.UInt64Value most = 14; message Line { required string sku = 1; } enum Kind { NEW = 0; OLD = 5; } }"
)
MESSAGE_FRAME = (
    "id BIGINT, kind STRING, mail STRING, fax INT, small BIGINT, large DECIMAL(20, 0), at TIMESTAMP, n INT, more STRING,"
    " lines MAP<STRING, STRUCT<sku: STRING>>, tags ARRAY<STRING>, day DATE, kinds ARRAY<STRING>, most BIGINT"
)
MESSAGE_GOOD = (
    "7L, 'OLD', 'm', null, 4000000000L, 18446744073709551615BD, timestamp'1969-12-31 23:59:59.5', 0, '{\"a\":[1]}',"
    " map('5', named_struct('sku', 's')), array('t'), date'2024-02-29', array('NEW', 'OLD'), 5L"
)
MESSAGE_CASES = [
    ("", MESSAGE_GOOD),
    ("/id is null, and the schema has no null there", MESSAGE_GOOD.replace("7L", "null")),
    ("/id does not fit into INT", MESSAGE_GOOD.replace("7L", "5000000000L")),
    ("/kind is none of NEW, OLD", MESSAGE_GOOD.replace("'OLD', 'm'", "'ODD', 'm'")),
    ("the value has more than one of mail, fax set", MESSAGE_GOOD.replace("'m', null", "'m', 3")),
    ("/small is not within 0 and 4294967295", MESSAGE_GOOD.replace("4000000000L", "-1L")),
    ("/large is not within 0 and 18446744073709551615", MESSAGE_GOOD.replace("18446744073709551615BD", "-1BD")),
    ("/at is not within 0001-01-01T00:00:00Z and 9999-12-31T23:59:59.999999Z", MESSAGE_GOOD.replace("'1969", "'+11969")),
    ("/lines/{key} does not fit into INT", MESSAGE_GOOD.replace("map('5'", "map('x'")),
    ("two keys of /lines are the same as MAP<INT, STRUCT<`sku`: STRING>>", MESSAGE_GOOD.replace("map('5'", "map('05', named_struct('sku', 'q'), '5'")),
    ("/lines/{}/sku is null, and the schema has no null there", MESSAGE_GOOD.replace("'sku', 's'", "'sku', null")),
    ("/tags/[] is null, and the schema has no null there", MESSAGE_GOOD.replace("array('t')", "array('t', null)")),
    ("/kinds/[] is none of NEW, OLD", MESSAGE_GOOD.replace("array('NEW'", "array('new'")),
    ("/more: ", MESSAGE_GOOD.replace("'{\"a\":[1]}'", "'{a'")),
    ("", "7L" + ", null" * 13),
]  # fmt: skip

DOCUMENT: dict[str, Any] = {
    "type": "object", "required": ["id", "gone", "part"], "additionalProperties": False, "properties": {
        "id": {"type": "integer"}, "gone": {"type": ["string", "null"]}, "kind": {"enum": ["A", "B"]}, "n": {"type": "number"},
        "at": {"type": "string", "format": "date-time"}, "open": {}, "name": {"type": "string", "maxLength": 3},
        "part": {"type": ["object", "null"], "properties": {"x": {"type": "integer"}}}, "by": {"type": "object", "additionalProperties": {"type": "integer"}},
        "many": {"type": "array", "items": {"type": "integer"}, "maxItems": 2},
    },
}  # fmt: skip
DOCUMENT_FRAME = (
    "id INT, gone STRING, kind STRING, n DOUBLE, at TIMESTAMP, open STRING, name STRING, part STRUCT<x: INT>, by MAP<INT, INT>,"
    " many ARRAY<INT>"
)
DOCUMENT_GOOD = (
    "7, null, 'A', 0.5D, timestamp'2024-02-29 12:00:00', '{\"a\": [1, null]}', 'abc', null, map(1, 2), array(1)"
)
DOCUMENT_CASES = [
    ("", DOCUMENT_GOOD),
    ("", "7, 'x', null, null, null, null, null, named_struct('x', 1), null, null"),
    ("/id is null, and the schema has no null there", DOCUMENT_GOOD.replace("7, ", "null, ", 1)),
    ("/kind is none of A, B", DOCUMENT_GOOD.replace("'A'", "'C'")),
    ("/n is no finite number", DOCUMENT_GOOD.replace("0.5D", "double('NaN')")),
    ("/at is not within", DOCUMENT_GOOD.replace("'2024", "'+12024")),
    ("/open is no JSON", DOCUMENT_GOOD.replace("'{\"a\": [1, null]}'", "'{'")),
    ("/name MAX_LENGTH: ", DOCUMENT_GOOD.replace("'abc'", "'abcd'")),
    ("/many MAX_ITEMS: ", DOCUMENT_GOOD.replace("array(1)", "array(1, 2, 3)")),
    ("/many/[] is null, and the schema has no null there", DOCUMENT_GOOD.replace("array(1)", "array(null)")),
    ("/by/{} is null, and the schema has no null there", DOCUMENT_GOOD.replace("map(1, 2)", "map(1, int(null))")),
]
CASES = {
    "AVRO": (record(*NESTED), AVRO_FRAME, AVRO_CASES),
    "PROTOBUF": (MESSAGE, MESSAGE_FRAME, MESSAGE_CASES),
    "JSON": (json.dumps(DOCUMENT), DOCUMENT_FRAME, DOCUMENT_CASES),
}


def frame_of(spark: SparkSession, shape: str, values: list[str]) -> DataFrame:
    """A frame of the types of a DDL text, nested ones too, its rows written in SQL."""
    kinds = spark.createDataFrame([], shape).schema
    kind = f"STRUCT<{', '.join(f'{one.name}: {one.dataType.simpleString()}' for one in kinds)}>"
    names = [one.name for one in kinds]
    rows = ", ".join(f"({at}, {one})" for at, one in enumerate(values))
    source = spark.sql(f"SELECT * FROM VALUES {rows} AS t(place, {', '.join(names)})")
    return source.select("place", F.struct(*names).cast(kind).alias("row")).repartition(2)


@pytest.mark.parametrize("format_", ["AVRO", "PROTOBUF", "JSON"])
def test_each_bad_row_is_told_and_no_neighbour_is_touched(
    spark: SparkSession, registry: Connection, format_: str
) -> None:
    text, shape, cases = CASES[format_]
    registry.ask(Register(subject_of("cases-value"), Draft(text, format_)))
    every = [*cases, *[cases[0]] * 20]
    source = frame_of(spark, shape, [values for _, values in every])
    wish = EncodeOptions(validate=format_ == "JSON")
    encoded = to_registry(source, registry, "cases-value", wish, columns="row", names=EncodeColumns(error="refused"))
    found = decode(encoded, make_plan(registry, "cases-value")).drop("row").orderBy("place").collect()
    assert len(found) == len(every)
    for (said, values), one in zip(every, found, strict=True):
        assert (one["value"] is None, one["refused"] is not None) == (bool(said), bool(said)), (said, one)
        assert one["error"] is None, one["error"]
        if said:
            assert one["refused"]["code"] == "INVALID"
            assert one["refused"]["message"].startswith(said), (one["refused"]["message"], values)
        else:
            read_elsewhere(format_, text, bytes(one["value"]))
    first = told(found[0]["record"])
    records: dict[str, dict[str, Any]] = {
        "AVRO": {"pick": {"member0": None, "member1": "x"}, "wide": 5_000_000_000, "at": 1709208000000000000, "by": {"1.5": 2},
                 "lines": [{"n": 5, "b": b"\xff"}], "text": "ä", "more": {"x": None},
                 "chosen": {"member0": {"a": 1, "b": "x"}, "member1": None}},
        "PROTOBUF": {"kind": "OLD", "mail": "m", "fax": None, "large": 2**64 - 1, "n": 0, "more": '{"a": [1.0]}',
                     "lines": {5: {"sku": "s"}}, "tags": ["t"], "kinds": ["NEW", "OLD"], "most": 5},
        "JSON": {"id": 7, "gone": None, "open": '{"a":[1,null]}', "part": None, "by": {"1": 2}, "many": [1]},
    }  # fmt: skip
    expected = records[format_]
    assert {name: first[name] for name in expected} == expected
    if format_ == "JSON":
        document = json.loads(bytes(found[0]["value"])[5:])
        assert document["gone"] is None
        assert document["part"] is None
        assert "kind" not in json.loads(bytes(found[1]["value"])[5:])


def test_rows_are_encoded_once_whatever_is_asked_of_them(spark: SparkSession, registry: Connection) -> None:
    registry.ask(Register(subject_of("once-value"), Draft(record(("tags", {"type": "array", "items": "string"})))))
    source = spark.range(4).select(
        "id", F.when(F.col("id") != 2, F.array(F.when(F.col("id") != 1, F.lit("a")))).alias("tags")
    )
    encoded = to_registry(source, registry, "once-value", EncodeOptions(framing="header"), columns=["tags"])
    asked = encoded.filter("error is null").select("id", "value", "headers", "error")
    plan: Any = asked._jdf.queryExecution()  # the JVM's own plan, which Python shows only in print
    assert plan.optimizedPlan().toString().count("to_avro(") == 1
    assert [(one["id"], bytes(one["value"]), one["error"]) for one in asked.collect()] == [
        (0, b"\2\2a\0", None),
        (3, b"\2\2a\0", None),
    ]
    assert sorted(one["error"]["message"] for one in encoded.filter("error is not null").collect()) == [
        "/tags is null, and the schema has no null there",
        "/tags/[] is null, and the schema has no null there",
    ]


IN_PART = {"type": "record", "name": "Part", "fields": [{"name": "n", "type": "int"}, {"name": "s", "type": "string"}]}
ITEM = {"type": "record", "name": "Item", "fields": [{"name": "p", "type": IN_PART}, {"name": "d", "type": "double"}]}
LISTS: dict[str, tuple[Any, str]] = {
    "s": ("string", f"'{UNLIKELY['STRING']}'"), "i": ("int", f"int({UNLIKELY['INT']})"), "l": ("long", f"bigint({UNLIKELY['BIGINT']})"),
    "d": ("double", f"double({UNLIKELY['DOUBLE']!r})"), "b": ("boolean", "true"), "x": ("bytes", "binary('x')"),
    "r": (ITEM, "named_struct('p', named_struct('n', 1, 's', 'a'), 'd', 2D)"),
}  # fmt: skip
"""By name: the items of a list, and a value of them: one that nulls are looked for with, where there is one."""


def test_a_null_in_a_list_is_found_whatever_else_the_list_holds(spark: SparkSession, registry: Connection) -> None:
    fields = ((name, {"type": "array", "items": kind}) for name, (kind, _) in LISTS.items())
    registry.ask(Register(subject_of("lists-value"), Draft(record(*fields))))
    spoilt = [(f"/{name}/[]", name, f"array({value}, null, {value})") for name, (_, value) in LISTS.items()]
    item = LISTS["r"][1]
    parts = {"p/n": ("'n', 1", "'n', int(null)"), "p/s": ("'a'", "string(null)"), "d": ("2D", "double(null)")}
    spoilt += [(f"/r/[]/{part}", "r", f"array({item}, {item.replace(*pair)})") for part, pair in parts.items()]
    spoilt.append(("/r/[]/p", "r", f"array({item}, if(id < 0, {item}, named_struct('p', null, 'd', 2D)))"))
    cases = [("", {}), *((path, {name: text}) for path, name, text in spoilt)]
    every = [{**{name: f"array({value}, {value})" for name, (_, value) in LISTS.items()}, **one} for _, one in cases]
    pick = {name: " ".join(f"when {at} then {one[name]}" for at, one in enumerate(every)) for name in LISTS}
    rows = spark.range(len(every)).repartition(1)
    frame = rows.select(*(F.expr(f"case id {whens} end").alias(name) for name, whens in pick.items()))
    encoded = to_registry(frame, registry, "lists-value")
    found = [(one["error"] and one["error"]["message"]) or "" for one in encoded.collect()]
    assert sorted(found) == sorted(path and f"{path} is null, and the schema has no null there" for path, _ in cases)


def test_a_topic_gets_keys_values_and_headers_and_bad_rows_stay_behind(
    spark: SparkSession, registry: Connection, tmp_path: Path
) -> None:
    """As a stream, where good and bad rows are two queries, and inside `foreachBatch`."""
    message = 'syntax = "proto3"; message Order { int32 id = 1; optional string note = 2; }'
    registry.ask(Register(subject_of("orders-value"), Draft(message, "PROTOBUF")))
    registry.ask(Register(subject_of("orders-key"), Draft('"long"')))
    rows = [
        (1, {"id": 10, "note": "a"}, [("trace", b"1"), ("__value_schema_id", b"old")]),
        (2, None, None),
        (3, {"id": None, "note": None}, []),
        (None, {"id": 2**40, "note": "c"}, [("trace", b"4")]),
    ]
    shape = "k INT, v STRUCT<id: BIGINT, note: STRING>, h ARRAY<STRUCT<key: STRING, value: BINARY>>"
    spark.createDataFrame(rows, shape).coalesce(1).write.parquet(str(tmp_path / "in"))
    source = spark.readStream.schema(shape).parquet(str(tmp_path / "in"))
    wish = EncodeOptions(framing="header")
    out = to_topic(source, registry, "orders", key="k", value="v", headers="h", value_options=wish)
    assert out.rows.columns == ["topic", "key", "value", "headers"]
    for name, frame in (("rows", out.rows), ("bad", out.bad)):
        sink = frame.writeStream.format("parquet").option("checkpointLocation", str(tmp_path / f"{name}-c"))
        sink.option("path", str(tmp_path / name)).trigger(availableNow=True).start().awaitTermination()
    plan = make_plan(registry, "orders-value", framing="header")
    kept = spark.read.parquet(str(tmp_path / "rows"))
    found = decode(kept, plan, names=Names(error="wrong")).orderBy(F.hex("key")).collect()
    value, key = out.plans
    assert [bytes(one["key"]) for one in found] == [bytes.fromhex(key.head) + end for end in (b"\2", b"\4", b"\6")]
    assert [one["value"] and bytes(one["value"]) for one in found] == [b"\x08\x0a\x12\x01a", None, b""]
    assert [told(one["record"]) for one in found] == [{"id": 10, "note": "a"}, None, {"id": 0, "note": None}]
    assert [told(one["headers"]) for one in found] == [
        [{"key": "trace", "value": b"1"}, {"key": "__value_schema_id", "value": bytes.fromhex(value.head)}],
        None,
        [{"key": "__value_schema_id", "value": bytes.fromhex(value.head)}],
    ]
    (bad,) = spark.read.parquet(str(tmp_path / "bad")).collect()
    assert (bad["error"]["message"], bad["v"]["note"]) == ("/id does not fit into INT", "c")
    seen: list[Any] = []

    def batch(frame: DataFrame, number: int) -> None:
        del number
        made = to_topic(frame, registry, "orders", key="k", value="v")
        seen.extend(bytes(one["value"] or b"").hex() for one in made.rows.collect())

    source.writeStream.foreachBatch(batch).trigger(availableNow=True).start().awaitTermination()
    front = f"00{value.schema_id:08x}00"
    assert sorted(seen) == ["", front, f"{front}080a120161"]
