"""Protobuf serializers over any registry, and records that cross over to Confluent's and back."""

from functools import cache
from typing import Any

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer as TheirDeserializer
from confluent_kafka.schema_registry.protobuf import ProtobufSerializer as TheirSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.text_format import Parse
from google.protobuf.timestamp_pb2 import DESCRIPTOR as TIMESTAMP
from hypothesis import given
from hypothesis import strategies as st

from tests.behaviours.served import Served
from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.client.serializers.errors import BadRecordError, BadValueError, RecordErrorCode
from treaty.client.serializers.frames import encode_id
from treaty.client.serializers.message_indexes import FIRST, MAX_INDEX, Path, encode_path, split_path
from treaty.client.serializers.protobuf import ProtobufDeserializer, ProtobufSerializer
from treaty.client.serializers.settings import AutoRegister, MustExist, SerializerSettings, UseId, UseLatest
from treaty.client.serializers.subject_names import record_name, topic_record_name
from treaty.core.limits import SCHEMA_DEPTH
from treaty.core.refusals import SubjectNotFound
from treaty.core.schema import Draft, Reference

MONEY = """
name: "shop/money.proto" package: "shop" syntax: "proto3"
message_type { name: "Money" field { name: "cents" number: 1 type: TYPE_INT64 label: LABEL_OPTIONAL } }
"""
ORDER = """
name: "shop/order.proto" package: "shop" syntax: "proto3"
dependency: "shop/money.proto" dependency: "google/protobuf/timestamp.proto"
message_type { name: "Other" }
message_type {
  name: "Order"
  field { name: "id" number: 1 type: TYPE_INT64 label: LABEL_OPTIONAL }
  field { name: "price" number: 2 type: TYPE_MESSAGE type_name: ".shop.Money" label: LABEL_OPTIONAL }
  field { name: "at" number: 3 type: TYPE_MESSAGE type_name: ".google.protobuf.Timestamp" label: LABEL_OPTIONAL }
  field { name: "lines" number: 4 type: TYPE_MESSAGE type_name: ".shop.Order.Line" label: LABEL_REPEATED }
  nested_type { name: "Empty" }
  nested_type { name: "Line" field { name: "what" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL } }
}
"""


@cache
def kinds() -> tuple[type[Message], type[Message], type[Message]]:
    """Classes of an order, of a line inside it, and of money, which it imports."""
    pool = DescriptorPool()
    pool.AddSerializedFile(TIMESTAMP.serialized_pb)
    for text in (MONEY, ORDER):
        pool.AddSerializedFile(Parse(text, FileDescriptorProto()).SerializeToString())
    order, line, money = (
        GetMessageClass(pool.FindMessageTypeByName(name)) for name in ("shop.Order", "shop.Order.Line", "shop.Money")
    )
    return order, line, money


def order(**members: Any) -> Message:
    made = kinds()[0](**members)
    made.price.cents = 5  # type: ignore[attr-defined]
    return made


def test_a_message_goes_out_framed_and_comes_back(connection: Connection) -> None:
    write = ProtobufSerializer(connection, kinds()[0])
    framed = write(order(id=7), "orders")

    assert framed.data == encode_id(2) + b"\x02\x02" + order(id=7).SerializeToString()
    assert connection.subjects() == ("orders-value", "shop/money.proto")
    assert connection.version("orders-value").references == (Reference("shop/money.proto", "shop/money.proto", 1),)
    assert connection.version("orders-value").text.startswith('syntax = "proto3";')
    assert ProtobufDeserializer(connection, kinds()[0])(framed.data) == order(id=7)
    assert ProtobufDeserializer(connection)(None) is None


def test_without_a_class_one_is_made_from_the_schema(connection: Connection) -> None:
    framed = ProtobufSerializer(connection, kinds()[0])(order(id=7), "orders")
    found = ProtobufDeserializer(connection)(framed.data)

    assert isinstance(found, Message)
    assert found.DESCRIPTOR.full_name == "shop.Order"
    assert found.SerializeToString() == order(id=7).SerializeToString()


