"""Classes that change, classes that judge, and classes made from schemas."""

import dataclasses
import datetime as dt
import uuid
from decimal import Decimal
from typing import Annotated, Any, Literal, cast

import pydantic
import pytest

from tests.laws.test_types_words import Color, Item, Tree
from treaty.client.serializers import avro_codec
from treaty.client.types.annotations import DecimalDigits, FieldAliases, FixedSize
from treaty.client.types.classes import class_of
from treaty.client.types.errors import MisfitError, NoSchemaError
from treaty.client.types.typed import typed_avro, typed_json
from treaty.core.names import Subject
from treaty.core.registry import Registry
from treaty.core.schema import Draft

NOBODY = cast("Registry", None)


@dataclasses.dataclass
class Order1:
    __schema_name__ = "Order"
    id: int
    gone: str
    eins: int


@dataclasses.dataclass
class Order2:
    __schema_name__ = "Order"
    id: float
    uno: Annotated[int, FieldAliases("eins")]
    pay: Item | Tree | None = None
    color: Color = Color.BLUE
    tags: set[str] = dataclasses.field(default_factory=lambda: {"new"})
    at: dt.datetime = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
    price: Annotated[Decimal, DecimalDigits(5, 2)] = Decimal("1.50")


class Model2(pydantic.BaseModel):
    __schema_name__ = "Order"
    id: int
    more: list[Item] = pydantic.Field(default_factory=list)


def test_a_class_with_new_defaulted_fields_reads_old_data() -> None:
    old, new = typed_avro(Order1), typed_avro(Order2)
    writer, reader = (avro_codec.make_avro_codec(NOBODY, one.draft.text, (), Subject(".", "")) for one in (old, new))
    payload = avro_codec.write_payload(writer, old.take(Order1(7, "x", 9)), check=True, tagged=True)
    assert new.make(avro_codec.read_payload(writer, reader, payload, 1, tagged=True)) == Order2(7.0, 9)

    model = typed_avro(Model2)
    reader = avro_codec.make_avro_codec(NOBODY, model.draft.text, (), Subject(".", ""))
    assert model.make(avro_codec.read_payload(writer, reader, payload, 1, tagged=True)) == Model2(id=7)


def test_json_of_another_version_is_read() -> None:
    new = typed_json(Order2)
    assert new.make({"id": 7, "uno": 1, "unknown": True}) == Order2(7, 1)
    with pytest.raises(MisfitError, match="uno: missing"):
        new.make({"id": 7})
    with pytest.raises(MisfitError, match=r"pay.sku: missing|pay.children: missing"):
        new.make({"id": 7, "uno": 1, "pay": {}})


@pytest.mark.parametrize(
    ("kind", "plain", "why"),
    [
        (int, "5", "'5' is a str, not a int"),
        (int, True, "True is a bool, not a int"),
        (int, 1.5, "1.5 is a float, not a int"),
        (float, "5", "not a float"),
        (str, 5, "not a str"),
        (bool, 1, "not a bool"),
        (dt.datetime, 5, "not a datetime"),
        (dt.datetime, "noon", "'noon' is no date and time"),
        (uuid.UUID, 5, "not a UUID"),
        (uuid.UUID, "x", "'x' is no UUID"),
        (dt.timedelta, "x", "'x' is no length of time"),
        (bytes, "?", "is no base64"),
        (Decimal, "x", "is no decimal number"),
        (Color, "green", "'green' is no Color"),
        (Literal[1], True, "True is none of 1"),
        (list[int], {"a": 1}, "is no array"),
        (list[int], [1, "x"], r"\[1\]: 'x' is a str"),
        (dict[str, int], [1], "is no map"),
        (dict[int, int], {"x": 1}, "'x' is no key"),
        (tuple[int, str], [1], "is no array of 2"),
        (int | None, "x", "of no branch|not a int"),
        (Item, 5, "5 is no Item"),
        (Item, {"sku": None}, "sku: None is a NoneType"),
        (Annotated[bytes, FixedSize(2)], "YWJj", "is not 2 bytes"),
    ],
    ids=str,
)
def test_json_that_is_not_of_the_class_says_where(kind: Any, plain: object, why: str) -> None:
    with pytest.raises(MisfitError, match=why):
        typed_json(kind).make(plain)


def test_json_numbers_that_mean_the_same_are_taken() -> None:
    assert typed_json(int).make(5.0) == 5
    assert type(typed_json(int).make(5.0)) is int
    assert type(typed_json(float).make(5)) is float


def test_a_class_judges_what_it_is_made_of() -> None:
    class Positive(pydantic.BaseModel):
        count: Annotated[int, pydantic.Field(gt=0)]

    for typed in (typed_avro(Positive), typed_json(Positive)):
        assert typed.make({"count": 1}) == Positive(count=1)
        with pytest.raises(MisfitError, match="Positive does not take it"):
            typed.make({"count": 0})


