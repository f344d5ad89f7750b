"""Avro serializers over any registry: values go out framed and come back, and what can't is told by its code."""

import datetime as dt
import decimal
import io
import json
import threading
from collections.abc import Callable
from typing import Any

import fastavro
import pytest

from tests.behaviours.test_registry import V1, V2, V3, record
from treaty.client.connection import Connection
from treaty.client.serializers.avro import AvroDeserializer, AvroSerializer
from treaty.client.serializers.errors import BadRecordError, BadValueError, RecordErrorCode
from treaty.client.serializers.frames import encode_guid, encode_id
from treaty.client.serializers.settings import (
    AutoRegister,
    DeserializerSettings,
    MustExist,
    SerializerSettings,
    UseId,
    UseLatest,
)
from treaty.client.serializers.subject_names import record_name, topic_name, topic_record_name
from treaty.core.messages.request import Request
from treaty.core.refusals import Incompatible, SchemaNotFound, SubjectNotFound, Unavailable
from treaty.core.registry import CALL, CallOptions, Reply
from treaty.core.schema import Draft, Reference

MONEY = record("cents:long", name="shop.Money")
PRICED = Draft(
    json.dumps(
        {
            "type": "record",
            "name": "shop.Priced",
            "fields": [
                {"name": "price", "type": "shop.Money"},
                {"name": "tip", "type": ["null", "Money"], "default": None},
            ],
        }
    ),
    references=(Reference("shop.Money", "money", 1),),
)


def test_a_value_goes_out_framed_and_comes_back(connection: Connection) -> None:
    write, read = AvroSerializer(connection, V2), AvroDeserializer(connection)
    framed = write({"id": 7, "note": "hi"}, "orders")
    assert framed.data == b"\x00\x00\x00\x00\x01" + b"\x0e\x02\x04hi"
    assert (framed.headers, framed.schema_id) == ((), 1)
    assert read(framed.data, "orders") == {"id": 7, "note": "hi"}
    assert connection.subjects() == ("orders-value",)
    opened = read.open(framed.data)
    assert opened.writer_schema.guid == framed.guid == connection.version("orders-value").guid


def test_a_delete_marker_passes_both_ways(connection: Connection) -> None:
    assert AvroSerializer(connection, V1)(None, "orders").data is None
    assert AvroDeserializer(connection)(None, "orders") is None
    assert connection.subjects() == ()


def test_the_guid_travels_in_a_header(connection: Connection) -> None:
    write = AvroSerializer(connection, V1, SerializerSettings(framing="header"))
    framed = write({"id": 7}, "orders", "key")
    assert framed.data == b"\x0e"
    assert framed.headers == (("__key_schema_id", encode_guid(framed.guid)),)
    read = AvroDeserializer(connection)
    assert read(framed.data, "orders", "key", framed.headers) == {"id": 7}
    assert read(encode_guid(framed.guid) + b"\x0e", "orders") == {"id": 7}


@pytest.mark.parametrize(
    ("strategy", "subject"),
    [(topic_name, "orders-value"), (record_name, "shop.Order"), (topic_record_name, "orders-shop.Order")],
)
def test_the_strategy_names_the_subject(connection: Connection, strategy: Any, subject: str) -> None:
    AvroSerializer(connection, V1, SerializerSettings(name_strategy=strategy))({"id": 1}, "orders")
    assert connection.subjects() == (subject,)


def test_a_strategy_that_lacks_a_word_says_so(connection: Connection) -> None:
    with pytest.raises(ValueError, match="needs a topic"):
        AvroSerializer(connection, V1)({"id": 1})
    with pytest.raises(ValueError, match="record type with a name"):
        AvroSerializer(connection, '"long"', SerializerSettings(name_strategy=record_name))(1, "orders")


def test_many_writers_are_read_as_one_reader(connection: Connection) -> None:
    old = AvroSerializer(connection, V1)({"id": 1}, "orders").data
    new = AvroSerializer(connection, V3)({"id": 2, "note": "n", "price": 1.5}, "orders").data
    latest = AvroDeserializer(connection, UseLatest())
    assert latest(old, "orders") == {"id": 1, "note": None, "price": None}
    assert latest(new, "orders") == {"id": 2, "note": "n", "price": 1.5}
    mine = AvroDeserializer(connection, record("id:double", "extra:string?"))
    assert mine(new, "orders") == {"id": 2.0, "extra": None}
    as_written = AvroDeserializer(connection)
    assert (as_written(old), as_written(new)) == ({"id": 1}, {"id": 2, "note": "n", "price": 1.5})


def test_a_reader_that_cannot_read_the_writer_says_so(connection: Connection) -> None:
    data = AvroSerializer(connection, V1)({"id": 1}, "orders").data
    with pytest.raises(BadRecordError) as caught:
        AvroDeserializer(connection, record("id:long", "must:string"))(data, "orders")
    assert caught.value.code == RecordErrorCode.RESOLUTION
    assert caught.value.schema == 1


