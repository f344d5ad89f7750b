"""What hand-made JSON Schemas become in a table, and what that loses."""

import json
from typing import Any

import pytest

from tests.oracle.jsonschema_treaty import model
from treaty.core.limits import COLUMN_RECURSION
from treaty.core.state.columns import LOSSES, Column, ColumnType, Decimal, List, Map, Scalar, Struct
from treaty.formats.format import InvalidSchemaError
from treaty.formats.jsonschema.data.columns import derive_columns
from treaty.formats.jsonschema.model import JsonSchema

TEXT, WHOLE, DOUBLE, ANY = Scalar("string"), Scalar("int64"), Scalar("float64"), Scalar("variant")
CONNECT = {"type": "number", "title": "org.apache.kafka.connect.data.Decimal", "connect.type": "bytes"}
# What a property becomes: its schema, the type, whether it may be null though it is required, and the losses.
PLACES: dict[str, tuple[Any, ColumnType | None, bool, list[str]]] = {
    "string": ({"type": "string"}, TEXT, False, []),
    "boolean": ({"type": "boolean"}, Scalar("boolean"), False, []),
    "integer": ({"type": "integer"}, WHOLE, False, ["INTEGER_BEYOND_64"]),
    "integer with bounds": ({"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1}, WHOLE, False, []),
    "integer with one bound": ({"type": "integer", "minimum": 0}, WHOLE, False, ["INTEGER_BEYOND_64"]),
    "integer with wide bounds": ({"type": "integer", "minimum": 0, "maximum": 2**63}, WHOLE, False, ["INTEGER_BEYOND_64"]),
    "integers by name": ({"enum": [1, 2, 3]}, WHOLE, False, []),
    "number": ({"type": "number"}, DOUBLE, False, ["NUMBER_AS_DOUBLE"]),
    "number and integer": ({"type": ["integer", "number"]}, DOUBLE, False, ["NUMBER_AS_DOUBLE"]),
    "money": ({"type": "number", "multipleOf": 0.01, "minimum": 0, "maximum": 999.99}, Decimal(5, 2), False, []),
    "decimal of Connect": ({**CONNECT, "connect.parameters": {"scale": "2", "connect.decimal.precision": "9"}}, Decimal(9, 2), False, []),
    "decimal of Connect without digits": ({**CONNECT, "connect.parameters": {"scale": "2"}}, DOUBLE, False, ["NUMBER_AS_DOUBLE"]),
    "decimal of Connect of too many digits": (
        {**CONNECT, "connect.parameters": {"scale": "2", "connect.decimal.precision": "39"}}, DOUBLE, False, ["NUMBER_AS_DOUBLE"],
    ),
    "decimal of Connect by another title": (
        {**CONNECT, "title": "t", "connect.parameters": {"scale": "2", "connect.decimal.precision": "9"}}, DOUBLE, False, ["NUMBER_AS_DOUBLE"],
    ),
    "two decimals of Connect": (
        {"allOf": [{**CONNECT, "connect.parameters": {"scale": scale, "connect.decimal.precision": "9"}} for scale in "23"]},
        DOUBLE, False, ["NUMBER_AS_DOUBLE"],
    ),
    "halves": ({"type": "number", "multipleOf": 0.5, "minimum": 0, "maximum": 9}, DOUBLE, False, ["NUMBER_AS_DOUBLE"]),
    "null": ({"type": "null"}, Scalar("null"), True, []),
    "a type or null": ({"type": ["null", "string"]}, TEXT, True, []),
    "a branch or null": ({"oneOf": [{"type": "null"}, {"type": "string"}]}, TEXT, True, []),
    "a branch or null by const": ({"anyOf": [{"type": "boolean"}, {"const": None}]}, Scalar("boolean"), True, []),
    "date": ({"type": "string", "format": "date"}, Scalar("date"), False, []),
    "date-time": ({"type": "string", "format": "date-time"}, Scalar("timestamp"), False, []),
    "another format": ({"type": "string", "format": "email"}, TEXT, False, []),
    "uuid": ({"type": "string", "format": "uuid"}, TEXT, False, ["UUID_AS_STRING"]),
    "enum": ({"enum": ["a", "b"]}, TEXT, False, ["ENUM_AS_STRING"]),
    "enum with null": ({"enum": ["a", None]}, TEXT, True, ["ENUM_AS_STRING"]),
    "enum of several types": ({"enum": ["a", 1]}, ANY, False, ["ANY_AS_VARIANT", "ENUM_AS_STRING"]),
    "const": ({"const": "a"}, TEXT, False, []),
    "anything": (True, ANY, True, ["ANY_AS_VARIANT"]),
    "anything by an object": ({}, ANY, True, ["ANY_AS_VARIANT"]),
    "nothing": (False, None, False, []),
    "several types": ({"type": ["string", "integer"]}, ANY, False, ["ANY_AS_VARIANT"]),
    "several branches": ({"anyOf": [{"type": "string"}, {"type": "boolean"}]}, ANY, False, ["ANY_AS_VARIANT"]),
    "branches of one type": ({"anyOf": [{"type": "string", "format": "email"}, {"type": "string"}]}, TEXT, False, []),
    "array": ({"type": "array", "items": {"type": "string"}}, List(TEXT), False, []),
    "array of nullables": ({"type": "array", "items": {"type": ["string", "null"]}}, List(TEXT, nullable=True), False, []),
    "array of anything": ({"type": "array"}, List(ANY, nullable=True), False, ["ANY_AS_VARIANT"]),
    "tuple": ({"type": "array", "items": [{"type": "string"}]}, ANY, False, ["TUPLE_AS_VARIANT"]),
    "map": ({"type": "object", "additionalProperties": {"type": "string"}}, Map(TEXT, TEXT), False, []),
    "map by pattern": ({"type": "object", "patternProperties": {"^a": {"type": "string"}}}, Map(TEXT, TEXT), False, []),
    "map of anything": ({"type": "object"}, Map(TEXT, ANY, nullable=True), False, ["ANY_AS_VARIANT"]),
    "struct": (
        {"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": "boolean"}}, "required": ["a"], "additionalProperties": False},
        Struct((Column("b", TEXT), Column("a", Scalar("boolean"), nullable=False))),
        False,
        [],
    ),
    "open struct": ({"type": "object", "properties": {"a": {"type": "string"}}}, Struct((Column("a", TEXT),)), False, ["CONTENT_OPEN"]),
    "struct without a type": (
        {"properties": {"a": {"type": "string"}}, "additionalProperties": False},
        Struct((Column("a", TEXT),)),
        False,
        ["TYPE_ASSUMED"],
    ),
    "allOf": (
        {"allOf": [{"type": "object", "properties": {"a": {"type": "string"}}}, {"properties": {"b": {"type": "string"}}, "required": ["a"]}]},
        Struct((Column("a", TEXT, nullable=False), Column("b", TEXT))),
        False,
        ["CONTENT_OPEN"],
    ),
    "branches that are objects": (
        {"oneOf": [{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}, {"type": "object", "properties": {"b": {"type": "string"}}}]},
        Struct((Column("a", TEXT), Column("b", TEXT))),
        False,
        ["BRANCHES_MERGED", "CONTENT_OPEN"],
    ),
    "branches that only require": (
        {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False, "anyOf": [{"required": ["a"]}, {"maxProperties": 1}]},
        Struct((Column("a", TEXT),)),
        False,
        [],
    ),
    "a reference": ({"$ref": "#/definitions/d"}, Scalar("date"), False, []),
}  # fmt: skip


