"""What is planned for a column at each kind of place of a schema: the way, its checks, where null is wrong, and what is left as it is."""

import json
from typing import Any

import pytest

from tests.frames import record
from treaty.core.schema_engine import ResolvedSchema
from treaty.core.state.columns import Column, ColumnType, Decimal, List, Map, Scalar, Struct
from treaty.plan.encoding.fit import ColumnConversion
from treaty.plan.encoding.options import ENCODE_DEFAULTS
from treaty.plan.encoding.planner import compose
from treaty.plan.errors import PlanError
from treaty.plan.registered_schema import RegisteredSchema
from treaty.plan.registry_queries import parse_resolved

BOOL, INT, LONG, FLOAT, DOUBLE = map(Scalar, ("boolean", "int32", "int64", "float32", "float64"))
TEXT, BYTES, DAY, TIME, WALL = map(Scalar, ("string", "binary", "date", "timestamp", "timestamp_ntz"))


def plan(format_: str, text: str, *columns: Column) -> ColumnConversion:
    meaning = ResolvedSchema(format_, text)
    schema = RegisteredSchema(1, "s", 1, format_, parse_resolved(meaning), meaning=meaning)
    return compose(schema, columns, ENCODE_DEFAULTS).fit


def show(fit: ColumnConversion) -> str:
    """A conversion in short: ``=`` for what is left as it is, ``!`` where null is wrong, its checks, and its parts."""
    parts = ", ".join(f"{part.name}: {show(part.fit)}" if part.name else show(part.fit) for part in fit.parts)
    words = (fit.way + "=" * fit.same + "!" * fit.required, *(check.name for check in fit.checks))
    return " ".join(words) + (f" ({parts})" if parts else "")


def planned(format_: str, text: str, column: Column) -> str:
    try:
        return show(plan(format_, text, column).parts[0].fit)
    except PlanError:
        return "refused"


# ---------------------------------------------------------------------------------------------------------------- Avro


def logical(base: str, name: str, *digits: int) -> dict[str, Any]:
    return {"type": base, "logicalType": name, **dict(zip(("precision", "scale"), digits, strict=False))}


def decimal(*digits: int) -> dict[str, Any]:
    return logical("bytes", "decimal", *digits)


def instant(unit: str) -> dict[str, Any]:
    return logical("long", f"timestamp-{unit}")


def wall(unit: str) -> dict[str, Any]:
    return logical("long", f"local-timestamp-{unit}")


