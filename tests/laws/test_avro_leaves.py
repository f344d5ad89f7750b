"""Leaves of Avro whose column has no room for all their values: which they are, what is said of such a value, and defaults as bytes."""

import io
import json
from typing import Any

import fastavro
import pytest

from tests.frames import record
from treaty.formats.avro.model import AvroFixed, AvroPrimitive
from treaty.formats.avro.resolution import AvroSide
from treaty.plan.avro.flat import parse_avro
from treaty.plan.avro.java_defaults import encode_default
from treaty.plan.avro.limited import (
    MOST_MILLIS,
    find_unfit,
    is_cut_by_spark,
    strip_limits,
    strip_to_limits,
    widen_decimals,
)

Leaf = AvroPrimitive | AvroFixed


def logical(base: Any, name: str, **digits: Any) -> dict[str, Any]:
    return {"type": base, "logicalType": name, **digits}


def decimal(precision: Any, scale: Any = 0) -> dict[str, Any]:
    return logical("bytes", "decimal", precision=precision, scale=scale)


def fixed(size: int, precision: int, scale: int = 0) -> dict[str, Any]:
    return {**logical("fixed", "decimal", precision=precision, scale=scale), "name": "F", "size": size}


def leaf(kind: Any) -> Leaf:
    schema = parse_avro(json.dumps(kind))
    solid = schema.resolve(schema.root)
    assert isinstance(solid, Leaf)
    return solid


# ------------------------------------------------------------------------------------------------------- values without room

MILLIS, WALL = logical("long", "timestamp-millis"), logical("long", "local-timestamp-millis")
ROOM: list[tuple[Any, Any, str]] = [
    (MILLIS, MOST_MILLIS, ""), (MILLIS, -MOST_MILLIS, ""),
    (MILLIS, MOST_MILLIS + 1, f"{MOST_MILLIS + 1} milliseconds are beyond 64 bits of microseconds"),
    (WALL, -MOST_MILLIS - 1, f"{-MOST_MILLIS - 1} milliseconds are beyond 64 bits of microseconds"),
    (logical("long", "timestamp-micros"), MOST_MILLIS + 1, ""), ("long", 2**63 - 1, ""), (decimal(39), b"\x7f" * 40, ""),
    (decimal(3, 1), (999).to_bytes(2, "big"), ""), (decimal(3, 1), (-999).to_bytes(2, "big", signed=True), ""),
    (decimal(3, 1), (1000).to_bytes(2, "big"), "1000 has not the digits of decimal(3,1) without its point"),
    (decimal(3, 1), (-1000).to_bytes(2, "big", signed=True), "-1000 has not the digits of decimal(3,1) without its point"),
    (decimal(3), b"", "a number of no bytes has not the digits of decimal(3,0) without its point"),
    (decimal(3), b"\x7f" + b"\0" * 7, f"{0x7f << 56} has not the digits of decimal(3,0) without its point"),
    (decimal(3), b"\x7f" + b"\0" * 8, f"0x7f{'00' * 8} has not the digits of decimal(3,0) without its point"),
    (decimal(3), b"\x7f" * 40, f"0x{'7f' * 40} has not the digits of decimal(3,0) without its point"),
    (decimal(3), b"\x7f" * 41, "a number of 41 bytes has not the digits of decimal(3,0) without its point"),
    (fixed(2, 3), (1000).to_bytes(2, "big"), "1000 has not the digits of decimal(3,0) without its point"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "value", "sentence"), ROOM, ids=lambda one: str(one)[:60])
def test_a_value_without_room_is_named_with_its_way(kind: Any, value: Any, sentence: str) -> None:
    """Values as a reader gives them that knows no logical types; of several wrong ones the first."""
    inner = json.loads(record(("x", kind), name="In"))
    arounds = [
        (kind, value, "/f"), (["null", kind], value, "/f"), ([kind, "null", "boolean"], {"member0": value, "member1": None}, "/f"),
        (inner, {"x": value}, "/f/x"), (["null", inner], {"x": value}, "/f/x"), ({"type": "array", "items": ["null", kind]}, [None, value, value], "/f/1"),
        ({"type": "map", "values": kind}, [("k", value)], "/f/k"),
        ({"type": "map", "values": {"type": "array", "items": inner}}, [("", []), ("a", [{"x": value}])], "/f/a/0/x"),
    ]  # fmt: skip
    for wrapped, given, path in arounds:
        schema = parse_avro(record(("n", "int"), ("f", wrapped), ("z", MILLIS)))
        row = {"n": 1, "f": given, "z": MOST_MILLIS + 5 if sentence else 0}
        assert find_unfit(schema, schema.root, row) == (f"{path}: {sentence}" if sentence else "")
    long_key = "k" * 300
    schema = parse_avro(record(("f", {"type": "map", "values": kind})))
    shown = find_unfit(schema, schema.root, {"f": [(long_key, value)]})
    assert shown == (f"/f/{long_key}"[:200] + f"…: {sentence}" if sentence else "")


