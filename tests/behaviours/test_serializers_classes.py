"""Serializers with Python classes, and the schemas they choose to write with, over any registry."""

import dataclasses
import datetime as dt
import json
from collections.abc import Callable
from typing import Annotated, Any

import pydantic
import pytest

from tests.behaviours.scripted import Say, Script, scripted
from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.client.serializers.avro import AvroDeserializer, AvroSerializer
from treaty.client.serializers.errors import BadRecordError, BadValueError, RecordErrorCode
from treaty.client.serializers.jsonschema import JsonDeserializer, JsonSerializer
from treaty.client.serializers.settings import (
    AutoRegister,
    Deserializer,
    DeserializerSettings,
    Serializer,
    SerializerSettings,
    UseId,
    UseLatest,
    UseLatestWith,
)
from treaty.client.serializers.subject_names import AssociatedNameStrategy, record_name, topic_record_name
from treaty.client.types.annotations import FieldAliases
from treaty.client.types.classes import class_of
from treaty.client.types.typed import typed_avro, typed_json
from treaty.core.messages.associations import Associate, AssociationSpec, Resource
from treaty.core.names import subject_of
from treaty.core.refusals import SchemaNotFound
from treaty.core.schema import Draft, Metadata


@dataclasses.dataclass
class Line:
    sku: str
    count: int = 1


@dataclasses.dataclass
class Gift:
    text: str


@dataclasses.dataclass
class Order:
    """An order."""

    id: int
    lines: list[Line | Gift]
    at: dt.datetime | None = None


@dataclasses.dataclass
class Wider:
    __schema_name__ = "Order"
    number: Annotated[int, FieldAliases("id")]
    lines: list[Line | Gift]
    at: dt.datetime | None = None
    note: str = "none"


class Narrow(pydantic.BaseModel):
    __schema_name__ = "Order"
    id: int = pydantic.Field(lt=100)


ORDER = Order(7, [Line("a"), Gift("hi"), Line("b", 2)], dt.datetime(2026, 1, 2, tzinfo=dt.UTC))
Make = tuple[Callable[..., Serializer], Callable[..., Deserializer]]
AVRO: Make = (AvroSerializer, AvroDeserializer)
JSON: Make = (JsonSerializer, JsonDeserializer)


@pytest.mark.parametrize(("write", "read"), [AVRO, JSON], ids=["avro", "json"])
def test_values_of_a_class_go_out_and_come_back(
    connection: Connection, write: Callable[..., Serializer], read: Callable[..., Deserializer]
) -> None:
    framed = write(connection, Order)(ORDER, "orders")
    assert read(connection, Order)(framed.data, "orders") == ORDER
    assert connection.versions("orders-value") == (1,)
    write(connection, Order)(ORDER, "orders")
    assert connection.versions("orders-value") == (1,), "the same class is the same schema"
    with pytest.raises(BadValueError, match=r"lines\[0\]"):
        write(connection, Order)(Order(1, [5]), "orders")  # type: ignore[list-item]  # that is the point


def test_a_class_reads_what_an_older_one_wrote(connection: Connection) -> None:
    old = AvroSerializer(connection, Order)(ORDER, "orders").data
    assert AvroDeserializer(connection, Wider)(old) == Wider(7, ORDER.lines, ORDER.at)
    new = AvroSerializer(connection, Wider)(Wider(8, [], None, "x"), "orders").data
    assert connection.versions("orders-value") == (1, 2)
    assert AvroDeserializer(connection, Wider)(new) == Wider(8, [], None, "x")
    assert AvroDeserializer(connection, Narrow)(old) == Narrow(id=7)
    big = AvroSerializer(connection, Order)(Order(1000, []), "orders").data
    with pytest.raises(BadRecordError, match="Order does not take it") as bad:
        AvroDeserializer(connection, Narrow)(big)
    assert bad.value.code == RecordErrorCode.INVALID


def test_a_new_optional_property_breaks_no_json_class(connection: Connection) -> None:
    @dataclasses.dataclass
    class More:
        __schema_name__ = "Order"
        id: int
        lines: list[Line | Gift]
        at: dt.datetime | None = None
        note: str = "none"

    old = JsonSerializer(connection, Order)(ORDER, "orders").data
    new = JsonSerializer(connection, More)(More(1, [], note="x"), "orders").data
    assert connection.versions("orders-value") == (1, 2)
    read = JsonDeserializer(connection, More)
    assert (read(old), read(new)) == (More(7, ORDER.lines, ORDER.at), More(1, [], note="x"))
    with pytest.raises(BadRecordError) as bad:
        JsonDeserializer(connection, Line)(old)
    assert (bad.value.code, bad.value.message) == (RecordErrorCode.INVALID, "sku: missing")


