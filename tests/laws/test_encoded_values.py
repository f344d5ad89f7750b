"""JSON values as payloads and back: each leaf at its edges, unions whose first branches fail, defaults that are nothing, frames of both parts."""

import json
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from treaty.assemble import connect
from treaty.client.records import avro
from treaty.client.records.avro import UnfitValueError, encode, encode_long
from treaty.client.records.decoder import DecodeMode, RecordDecoder, show_base64, show_data, to_json_value
from treaty.client.records.encoder import EncodedPayload, make_encoder, read_record_name
from treaty.client.records.logical import DIGITS
from treaty.client.serializers.errors import BadRecordError, BadValueError
from treaty.client.serializers.frames import HEADER_OF, Part, encode_guid, encode_id
from treaty.client.serializers.schema_selection import SchemaText
from treaty.core.limits import SCHEMA_DEPTH
from treaty.core.names import Subject
from treaty.core.schema import Draft
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.avro.model import AvroSchema
from treaty.formats.registry import find_formats


def model(schema: Any) -> AvroSchema:
    parsed: AvroSchema = find_formats()["AVRO"].parse(ResolvedSchema("AVRO", json.dumps(schema)), False)
    return parsed


def record(name: str, **fields: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [{"name": one, "type": kind} for one, kind in fields.items()]}


FIXED = {"type": "fixed", "name": "F", "size": 3}
PAIR, ALONE = record("P", x="int", y="int"), record("A", x="int")
FITTING: list[tuple[Any, Any, bytes]] = [
    ("int", 2**31 - 1, encode_long(2**31 - 1)),
    ("int", -(2**31), encode_long(-(2**31))),
    ("long", 2**63 - 1, encode_long(2**63 - 1)),
    ("long", -(2**63), encode_long(-(2**63))),
    ("float", 1, b"\0\0\x80?"),
    ("double", 1, b"\0\0\0\0\0\0\xf0?"),
    ("double", "NaN", b"\0\0\0\0\0\0\xf8\x7f"),
    ("bytes", "\xff", b"\xff"),
    (FIXED, "\0ab", b"\0ab"),
    (["float", "int"], 5, b"\2\x0a"),
    (["double", "float"], 5, b"\0\0\0\0\0\0\0\x14@"),
    (["float", "int"], 5.0, b"\0\0\0\xa0@"),
    (["float", "int"], {"float": 5}, b"\0\0\0\xa0@"),
    (["null", {"type": "map", "values": "int"}], {"int": 5}, b"\2\2\6int\x0a\0"),
    (["null", {"type": "map", "values": "int"}], {"map": {"a": 5}}, b"\2\2\2a\x0a\0"),
    (["null", {"type": "map", "values": "int"}], {"map": 5}, b"\2\2\6map\x0a\0"),
    (["null", "int", {"type": "map", "values": "int"}], {"int": 5, "map": 6}, b"\4\4\6int\x0a\6map\x0c\0"),
    (["null", {"type": "map", "values": "int"}], {}, b"\2\0"),
    ([PAIR, ALONE], {"x": 5}, b"\2\x0a"),
    ([{"type": "array", "items": "int"}, {"type": "map", "values": "int"}], {"a": 1}, b"\2\2\2a\2\0"),
    ([record("S", x="string", y="int"), record("T", x="string", y="string")], {"x": "a", "y": "b"}, b"\2\2a\2b"),
]
UNFIT: list[tuple[Any, Any]] = [
    ("int", 2**31),
    ("int", -(2**31) - 1),
    ("long", 2**63),
    ("long", -(2**63) - 1),
    ("int", True),
    ("long", False),
    ("int", 1.0),
    ("float", True),
    ("double", False),
    ("double", "nan"),
    ("float", 1e39),
    ("boolean", 1),
    ("boolean", None),
    ("null", 0),
    ("null", ""),
    ("string", None),
    (FIXED, "ab"),
    (FIXED, "abcd"),
    ("bytes", "\u0100"),
    (PAIR, {"x": 1}),
    (PAIR, {"x": 1, "y": 2, "z": 3}),
    (["null", "string"], 5),
]


@pytest.mark.parametrize(("schema", "value", "payload"), FITTING)
def test_a_value_that_fits_has_these_bytes(schema: Any, value: Any, payload: bytes) -> None:
    assert encode(model(schema), value) == payload


@pytest.mark.parametrize(("schema", "value"), UNFIT)
def test_a_value_that_does_not_fit_is_refused_wherever_it_stands(schema: Any, value: Any) -> None:
    for kind, inside in (
        (schema, value),
        ({"type": "array", "items": schema}, [value]),
        (record("R", r=schema), {"r": value}),
    ):
        with pytest.raises(UnfitValueError):
            encode(model(kind), inside)


