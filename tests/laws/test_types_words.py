"""What classes say in schemas, word by word; what has no schema, with the place; what changes without harm."""

import collections
import dataclasses
import datetime as dt
import enum
import json
import uuid
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Final, Generic, Literal, NewType, TypedDict, TypeVar, cast

import msgspec
import pydantic
import pytest
import typing_extensions

from treaty.client.types.annotations import (
    DecimalDigits,
    FieldAliases,
    FieldDoc,
    FieldName,
    FixedSize,
    StoredAs,
    TypeName,
)
from treaty.client.types.errors import MisfitError, NoSchemaError
from treaty.client.types.typed import typed_avro, typed_json
from treaty.core.registry import Registry

NOBODY = cast("Registry", None)
T = TypeVar("T")
UserId = NewType("UserId", int)


class Plain:
    pass


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Odd(enum.Enum):
    A = "with space"
    B = 2


class Bits(enum.Flag):
    READ = 1
    WRITE = 2


@dataclasses.dataclass
class Item:
    sku: str


@dataclasses.dataclass
class Page(Generic[T]):
    of: list[T]


@dataclasses.dataclass
class Tree:
    children: "list[Tree]"
    parent: "Tree | None" = None


def avro(kind: Any, namespace: str = "") -> Any:
    return json.loads(typed_avro(kind, namespace).draft.text)


def words(kind: Any) -> Any:
    made = json.loads(typed_json(kind).draft.text)
    del made["$schema"]
    return made


ITEM = {"type": "record", "name": "Item", "fields": [{"name": "sku", "type": "string"}]}


@pytest.mark.parametrize(
    ("kind", "schema"),
    [
        (None, "null"),
        (UserId, "long"),
        (Final[int], "long"),
        (Annotated[int, StoredAs("int")], "int"),
        (Annotated[float, StoredAs("float")], "float"),
        (list[int], {"type": "array", "items": "long"}),
        (collections.deque[int], {"type": "array", "items": "long"}),
        (tuple[int, int], {"type": "array", "items": "long"}),
        (tuple[int, str], {"type": "array", "items": ["long", "string"]}),
        (dict[uuid.UUID, int], {"type": "map", "values": "long"}),
        (float | int, ["long", "double"]),
        (int | None, ["long", "null"]),
        (int | str | int | None, ["long", "string", "null"]),
        (list[int | None] | None, [{"type": "array", "items": ["long", "null"]}, "null"]),
        (Literal["a", "b"], "string"),
        (Literal["a", 1, None], ["string", "long", "null"]),  # noqa: PYI061 (None inside is the case)
        (Color, {"type": "enum", "name": "Color", "symbols": ["red", "blue"]}),
        (Odd, {"type": "enum", "name": "Odd", "symbols": ["A", "B"]}),
        (Bits, "long"),
        (Annotated[bytes, FixedSize(3), TypeName("shop.Hash")], {"type": "fixed", "name": "shop.Hash", "size": 3}),
        (
            Annotated[Decimal, DecimalDigits(5, 2)],
            {"type": "bytes", "logicalType": "decimal", "precision": 5, "scale": 2},
        ),
        (Annotated[dt.time, StoredAs("millis")], {"type": "int", "logicalType": "time-millis"}),
        (Item, ITEM),
        (Annotated[Item, TypeName("shop.Thing")], {**ITEM, "name": "shop.Thing"}),
        (dict[str, Item] | list[Item], [{"type": "map", "values": ITEM}, {"type": "array", "items": "Item"}]),
        (
            Page[int],
            {
                "type": "record",
                "name": "Page_int",
                "fields": [{"name": "of", "type": {"type": "array", "items": "long"}}],
            },
        ),
        (
            Tree,
            {
                "type": "record",
                "name": "Tree",
                "fields": [
                    {"name": "children", "type": {"type": "array", "items": "Tree"}},
                    {"name": "parent", "type": ["null", "Tree"], "default": None},
                ],
            },
        ),
    ],
    ids=str,
)
def test_types_in_avro(kind: Any, schema: Any) -> None:
    assert avro(kind) == schema


@pytest.mark.parametrize(
    ("kind", "schema"),
    [
        (int | str | None, {"type": ["integer", "string", "null"]}),
        (dict[int, float], {"type": "object", "additionalProperties": {"type": "number"}}),
        (set[int], {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}),
        (Odd, {"title": "Odd", "enum": ["with space", 2]}),
        (Decimal, {"type": "string"}),
        (Any, {}),
        (list[Any], {"type": "array", "items": {}}),
        (
            Tree,
            {
                "title": "Tree",
                "type": "object",
                "properties": {
                    "children": {"type": "array", "items": {"$ref": "#"}},
                    "parent": {"anyOf": [{"$ref": "#"}, {"type": "null"}], "default": None},
                },
                "required": ["children"],
                "additionalProperties": False,
            },
        ),
    ],
    ids=str,
)
def test_types_in_json_schema(kind: Any, schema: Any) -> None:
    assert words(kind) == schema


