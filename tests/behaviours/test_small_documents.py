"""Decoders and limits, the cells of Protobuf and JSON: no payload below 1 kB takes 100 MB. Seconds are figures.

What a schema costs at its first use (columns, compiled programs) is measured apart: a reader has read a short payload before.
"""

import json
from collections.abc import Callable, Mapping

import pyarrow as pa
import pytest

import treaty
from tests.frames import header
from tests.small_payloads import MOST_BYTES, measure
from treaty import arrow
from treaty.client.serializers.errors import BadRecordError
from treaty.client.serializers.jsonschema import JsonDeserializer
from treaty.client.serializers.protobuf import ProtobufDeserializer
from treaty.core.messages.registration import Register
from treaty.core.names import DEFAULT_CONTEXT, subject_of
from treaty.core.schema import Draft
from treaty.formats.format import InvalidSchemaError
from treaty.formats.protobuf.encoding.wire import LENGTH, encode_varint
from treaty.plan.errors import PlanError
from treaty.plan.options import DecodeOptions
from treaty.plan.planners import PLANNERS
from treaty.plan.registered_schema import RegisteredSchema
from treaty.plan.registry_queries import parse_text


def part(number: int, payload: bytes) -> bytes:
    return encode_varint(number << 3 | LENGTH) + encode_varint(len(payload)) + payload


def wide(count: int, kind: str) -> str:
    """A file of A, which has many of B, and B has so many fields."""
    fields = " ".join(f"{kind} f{at} = {at};" for at in range(1, count + 1))
    return f'syntax = "proto3"; message A {{ repeated B b = 1; }} message B {{ {fields} }}'


def nested(levels: int) -> bytes:
    payload = b""
    for _ in range(levels):
        payload = part(1, payload)
    return payload


def branched(fields: int, messages: int, kind: str) -> str:
    """A file of A, which has many of B, and B has messages of so many fields."""
    inner = "".join(
        f"message C{each} {{ {' '.join(f'{kind} f{at} = {at};' for at in range(1, fields + 1))} }} "
        for each in range(messages)
    )
    members = " ".join(f"C{each} c{each} = {each + 1};" for each in range(messages))
    return f'syntax = "proto3"; message A {{ repeated B b = 1; }} message B {{ {members} }} {inner}'


def defaulted(length: int) -> str:
    """A file of A, which has many of B, and B has a default of so many characters."""
    field = f'optional string s = 1 [default = "{"x" * length}"];'
    return f'syntax = "proto2"; message A {{ repeated B b = 1; }} message B {{ {field} }}'


EMPTY = part(1, b"") * 499
ENTRIES = b"".join(part(1, b"\x08" + encode_varint(at)) for at in range(190))
PROTOBUF: Mapping[str, tuple[str, bytes]] = {
    "empty messages": ('syntax = "proto3"; message A { repeated B b = 1; } message B {}', EMPTY),
    "empty wide messages": (wide(8_000, "int32"), EMPTY),
    "empty wide messages with presence": (wide(7_000, "optional int64"), EMPTY),
    "empty messages of many lists": (wide(6_000, "repeated int32"), EMPTY),
    "wide messages with one field": (wide(8_000, "bool"), part(1, b"\x08\1") * 249),
    "one wide message": (wide(3_800, "string"), part(1, b"")),
    "packed numbers": ('syntax = "proto3"; message A { repeated int64 b = 1; }', part(1, b"\1" * 990)),
    "maps": ('syntax = "proto3"; message A { map<int32, B> b = 1; } message B { map<int32, B> c = 1; }', EMPTY),
    "deep nesting": ('syntax = "proto3"; message A { A a = 1; int32 n = 2; }', nested(90)),
    "too deep nesting": ('syntax = "proto3"; message A { A a = 1; int32 n = 2; }', nested(340)),
    "wide messages that are not set": (branched(6_000, 3, "int64"), EMPTY),
    "a map of wide messages": (wide(7_000, "int64").replace("repeated B", "map<int32, B>"), ENTRIES),
    "long defaults": (defaulted(400_000), EMPTY),
    "defaults": (defaulted(20_000), EMPTY),
    "groups": ('syntax = "proto2"; message A { repeated group G = 1 { optional int32 n = 1; } }', b"\x0b\x0c" * 499),
}  # fmt: skip
COLUMNS = {f"f{at}": {"type": "integer"} for at in range(8_000)}
EMPTY_OBJECTS = b'{"l":[' + b",".join([b"{}"] * 320) + b"]}"
NULLS = b'{"l":[' + b",".join([b"null"] * 190) + b"]}"


def rows(kind: str | list[str], count: int = 19_000) -> str:
    """A schema of a list of objects with so many properties."""
    items = {"type": "object", "properties": {f"f{at}": {"type": kind} for at in range(count)}}
    return json.dumps({"type": "object", "properties": {"l": {"type": "array", "items": items}}})