@pytest.mark.parametrize(
    ("kind", "default", "payload"),
    [
        ("int", 0, b"\0"),
        ("double", 0, bytes(8)),
        ("boolean", False, b"\0"),
        ("string", "", b"\0"),
        ("bytes", "", b"\0"),
        ("null", None, b""),
        (["null", "int"], None, b"\0"),
        (["int", "null"], 0, b"\0\0"),
        ({"type": "array", "items": "int"}, [], b"\0"),
        ({"type": "map", "values": "int"}, {}, b"\0"),
    ],
)
def test_a_default_that_is_nothing_is_a_default(kind: Any, default: Any, payload: bytes) -> None:
    schema = {"type": "record", "name": "R", "fields": [{"name": "r", "type": kind, "default": default}]}
    assert encode(model(schema), {}) == payload


def test_branches_that_failed_leave_neither_bytes_nor_depth() -> None:
    inner = {"type": "array", "items": record("S", x="string", y={"type": "array", "items": "int"})}
    schema = {"type": "array", "items": [inner, {"type": "map", "values": "string"}]}
    count = SCHEMA_DEPTH + 5
    assert encode(model(schema), [{"x": "a"}] * count) == encode_long(count) + b"\2\2\2x\2a\0" * count + b"\0"
    deep = {"type": "array", "items": ["int", record("T", x=["int", "string"])]}
    assert encode(model(deep), [{"x": "a"}] * count) == encode_long(count) + b"\2\2\2a" * count + b"\0"


def test_values_are_nested_as_deep_as_the_limit() -> None:
    """Each record counts with the union around it, and so does the null at the end; with an array around it is one more."""
    schema = record("R", next=["null", "R"])

    def nested(levels: int) -> Any:
        value: Any = None
        for _ in range(levels):
            value = {"next": value}
        return value

    deepest = SCHEMA_DEPTH // 2 - 1
    assert encode(model(schema), nested(deepest)) == b"\2" * (deepest - 1) + b"\0"
    assert encode(model({"type": "array", "items": schema}), [nested(deepest)])
    for kind, value in ((schema, nested(deepest + 1)), ({"type": "array", "items": schema}, [nested(deepest + 1)])):
        with pytest.raises(UnfitValueError, match="SCHEMA_DEPTH"):
            encode(model(kind), value)


# --------------------------------------------------------------------------------------------------------- logical types


def logical(kind: Any, name: str, **more: Any) -> Any:
    return (
        {"type": kind, "logicalType": name, **more} if isinstance(kind, str) else {**kind, "logicalType": name, **more}
    )


@pytest.mark.parametrize("scale", [None, 0, 2, 40])
def test_a_decimal_is_the_shortest_number_of_its_digits(scale: int | None) -> None:
    """Numbers of one byte and of two meet at 127 and -128; digits beyond those of Python's usual context count too."""
    more = {"precision": 100} | ({} if scale is None else {"scale": scale})
    schema = model(logical("bytes", "decimal", **more))
    for unscaled in (
        0,
        1,
        -1,
        127,
        128,
        -127,
        -128,
        -129,
        255,
        256,
        32767,
        32768,
        -32768,
        -32769,
        10**40 + 1,
        -(10**40) - 1,
    ):
        text = format(Decimal(unscaled).scaleb(-(scale or 0), DIGITS), "f")
        shortest = next(n for n in range(1, 99) if -(1 << 8 * n - 1) <= unscaled < 1 << 8 * n - 1)
        data = unscaled.to_bytes(shortest, "big", signed=True)
        assert encode(schema, text) == encode_long(len(data)) + data
    with pytest.raises(UnfitValueError, match="digits after the point"):
        encode(schema, f"1.{'0' * (scale or 0)}1")
    for text in ("NaN", "Infinity", "-Infinity"):
        with pytest.raises(UnfitValueError, match="not finite"):
            encode(schema, text)


@pytest.mark.parametrize(("number", "fits"), [(127, True), (128, False), (-128, True), (-129, False)])
def test_a_decimal_fits_the_bytes_of_its_type(number: int, *, fits: bool) -> None:
    schema = model(logical({"type": "fixed", "name": "F", "size": 1}, "decimal", precision=3))
    if fits:
        assert encode(schema, number) == encode(schema, str(number)) == number.to_bytes(1, "big", signed=True)
    else:
        with pytest.raises(UnfitValueError, match="too large for 1 bytes"):
            encode(schema, number)


STAMP = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
SECONDS = int(STAMP.timestamp())


