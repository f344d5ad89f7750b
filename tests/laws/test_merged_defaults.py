"""Defaults of one version in the words of the merged schema: each kind of value, wherever it stands, and those that have none there."""

import json
from typing import Any

import pytest

from tests.frames import record
from treaty.core import limits
from treaty.formats.avro.canonical import print_schema
from treaty.formats.avro.model import ABSENT, AvroRecord
from treaty.formats.avro.resolution import AvroSide
from treaty.plan.avro import defaults
from treaty.plan.avro.defaults import drop_long_defaults, drop_wrong_defaults, translate_default
from treaty.plan.avro.flat import parse_avro
from treaty.plan.avro.merge import merge

GONE = "no default"


def logical(base: str, name: str, *digits: int) -> dict[str, Any]:
    return {"type": base, "logicalType": name, **dict(zip(("precision", "scale"), digits, strict=False))}


def decimal(precision: int, scale: int = 0) -> dict[str, Any]:
    return logical("bytes", "decimal", precision, scale)


def fixed(size: int, *digits: int) -> dict[str, Any]:
    return {**logical("fixed", "decimal", *digits), "name": "shop.F", "size": size}


def inner(*fields: Any) -> Any:
    return json.loads(record(*fields, name="In"))


def side(kind: Any) -> AvroSide:
    schema = parse_avro(record(("f", kind)))
    root = schema.resolve(schema.root)
    assert isinstance(root, AvroRecord)
    return AvroSide(schema, root.fields[0].type)


def clock(unit: str, base: str = "long") -> dict[str, Any]:
    return logical(base, unit)


NEWER = {"name": "b", "type": "int", "aliases": ["a"]}
TRANSLATED: dict[str, tuple[Any, Any, Any, Any]] = {
    "a number": ("int", "long", 5, 5),
    "what is none": ("int", "long", "x", GONE),
    "text as bytes": ("string", "bytes", "\u00e9\u0107", "\u00c3\u00a9\u00c4\u0087"),
    "bytes as bytes": ("bytes", "bytes", "\u00e9", "\u00e9"),
    "milliseconds": (clock("timestamp-millis"), clock("timestamp-micros"), -3, -3000),
    "milliseconds of a local clock": (clock("local-timestamp-millis"), clock("local-timestamp-micros"), 4, 4000),
    "milliseconds of a day": (clock("time-millis", "int"), clock("time-micros"), 5, 5000),
    "a coarser unit": (clock("timestamp-micros"), clock("timestamp-millis"), 3000, GONE),
    "another clock": (clock("timestamp-micros"), clock("local-timestamp-micros"), 3, GONE),
    "the same unit": (clock("timestamp-micros"), clock("timestamp-micros"), 3, 3),
    "a number with a meaning": ("long", clock("timestamp-micros"), 3, 3),
    "digits more": (decimal(4, 1), decimal(6, 2), "\x0d", "\x00\u0082"),
    "digits more of a negative number": (decimal(4, 1), decimal(6, 2), "\u00f3", "\u00ff\x7e"),
    "a negative number of one byte": (decimal(4), decimal(6, 1), "\u00ff", "\u00f6"),
    "digits less": (decimal(4, 2), decimal(6, 1), "\x0d", GONE),
    "digits more in so many bytes": (fixed(2, 4, 1), fixed(2, 4, 2), "\x00\x0d", "\x00\u0082"),
    "digits that have no room": (fixed(1, 2, 0), fixed(1, 2, 1), "\x0d", GONE),
    "a member by its new name": (inner(("a", "int"), ("c", "string")), inner(NEWER, ("c", "bytes")), {"a": 1, "c": "\u00e9"}, {"b": 1, "c": "\u00c3\u00a9"}),
    "a member that is left out": (inner(("a", "int", 7)), inner(NEWER), {}, {"b": 7}),
    "a member that is gone": (inner(("a", "int"), ("z", "int")), inner(("a", "int")), {"a": 1, "z": 2}, {"a": 1}),
    "a member that has no default there": (inner(("a", "int")), inner(("a", "int"), ("z", "int")), {"a": 1}, GONE),
    "items": ({"type": "array", "items": clock("timestamp-millis")}, {"type": "array", "items": clock("timestamp-micros")}, [1, 2], [1000, 2000]),
    "values": ({"type": "map", "values": "string"}, {"type": "map", "values": "bytes"}, {"\u00e9": "\u00e9"}, {"\u00e9": "\u00c3\u00a9"}),
    "into a choice": (clock("timestamp-millis"), [clock("timestamp-micros"), "null"], 1, 1000),
    "out of a choice": (["int", "null"], "long", 1, 1),
    "null of a choice": (["null", "int"], ["null", "long"], None, None),
    "a later branch": ("string", ["int", "string"], "x", "x"),
    "an earlier branch that takes it too": ("bytes", ["string", "bytes"], "x", GONE),
    "numbers of one column": ("long", ["int", "long"], 5, 5),
    "numbers of two columns": ("double", ["long", "double"], 5, GONE),
}  # fmt: skip
"""The type in a version, that of the merged schema, the default there, and here."""


