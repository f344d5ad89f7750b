"""Random schemas of each format with values at the edges of their types, and frames of them; the same for the same seed.

Names differ in case alone at times, or are empty; values may be of the writer's type and not fit the column; some frames are damaged.
"""

import io
import json
import random
from collections.abc import Mapping, Sequence
from typing import Any

import fastavro
import pyarrow as pa

from tests.frames import header
from tests.messages import filled, proto
from treaty.core.names import DEFAULT_CONTEXT
from treaty.formats.protobuf.encoding.wire import encode_varint
from treaty.formats.protobuf.runtime import build_pool, create_message
from treaty.plan import jsonschema
from treaty.plan.avro import planner as avro
from treaty.plan.options import DecodeOptions
from treaty.plan.protobuf import planner as protobuf
from treaty.plan.registered_schema import RegisteredSchema
from treaty.plan.registry_queries import parse_text
from treaty.plan.value import DecodePlan

FORMATS = ("AVRO", "JSON", "PROTOBUF")
NAMES = ("a", "A", "userId", "userID", "n", "t_1")
LONGS = (
    0,
    -1,
    2**31,
    2**63 - 1,
    -(2**63),
    9223372036854775,
    9223372036854776,
    -9223372036854775,
    -9223372036854776,
    1_704_067_200_123,
)
INTS = (0, 1, -719_528, -719_529, 2_932_896, 2_932_897, 2**31 - 1, -(2**31))
DECIMALS = (0, 9999, -9999, 10_000, -10_000, 10**17, -(10**30))


def make_case(format_: str, dice: random.Random, rows: int) -> tuple[DecodePlan, list[bytes]]:
    """A plan of one schema, and frames of its id, 1."""
    text, payloads = {"AVRO": _make_avro, "JSON": _make_documents, "PROTOBUF": _make_messages}[format_](dice, rows)
    known = [RegisteredSchema(1, DEFAULT_CONTEXT, 1, format_, parse_text(format_, text))]
    reader = known[0].schema
    if format_ == "AVRO":
        plan = avro.compose(known, reader, 3, "refuse")
    else:
        options = DecodeOptions(validate=format_ == "JSON" and dice.random() < 0.3)
        plan = (jsonschema if format_ == "JSON" else protobuf).compose(known, reader, options)
    return plan, [header(1) + _damage(dice, one) for one in payloads]


def _damage(dice: random.Random, payload: bytes) -> bytes:
    chance = dice.random()
    if chance < 0.04:
        return payload + dice.randbytes(1)
    return payload[: dice.randrange(len(payload) + 1)] if chance < 0.08 else payload


def make_plain(value: Any) -> Any:
    """A value of Arrow that can be compared: maps in the order of their keys, times as numbers, NaN as a text."""
    if not value.is_valid:
        return None
    match value:
        case pa.StructScalar():
            return {name: make_plain(one) for name, one in value.items()}
        case pa.MapScalar():
            return sorted(((make_plain(one["key"]), make_plain(one["value"])) for one in value.values), key=str)
        case pa.ListScalar():
            return [make_plain(one) for one in value.values]
        case pa.TimestampScalar() | pa.Date32Scalar():
            return value.value
        case pa.FloatScalar() | pa.DoubleScalar():
            return repr(value.as_py())
    return value.as_py()


# ------------------------------------------------------------------------------------------------------------ Avro