JSON: Mapping[str, tuple[str, bytes]] = {
    "many columns": (json.dumps({"type": "object", "properties": COLUMNS}), b'{"f1":1}'),
    "empty wide objects": (
        json.dumps({"type": "object", "properties": {"l": {"type": "array", "items": {"type": "object", "properties": COLUMNS}}}}),
        EMPTY_OBJECTS,
    ),
    "empty objects of 19,000 integers": (rows("integer"), EMPTY_OBJECTS),
    "empty objects of values of two types": (rows(["integer", "string"], 9_000), EMPTY_OBJECTS),
    "nulls for objects of 19,000 integers": (rows("integer"), NULLS),
    "a map of wide objects": (
        json.dumps({"type": "object", "additionalProperties": {"type": "object", "properties": COLUMNS}}),
        b"{" + b",".join(b'"%d":{}' % at for at in range(100, 209)) + b"}",
    ),
    "deep nesting": ('{"type": "object", "properties": {"v": {}}}', b'{"v":' + b"[" * 450 + b"]" * 450 + b"}"),
    "many keys": ('{"type": "object", "additionalProperties": {"type": "integer"}}', json.dumps({str(at): 1 for at in range(90)}).encode()),
    "a number of many digits": ('{"type": "object", "properties": {"v": {"type": "number"}}}', b'{"v":1e999999999}'),
    "an integer of many digits": ('{"type": "object", "properties": {"v": {"type": "integer"}}}', b'{"v":1e999999999}'),
}  # fmt: skip
PAYLOADS = {"PROTOBUF": PROTOBUF, "JSON": JSON}
Read = Callable[[bytes], object]


def read_by_client(format_: str, schema: str) -> Read:
    registry = treaty.connect("memory:")
    registry.ask(Register(subject_of("s"), Draft(schema, format_)))
    read = (ProtobufDeserializer if format_ == "PROTOBUF" else JsonDeserializer)(registry)

    def run(frame: bytes) -> object:
        try:
            return read(frame)
        except BadRecordError as error:
            return str(error)

    return run


def read_by_arrow(format_: str, schema: str, options: DecodeOptions) -> Read:
    known = [RegisteredSchema(1, DEFAULT_CONTEXT, 1, format_, parse_text(format_, schema))]
    try:
        plan = PLANNERS[format_].compose(known, known[0].schema, options)
    except PlanError as refused:
        assert "DEFAULT_CHARACTERS" in str(refused)  # noqa: PT017 - no plan, so no payload is read
        return lambda frame: None
    return lambda frame: arrow.decode(pa.array([frame], pa.binary()), plan)


READERS: Mapping[str, Callable[[str, str], Read]] = {
    "client": read_by_client,
    "arrow": lambda format_, schema: read_by_arrow(format_, schema, DecodeOptions()),
    "arrow with defaults by upb": lambda format_, schema: read_by_arrow(
        format_, schema, DecodeOptions(defaults=True, unknown=True)
    ),
    "arrow with defaults": lambda format_, schema: read_by_arrow(format_, schema, DecodeOptions(defaults=True)),
    "arrow by upb": lambda format_, schema: read_by_arrow(format_, schema, DecodeOptions(unknown=True)),
}
CELLS = [
    (format_, by, name)
    for format_, payloads in PAYLOADS.items()
    for by in READERS
    for name in payloads
    if (format_ == "PROTOBUF" or by in {"client", "arrow"}) and ("defaults" not in by or "defaults" in name)
]


@pytest.mark.parametrize(("format_", "by", "name"), CELLS)
def test_a_small_payload_takes_little(format_: str, by: str, name: str, figure: Callable[[str], None]) -> None:
    schema, payload = PAYLOADS[format_][name]
    assert len(payload) < 1_000
    head, short = (header(1) + b"\0", b"") if format_ == "PROTOBUF" else (header(1), b"{}")
    read = READERS[by](format_, schema)
    first, _ = measure(lambda: read(head + short))

    seconds, peak = measure(lambda: read(head + payload))

    if seconds > 0.3 or peak > 20_000_000:
        figure(f"{by}, {format_}, {name}: {seconds:.2f} s CPU, {peak / 1e6:.0f} MB; first use {first:.2f} s")
    assert peak < MOST_BYTES


@pytest.mark.parametrize("options", [DecodeOptions(), DecodeOptions(unknown=True)])
def test_a_message_that_the_runtime_does_not_take_is_an_invalid_schema(options: DecodeOptions) -> None:
    known = [RegisteredSchema(1, DEFAULT_CONTEXT, 1, "PROTOBUF", parse_text("PROTOBUF", wide(18_000, "int32")))]
    with pytest.raises(InvalidSchemaError, match="runtime does not take") as refused:
        PLANNERS["PROTOBUF"].compose(known, known[0].schema, options)
    assert refused.value.faults[0].rule == "RUNTIME_REFUSES"