@dataclasses.dataclass
class Said:
    """What it is."""

    __schema_name__ = "shop.Told"
    kept: ClassVar[int] = 5
    one: Annotated[int, FieldDoc("The first."), FieldName("uno"), FieldAliases("eins", "un")] = 1
    two: Color | None = Color.RED
    three: str = dataclasses.field(default="x", metadata={"doc": "The third.", "alias": "tre"})
    four: uuid.UUID = dataclasses.field(default_factory=uuid.uuid4)
    five: float = 2
    six: int = dataclasses.field(default=6, init=False)


def test_names_docs_and_defaults_of_fields() -> None:
    assert avro(Said) == {
        "type": "record",
        "name": "shop.Told",
        "doc": "What it is.",
        "fields": [
            {"name": "uno", "type": "long", "doc": "The first.", "aliases": ["eins", "un"], "default": 1},
            {
                "name": "two",
                "type": [{"type": "enum", "name": "Color", "symbols": ["red", "blue"]}, "null"],
                "default": "red",
            },
            {"name": "tre", "type": "string", "doc": "The third.", "default": "x"},
            {"name": "four", "type": {"type": "string", "logicalType": "uuid"}},
            {"name": "five", "type": "double", "default": 2.0},
        ],
    }
    made = words(Said)
    assert made["description"] == "What it is."
    assert made["properties"]["uno"] == {"type": "integer", "description": "The first.", "default": 1}
    assert "required" not in made, "the class fills in what differs each time"
    assert avro(Said, "ignored")["name"] == "shop.Told"
    assert avro(Item, "shop")["name"] == "shop.Item"


def test_generic_classes_are_named_with_all_they_hold() -> None:
    assert avro(Page[Page[list[int]]])["name"] == "Page_Page_list_int"


def test_a_class_inside_a_function_may_name_itself() -> None:
    @dataclasses.dataclass
    class Inside:
        next: "Inside | None"

    assert avro(Inside)["fields"] == [{"name": "next", "type": ["Inside", "null"]}]
    typed = typed_avro(Inside)
    assert typed.make(typed.take(Inside(Inside(None)))) == Inside(Inside(None))


class Extended(typing_extensions.TypedDict):
    id: Annotated[int, typing_extensions.Doc("Counts.")]
    note: typing_extensions.NotRequired[str]


def test_typing_extensions_are_typing() -> None:
    assert avro(Extended)["fields"] == [
        {"name": "id", "type": "long", "doc": "Counts."},
        {"name": "note", "type": ["null", "string"], "default": None},
    ]
    for derive in (typed_avro, typed_json):
        typed = derive(Extended)
        for value in ({"id": 1}, {"id": 1, "note": "x"}):
            assert typed.make(typed.take(value)) == value


class Stamped(pydantic.BaseModel):
    at: pydantic.AwareDatetime
    local: pydantic.NaiveDatetime
    price: Decimal = pydantic.Field(max_digits=4, decimal_places=1)
    kind: Annotated[Item | Tree | None, pydantic.Field(description="What.")] = None


def test_pydantic_s_own_annotations_count() -> None:
    assert avro(Stamped)["fields"][:3] == [
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "local", "type": {"type": "long", "logicalType": "local-timestamp-micros"}},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 1}},
    ]
    assert avro(Stamped)["fields"][3]["doc"] == "What."


class Camel(msgspec.Struct, rename="camel", tag="c", tag_field="kind"):
    order_id: int


class Snake(msgspec.Struct, tag="s", tag_field="kind"):
    order_id: int


def test_other_libraries_names_and_tags_count() -> None:
    assert avro(Camel)["fields"] == [{"name": "orderId", "type": "long"}]
    assert words(Camel)["properties"]["kind"] == {"const": "c"}
    assert words(Camel)["required"] == ["kind", "orderId"]
    typed = typed_json(list[Camel | Snake])
    plain = typed.take([Camel(1), Snake(2)])
    assert plain == [{"kind": "c", "orderId": 1}, {"kind": "s", "order_id": 2}]
    assert typed.make(plain) == [Camel(1), Snake(2)]


@dataclasses.dataclass
class Holds:
    inner: dict[str, list[Plain]]


@dataclasses.dataclass
class Twice:
    a: list[Annotated[Item, TypeName("X")]]
    b: Annotated[Tree, TypeName("X")]


