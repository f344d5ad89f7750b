"""JSON values to Avro payloads: the same bytes as fastavro's, in Avro's encoding and as people write values."""

import io
import json
from collections.abc import Callable
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from fastavro import json_reader, parse_schema, schemaless_reader, schemaless_writer

from treaty.assemble import connect
from treaty.client.records.avro import encode
from treaty.client.records.decoder import RecordDecoder, to_json_value
from treaty.client.records.encoder import make_encoder
from treaty.client.serializers.errors import BadRecordError, BadValueError
from treaty.client.serializers.schema_selection import SchemaText
from treaty.core.names import Subject
from treaty.core.schema import Draft
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.avro.model import AvroSchema
from treaty.formats.registry import find_formats

SEEDS = 60


def model(schema: Any) -> AvroSchema:
    made: AvroSchema = find_formats()["AVRO"].parse(ResolvedSchema("AVRO", json.dumps(schema), ()), False)
    return made


def by_fastavro(schema: Any, value: Any) -> bytes:
    out = io.BytesIO()
    schemaless_writer(out, parse_schema(schema), value)
    return out.getvalue()


INNER: dict[str, Any] = {
    "type": "record",
    "name": "Inner",
    "fields": [{"name": "x", "type": "long"}, {"name": "next", "type": ["null", "Inner"]}],
}
FLAT = {**INNER, "name": "Flat", "fields": [{"name": "x", "type": "long"}, {"name": "y", "type": ["null", "bytes"]}]}
WIDE: dict[str, Any] = {
    "type": "record",
    "name": "Wide",
    "namespace": "org.acme",
    "fields": [
        {"name": "flag", "type": "boolean"},
        {"name": "small", "type": "int"},
        {"name": "large", "type": "long"},
        {"name": "ratio", "type": "float"},
        {"name": "exact", "type": "double"},
        {"name": "raw", "type": "bytes"},
        {"name": "words", "type": {"type": "array", "items": "string"}},
        {"name": "by", "type": {"type": "map", "values": ["null", "int", "string"]}},
        {"name": "colour", "type": {"type": "enum", "name": "Colour", "symbols": ["RED", "GREEN"]}},
        {"name": "print", "type": {"type": "fixed", "name": "Print", "size": 4}},
        {"name": "some", "type": ["null", "long", "double", {"type": "array", "items": "Colour"}, "Print"]},
        {"name": "inner", "type": INNER},
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    "schema",
    ["int", "string", ["null", "string"], FLAT, {**WIDE, "fields": WIDE["fields"][:-1]}],
    ids=["int", "string", "union", "flat", "wide"],
)
def test_values_in_avros_own_encoding_have_fastavros_bytes(schema: Any, figure: Callable[[str], None]) -> None:
    example = find_formats()["AVRO"].example
    assert example is not None
    made = model(schema)
    for seed in range(SEEDS):
        text = example(made, seed)
        (value,) = json_reader(io.StringIO(text), parse_schema(schema))
        assert encode(made, json.loads(text)) == by_fastavro(schema, value), text
    figure(f"{SEEDS} values")


def test_values_as_people_write_them() -> None:
    value = {
        "flag": True,
        "small": -3,
        "large": 2**40,
        "ratio": 0.5,
        "exact": 7,
        "raw": "\u00ff\u0000",
        "words": ["größe", ""],
        "by": {"a": 1, "b": "x", "c": None},
        "colour": "GREEN",
        "print": "abcd",
        "some": 5,
        "inner": {"x": 1, "next": {"x": 2, "next": None}},
    }

    data = encode(model(WIDE), value)

    expected = {**value, "raw": b"\xff\0", "print": b"abcd", "exact": 7.0}
    assert schemaless_reader(io.BytesIO(data), parse_schema(WIDE), None) == expected
    assert type(schemaless_reader(io.BytesIO(data), parse_schema(WIDE), None)["some"]) is int  # type: ignore[index,call-overload] # a record
    assert to_json_value(expected) == {**value, "exact": 7.0}


def test_whole_branches_before_broken_ones_and_names_before_all() -> None:
    made = model(["double", "long", {"type": "map", "values": "int"}])

    assert encode(made, 5) == b"\x02\x0a"
    assert encode(made, {"double": 5}) == b"\0" + by_fastavro("double", 5.0)
    assert encode(made, {"long": 5}) == b"\x02\x0a"
    assert encode(made, {"size": 5}) == b"\x04\x02\x08size\x0a\x00"
    assert encode(made, "NaN")[:1] == b"\0"


def test_left_out_fields_take_their_defaults() -> None:
    schema = {
        "type": "record",
        "name": "R",
        "fields": [
            {"name": "a", "type": ["null", "string"], "default": None},
            {"name": "b", "type": "bytes", "default": "\u00ff"},
            {"name": "c", "type": {"type": "array", "items": "int"}, "default": [1, 2]},
        ],
    }

    assert encode(model(schema), {}) == by_fastavro(schema, {"a": None, "b": b"\xff", "c": [1, 2]})


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        ({"type": "int", "logicalType": "date"}, "2026-02-28", date(2026, 2, 28)),
        ({"type": "int", "logicalType": "time-millis"}, "23:59:58.5", time(23, 59, 58, 500_000)),
        ({"type": "long", "logicalType": "time-micros"}, "00:00:01.000001", time(0, 0, 1, 1)),
        ({"type": "long", "logicalType": "timestamp-millis"}, "1969-12-31T23:59:59.999Z", datetime(1969, 12, 31, 23, 59, 59, 999_000, UTC)),
        ({"type": "long", "logicalType": "timestamp-micros"}, "2026-02-28T10:00:00.000001+02:00", datetime(2026, 2, 28, 8, 0, 0, 1, UTC)),
        ({"type": "long", "logicalType": "local-timestamp-millis"}, "2026-02-28T10:00:00", datetime(2026, 2, 28, 10)),  # noqa: DTZ001 - local
        ({"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}, "-1.29", Decimal("-1.29")),
        ({"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}, 655.36, Decimal("655.36")),
        (
            {"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 2},
            "123456789012345678901234567890123456.78",
            Decimal("123456789012345678901234567890123456.78"),
        ),
        ({"type": "fixed", "name": "D", "size": 6, "logicalType": "decimal", "precision": 9, "scale": 3}, "-12.5", Decimal("-12.500")),
        ({"type": "string", "logicalType": "uuid"}, "12345678-1234-5678-1234-567812345678", UUID("12345678-1234-5678-1234-567812345678")),
    ],
    ids=["date", "millis of day", "micros of day", "millis", "micros", "local", "decimal", "number", "long decimal", "fixed", "uuid"],
)  # fmt: skip
def test_logical_types_are_written_as_people_write_them(schema: Any, text: Any, value: Any) -> None:
    data = encode(model(["null", schema]), text)

    assert data == b"\x02" + by_fastavro(schema, value)
    assert schemaless_reader(io.BytesIO(data[1:]), parse_schema(schema), None) == value


def test_nanoseconds_are_exact() -> None:
    made = model({"type": "long", "logicalType": "timestamp-nanos"})

    (nanos,) = {schemaless_reader(io.BytesIO(encode(made, "2026-02-28T10:00:00.123456789Z")), "long", None)}
    assert nanos == 1_772_272_800_123_456_789


@pytest.mark.parametrize(
    ("schema", "value", "said"),
    [
        (WIDE, {"flag": 1}, "at /flag: 1 is not a boolean"),
        (INNER, {"x": 1, "next": {"x": "a", "next": None}}, 'at /next/x: "a" is not a long'),
        (INNER, {"x": 1, "nxt": None}, "at /nxt: null is not a field of Inner; its fields are next, x"),
        (INNER, {"x": 1}, "the field next is missing and has no default"),
        ("int", 2**31, "is not a whole number of 32 bits"),
        ("float", 1e300, "is not a number that fits a float"),
        ("bytes", "\u0100", "characters U+0000 to U+00FF"),
        (["null", "int"], "x", '"x" is not of a branch of the union: null, int'),
        ({"type": "array", "items": "int"}, [1, "x"], 'at /1: "x" is not an int'),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, "B", '"B" is not a symbol of E: A'),
        ({"type": "fixed", "name": "F", "size": 2}, "abc", "is not 2 bytes long, as F is; it has 3"),
        ({"type": "long", "logicalType": "timestamp-millis"}, "2026-02-28T10:00:00", "without a zone"),
        ({"type": "long", "logicalType": "timestamp-millis"}, "2026-02-28T10:00:00.1234Z", "finer than its type"),
        ({"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 1}, "1.25", "more than 1 digits after the point"),
    ],
    ids=["type", "deep", "unknown", "missing", "range", "float", "bytes", "union", "item", "symbol", "size", "zone", "finer", "digits"],
)  # fmt: skip
def test_what_does_not_fit_is_told_with_its_place(schema: Any, value: Any, said: str) -> None:
    with pytest.raises(BadValueError) as wrong:
        encode(model(schema), value)

    assert said in str(wrong.value)


def test_deep_values_are_refused_and_do_not_end_the_program() -> None:
    value: Any = None
    for _ in range(900):
        value = {"x": 1, "next": value}

    with pytest.raises(BadValueError, match="SCHEMA_DEPTH"):
        encode(model(INNER), value)


PROTO = """
syntax = "proto3"; package shop;
message Order { int64 id = 1; repeated string words = 2; message Line { int32 count = 1; } map<string, Line> lines = 3; }
message Other { bool flag = 1; }
"""


def test_every_format_comes_back_as_it_went_in() -> None:
    order = {"id": "7", "words": ["a"], "lines": {"x": {"count": 2}}}
    texts = {
        "AVRO": (json.dumps(INNER), "", {"x": 1, "next": None}),
        "JSON": ('{"title": "T", "type": "object"}', "", {"a": [1, 2.5, None]}),
        "PROTOBUF": (PROTO, "shop.Order", order),
    }
    with connect("memory:") as registry:
        decoder = RecordDecoder(registry)
        for framing in ("prefix", "header"):
            for format_, (text, message, value) in texts.items():
                done = registry.register(f"{format_}-value", Draft(text, format_)).version
                made = make_encoder(
                    registry, format_, SchemaText(done.text, done.references, Subject(".", "")), message
                )
                data, headers = made.encode(value).add_frame(done.schema_id, done.guid, "value", framing)
                assert bool(headers) == (framing == "header")
                half = decoder.decode_part(data, "value", headers)
                assert half.value == value
                assert half.writer_schema is not None
                assert half.writer_schema.schema_id == done.schema_id


def test_another_message_of_the_file_is_written_where_it_is_named() -> None:
    with connect("memory:") as registry:
        text = SchemaText(PROTO, (), Subject(".", ""))

        assert make_encoder(registry, "PROTOBUF", text, "shop.Order.Line").encode({"count": 1}).head == b"\x04\x00\x02"
        assert make_encoder(registry, "PROTOBUF", text, "shop.Other").encode({"flag": True}).head == b"\x02\x02"
        assert make_encoder(registry, "PROTOBUF", text).record == "shop.Order"
        with pytest.raises(BadValueError, match=r"has no message shop\.No; it has shop\.Order"):
            make_encoder(registry, "PROTOBUF", text, "shop.No")
        with pytest.raises(BadValueError, match=r"at /id:"):
            make_encoder(registry, "PROTOBUF", text).encode({"id": "x"})


def test_halves_without_a_schema_are_text_or_bytes() -> None:
    with connect("memory:") as registry:
        decoder = RecordDecoder(registry)

        assert decoder.decode_part(b"k-1", "key", how="auto").value == "k-1"
        assert decoder.decode_part(b"\0\0\0\0\x63x", "key", how="auto").value == {"base64": "AAAAAGN4"}
        assert decoder.decode_part(b"\xff", "key", how="text").value == {"base64": "/w=="}
        assert decoder.decode_part(b"ab", "key", how="bytes").value == {"base64": "YWI="}
        assert decoder.decode_part(None, "key").value is None
        with pytest.raises(BadRecordError, match="UNKNOWN_ID: no schema 99"):
            decoder.decode_part(b"\0\0\0\0\x63x", "value")