def test_a_class_of_a_schema_with_keywords_defaults_and_other_schemas() -> None:
    money = '{"type":"record","name":"shop.Money","fields":[{"name":"cents","type":"long"}]}'
    text = """{"type":"record","name":"Order","namespace":"shop","doc":"An order.","fields":[
      {"name":"class","type":"string","default":"x"},
      {"name":"price","type":"Money"},
      {"name":"tip","type":"shop.Money","default":{"cents":5}},
      {"name":"state","type":{"type":"enum","name":"State","symbols":["NEW","mro","name"]},"default":"mro"},
      {"name":"hash","type":{"type":"fixed","name":"Hash","size":2},"default":"\\u00ff\\u0001"},
      {"name":"at","type":{"type":"long","logicalType":"timestamp-millis"},"default":1000},
      {"name":"took","type":{"type":"long","logicalType":"timedelta-micros"},"default":7},
      {"name":"sum","type":{"type":"fixed","name":"Sum","size":4,"logicalType":"decimal","precision":5,"scale":2}},
      {"name":"list","type":{"type":"array","items":["null","string"]},"default":["a"]},
      {"name":"map","type":{"type":"map","values":"double"},"default":{"a":1}}]}"""
    order = class_of(text, money)
    money_class = class_of(money)
    made = order(price=money_class(cents=1), sum=Decimal("1.25"))
    assert order.__doc__ == "An order."
    assert (made.class_, made.tip.cents, made.state.value, made.hash) == ("x", 5, "mro", b"\xff\x01")
    assert (made.at, made.took) == (dt.datetime(1970, 1, 1, 0, 0, 1, tzinfo=dt.UTC), dt.timedelta(microseconds=7))
    assert (made.list, made.map) == (["a"], {"a": 1.0})
    assert order(price=1, sum=1).list is not made.list

    small = class_of(text.replace('"Money"', money).replace("shop.Money", "shop.Money"), money)
    assert small.__annotations__["tip"] == small.__annotations__["tip"]
    for wrong in ("{", '["null"', "[]", '"Nobody"', '{"type":"array"}', '{"type":5}'):
        with pytest.raises(NoSchemaError):
            class_of(wrong)


PERSON = Draft(
    """{"title": "shop.Person", "type": "object", "description": "Somebody.", "required": ["first-name", "age"],
    "properties": {
      "first-name": {"type": "string", "description": "As spoken."}, "first_name": {"type": "string"},
      "age": {"type": "integer", "minimum": 0}, "class": {"enum": ["a", "b", null]},
      "at": {"type": "string", "format": "date-time"}, "key": {"type": ["string", "null"], "format": "uuid"},
      "sizes": {"type": "object", "additionalProperties": {"type": "number"}},
      "lines": {"type": "array", "items": {"$ref": "#/definitions/line"}, "default": []},
      "parent": {"$ref": "#"}, "any": {}, "kind": {"const": "x"}, "pair": {"type": "array", "items": [{"type": "integer"}]}},
    "definitions": {"line": {"type": "object", "properties": {"sku": {"type": "string"}}, "required": ["sku"]}}}""",
    "JSON",
)


def test_a_class_that_has_itself_in_a_default() -> None:
    text = """{"title":"T","type":"object","properties":{"all":{"type":"array","items":{"$ref":"#"},"default":[{"n":5}]},
    "none":{"anyOf":[{"$ref":"#"},{"type":"null"}],"default":null},"n":{"type":"integer"}}}"""
    tree: Any = class_of(Draft(text, "JSON"))
    assert typed_json(tree).make({"n": 1}).none is None
    assert typed_json(tree).make({"n": 1, "all": []}).all == []


def test_a_class_of_a_json_schema() -> None:
    person: Any = class_of(PERSON)
    typed = typed_json(person)
    assert person.__doc__ == "Somebody."
    assert typed.draft == PERSON
    assert typed.name == "shop.Person"
    plain = {
        "first-name": "Ada",
        "age": 5,
        "class": "a",
        "at": "2026-01-02T00:00:00+00:00",
        "key": str(uuid.UUID(int=5)),
        "sizes": {"a": 1.5},
        "lines": [{"sku": "x"}],
        "parent": {"first-name": "Eve", "age": 50, "lines": []},
        "any": [1],
        "kind": "x",
        "pair": [1],
    }
    made = typed.make(plain)
    assert (made.first_name, made.first_name_, made.class_, made.parent.parent) == ("Ada", None, "a", None)
    assert (made.at, made.key) == (dt.datetime(2026, 1, 2, tzinfo=dt.UTC), uuid.UUID(int=5))
    assert (made.lines[0].sku, made.pair) == ("x", (1,))
    assert typed.take(made) == plain
    assert typed.take(person(first_name="Bob", age=1)) == {"first-name": "Bob", "age": 1, "lines": []}
    with pytest.raises(MisfitError, match="age: missing"):
        typed.make({"first-name": "Ada"})
    for other, kind in (('{"type":"integer"}', int), ('{"type":["string","null"]}', str | None), ("true", Any)):
        assert class_of(Draft(other, "JSON")) == kind
    with pytest.raises(NoSchemaError, match="leads to nothing inside the schema"):
        class_of(Draft('{"properties":{"a":{"$ref":"other.json"}}}', "JSON"))
    with pytest.raises(NoSchemaError, match="not of PROTOBUF"):
        class_of(Draft("{}", "PROTOBUF"))
