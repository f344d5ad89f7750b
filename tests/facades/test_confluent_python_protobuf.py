"""confluent-kafka-python's Protobuf serializers, unmodified, against a real server: descriptors in, descriptors out."""

import base64
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from confluent_kafka.schema_registry import Schema, SchemaReference, SchemaRegistryClient, header_schema_id_serializer
from confluent_kafka.schema_registry.confluent import meta_pb2
from confluent_kafka.schema_registry.confluent.type import decimal_pb2
from confluent_kafka.schema_registry.error import SchemaRegistryError
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from grpc_tools import protoc

from tests.real.running import Running, serving

Client = Any
"""The client: its annotations are stricter than what it takes and gives."""

META: Any = meta_pb2
"""Confluent's options; the module has no types."""

CURRENCY = """
syntax = "proto3";
package shop.base;
enum Currency { CURRENCY_UNSPECIFIED = 0; EUR = 1; }
"""
MONEY = """
syntax = "proto3";
package shop.base;
import "shop/currency.proto";
message Money { int64 units = 1; Currency currency = 2; }
"""
ORDER = """
// An order of the shop.
syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
import "google/type/date.proto";
import "shop/money.proto";
option java_package = "org.shop";
message Note { string text = 1; }
message Order {
  message Line { string article = 1; shop.base.Money price = 2; repeated int32 sizes = 3 [packed = true]; }
  int64 id = 1;
  repeated Line lines = 2;
  map<string, Note> notes = 3;
  oneof paid { string card = 4; bool cash = 5; }
  google.protobuf.Timestamp at = 6;
  google.type.Date due = 7;
  optional string voucher = 8;
  reserved 20 to 22, 30;
  reserved "old";
}
"""
FILES = {"shop/currency.proto": CURRENCY, "shop/money.proto": MONEY, "shop/order.proto": ORDER}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving(tmp_path_factory.mktemp("server"), "--log", "memory:") as running:
        yield running


@pytest.fixture
def client(server: Running) -> Iterator[Client]:
    with SchemaRegistryClient({"url": server.base, "max.retries": 0}) as made:
        yield made


@pytest.fixture
def topic() -> str:
    return f"topic-{uuid4().hex}"


@pytest.fixture
def where(topic: str) -> SerializationContext:
    return SerializationContext(topic, MessageField.VALUE)