@pytest.mark.parametrize(("unit", "digits"), [("millis", 3), ("micros", 6), ("nanos", 9)])
@pytest.mark.parametrize("local", [False, True])
def test_times_have_the_digits_of_their_unit_and_no_finer_ones(unit: str, digits: int, *, local: bool) -> None:
    stamps = model(logical("long", f"{'local-' if local else ''}timestamp-{unit}"))
    times = model(logical("int" if unit == "millis" else "long", f"time-{unit}"))
    for count in range(1, 11):
        fraction = "1" * count
        text = f"2026-01-02T03:04:05.{fraction}{'' if local else 'Z'}"
        of_day = f"03:04:05.{fraction}"
        if count <= digits:
            rest = int(fraction.ljust(digits, "0"))
            assert encode(stamps, text) == encode_long(SECONDS * 10**digits + rest)
            assert encode(times, of_day) == encode_long((3 * 3600 + 4 * 60 + 5) * 10**digits + rest)
        else:
            for schema, value in ((stamps, text), (times, of_day)):
                with pytest.raises(UnfitValueError, match=r"finer than its type|one to nine digits"):
                    encode(schema, value)
        padded = f"{fraction[:1]}{'0' * (count - 1)}"
        if count <= 9:
            assert encode(times, f"03:04:05.{padded}") == encode(times, "03:04:05.1")
    for bad in ("2026-01-02T03:04:05Z" if local else "2026-01-02T03:04:05", "2026-01-02T03:04:05.Z", "x"):
        with pytest.raises(UnfitValueError):
            encode(stamps, bad)
    for bad in ("03:04:05Z", "03:04:05.", "03:04:05.5+01:00"):
        with pytest.raises(UnfitValueError):
            encode(times, bad)


@pytest.mark.parametrize("fixed", [True, False])
def test_a_uuid_of_sixteen_characters_is_its_bytes(*, fixed: bool) -> None:
    kind: Any = {"type": "fixed", "name": "F", "size": 16} if fixed else "string"
    schema, text = model(logical(kind, "uuid")), "12345678-1234-1234-1234-123456789012"
    assert encode(schema, text) == (UUID(text).bytes if fixed else b"\x48" + text.encode())
    assert encode(schema, "0123456789abcdef") == (b"" if fixed else b"\x20") + b"0123456789abcdef"


# ------------------------------------------------------------------------------------------------------- values as JSON


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (float("nan"), "NaN"),
        (float("inf"), "Infinity"),
        (float("-inf"), "-Infinity"),
        (1.5, 1.5),
        (b"\0\xff", "\0\xff"),
        (bytearray(b"ab"), "ab"),
        (Decimal("1E+3"), "1000"),
        (Decimal("1E-9"), "0.000000001"),
        (STAMP, "2026-01-02T03:04:05Z"),
        (STAMP.replace(tzinfo=None), "2026-01-02T03:04:05"),
        (STAMP.astimezone(timezone(timedelta(hours=1))), "2026-01-02T04:04:05+01:00"),
        (date(2026, 1, 2), "2026-01-02"),
        (time(3, 4, 5), "03:04:05"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (None, None),
        (True, True),
        (0, 0),
        ("", ""),
    ],
)
def test_each_kind_of_value_has_a_form_in_json_wherever_it_stands(value: Any, shown: Any) -> None:
    assert to_json_value(value) == shown
    assert to_json_value([value]) == to_json_value((value,)) == [shown]
    assert to_json_value({1: {"a": (value,)}}) == {"1": {"a": [shown]}}


@pytest.mark.parametrize(
    ("data", "is_text"),
    [
        (b"", True),
        (b"ab", True),
        ("é\n\t".encode(), True),
        (b"a\0b", False),
        (b"\0", False),
        (b"\xff", False),
        (b"\x07", True),
    ],
)
def test_bytes_are_text_unless_they_have_a_zero_or_are_no_utf_8(data: bytes, *, is_text: bool) -> None:
    assert show_data(data) == (data.decode() if is_text else show_base64(data))


# ---------------------------------------------------------------------------------------------------------------- frames

PROTO = 'syntax = "proto3"; message A { int32 a = 1; } message B { int32 b = 1; }'