class Loose(TypedDict):
    at: "NotThere"  # type: ignore[name-defined]  # noqa: F821 (that is the point)


@pytest.mark.parametrize(
    ("kind", "where", "why"),
    [
        (Holds, "Holds.inner{}[]", "Plain has no schema; allowed are bool, int"),
        (dict[float, int], "value", "keys of type float; keys of maps are texts"),
        (list, "value", r"list without a type of its items; list\[int\]"),
        (tuple, "value", "a tuple without types"),
        (Page, "Page.of[]", "the type variable ~T stands for nothing"),
        (Twice, "Twice.b", "two types are called X"),
        (Annotated[int, StoredAs("millis")], "value", r"StoredAs\('millis'\) does not go with int; allowed: int, long"),
        (Annotated[Decimal, DecimalDigits(2, 5)], "value", "a Decimal of 2 digits can't have 5"),
        (Literal[1.5], "value", "a Literal of something else"),
        (Loose, "value", "an annotation of Loose is not known here"),
        (Annotated[Item, TypeName("a-b.7")], "value", "is no name of a type"),
        pytest.param(lambda: 1, "value", "has no schema", id="function"),
    ],
    ids=str,
)
def test_what_has_no_schema_says_where(kind: Any, where: str, why: str) -> None:
    for derive in (typed_avro, typed_json):
        with pytest.raises(NoSchemaError, match=why) as caught:
            derive(kind)
        assert caught.value.path == where


@dataclasses.dataclass
class Wrong:
    count: int = cast("int", "x")


@dataclasses.dataclass
class Endless:
    price: float = float("inf")


@pytest.mark.parametrize(
    ("kind", "where", "why"),
    [
        (Any, "value", "Avro has no type for any value"),
        (Decimal, "value", "Avro stores a Decimal with a number of digits"),
        (list[int] | list[str], "value", "two types that Avro both stores as array"),
        (str | uuid.UUID, "value", "two types that Avro both stores as string"),
        (dict[str, int | dt.timedelta], "value{}", "two types that Avro both stores as long"),
        (Wrong, "Wrong.count", "the default 'x' has no form in the schema"),
        (Endless, "Endless.price", "the default inf has no form"),
    ],
    ids=str,
)
def test_what_avro_can_t_say_is_told(kind: Any, where: str, why: str) -> None:
    with pytest.raises(NoSchemaError, match=why) as caught:
        typed_avro(kind)
    assert caught.value.path == where


@pytest.mark.parametrize(
    ("kind", "value", "why"),
    [
        (list[Item], [Item("a"), 5], r"\[1\]: 5 is a int, not a Item"),
        (dt.datetime, dt.datetime(2020, 1, 1), "a datetime without a zone"),  # noqa: DTZ001 (that is the point)
        (Annotated[dt.datetime, StoredAs("local")], dt.datetime(2020, 1, 1, tzinfo=dt.UTC), "a datetime with a zone"),
        (dt.date, dt.datetime(2020, 1, 1, tzinfo=dt.UTC), "a datetime, where the field is a date"),
        (Annotated[dt.time, StoredAs("millis")], dt.time(1, 2, 3, 4), "parts of a millisecond"),
        (Annotated[Decimal, DecimalDigits(3, 1)], Decimal("1.25"), "does not fit 3 digits"),
        (Annotated[Decimal, DecimalDigits(3, 1)], Decimal(1000), "does not fit 3 digits"),
        (Annotated[Decimal, DecimalDigits(3, 1)], Decimal("NaN"), "does not fit 3 digits"),
        (Annotated[bytes, FixedSize(2)], b"abc", "is not 2 bytes"),
        (Literal["a"], "b", "'b' is none of 'a'"),
        (int | str, 1.5, "1.5 is a float; allowed are"),
        (Color, "red", "'red' is no Color"),
        (dict[str, Item], {"k": 1}, r"\[k\]: 1 is a int"),
        (tuple[int, str], (1,), "is no tuple of 2"),
        (Tree, Tree([], cast("Tree", 5)), "parent: 5 is a int"),
    ],
    ids=str,
)
def test_what_is_not_of_its_type_says_where(kind: Any, value: object, why: str) -> None:
    for derive in (typed_avro, typed_json):
        with pytest.raises(MisfitError, match=why):
            derive(kind).take(value)


def test_precisions_that_fit_are_kept() -> None:
    typed = typed_avro(Annotated[Decimal, DecimalDigits(5, 2)])
    assert [typed.take(Decimal(each)) for each in ("1", "1.5", "1.500", "-999.99", "1E+2")] == [
        Decimal("1.00"),
        Decimal("1.50"),
        Decimal("1.50"),
        Decimal("-999.99"),
        Decimal("100.00"),
    ]