@pytest.mark.parametrize(
    ("schema", "kind", "nullable", "losses"), [pytest.param(*row, id=name) for name, row in PLACES.items()]
)
def test_a_place_becomes_its_type(schema: Any, kind: ColumnType | None, *, nullable: bool, losses: list[str]) -> None:
    closed = {
        "type": "object",
        "additionalProperties": False,
        "definitions": {"d": {"type": "string", "format": "date"}},
    }
    found = derive_columns(model(json.dumps({**closed, "properties": {"p": schema, "q": schema}, "required": ["p"]})))

    made = () if kind is None else (Column("p", kind, nullable), Column("q", kind, nullable=True))
    assert found.columns == made
    assert sorted({one.rule for one in found.losses}) == losses
    assert all(one.rule in LOSSES and one.column.startswith(("p", "q")) for one in found.losses)
    if kind is not None and not isinstance(kind, Struct):
        alone = derive_columns(model(json.dumps({"allOf": [schema], "definitions": closed["definitions"]})))
        assert alone.whole
        assert alone.columns == (Column("value", kind, nullable),)


def test_columns_stand_in_the_order_of_the_text_and_keep_descriptions() -> None:
    schema = {
        "description": "x",
        "properties": {"z": {"description": "last", "type": "string"}, "a": {"$ref": "#/definitions/d"}},
    }
    found = derive_columns(
        model(json.dumps({**schema, "definitions": {"d": {"type": "string", "description": "first"}}}))
    )

    assert [(one.name, one.doc) for one in found] == [("z", "last"), ("a", "first")]