def test_who_may_not_register_must_find_it_there(connection: Connection) -> None:
    write = AvroSerializer(connection, V1, SerializerSettings(choice=MustExist()))
    with pytest.raises(SubjectNotFound):
        write({"id": 1}, "orders")
    connection.register("orders-value", V2)
    with pytest.raises(SchemaNotFound):
        AvroSerializer(connection, V1, SerializerSettings(choice=MustExist()))({"id": 1}, "orders")
    connection.register("orders-value", V1)
    assert AvroSerializer(connection, V1, SerializerSettings(choice=MustExist()))({"id": 1}, "orders").schema_id == 2
    assert connection.versions("orders-value") == (1, 2)


def test_the_latest_version_may_be_written_with_unseen(connection: Connection) -> None:
    connection.register("orders-value", V2)
    write = AvroSerializer(connection, settings=SerializerSettings(choice=UseLatest()))
    assert write({"id": 1, "note": None}, "orders").schema_id == 1
    with pytest.raises(BadValueError, match="note"):
        write({"id": 1, "note": 5}, "orders")


def test_an_id_may_be_written_with(connection: Connection) -> None:
    connection.register("elsewhere", V1)
    write = AvroSerializer(connection, settings=SerializerSettings(choice=UseId(1)))
    assert write({"id": 3}, "orders").data == b"\x00\x00\x00\x00\x01\x06"
    with pytest.raises(SchemaNotFound):
        AvroSerializer(connection, settings=SerializerSettings(choice=UseId(9)))({"id": 3}, "orders")
    assert connection.subjects() == ("elsewhere",)


def test_a_serializer_without_schema_must_say_where_it_comes_from(connection: Connection) -> None:
    with pytest.raises(ValueError, match="AutoRegister needs a schema"):
        AvroSerializer(connection, settings=SerializerSettings(choice=AutoRegister()))


def test_an_incompatible_schema_stops_the_producer(connection: Connection) -> None:
    connection.register("orders-value", V1)
    write = AvroSerializer(connection, record("id:long", "must:string"))
    with pytest.raises(Incompatible):
        write({"id": 1, "must": "x"}, "orders")


def test_references_are_followed_on_both_sides(connection: Connection) -> None:
    connection.register("money", MONEY)
    value = {"price": {"cents": 5}, "tip": {"cents": 1}}
    data = AvroSerializer(connection, PRICED)(value, "sales").data
    assert AvroDeserializer(connection)(data) == value
    assert AvroDeserializer(connection, UseLatest())(data, "sales") == value
    top = Draft('["null","shop.Money"]', references=PRICED.references)
    data = AvroSerializer(connection, top)({"cents": 9}, "tips").data
    assert AvroDeserializer(connection)(data) == {"cents": 9}


def test_references_of_references_are_followed_once(connection: Connection) -> None:
    connection.register("money", MONEY)
    connection.register("priced", PRICED)
    both = Draft(
        '{"type":"record","name":"shop.Cart","fields":[{"name":"one","type":"Priced"},{"name":"sum","type":"Money"}]}',
        references=(Reference("shop.Priced", "priced", 1), Reference("shop.Money", "money", 1)),
    )
    value = {"one": {"price": {"cents": 5}, "tip": None}, "sum": {"cents": 5}}
    data = AvroSerializer(connection, both)(value, "carts").data
    assert AvroDeserializer(connection)(data) == value


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ('"string"', "text"),
        ('"long"', -5),
        ('"bytes"', b"raw"),
        ('["null","string"]', "text"),
        ('{"type":"array","items":"int"}', [1, 2, 3]),
        ('{"type":"map","values":"double"}', {"a": 1.5}),
        ('{"type":"long","logicalType":"timestamp-micros"}', dt.datetime(2026, 1, 2, 3, 4, 5, 6, dt.UTC)),
        ('{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}', decimal.Decimal("12.34")),
        ('{"type":"enum","name":"E","symbols":["A","B"]}', "B"),
        ('{"type":"fixed","name":"F","size":2}', b"ab"),
    ],
)
def test_any_top_level_type_goes_there_and_back(connection: Connection, schema: str, value: object) -> None:
    data = AvroSerializer(connection, schema)(value, "any").data
    assert AvroDeserializer(connection)(data) == value


def test_bytes_alone_are_the_payload_itself(connection: Connection) -> None:
    data = AvroSerializer(connection, '"bytes"')(b"raw", "any").data
    assert data == encode_id(1) + b"raw"
    assert AvroDeserializer(connection, '{"type":"bytes","doc":"x"}')(data) == b"raw"
    assert AvroDeserializer(connection, '"string"')(data) == "raw"
    with pytest.raises(BadRecordError, match="RESOLUTION"):
        AvroDeserializer(connection, '"long"')(data)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"id": "seven"}, "shop.Order.id: 'seven' is a str, the schema requires long"),
        ({"id": 2**70}, "shop.Order.id"),
        ({}, "shop.Order.id"),
        ({"id": 1, "oops": 2}, "oops"),
        ([1], "value: [1] is a list"),
    ],
)
def test_a_value_that_does_not_fit_says_where(connection: Connection, value: object, told: str) -> None:
    with pytest.raises(BadValueError) as caught:
        AvroSerializer(connection, V1)(value, "orders")
    assert told in str(caught.value)