def test_readers_without_limits_differ_in_these_alone() -> None:
    """One reader has them all out; one has besides only the fields that had some, at any depth, and its tail."""
    low, pair = (
        json.loads(record(("p", decimal(4, 2)), ("q", "int"), name="Low")),
        json.loads(record(("a", "int"), name="Pair")),
    )
    text = record(
        ("n", "int"), ("s", MILLIS), ("m", {"type": "map", "values": low}), ("l", {"type": "array", "items": ["null", "shop.Low"]}), ("o", pair),
        ("d", logical("int", "date")), ("big", decimal(39)), ("tail", "double"),
    )  # fmt: skip
    bare = {one["name"]: one["type"] for one in json.loads(strip_limits(text))["fields"]}
    assert [*bare] == ["n", "s", "m", "l", "o", "d", "big", "tail"]
    assert (bare["s"], bare["d"]) == ("long", logical("int", "date"))
    assert bare["m"]["values"]["fields"] == [{"name": "p", "type": "bytes"}, {"name": "q", "type": "int"}]
    least = {one["name"]: one["type"] for one in json.loads(strip_to_limits(text, "tail"))["fields"]}
    assert [*least] == ["s", "m", "l", "tail"]
    assert least["m"]["values"]["fields"] == [{"name": "p", "type": "bytes"}]
    assert strip_limits(record(("n", "int"), ("big", decimal(39)), ("d", logical("int", "date")))) == ""


@pytest.mark.parametrize(
    ("kind", "is_cut"),
    [
        (decimal(18, 3), True), (decimal(19, 3), False), (decimal(1), True), (fixed(8, 18), False), (fixed(9, 18, 3), True), (fixed(9, 19), False),
        (MILLIS, False), ("bytes", False), ("long", False),
    ],
    ids=str,
)  # fmt: skip
def test_decimals_of_64_bits_are_read_with_a_digit_more(kind: Any, *, is_cut: bool) -> None:
    assert is_cut_by_spark(leaf(kind)) is is_cut
    text = record(("f", kind), ("g", decimal(20, 1)))
    field, other = json.loads(widen_decimals(text))["fields"]
    assert other["type"] == decimal(20, 1)
    if is_cut:
        assert (field["type"]["precision"], field["type"]["scale"]) == (19, kind["scale"])
    else:
        assert parse_avro(widen_decimals(text)) == parse_avro(text)


# ------------------------------------------------------------------------------------------------------------- defaults

INNER = json.loads(record(("a", "int"), ("b", "string", "z"), name="In"))
DEFAULTS: list[tuple[Any, Any, Any]] = [
    ("null", None, None), ("boolean", True, True), ("int", 0, 0), ("int", -1, -1), ("int", 63, 63), ("int", 64, 64), ("long", -(2**63), -(2**63)),
    ("long", 2**63 - 1, 2**63 - 1), ("float", 1.5, 1.5), ("double", -2.25, -2.25), ("double", 3, 3.0), ("string", "\u00e9\u0107", "\u00e9\u0107"),
    ("bytes", "\u00ff\x00", b"\xff\0"), ({"type": "fixed", "name": "F", "size": 2}, "\u00ff\x00", b"\xff\0"),
    ({"type": "enum", "name": "E", "symbols": ["S", "T"]}, "T", "T"), ({"type": "array", "items": "int"}, [], []), ({"type": "array", "items": "int"}, [1, 200], [1, 200]),
    ({"type": "map", "values": "int"}, {}, {}), ({"type": "map", "values": "int"}, {"\u00e9": 7}, {"\u00e9": 7}), (["null", "int"], 5, 5), (["int", "null"], None, None),
    (INNER, {"a": 3}, {"a": 3, "b": "z"}), (INNER, {"a": 3, "b": "c"}, {"a": 3, "b": "c"}), ({"type": "array", "items": ["null", INNER]}, [None, {"a": 1}], [None, {"a": 1, "b": "z"}]),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "default", "value"), DEFAULTS, ids=str)
def test_a_default_is_written_as_fastavro_writes_what_it_means(kind: Any, default: Any, value: Any) -> None:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(json.loads(record(("f", kind)))), {"f": value})
    schema = parse_avro(record(("f", kind)))
    root = schema.names["shop.Order"]
    assert encode_default(default, AvroSide(schema, root.fields[0].type)) == out.getvalue()  # type: ignore[union-attr]  # a record