PAIR = json.loads(
    record({"name": "a", "type": "int", "aliases": ["was"]}, ("b", "string"), ("d", "int", 5), name="Pair")
)
BOTH = (Column("a", INT, nullable=False), Column("b", TEXT, nullable=False))
AVRO: list[tuple[Any, ColumnType, str]] = [
    ("int", INT, "keep="), ("long", INT, "cast"), ("int", LONG, "cast fits"), ("double", INT, "cast"), ("double", FLOAT, "cast"), ("double", LONG, "cast exact"),
    ("float", INT, "cast exact"), ("float", DOUBLE, "cast overflow exact"), ("int", DOUBLE, "cast fits exact"), ("int", Decimal(3, 0), "cast fits exact"),
    ("double", Decimal(3, 1), "cast exact"), ("long", FLOAT, "cast fits exact"), ("null", Scalar("null"), "keep="),
    (decimal(4, 2), Decimal(4, 2), "keep="), (decimal(4, 2), Decimal(5, 2), "cast fits"), (decimal(4, 2), Decimal(4, 3), "cast exact"),
    (decimal(4, 2), Decimal(6, 3), "cast fits exact"), (decimal(6, 3), Decimal(4, 2), "cast"), (decimal(10), INT, "cast"), (decimal(9), INT, "cast fits"),
    (decimal(12, 3), INT, "cast fits"), (decimal(13, 3), INT, "cast"), (decimal(19), LONG, "cast"), (decimal(18), LONG, "cast fits"), (decimal(9), DOUBLE, "cast fits exact"),
    (instant("nanos"), TIME, "nanos fits"), (instant("nanos"), WALL, "refused"), (instant("nanos"), LONG, "keep="), (wall("nanos"), WALL, "wall_nanos fits"),
    (wall("nanos"), TIME, "refused"), (instant("millis"), TIME, "keep= millis"), (wall("millis"), WALL, "keep= millis"), (instant("micros"), TIME, "keep="),
    (instant("micros"), WALL, "cast clock"), (wall("micros"), TIME, "cast clock"), (instant("micros"), DAY, "cast"), (wall("micros"), DAY, "cast"),
    (instant("millis"), DAY, "cast millis"), (logical("int", "date"), TIME, "cast exact"), (logical("int", "date"), WALL, "cast exact"), (logical("int", "date"), INT, "refused"),
    ("string", BYTES, "cast utf8"), ("string", TIME, "cast clock"), ("string", WALL, "cast"), ("string", DAY, "cast"), ("string", Decimal(4, 2), "cast"), ("string", BOOL, "cast"),
    ("bytes", TEXT, "cast"), ("bytes", INT, "refused"), ("boolean", TEXT, "cast fits"), ("long", TEXT, "cast fits"), ("double", TEXT, "cast fits digits"),
    (decimal(4, 2), TEXT, "cast fits digits"), (logical("int", "date"), TEXT, "cast fits text"), (instant("micros"), TEXT, "cast fits text"),
    ({"type": "enum", "name": "E", "symbols": ["S"]}, TEXT, "keep= symbols"), ({"type": "fixed", "name": "F", "size": 2}, BYTES, "keep= size"),
    (["int", "string"], INT, "branch (member0: keep=, member1: constant)"), (["long", "string", "null"], INT, "branch (member0: cast, member1: constant)"),
    (["long", "string"], DOUBLE, "branch (member0: constant, member1: cast)"),
    (["float", "long"], Decimal(5, 2), "branch (member0: cast exact, member1: constant)"), (["boolean", "int"], BYTES, "refused"),
    (["int", "string"], Struct((Column("member0", INT), Column("member1", TEXT))), "choose= one (member0: keep=, member1: keep=)"),
    (["int", "string"], Struct((Column("member1", TEXT),)), "choose one (member0: constant, member1: keep=)"),
    (["int", "string"], Struct((Column("member2", TEXT),)), "refused"),
    (PAIR, Struct(BOTH), "record (a: keep=, b: keep=, d: constant)"), (PAIR, Struct((*BOTH, Column("d", INT, nullable=False))), "record= (a: keep=, b: keep=, d: keep=)"),
    (PAIR, Struct((*BOTH[::-1], Column("d", INT))), "record (a: keep=, b: keep=, d: keep=!)"), (PAIR, Struct((*BOTH, Column("x", INT))), "refused"), (PAIR, Struct(BOTH[:1]), "refused"),
    (PAIR, Struct((Column("was", INT), BOTH[1], Column("d", INT))), "record (a: keep=!, b: keep=, d: keep=!)"),
    ({"type": "array", "items": "int"}, List(INT, nullable=False), "items= (keep=)"), ({"type": "array", "items": ["null", "int"]}, List(INT, nullable=True), "items= (keep=)"),
    ({"type": "array", "items": "int"}, List(INT, nullable=True), "items= (keep=!)"), ({"type": "array", "items": "long"}, List(INT, nullable=False), "items (cast)"),
    ({"type": "map", "values": "int"}, Map(TEXT, INT, nullable=False), "entries= (key: keep=, value: keep=)"),
    ({"type": "map", "values": "int"}, Map(INT, INT, nullable=True), "entries keys (key: cast, value: keep=!)"),
    ({"type": "map", "values": ["int", "null"]}, Map(TEXT, LONG, nullable=True), "entries (key: keep=, value: cast fits)"),
    ({"type": "map", "values": "int"}, List(INT), "refused"), ({"type": "array", "items": "int"}, Map(TEXT, INT), "refused"), (PAIR, TEXT, "refused"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "have", "expected"), AVRO, ids=str)
def test_a_column_at_a_place_of_avro(kind: Any, have: ColumnType, expected: str) -> None:
    """A null is wrong where the column may have one and neither a branch nor a default has it."""
    text = record(("f", kind))
    assert planned("AVRO", text, Column("f", have, nullable=False)) == expected
    head, *rest = expected.split(" ")
    required = expected if expected == "refused" or kind == "null" else " ".join((f"{head}!", *rest))
    may_be_null = isinstance(kind, list) and "null" in kind
    assert planned("AVRO", text, Column("f", have)) == (expected if may_be_null else required)


def test_a_default_stands_where_there_is_no_column_and_has_the_path_of_its_field() -> None:
    text = record(("n", "int"), ("f", PAIR), ("o", ["null", "int"], None), ("p", ["int", "null"], 3))
    fit = plan("AVRO", text, Column("n", INT, nullable=False), Column("f", Struct(BOTH), nullable=False))
    assert show(fit) == "record (n: keep=, f: record (a: keep=, b: keep=, d: constant), p: constant)"
    assert [(one.path, one.constant) for one in fit.walk() if one.way == "constant"] == [("/f/d", "5"), ("/p", "3")]