def compiled(folder: Path, files: dict[str, str]) -> DescriptorPool:
    """What protoc makes of these files, in a pool of its own."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text, "utf-8")
    spec = find_spec("google.type")
    assert spec is not None
    known = [Path(place).parents[1] for place in spec.submodule_search_locations or ()]
    included = [Path(protoc.__file__).parent / "_proto", *known, folder]
    out = folder / "all.binpb"
    command = ["protoc", *(f"-I{path}" for path in included), f"--descriptor_set_out={out}", "--include_imports"]
    assert protoc.main([*command, *(str(folder / name) for name in files)]) == 0
    pool = DescriptorPool()
    for file in FileDescriptorSet.FromString(out.read_bytes()).file:
        pool.Add(file)
    return pool


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> DescriptorPool:
    return compiled(tmp_path_factory.mktemp("protos"), FILES)


def kind(pool: DescriptorPool, name: str) -> Any:
    return GetMessageClass(pool.FindMessageTypeByName(name))


@pytest.fixture
def order(pool: DescriptorPool) -> Any:
    """An order with something in every field."""
    made = kind(pool, "shop.Order")(id=7, card="4711", voucher="")
    made.lines.add(article="Tee", sizes=[1, 2, 300]).price.units = 5
    made.lines[0].price.currency = 1
    made.notes["gift"].text = "für Ada"
    made.at.seconds = 86_400
    made.due.year = 2026
    return made


def test_a_message_with_imports_goes_there_and_back(
    client: Client, topic: str, where: SerializationContext, order: Any
) -> None:
    frame = ProtobufSerializer(type(order), client)(order, where)
    client.clear_caches()

    assert ProtobufDeserializer(type(order), {}, client)(frame, where) == order
    latest = client.get_latest_version(f"{topic}-value")
    assert frame[:5] == b"\0" + latest.schema_id.to_bytes(4, "big")
    assert [(one.name, one.subject, one.version) for one in latest.schema.references] == [
        ("shop/money.proto", "shop/money.proto", 1)
    ]
    assert client.get_referenced_by("shop/money.proto", 1).count(latest.schema_id) == 1
    assert [one.name for one in client.get_latest_version("shop/money.proto").schema.references] == [
        "shop/currency.proto"
    ]


def test_a_descriptor_hits_the_id_of_its_text(
    client: Client, topic: str, where: SerializationContext, order: Any
) -> None:
    """Normalised, what one client posts as a text is what the next one posts as a descriptor."""
    subject, config = f"{topic}-value", {"normalize.schemas": True, "auto.register.schemas": False}
    client.register_schema("shop/currency.proto", Schema(CURRENCY, "PROTOBUF"), normalize_schemas=True)
    currency = SchemaReference("shop/currency.proto", "shop/currency.proto", 1)
    client.register_schema("shop/money.proto", Schema(MONEY, "PROTOBUF", [currency]), normalize_schemas=True)
    money = SchemaReference("shop/money.proto", "shop/money.proto", 1)
    schema_id = client.register_schema(subject, Schema(ORDER, "PROTOBUF", [money]), normalize_schemas=True)
    client.clear_caches()
    frame = ProtobufSerializer(type(order), client, config)(order, where)

    assert frame[:5] == b"\0" + schema_id.to_bytes(4, "big")
    assert client.get_versions(subject) == [1]


def test_a_descriptor_is_one_schema_however_often_it_is_posted(
    client: Client, topic: str, where: SerializationContext, order: Any
) -> None:
    frame = ProtobufSerializer(type(order), client)(order, where)
    client.clear_caches()
    again = ProtobufSerializer(type(order), client)(order, where)
    client.clear_caches()
    found = ProtobufSerializer(type(order), client, {"auto.register.schemas": False})(order, where)

    assert frame == again == found
    assert client.get_versions(f"{topic}-value") == [1]
    client.clear_caches()
    text = client.get_version(f"{topic}-value", 1).schema
    assert text.schema_str.startswith('syntax = "proto3";\npackage shop;\n')
    assert client.register_schema(f"{topic}-value", text) == int.from_bytes(frame[1:5], "big")


def named(message: Any) -> Any:
    """A descriptor with its members by name: a text has fields of a oneof, and messages of maps, in places of their own."""
    for inner in message.nested_type:
        named(inner)
    message.field.sort(key=lambda one: one.number)
    message.nested_type.sort(key=lambda one: one.name)
    return message


def test_the_descriptor_that_comes_back_is_the_one_of_protoc(
    client: Client, topic: str, where: SerializationContext, order: Any
) -> None:
    ProtobufSerializer(type(order), client)(order, where)
    client.clear_caches()
    served = client.get_version(f"{topic}-value", 1, False, "serialized").schema.schema_str
    got = FileDescriptorProto.FromString(base64.b64decode(served))
    expected = FileDescriptorProto()
    order.DESCRIPTOR.file.CopyToProto(expected)
    for one in (got, expected):
        one.ClearField("name")
        for message in one.message_type:
            named(message)

    assert got == expected


def test_a_nested_message_is_found_by_its_indexes(
    client: Client, pool: DescriptorPool, where: SerializationContext
) -> None:
    line = kind(pool, "shop.Order.Line")(article="Tee", sizes=[1])
    line.price.units = 3
    frame = ProtobufSerializer(type(line), client)(line, where)

    assert frame[5:8] == b"\x04\x02\x00"
    assert ProtobufDeserializer(type(line), {}, client)(frame, where) == line
    first = kind(pool, "shop.Note")(text="a")
    assert ProtobufSerializer(type(first), client)(first, where)[5:6] == b"\0"


def test_the_guid_in_a_header_is_enough(client: Client, topic: str, order: Any) -> None:
    headers: Any = []
    where = SerializationContext(topic, MessageField.VALUE, headers)
    frame = ProtobufSerializer(type(order), client, {"schema.id.serializer": header_schema_id_serializer})(order, where)
    client.clear_caches()

    assert frame == order.SerializeToString()
    assert ProtobufDeserializer(type(order), {}, client)(frame, where) == order


def test_the_latest_version_is_used(client: Client, topic: str, where: SerializationContext, order: Any) -> None:
    first = ProtobufSerializer(type(order), client)(order, where)
    config = {"auto.register.schemas": False, "use.latest.version": True}
    client.clear_caches()

    assert ProtobufSerializer(type(order), client, config)(order, where) == first
    assert ProtobufDeserializer(type(order), {"use.latest.version": True}, client)(first, where) == order


def test_known_files_may_be_references_too(client: Client, where: SerializationContext, order: Any) -> None:
    frame = ProtobufSerializer(type(order), client, {"skip.known.types": False})(order, where)
    client.clear_caches()

    assert ProtobufDeserializer(type(order), {}, client)(frame, where) == order
    assert "google/protobuf/timestamp.proto" in client.get_subjects()


def test_confluents_own_types_and_options_are_known(client: Client, topic: str, where: SerializationContext) -> None:
    made = FileDescriptorProto(name="price.proto", package="shop", syntax="proto3")
    made.dependency.extend([decimal_pb2.DESCRIPTOR.name, meta_pb2.DESCRIPTOR.name])
    amount = made.message_type.add(name="Price").field.add(
        name="amount", number=1, label=1, type=11, json_name="amount"
    )
    amount.type_name = ".confluent.type.Decimal"
    amount.options.Extensions[META.field_meta].tags.append("PII")
    pool = DescriptorPool()
    with_files(pool, [meta_pb2.DESCRIPTOR, decimal_pb2.DESCRIPTOR])
    pool.Add(made)
    price = kind(pool, "shop.Price")()
    price.amount.value, price.amount.scale = b"\x01\x02", 2
    frame = ProtobufSerializer(type(price), client)(price, where)
    client.clear_caches()

    assert ProtobufDeserializer(type(price), {}, client)(frame, where) == price
    client.clear_caches()
    text = client.get_latest_version(f"{topic}-value").schema
    assert "PII" in text.schema_str
    assert not text.references
    client.clear_caches()
    served = client.get_version(f"{topic}-value", 1, False, "serialized").schema.schema_str
    got = FileDescriptorProto.FromString(base64.b64decode(served))
    assert list(got.message_type[0].field[0].options.Extensions[META.field_meta].tags) == ["PII"]


def with_files(pool: DescriptorPool, files: Iterable[Any]) -> None:
    """Add files to a pool, those that they import before them."""
    for file in files:
        with_files(pool, file.dependencies)
        pool.AddSerializedFile(file.serialized_pb)


def test_normalised_spellings_are_one_schema(
    client: Client, topic: str, order: Any, where: SerializationContext
) -> None:
    """Normalised, the order of fields and the way to write a type do not count."""
    config = {"normalize.schemas": True}
    frame = ProtobufSerializer(type(order), client, config)(order, where)
    turned = ORDER.replace("int64 id = 1;", "").replace('  reserved "old";', '  int64 id = 1;\n  reserved "old";')
    turned = turned.replace("repeated Line lines", "repeated .shop.Order.Line lines")
    money = SchemaReference("shop/money.proto", "shop/money.proto", 1)

    found = client.lookup_schema(f"{topic}-value", Schema(turned, "PROTOBUF", [money]), normalize_schemas=True)
    assert found.schema_id == int.from_bytes(frame[1:5], "big")


def test_versions_are_compared(
    client: Client, topic: str, where: SerializationContext, order: Any, tmp_path: Path
) -> None:
    ProtobufSerializer(type(order), client)(order, where)
    wider = ORDER.replace("reserved 20", "string more = 9;\n  reserved 20")
    broken = ORDER.replace("int64 id = 1", "string id = 1")
    new, wrong = (
        kind(compiled(tmp_path / str(at), {**FILES, "shop/order.proto": text}), "shop.Order")
        for at, text in enumerate((wider, broken))
    )
    with pytest.raises(SchemaRegistryError, match="FIELD_SCALAR_KIND_CHANGED") as refused:
        ProtobufSerializer(wrong, client)(wrong(id="7"), where)
    assert refused.value.error_code == 40901
    frame = ProtobufSerializer(new, client)(new(id=7, more="x"), where)

    assert client.get_versions(f"{topic}-value") == [1, 2]
    assert ProtobufDeserializer(type(order), {}, client)(frame, where).id == 7


def test_what_is_not_valid_or_not_there_is_refused(client: Client, topic: str) -> None:
    broken = base64.b64encode(b"\x0a\xff").decode()
    for text in ("message", 'syntax = "proto4";', ORDER, broken):
        with pytest.raises(SchemaRegistryError, match="Invalid schema") as failure:
            client.register_schema(f"{topic}-value", Schema(text, "PROTOBUF"))
        assert failure.value.error_code == 42201