def test_a_nested_message_has_its_path(connection: Connection) -> None:
    line = kinds()[1](what="cheese")
    framed = ProtobufSerializer(connection, kinds()[1], SerializerSettings(name_strategy=record_name))(line)

    assert framed.data == encode_id(framed.schema_id) + b"\x04\x02\x02" + line.SerializeToString()
    assert "shop.Order.Line" in connection.subjects()
    assert ProtobufDeserializer(connection, kinds()[1])(framed.data) == line


def test_which_schema_is_written_with(connection: Connection) -> None:
    money = kinds()[2]
    value = money(cents=3)
    with pytest.raises(SubjectNotFound):
        ProtobufSerializer(connection, money, SerializerSettings(MustExist()))(value, "m")
    text = 'syntax = "proto3"; package shop; message Before {} message Money { int64 cents = 1; string more = 2; }'
    made = connection.register("m-value", Draft(text, "PROTOBUF")).version
    for choose in (UseLatest(), UseId(made.schema_id)):
        framed = ProtobufSerializer(connection, money, SerializerSettings(choose))(value, "m")
        assert framed.data == encode_id(made.schema_id) + b"\x02\x02" + value.SerializeToString()
    with pytest.raises(BadValueError, match=r"no message shop\.Order; it has shop\.Before, shop\.Money"):
        ProtobufSerializer(connection, kinds()[0], SerializerSettings(UseLatest()))(order(), "m")
    with pytest.raises(BadValueError, match=r"this serializer writes shop\.Money"):
        ProtobufSerializer(connection, money)(order(), "m")


def test_files_that_are_imported_are_normalized_as_the_schema_is(connection: Connection) -> None:
    """They were registered as they are, and looked up normalized."""
    pool = DescriptorPool()
    extended = MONEY.replace("message_type {", 'message_type { name: "Alpha" } message_type {', 1).replace(
        'name: "cents"', 'name: "note" number: 9 type: TYPE_STRING label: LABEL_OPTIONAL } field { name: "cents"'
    )
    pool.AddSerializedFile(TIMESTAMP.serialized_pb)
    for text in (extended, ORDER):
        pool.AddSerializedFile(Parse(text, FileDescriptorProto()).SerializeToString())
    kind = GetMessageClass(pool.FindMessageTypeByName("shop.Order"))
    for choose in (AutoRegister(normalize=True), MustExist(normalize=True)):
        ProtobufSerializer(connection, kind, SerializerSettings(choose)).prepare("orders")
    text = connection.version("shop/money.proto").text
    assert text.index("cents = 1") < text.index("note = 9")
    assert connection.versions("shop/money.proto") == (1,)


def test_messages_of_any_class_go_into_one_topic(connection: Connection) -> None:
    write = ProtobufSerializer(connection, settings=SerializerSettings(name_strategy=topic_record_name))
    read = ProtobufDeserializer(connection)
    for value in (order(id=1), kinds()[2](cents=5), order(id=2)):
        found = read(write(value, "mixed").data, "mixed")
        assert found.SerializeToString() == value.SerializeToString()
        again = write(found, "again")  # a class made from the registry's schema writes as well
        assert read(again.data).SerializeToString() == value.SerializeToString()
    assert {"mixed-shop.Order", "mixed-shop.Money", "again-shop.Order"} <= set(connection.subjects())
    assert write(None, "mixed").data is None
    with pytest.raises(BadValueError, match="the value is a dict, this serializer writes messages"):
        write({}, "mixed")
    with pytest.raises(ValueError, match="give it a class"):
        write.prepare("mixed")