def test_any_annotation_and_a_namespace(connection: Connection) -> None:
    every = typed_avro(list[int | str | None])
    data = AvroSerializer(connection, every)([1, "a", None], "any").data
    assert AvroDeserializer(connection, every)(data) == [1, "a", None]
    AvroSerializer(connection, typed_avro(Order, "shop"), SerializerSettings(name_strategy=record_name))(
        ORDER, "orders"
    )
    JsonSerializer(connection, typed_json(Order, "web"), SerializerSettings(name_strategy=topic_record_name))(
        ORDER, "orders"
    )
    assert connection.subjects() == ("any-value", "orders-web.Order", "shop.Order")


def test_several_classes_in_one_topic(connection: Connection) -> None:
    by_record = SerializerSettings(name_strategy=topic_record_name)
    line = AvroSerializer(connection, Line, by_record)(Line("a"), "mixed").data
    gift = AvroSerializer(connection, Gift, by_record)(Gift("b"), "mixed").data
    either = AvroDeserializer(connection, typed_avro(Line | Gift))
    assert (either(line), either(gift)) == (Line("a"), Gift("b"))
    assert connection.subjects() == ("mixed-Gift", "mixed-Line")


def test_a_class_made_from_the_registry_s_schema(connection: Connection) -> None:
    AvroSerializer(connection, Order)(ORDER, "orders")
    made = class_of(connection.version("orders-value").text)
    framed = AvroSerializer(connection, made)(made(id=1, lines=[]), "orders")
    assert connection.versions("orders-value") == (1,)
    assert AvroDeserializer(connection, Order)(framed.data) == Order(1, [])
    assert AvroDeserializer(connection, made)(framed.data) == made(id=1, lines=[])


def test_what_is_found_must_read_what_is_written(connection: Connection) -> None:
    text = '{"type":"record","name":"Line","fields":[{"name":"sku","type":"string"},{"name":"count","type":"double","default":0}]}'
    wide = connection.register("lines-value", text).version.schema_id
    other = '{"type":"record","name":"Line","fields":[{"name":"sku","type":"long"}]}'
    wrong = connection.register("elsewhere", other).version.schema_id
    for choose in (UseLatest(), UseId(wide)):
        data = AvroSerializer(connection, Line, SerializerSettings(choose))(Line("a", 3), "lines").data
        assert AvroDeserializer(connection)(data) == {"sku": "a", "count": 3.0}
    with pytest.raises(
        BadValueError, match=r"schema \d can't read what this serializer's own schema writes: .*found.*own"
    ):
        AvroSerializer(connection, Line, SerializerSettings(UseId(wrong)))(Line("a"), "lines")
    with pytest.raises(BadValueError, match=r"Line.sku|more fields"):
        AvroSerializer(connection, Line, SerializerSettings(UseId(wrong, strict=False)))(Line("a"), "lines")
    schema = '{"type":"object","properties":{"sku":{"type":"integer"}}}'
    connection.register("json-value", Draft(schema, "JSON"))
    with pytest.raises(BadValueError, match="version 1 of json-value can't read"):
        JsonSerializer(connection, Line, SerializerSettings(UseLatest()))(Line("a"), "json")


def test_the_latest_version_with_a_property(connection: Connection) -> None:
    def version(major: str, name: str) -> Draft:
        text = {"type": "record", "name": "R", "fields": [{"name": name, "type": ["null", "string"], "default": None}]}
        return Draft(json.dumps(text), metadata=Metadata(properties=(("major", major),)))

    connection.register("r-value", version("1", "a"))
    connection.register("r-value", version("2", "b"))
    first = UseLatestWith((("major", "1"),))
    write = AvroSerializer(connection, settings=SerializerSettings(first))
    data = write({"a": "x"}, "r").data
    assert AvroDeserializer(connection)(data) == {"a": "x"}
    assert AvroDeserializer(connection, UseLatestWith((("major", "2"),)))(data, "r") == {"b": None}
    with pytest.raises(BadValueError):
        write({"b": "x"}, "r")
    with pytest.raises(SchemaNotFound):
        AvroSerializer(connection, settings=SerializerSettings(UseLatestWith((("major", "3"),))))({"a": "x"}, "r")
    assert AvroSerializer(connection, settings=SerializerSettings(first))({"a": "y"}, "r").schema_id == 1


def test_what_is_prepared_is_not_asked_for_again(connection: Connection) -> None:
    write = AvroSerializer(connection, Line)
    write.prepare("lines")
    assert connection.subjects() == ("lines-value",)
    assert write(Line("a"), "lines").schema_id == 1