# -------------------------------------------------------------------------------------------------------- JSON, Protobuf

JSON: list[tuple[Any, ColumnType, str]] = [
    ({"type": "integer"}, LONG, "keep="), ({"type": "integer"}, INT, "keep="), ({"type": "integer"}, DOUBLE, "cast fits exact"), ({"type": "number"}, LONG, "keep= finite"),
    ({"type": "number"}, Decimal(9, 2), "keep= finite"), ({"type": "number"}, FLOAT, "keep= finite"), ({"type": "number"}, TEXT, "cast fits digits finite"),
    ({"type": "boolean"}, BOOL, "keep="), ({"type": "string"}, TEXT, "keep="), ({"type": "string", "enum": ["a"]}, TEXT, "keep= symbols"),
    ({"type": "string", "format": "date"}, DAY, "keep= range"), ({"type": "string", "format": "date-time"}, TIME, "keep= range"),
    ({"type": "string", "contentEncoding": "base64"}, BYTES, "base64"), ({"type": "object", "patternProperties": {"^a": {"type": "string", "enum": ["x"]}}}, Map(TEXT, TEXT, nullable=False), "entries= (key: keep=, value: keep= symbols)"),
    ({"type": "string", "contentEncoding": "base64"}, TEXT, "keep="), ({"type": "string"}, BYTES, "cast utf8"),
    ({}, TEXT, "embed json (keep= wide)"), ({}, LONG, "embed json (cast)"), ({}, BOOL, "embed json (cast)"), ({}, List(INT), "embed json (json wide)"),
    ({}, Struct((Column("a", INT),)), "embed json (json wide)"), ({}, DOUBLE, "refused"), ({}, Decimal(4, 2), "refused"), ({}, TIME, "refused"),
    ({"type": "array", "items": {"type": "integer"}}, List(INT, nullable=False), "items= (keep=)"),
    ({"type": "array", "items": {"type": "integer"}}, List(INT, nullable=True), "items= (keep=!)"),
    ({"type": "array", "items": {"type": ["integer", "null"]}}, List(INT, nullable=True), "items= (keep=)"),
    ({"type": "object", "additionalProperties": {"type": "integer"}}, Map(TEXT, LONG, nullable=False), "entries= (key: keep=, value: keep=)"),
    ({"type": "object", "additionalProperties": {"type": "string", "enum": ["x"]}}, Map(TEXT, TEXT, nullable=False), "entries= (key: keep=, value: keep= symbols)"),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "have", "expected"), JSON, ids=str)
def test_a_column_at_a_place_of_a_document(schema: Any, have: ColumnType, expected: str) -> None:
    text = {"type": "object", "properties": {"f": schema}}
    for nullable in (True, False):
        assert planned("JSON", json.dumps(text), Column("f", have, nullable=nullable)) == expected
    needed = json.dumps({**text, "required": ["f"]})
    assert planned("JSON", needed, Column("f", have, nullable=False)) == (
        f"present ({expected})" if schema == {} and expected != "refused" else expected
    )


NULLS: list[tuple[Any, bool]] = [
    ({"type": "integer"}, False), ({"type": ["integer", "null"]}, True), ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, True),
    ({"allOf": [{"type": ["integer", "null"]}, {"type": "integer"}]}, False), ({"enum": [1, 2]}, False), ({"enum": [1, None]}, True),
    ({"anyOf": [{"type": "integer"}, {"type": "null"}], "allOf": [{"anyOf": [{"type": "integer"}, {"enum": [7]}]}]}, False),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "takes_null"), NULLS, ids=str)
def test_a_member_that_must_be_there_is_written_as_null_where_the_schema_takes_it(
    schema: Any, *, takes_null: bool
) -> None:
    text = json.dumps({"type": "object", "properties": {"f": schema}, "required": ["f"]})
    fit = plan("JSON", text, Column("f", LONG)).parts[0].fit
    assert (fit.way == "present") is takes_null
    assert fit.required is not takes_null