def test_bad_records_have_their_codes(connection: Connection) -> None:
    framed = ProtobufSerializer(connection, kinds()[0])(order(id=1), "orders")
    read = ProtobufDeserializer(connection, kinds()[0])
    for data, code in (
        (encode_id(framed.schema_id), RecordErrorCode.TOO_SHORT),
        (encode_id(framed.schema_id) + b"\x02", RecordErrorCode.TOO_SHORT),
        (encode_id(framed.schema_id) + b"\x02\x62", RecordErrorCode.MALFORMED),
        (encode_id(framed.schema_id) + b"\x01", RecordErrorCode.MALFORMED),
        (encode_id(framed.schema_id) + b"\xff" * 20, RecordErrorCode.MALFORMED),
        (encode_id(framed.schema_id) + b"\x02\x02\x0a\xff", RecordErrorCode.MALFORMED),
        (encode_id(77) + b"\x00", RecordErrorCode.UNKNOWN_ID),
    ):
        with pytest.raises(BadRecordError) as bad:
            read(data, "orders")
        assert bad.value.code is code, data


def test_entries_of_maps_count_as_pythons_clients_count_them(connection: Connection) -> None:
    text = """
    syntax = "proto3";
    message Order { map<string, int32> counts = 1; message Line { string what = 1; } message Gift {} }
    """
    made = connection.register("o-value", Draft(text, "PROTOBUF")).version
    read = ProtobufDeserializer(connection)
    for path, name in (((0, 1), "Order.Line"), ((0, 2), "Order.Gift"), ((0, 0), "Order.Line")):
        found = read(encode_id(made.schema_id) + encode_path(path), "o")
        assert isinstance(found, Message)
        assert found.DESCRIPTOR.full_name == name


@given(st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=20).map(tuple), st.binary(max_size=5))
def test_paths_of_message_indexes_come_back(path: tuple[int, ...], rest: bytes) -> None:
    assert split_path(encode_path(path) + rest, 1) == (path, rest)
    assert encode_path(FIRST) == b"\x00"


@pytest.mark.parametrize(
    ("path", "is_valid"),
    [
        ((1,) * SCHEMA_DEPTH, True),
        ((1,) * (SCHEMA_DEPTH + 1), False),
        ((MAX_INDEX, 0, MAX_INDEX), True),
        ((0, MAX_INDEX + 1), False),
        ((-1,), False),
    ],
    ids=["deepest", "too deep", "largest", "too large", "negative"],
)
def test_paths_are_read_up_to_their_limits(path: Path, is_valid: bool) -> None:  # noqa: FBT001 (a parameter)
    data = encode_path(path) if min(path) >= 0 else b"\2\1"
    if is_valid:
        assert split_path(data + b"x", 1) == (path, b"x")
    else:
        with pytest.raises(BadRecordError, match=r"^MALFORMED: "):
            split_path(data + b"x", 1)


def place(topic: str) -> SerializationContext:
    return SerializationContext(topic, MessageField.VALUE, [])


def test_records_cross_over_both_ways(server: Served) -> None:
    value = order(id=9)
    with SchemaRegistryClient({"url": server.url}) as client, connect(server.url) as connection:
        theirs = TheirSerializer(kinds()[0], client)(value, place("orders"))
        ours = ProtobufSerializer(connection, kinds()[0])(value, "orders").data

        assert theirs == ours
        assert ProtobufDeserializer(connection, kinds()[0])(theirs, "orders") == value
        assert TheirDeserializer(kinds()[0], {}, client)(ours, place("orders")) == value
        assert connection.versions("orders-value") == (1,)


def test_guids_in_headers_cross_over(server: Served) -> None:
    line = kinds()[1](what="bread")
    with SchemaRegistryClient({"url": server.url}) as client, connect(server.url) as connection:
        framed = ProtobufSerializer(connection, kinds()[1], SerializerSettings(framing="header"))(line, "lines")
        context = SerializationContext("lines", MessageField.VALUE, list(framed.headers))

        assert framed.data == line.SerializeToString()
        assert TheirDeserializer(kinds()[1], {}, client)(framed.data, context) == line
        assert ProtobufDeserializer(connection, kinds()[1])(framed.data, "lines", "value", framed.headers) == line