@pytest.mark.parametrize("case", [*TRANSLATED])
def test_a_default_means_the_same_in_the_merged_schema_or_is_none(case: str) -> None:
    old, new, default, expected = TRANSLATED[case]
    found = translate_default(default, side(old), side(new))
    assert (GONE if found is ABSENT else found) == expected


def test_a_default_follows_what_is_merged_after_it() -> None:
    """A type is grown in the field behind the one whose default is a value of it, at two depths, and in a version that lacks the default."""
    deep = {"type": "record", "name": "Deep", "fields": [{"name": "t", "type": "string"}]}
    older = record(
        ("f", inner(("d", deep, {"t": "\u00e9"}), ("n", "int", 1)), {"n": 2}),
        ("g", "shop.Deep"),
        ("h", "string", "\u00e9"),
    )
    newer = record(("g", {**deep, "fields": [{"name": "t", "type": "bytes"}]}), ("h", "bytes"))
    fields = json.loads(print_schema(merge([parse_avro(older), parse_avro(newer)])))["fields"]
    assert fields[0]["default"] == {"d": {"t": "\u00c3\u00a9"}, "n": 2}
    assert fields[0]["type"]["fields"][0]["default"] == {"t": "\u00c3\u00a9"}
    assert fields[2]["default"] == "\u00c3\u00a9"


MOST = (2**63 - 1) // 1000
VALUES: list[tuple[Any, Any, bool]] = [
    (clock("timestamp-millis"), MOST, True), (clock("timestamp-millis"), MOST + 1, False), (clock("timestamp-millis"), -MOST - 1, False),
    (clock("local-timestamp-millis"), MOST + 1, False), (clock("timestamp-micros"), MOST + 1, True), ("long", MOST + 1, True),
    (decimal(2), "\x63", True), (decimal(2), "\x64", False), (decimal(2), "\u009d", True), (decimal(2), "\u009c", False), (decimal(2), "", False),
    (decimal(39), "", True), ("bytes", "", True), ("bytes", "\u0100", False), (fixed(2, 4), "\x00\x01", True), (fixed(2, 4), "\x01", False),
    (fixed(2, 2), "\x01\x00", False), ({"type": "enum", "name": "E", "symbols": ["S"]}, "S", True), ({"type": "enum", "name": "E", "symbols": ["S"]}, "T", False),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "value", "has_room"), VALUES, ids=str)
def test_a_default_that_its_column_has_no_room_for_is_dropped_wherever_it_stands(
    kind: Any, value: Any, *, has_room: bool
) -> None:
    arounds = [
        (kind, value), ({"type": "array", "items": kind}, [value]), ({"type": "map", "values": kind}, {"k": value}),
        (inner(("x", kind), ("y", "int", 1)), {"x": value}), ([kind, "null"], value),
    ]  # fmt: skip
    for wrapped, default in arounds:
        schema = parse_avro(record(("n", "int", 3), ("f", wrapped, default)))
        left, dropped = drop_wrong_defaults(schema)
        assert len(dropped) == (not has_room), (wrapped, dropped)
        assert (left == schema) is has_room
        assert all("shop.Order/f" in one for one in dropped)


def test_the_longest_defaults_go_until_all_that_are_long_have_their_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their characters are those of JSON, quotes included; short ones don't count."""
    assert limits.DEFAULT_CHARACTERS > 400
    sizes = {"a": 100, "b": 150, "c": 64, "d": 100, "e": 120, "g": 65}
    schema = parse_avro(record(*((name, "string", "x" * (size - 2)) for name, size in sizes.items())))
    for limit, gone in [
        (535, ""), (534, "b"), (385, "b"), (384, "be"), (265, "be"), (264, "abe"), (165, "abe"), (164, "abde"), (65, "abde"), (64, "abdeg"), (0, "abdeg"),
    ]:  # fmt: skip
        monkeypatch.setattr(defaults, "DEFAULT_CHARACTERS", limit)
        left, sentences = drop_long_defaults(schema)
        assert [one.partition(":")[0] for one in sentences] == [f"the default of shop.Order/{name}" for name in gone]
        record_left = left.resolve(left.root)
        assert isinstance(record_left, AvroRecord)
        assert {one.name for one in record_left.fields if one.default is ABSENT} == set(gone)