@pytest.mark.parametrize("part", ["key", "value"])
@pytest.mark.parametrize("framing", ["prefix", "header"])
@pytest.mark.parametrize(("message", "head"), [("A", b"\0"), ("B", b"\2\2"), ("", b"\0")])
def test_a_record_of_each_part_is_framed_and_decoded(part: Part, framing: str, message: str, head: bytes) -> None:
    """Also at a mode that takes what has no frame for text."""
    with connect("memory:") as registry:
        version = registry.register("t", Draft(PROTO, "PROTOBUF")).version
        home = Subject(".", "t")
        encoded = make_encoder(registry, "PROTOBUF", SchemaText(PROTO, (), home), message).encode(
            {(message or "A").lower(): 5}
        )
        assert encoded == EncodedPayload(b"\x08\x05", head)
        data, headers = encoded.add_frame(version.schema_id, version.guid, part, framing)
        if framing == "header":
            assert (data, headers) == (b"\x08\x05", ((HEADER_OF[part], encode_guid(version.guid) + head),))
        else:
            assert (data, headers) == (encode_id(version.schema_id) + head + b"\x08\x05", ())
        decoder = RecordDecoder(registry)
        modes: list[DecodeMode] = ["schema", "auto"]
        for mode in modes:
            decoded = decoder.decode_part(data, part, headers, mode)
            assert decoded.value == {(message or "A").lower(): 5}
        if part == "value" and framing == "header":
            assert decoder.decode_part(data, "key", headers, "auto").value == "\x08\x05"
        with_guid = encode_guid(version.guid) + head + b"\x08\x05"
        assert decoder.decode_part(with_guid, part, (), "auto").value == {(message or "A").lower(): 5}


@pytest.mark.parametrize("context", [".", ".x"])
def test_an_id_is_that_of_the_context_of_the_decoder(context: str) -> None:
    """In the other context it is another schema, or none."""
    with connect("memory:") as registry:
        other = ".x" if context == "." else "."
        for name, text in (("a", '"long"'), ("b", '"string"')):
            registry.register(f":{context}:{name}", text)
        registry.register(f":{other}:a", '"string"')
        decoder = RecordDecoder(registry, context)
        assert decoder.decode_part(encode_id(1) + b"\2", "value").value == 1
        assert decoder.decode_part(encode_id(2) + b"\2a", "value").value == "a"
        assert RecordDecoder(registry, other).decode_part(encode_id(1) + b"\2a", "value").value == "a"
        with pytest.raises(BadRecordError, match="UNKNOWN_ID"):
            RecordDecoder(registry, other).decode_part(encode_id(2) + b"\2a", "value")


@pytest.mark.parametrize("message", ["A", "B"])
def test_a_value_that_fits_no_field_of_its_message_says_so(message: str) -> None:
    with connect("memory:") as registry:
        text = SchemaText(PROTO, (), Subject(".", "t"))
        with pytest.raises(BadValueError) as refused:
            make_encoder(registry, "PROTOBUF", text, message).encode({"a" if message == "B" else "b": 5})
        assert ("a" if message == "B" else "b") in str(refused.value)
        with pytest.raises(BadValueError, match="the schema has no message C; it has A, B"):
            make_encoder(registry, "PROTOBUF", text, "C")


@pytest.mark.parametrize(
    ("format_", "text", "message", "name"),
    [
        ("AVRO", '{"type":"fixed","name":"F","size":1}', "M", "F"),
        ("AVRO", '{"type":"fixed","name":"F","namespace":"n","size":1}', "", "n.F"),
        ("AVRO", '{"type":"fixed","name":"a.F","namespace":"n","size":1}', "", "a.F"),
        ("AVRO", '{"type":"fixed","name":"F","namespace":"","size":1}', "", "F"),
        ("AVRO", '"int"', "M", ""),
        ("AVRO", '["null"]', "", ""),
        ("JSON", '{"title":"T"}', "M", "T"),
        ("JSON", '{"title":5}', "", ""),
        ("JSON", "{}", "M", ""),
        ("JSON", "true", "", ""),
        ("JSON", "[]", "", ""),
        ("JSON", "{", "", ""),
        ("PROTOBUF", PROTO, "B", "B"),
        ("PROTOBUF", PROTO, "", ""),
        ("X", "x", "M", "M"),
    ],
)
def test_the_name_of_a_record_is_that_of_its_type_title_or_message(
    format_: str, text: str, message: str, name: str
) -> None:
    assert read_record_name(format_, text, message) == name


def test_a_number_is_a_varint_of_its_zigzag_form() -> None:
    for value in (0, -1, 1, 63, 64, -64, -65, 2**31 - 1, -(2**63), 2**63 - 1):
        data = avro.encode_long(value)
        zigzag = sum((byte & 0x7F) << 7 * at for at, byte in enumerate(data))
        assert (zigzag >> 1) ^ -(zigzag & 1) == value
        assert all(byte >= 0x80 for byte in data[:-1])
        assert data[-1] < 0x80