PROTOBUF: list[tuple[str, ColumnType, str]] = [
    ("int32 f = 1;", INT, "keep="), ("sint64 f = 1;", INT, "cast"), ("int32 f = 1;", LONG, "cast fits"), ("uint32 f = 1;", LONG, "keep= range"), ("fixed32 f = 1;", INT, "cast range"),
    ("uint64 f = 1;", Decimal(20, 0), "keep= range"), ("uint64 f = 1;", LONG, "cast range"), ("bytes f = 1;", BYTES, "keep="), ("string f = 1;", TEXT, "keep="),
    ("E f = 1;", TEXT, "keep= enum"), ("google.protobuf.Int32Value f = 1;", INT, "wrap (keep=)"), ("google.protobuf.UInt32Value f = 1;", LONG, "wrap (keep= range)"),
    ("google.protobuf.StringValue f = 1;", INT, "wrap (cast)"), ("google.protobuf.Timestamp f = 1;", TIME, "instant (keep= range)"),
    ("google.protobuf.Timestamp f = 1;", DAY, "instant (cast range)"), ("google.protobuf.Timestamp f = 1;", TEXT, "instant (cast fits text range)"),
    ("google.protobuf.Value f = 1;", TEXT, "keep="), ("google.protobuf.Struct f = 1;", Struct((Column("a", INT),)), "json"),
    ("repeated int32 f = 1;", List(INT, nullable=False), "items= (keep=)"), ("repeated int32 f = 1;", List(INT, nullable=True), "items= (keep=!)"),
    ("map<int32, uint32> f = 1;", Map(INT, LONG, nullable=False), "entries= (key: keep=, value: keep= range)"),
    ("map<string, int32> f = 1;", Map(INT, INT, nullable=True), "entries keys (key: cast, value: keep=!)"),
    ("In f = 1;", Struct((Column("a", INT),)), "record= (a: keep=)"), ("In f = 1;", Struct((Column("b", TEXT), Column("c", INT))), "record= oneof (b: keep=, c: keep=)"),
    ("In f = 1;", Struct((Column("b", TEXT), Column("a", INT))), "record (a: keep=, b: keep=)"),
    ("In f = 1;", Struct((Column("b", TEXT), Column("c", INT), Column("d", INT))), "record= oneof (b: keep=, c: keep=, d: keep=)"),
    ("In f = 1;", Struct((Column("z", TEXT),)), "refused"), ("repeated In f = 1;", Struct((Column("a", INT),)), "refused"),
]  # fmt: skip
IMPORTS = "".join(f'import "google/protobuf/{name}.proto"; ' for name in ("wrappers", "timestamp", "struct"))


@pytest.mark.parametrize(("field", "have", "expected"), PROTOBUF, ids=str)
def test_a_column_at_a_place_of_a_message(field: str, have: ColumnType, expected: str) -> None:
    message = (
        "message In { int32 a = 1; oneof one { string b = 2; int32 c = 3; int32 d = 4; } oneof lone { int32 e = 5; } }"
    )
    text = f'syntax = "proto3"; {IMPORTS} message R {{ {field} }} {message} enum E {{ S = 0; }}'
    for nullable in (True, False):
        assert planned("PROTOBUF", text, Column("f", have, nullable=nullable)) == expected


def test_a_required_field_needs_a_column_without_null() -> None:
    text = 'syntax = "proto2"; message R { required int32 f = 1; optional E e = 2; } enum E { S = 0; }'
    assert show(plan("PROTOBUF", text, Column("f", INT), Column("e", TEXT))) == "record= (f: keep=!, e: keep= symbols)"
    with pytest.raises(PlanError, match="no column for /f"):
        plan("PROTOBUF", text, Column("e", TEXT))


def test_a_refusal_names_three_problems_and_counts_the_others() -> None:
    names = "abcdefg"
    with pytest.raises(PlanError) as refused:
        plan("AVRO", record(*((name, "int") for name in names)), *(Column(name, BYTES) for name in names))
    assert str(refused.value).count("cannot be INT") == 3
    assert str(refused.value).endswith("(and 4 more)")


@pytest.mark.parametrize("count", [1, 5, 6, 7])
def test_what_is_planned_is_said_in_words(count: int) -> None:
    """Five symbols are named at most; a place is clean where neither it nor a part of it may be wrong."""
    symbols = [f"S{at}" for at in range(count)]
    text = record(
        ("e", {"type": "enum", "name": "E", "symbols": symbols}), ("l", {"type": "array", "items": "int"}), ("n", "int")
    )
    fit = plan(
        "AVRO",
        text,
        Column("e", TEXT),
        Column("l", List(INT, nullable=True), nullable=False),
        Column("n", INT, nullable=False),
    )
    enum, items, number = (part.fit for part in fit.parts)
    shown = ", ".join(symbols[:5]) + ", …" * (count > 5)
    assert enum.steps() == (f"bad where it is null or is none of {shown}",)
    assert (items.steps(), items.parts[0].fit.steps(), number.steps()) == ((), ("bad where it is null",), ())
    assert [one.clean for one in (fit, enum, items, number)] == [False, False, False, True]