@pytest.fixture
def framed(connection: Connection) -> tuple[AvroDeserializer, bytes]:
    data = AvroSerializer(connection, V2)({"id": 300, "note": "hello"}, "orders").data
    assert data is not None
    return AvroDeserializer(connection), data


DAMAGES: dict[str, tuple[Callable[[bytes], bytes], RecordErrorCode]] = {
    "nothing": (lambda _: b"", RecordErrorCode.TOO_SHORT),
    "half a frame": (lambda data: data[:4], RecordErrorCode.TOO_SHORT),
    "another magic": (lambda data: b"\x09" + data[1:], RecordErrorCode.BAD_MAGIC),
    "JSON": (lambda data: b"{" + data[1:], RecordErrorCode.BAD_MAGIC),
    "another id": (lambda data: b"\x00\x00\x00\x00\x63" + data[5:], RecordErrorCode.UNKNOWN_ID),
    "no id at all": (lambda data: b"\x00\xff\xff\xff\xff" + data[5:], RecordErrorCode.UNKNOWN_ID),
    "another guid": (
        lambda data: encode_guid("12345678-1234-1234-1234-123456789012") + data[5:],
        RecordErrorCode.UNKNOWN_ID,
    ),
    "cut": (lambda data: data[:-1], RecordErrorCode.MALFORMED),
    "empty": (lambda data: data[:5], RecordErrorCode.MALFORMED),
    "branch below": (lambda data: data[:7] + b"\x01" + data[8:], RecordErrorCode.MALFORMED),
    "branch above": (lambda data: data[:7] + b"\x08" + data[8:], RecordErrorCode.MALFORMED),
    "length": (lambda data: data[:8] + b"\xfe\xff\xff\xff\x0f" + data[9:], RecordErrorCode.MALFORMED),
    "no UTF-8": (lambda data: data[:9] + b"\xff\xff" + data[11:], RecordErrorCode.MALFORMED),
    "one more": (lambda data: data + b"\x00", RecordErrorCode.TRAILING),
    "twice": (lambda data: data + data, RecordErrorCode.TRAILING),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_each_kind_of_damage_has_its_code(framed: tuple[AvroDeserializer, bytes], damage: str) -> None:
    read, data = framed
    spoil, code = DAMAGES[damage]
    assert read(data) == {"id": 300, "note": "hello"}
    with pytest.raises(BadRecordError) as caught:
        read(spoil(data))
    assert caught.value.code == code
    assert caught.value.message


def test_what_other_libraries_write_is_read(connection: Connection) -> None:
    made = connection.register("orders-value", V2).version
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(json.loads(V2)), {"id": -1, "note": None})
    assert AvroDeserializer(connection)(encode_id(made.schema_id) + out.getvalue()) == {"id": -1, "note": None}


def test_ids_of_another_context_are_read_by_naming_it(connection: Connection) -> None:
    connection.register("default", V1)
    data = AvroSerializer(connection, V2)({"id": 1, "note": "x"}, ":.shop:orders").data
    assert data is not None
    assert data[:5] == encode_id(1)
    assert AvroDeserializer(connection, settings=DeserializerSettings(context=".shop"))(data) == {"id": 1, "note": "x"}


class Counted:
    """A registry that counts what passes, and can be out of order."""

    def __init__(self, registry: Connection) -> None:
        self.registry = registry
        self.asked: list[Request[Any]] = []
        self.down = False

    def ask(self, request: Request[Any], call: CallOptions = CALL) -> Reply[Any]:
        self.asked.append(request)
        if self.down:
            raise Unavailable("out of order")
        return self.registry.ask(request, call)

    def close(self) -> None:
        pass


def test_the_registry_is_asked_once_for_each_schema(connection: Connection) -> None:
    counted = Counted(connection)
    write = AvroSerializer(counted, V1)
    framed = [write({"id": n}, "orders").data for n in range(50)]
    assert len(counted.asked) == 1
    counted.asked.clear()
    read = AvroDeserializer(counted)
    threads = [threading.Thread(target=lambda: [read(data) for data in framed]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(counted.asked) == 1


def test_a_registry_out_of_order_makes_no_record_bad(connection: Connection) -> None:
    data = AvroSerializer(connection, V1)({"id": 1}, "orders").data
    counted = Counted(connection)
    read = AvroDeserializer(counted)
    counted.down = True
    with pytest.raises(Unavailable):
        read(data)
    counted.down = False
    assert read(data) == {"id": 1}