@pytest.mark.parametrize(
    "inner",
    [
        {"$ref": "#"},
        {"oneOf": [{"$ref": "#"}]},
        {"anyOf": [{"type": "null"}, {"$ref": "#"}]},
        {"oneOf": [{"anyOf": [{"$ref": "#"}]}, {"type": "null"}]},
    ],
    ids=json.dumps,
)
def test_what_contains_itself_is_cut_at_a_stated_depth(inner: dict[str, object]) -> None:
    node = {"type": "object", "properties": {"name": {"type": "string"}, "next": inner}, "additionalProperties": False}
    found = derive_columns(model(json.dumps(node)))

    kind: ColumnType = Struct(found.columns)
    for _ in range(COLUMN_RECURSION - 1):
        assert isinstance(kind, Struct)
        assert [one.name for one in kind.columns] == ["name", "next"]
        kind = kind.columns[1].type
    assert isinstance(kind, Struct)
    assert [one.name for one in kind.columns] == ["name"]
    assert [(one.rule, one.column) for one in found.losses] == [("RECURSION_CUT", "next.next.next")]


@pytest.mark.parametrize("word", ["items", "additionalProperties", "unevaluatedProperties"])
@pytest.mark.parametrize("inner", [{"$ref": "#/$defs/T"}, {"anyOf": [{"$ref": "#/$defs/T"}, {"type": "null"}]}])
def test_lists_and_maps_of_nothing_but_themselves_are_variants(word: str, inner: dict[str, object]) -> None:
    own = {"type": "array" if word == "items" else "object", word: inner}
    schema = {"type": "object", "properties": {"own": {"$ref": "#/$defs/T"}}, "additionalProperties": False}
    whole = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": {"T": own}}
    found = derive_columns(model(json.dumps(whole | schema)))

    assert [(one.name, one.type, one.nullable) for one in found] == [("own", Scalar("variant"), True)]
    assert [(one.rule, one.column) for one in found.losses] == [("ANY_AS_VARIANT", "own")]


@pytest.mark.parametrize("link", [{"$ref": "#"}, {"anyOf": [{"$ref": "#"}, {"type": "null"}]}])
def test_a_choice_does_not_become_the_type_of_those_branches_that_are_not_cut(link: dict[str, object]) -> None:
    either = {"anyOf": [{"$ref": "#"}, {"type": "integer"}]}
    node = {"type": "object", "properties": {"next": link, "either": either}, "additionalProperties": False}
    kind: ColumnType = Struct(derive_columns(model(json.dumps(node))).columns)

    for _ in range(COLUMN_RECURSION):
        assert isinstance(kind, Struct)
        assert kind.columns[-1].type == Scalar("variant")
        kind = kind.columns[0].type


def test_the_order_of_branches_does_not_say_how_deep_recursion_goes() -> None:
    def document(*orders: str) -> JsonSchema:
        types = {
            name: {
                "type": "object",
                "properties": {"next": {"oneOf": [{"$ref": f"#/definitions/{one}"} for one in order]}},
                "additionalProperties": False,
            }
            for name, order in zip("abc", orders, strict=True)
        }
        return model(json.dumps({"$ref": "#/definitions/a", "definitions": types}))

    same, other = (derive_columns(document(*orders)) for orders in (("abc",) * 3, ("bca", "cba", "cab")))
    assert same.columns == other.columns
    assert {one.column for one in same.losses if one.rule == "RECURSION_CUT"} == {".".join(["next"] * 4)}


def test_too_many_columns_and_too_deep_ones_are_refused() -> None:
    wide = {"d0": {"type": "string"}}
    for at in range(1, 40):
        ref = {"$ref": f"#/definitions/d{at - 1}"}
        wide[f"d{at}"] = {"type": "object", "properties": {"a": ref, "b": ref}}  # type: ignore[dict-item]  # any JSON
    with pytest.raises(InvalidSchemaError, match="COLUMNS"):
        derive_columns(model(json.dumps({"$ref": "#/definitions/d39", "definitions": wide})))
    with pytest.raises(InvalidSchemaError, match="COLUMN_DEPTH"):
        derive_columns(model('{"type":"array","items":' * 150 + '{"type":"null"}' + "}" * 150))