def test_normalized_schemas_are_one(connection: Connection) -> None:
    one = '{"type":"record","name":"R","fields":[{"name":"a","type":"int","order":"ascending"}]}'
    other = '{"fields":[{"type":"int","name":"a"}],"type":"record","name":"R"}'
    for text in (one, other):
        AvroSerializer(connection, text, SerializerSettings(AutoRegister(normalize=True)))({"a": 1}, "r")
    assert connection.versions("r-value") == (1,)


# ----------------------------------------------------------------------------------------------------- associations


def association(subject: str) -> dict[str, Any]:
    return {
        "subject": subject,
        "guid": "g",
        "resourceName": "orders",
        "resourceNamespace": "lkc-1",
        "resourceId": "id",
        "resourceType": "topic",
        "associationType": "value",
        "lifecycle": "WEAK",
        "frozen": False,
    }


def asked(script: Script) -> list[str]:
    return [seen.target for seen in script.seen if "/associations/" in seen.target]


REGISTERED = Say(200, {"id": 1, "version": 1, "guid": "12345678-1234-1234-1234-123456789012", "schema": '"long"'})


def test_the_registry_names_the_subject_that_a_topic_has() -> None:
    with scripted(Say(200, [association("shop.Order")]), REGISTERED) as script, connect(script.url) as connection:
        write = AvroSerializer(connection, '"long"', SerializerSettings(name_strategy=AssociatedNameStrategy()))
        for number in range(3):
            assert write(number, "orders").schema_id == 1
        assert len(asked(script)) == 1
        assert asked(script)[0].startswith("/associations/resources/-/orders?")
        assert {"resourceType=topic", "associationType=value"} <= set(asked(script)[0].partition("?")[2].split("&"))
        assert script.seen[1].target.startswith("/subjects/shop.Order/versions")


@pytest.mark.parametrize(
    ("answer", "fallback", "subject"),
    [
        (Say(200, []), "topic", "orders-value"),
        (Say(404, {"error_code": 404, "message": "HTTP 404 Not Found"}), "topic", "orders-value"),
        (Say(404, {"error_code": 404, "message": "HTTP 404 Not Found"}), "record", "R"),
        (Say(200, []), "topic-record", "orders-R"),
    ],
    ids=str,
)
def test_a_topic_without_association_falls_back(answer: Say, fallback: Any, subject: str) -> None:
    schema = '{"type":"record","name":"R","fields":[]}'
    with scripted(answer, REGISTERED) as script, connect(script.url) as connection:
        write = AvroSerializer(connection, schema, SerializerSettings(name_strategy=AssociatedNameStrategy(fallback)))
        for _ in range(3):
            write.prepare("orders")
        assert len(asked(script)) == 1
        assert script.seen[-1].target.startswith(f"/subjects/{subject}/versions")


def test_no_fallback_and_more_than_one_association_are_errors() -> None:
    with scripted(Say(200, [])) as script, connect(script.url) as connection:
        write = AvroSerializer(
            connection, '"long"', SerializerSettings(name_strategy=AssociatedNameStrategy("none", cluster="lkc-1"))
        )
        with pytest.raises(ValueError, match="associates no subject with values of topic orders"):
            write(1, "orders")
        assert asked(script)[0].startswith("/associations/resources/lkc-1/orders?")
    two = [association("a"), association("b")]
    with scripted(Say(200, two)) as script, connect(script.url) as connection:
        write = AvroSerializer(connection, '"long"', SerializerSettings(name_strategy=AssociatedNameStrategy()))
        with pytest.raises(ValueError, match="more than one subject: a, b"):
            write(1, "orders")


def test_a_registry_without_associations_has_none(connection: Connection) -> None:
    write = AvroSerializer(connection, Line, SerializerSettings(name_strategy=AssociatedNameStrategy()))
    write(Line("a"), "lines", "key")
    assert connection.subjects() == ("lines-key",)


def test_a_topic_that_is_bound_to_a_subject(connection: Connection) -> None:
    draft = typed_avro(Line).draft
    connection.register("shop.Line", draft)
    wish = AssociationSpec("value", subject_of("shop.Line"))
    connection.ask(Associate(Resource("lines", "lkc-1", "topic-1"), (wish,)))
    write = AvroSerializer(connection, Line, SerializerSettings(name_strategy=AssociatedNameStrategy()))
    read = AvroDeserializer(connection, UseLatest(), DeserializerSettings(name_strategy=AssociatedNameStrategy()))

    assert read(write(Line("a"), "lines").data, "lines") == {"sku": "a", "count": 1}
    assert connection.subjects() == ("shop.Line",)