LOGICAL: Mapping[str, Mapping[str, Any]] = {
    "millis": {"type": "long", "logicalType": "timestamp-millis"},
    "micros": {"type": "long", "logicalType": "timestamp-micros"},
    "nanos": {"type": "long", "logicalType": "timestamp-nanos"},
    "local millis": {"type": "long", "logicalType": "local-timestamp-millis"},
    "local micros": {"type": "long", "logicalType": "local-timestamp-micros"},
    "time millis": {"type": "int", "logicalType": "time-millis"},
    "time micros": {"type": "long", "logicalType": "time-micros"},
    "date": {"type": "int", "logicalType": "date"},
    "decimal": {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2},
    "long decimal": {"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 10},
}
PLAIN = ("int", "long", "float", "double", "boolean", "string", "bytes")


class _AvroCases:
    def __init__(self, dice: random.Random) -> None:
        self.dice, self.count = dice, 0

    def name(self) -> str:
        self.count += 1
        return f"R{self.count}"

    def record(self, depth: int) -> dict[str, Any]:
        names = self.dice.sample(NAMES, self.dice.randrange(1, 4))
        fields = [{"name": one, "type": self.type(depth - 1)} for one in names]
        return {"type": "record", "name": self.name(), "fields": fields}

    def type(self, depth: int) -> Any:
        kind = self.dice.choice(
            (
                "plain",
                "logical",
                "logical",
                "logical",
                "fixed",
                "enum",
                *(("record", "list", "map", "choice") if depth else ()),
            )
        )
        match kind:
            case "logical":
                return dict(self.dice.choice(list(LOGICAL.values())))
            case "fixed":
                return {
                    "type": "fixed",
                    "name": self.name(),
                    "size": 4,
                    "logicalType": "decimal",
                    "precision": 9,
                    "scale": 3,
                }
            case "enum":
                return {"type": "enum", "name": self.name(), "symbols": ["A", "a", "B"]}
            case "record":
                return self.record(depth)
            case "list":
                return {"type": "array", "items": self.type(depth - 1)}
            case "map":
                return {"type": "map", "values": self.type(depth - 1)}
            case "choice":
                return ["null", self.type(0)]
        return self.dice.choice(PLAIN)

    def value(self, type_: Any) -> Any:
        """A value of a type without its logical type."""
        if isinstance(type_, list):
            return None if self.dice.random() < 0.3 else self.value(type_[1])
        kind = type_["type"] if isinstance(type_, dict) else type_
        sizes = range(self.dice.randrange(3))
        match kind:
            case "record":
                return {one["name"]: self.value(one["type"]) for one in type_["fields"]}
            case "array":
                return [self.value(type_["items"]) for _ in sizes]
            case "map":
                return {f"k{at}": self.value(type_["values"]) for at in sizes}
            case "enum":
                return self.dice.choice(type_["symbols"])
            case "fixed":
                return self.dice.choice((0, 999_999_999, 1_000_000_000, -1_000_000_000)).to_bytes(4, "big", signed=True)
        is_usual = self.dice.random() < 0.7
        leaves: dict[str, Sequence[Any]] = {
            "int": INTS, "long": LONGS[:1] + LONGS[-1:] if is_usual else LONGS, "float": (0.0, 1.5, float("inf")), "double": (0.0, -1.5e300, float("nan")),
            "boolean": (True, False), "string": ("", "ä€😀"), "bytes": [(one).to_bytes(13, "big", signed=True) for one in (DECIMALS[:3] if is_usual else DECIMALS)] + [b"\x0f"],
        }  # fmt: skip
        return self.dice.choice(leaves[kind])


def bare(type_: Any) -> Any:
    """The same Avro type without logical types."""
    if isinstance(type_, list):
        return [bare(one) for one in type_]
    if not isinstance(type_, dict):
        return type_
    made = {name: one for name, one in type_.items() if name not in {"logicalType", "precision", "scale"}}
    if "fields" in made:
        made["fields"] = [{**one, "type": bare(one["type"])} for one in made["fields"]]
    return {name: bare(one) if name in {"items", "values"} else one for name, one in made.items()}


def _make_avro(dice: random.Random, rows: int) -> tuple[str, list[bytes]]:
    cases = _AvroCases(dice)
    schema = cases.record(3)
    writer = fastavro.parse_schema(bare(schema))
    payloads = []
    for _ in range(rows):
        out = io.BytesIO()
        fastavro.schemaless_writer(out, writer, cases.value(schema))
        payloads.append(out.getvalue())
    return json.dumps(schema), payloads


# ------------------------------------------------------------------------------------------------------------ JSON

DRAFTS = (
    "",
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2020-12/schema",
)
LEAVES: Mapping[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "whole": ({"type": "integer"}, ("7", "-0", "1.0", "1e2", "-1.0E1", "1.5", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "1e30", '"7"', "true", "null")),
    "real": ({"type": "number"}, ("7", "1.5", "1e400", "-0.0", "1e-7", '"1.5"', '"NaN"')),
    "truth": ({"type": "boolean"}, ("true", "false", "1", '"true"')),
    "text": ({"type": "string"}, ('"a"', '"ä€😀"', '"7"', "7", "1.0", '{"a":1.0}', "[1,null]")),
    "exact": ({"type": "number", "multipleOf": 0.01, "minimum": 0, "maximum": 999}, ("1", "1.25", "1.255", "999.99", "999.999", "1000", "1e2", '"1,0"', '" 1"', '"1e2"', '"x"')),
    "day": ({"type": "string", "format": "date"}, ('"2024-02-29"', '"2023-02-29"', '"0000-01-01"', '"-0001-01-01"', '"+12024-01-01"', '"00024-2-9"', '"123"', '"9999999-01-01"', '" 2024-01-01 "', '"2024-01-01T25"', "7")),
    "instant": ({"type": "string", "format": "date-time"}, ('"2024-01-01T00:00:00"', '"2024-07-01T00:00:00.123456789"', '"2024-01-01T00:00:00Z"', '"2024-01-01T00:00:00-18:00"', '"0000-01-01T00:00:00"', '"-0001-01-01T00:00:00Z"', '"+12024-01-01T00:00:00"', '"12024-01-01T00:00:00"', '"+294247-01-10T04:00:54.775808Z"', '"2024-03-10T02:30:00"', "1704067200", "9223372036854", "9223372036855", "-9223372036855", "1.5", '"2024-01-01"')),
    "any": ({}, ("7", '"7"', '{"b":[1.0,"x"]}', "null", "9223372036854775808")),
}  # fmt: skip
"""Schemas of columns, and texts of values at their edges."""


def _make_documents(dice: random.Random, rows: int) -> tuple[str, list[bytes]]:
    def schema(depth: int) -> tuple[dict[str, Any], dict[str, Any]]:
        properties: dict[str, Any] = {}
        inside: dict[str, Any] = {}
        for name in dice.sample(("", *NAMES), dice.randrange(1, 4)):
            kind = dice.choice((*LEAVES, *(("object", "list", "map") if depth else ())))
            if kind == "object":
                properties[name], inside[name] = schema(depth - 1)
            elif kind in {"list", "map"}:
                leaf = dice.choice(list(LEAVES))
                properties[name] = (
                    {"type": "array", "items": LEAVES[leaf][0]}
                    if kind == "list"
                    else {"type": "object", "additionalProperties": LEAVES[leaf][0]}
                )
                inside[name] = (kind, leaf)
            else:
                properties[name], inside[name] = LEAVES[kind][0], kind
        return {"type": "object", "properties": properties}, inside

    def text(inside: Any) -> str:
        match inside:
            case dict():
                return (
                    "{"
                    + ",".join(f"{json.dumps(name)}:{text(one)}" for name, one in inside.items() if dice.random() < 0.8)
                    + "}"
                )
            case ("list", leaf):
                return "[" + ",".join(text(leaf) for _ in range(dice.randrange(3))) + "]"
            case ("map", leaf):
                return "{" + ",".join(f'"k{at}":{text(leaf)}' for at in range(dice.randrange(3))) + "}"
        return dice.choice(LEAVES[inside][1][:1] if dice.random() < 0.5 else LEAVES[inside][1])

    made, inside = schema(2)
    draft = dice.choice(DRAFTS)
    return json.dumps({**({"$schema": draft} if draft else {}), **made}), [text(inside).encode() for _ in range(rows)]


# -------------------------------------------------------------------------------------------------------- Protobuf


TIMESTAMP = 'import "google/protobuf/timestamp.proto";'
MORE = "repeated google.protobuf.Any many = 100; %s google.protobuf.Timestamp at = 101; %s google.protobuf.Timestamp At = 102;"


def _make_messages(dice: random.Random, rows: int) -> tuple[str, list[bytes]]:
    text = (
        proto(dice)
        .replace("enum E {", "enum E { option allow_alias = true;", 1)
        .replace(" ONE = 1;", " ONE = 1; UNO = 1; one = 1;", 1)
    )
    label = "optional" if "proto2" in text else ""
    text = text.replace("message M0 {", "message M0 { " + MORE % (label, label), 1)
    text = text.replace(TIMESTAMP, f'{TIMESTAMP} import "google/protobuf/any.proto";', 1)
    descriptor = build_pool(parse_text("PROTOBUF", text)).FindMessageTypeByName("any.M0")
    return text, [b"\0" + _fill(dice, create_message(descriptor)) for _ in range(rows)]


def _fill(dice: random.Random, message: Any) -> bytes:
    filled(dice, message)
    message.ClearField("many")
    for name in ("at", "At"):
        message.ClearField(name)
    data: bytes = message.SerializePartialToString()
    for number in (101, 102):
        seconds = dice.choice((0, -62_135_596_801, 253_402_300_800, 9_223_372_036_854, 9_223_372_036_855, 2**62))
        if dice.random() < 0.4:
            data += _field(number, b"\x08" + encode_varint(seconds % 2**64))
    for _ in range(dice.randrange(3)):
        url = dice.choice(
            ("any.M0", "google.protobuf.Timestamp", "google.protobuf.Duration", "x.Y", "google.protobuf.Any", "")
        )
        inside = dice.choice(
            (b"", b"\x08\x07", b"\xff", _field(1, b"a/b.C") + _field(2, b"1"), _field(100, _field(1, b"q/Q")))
        )
        data += _field(100, _field(1, b"type.googleapis.com/" + url.encode()) + _field(2, inside))
    return data


def _field(number: int, data: bytes) -> bytes:
    return encode_varint(number << 3 | 2) + encode_varint(len(data)) + data
