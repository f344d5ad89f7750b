"""confluent-kafka-python's serializers, unmodified, and Treaty's, on the same topics of a real broker.

Records with keys go through `SerializingProducer` and `DeserializingConsumer`, and through their asyncio counterparts;
each side reads what the other one wrote, with evolution and references, with the id before the payload or the guid in a
header.
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import DeserializingConsumer, SerializingProducer, TopicPartition
from confluent_kafka.aio import AsyncDeserializingConsumer, AsyncSerializingProducer
from confluent_kafka.schema_registry import (
    AsyncSchemaRegistryClient,
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    header_schema_id_serializer,
    prefix_schema_id_serializer,
)
from confluent_kafka.schema_registry.avro import (
    AsyncAvroDeserializer,
    AsyncAvroSerializer,
    AvroDeserializer,
    AvroSerializer,
)
from confluent_kafka.schema_registry.json_schema import (
    AsyncJSONDeserializer,
    AsyncJSONSerializer,
    JSONDeserializer,
    JSONSerializer,
)
from confluent_kafka.schema_registry.protobuf import (
    AsyncProtobufDeserializer,
    AsyncProtobufSerializer,
    ProtobufDeserializer,
    ProtobufSerializer,
)
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.message_factory import GetMessageClass

from tests.facades.test_confluent_python_protobuf import compiled
from tests.real.running import Running, serving
from tests.servers.kafka import Kafka
from treaty.assemble import connect
from treaty.client.adapters import for_consumer, for_producer
from treaty.client.connection import Connection
from treaty.client.serializers import avro as ours_avro
from treaty.client.serializers import jsonschema as ours_json
from treaty.client.serializers import protobuf as ours_protobuf
from treaty.client.serializers.settings import SerializerSettings
from treaty.core.schema import Draft, Reference

pytestmark = [pytest.mark.jvm, pytest.mark.slow]

Client = Any
"""The client: its annotations are stricter than what it takes and gives."""
FRAMINGS = {"prefix": prefix_schema_id_serializer, "header": header_schema_id_serializer}
KEY = '{"type":"record","name":"Key","namespace":"shop","fields":[{"name":"tenant","type":"string"},{"name":"id","type":"long"}]}'
MONEY = '{"type":"record","name":"Money","namespace":"shop","fields":[{"name":"units","type":"long"},{"name":"currency","type":"string"}]}'


def avro_order(*more: dict[str, Any]) -> str:
    fields = [{"name": "id", "type": "long"}, {"name": "price", "type": "shop.Money"}, *more]
    return json.dumps({"type": "record", "name": "Order", "namespace": "shop", "fields": fields})


def json_order(*more: str) -> str:
    members = {
        "id": {"type": "integer"},
        "price": {"$ref": "money.json"},
        **{name: {"type": ["string", "null"]} for name in more},
    }
    return json.dumps(
        {"title": "Order", "type": "object", "properties": members, "required": ["id"], "additionalProperties": False}
    )


JSON_MONEY = '{"type":"object","properties":{"units":{"type":"integer"},"currency":{"type":"string"}}}'
PROTO_MONEY = 'syntax = "proto3"; package shop; message Money { int64 units = 1; string currency = 2; }'
PROTO_ORDER = """
syntax = "proto3"; package shop; import "money.proto"; import "google/protobuf/timestamp.proto";
message Other { int32 a = 1; }
message Order { int64 id = 1; Money price = 2; google.protobuf.Timestamp at = 3; %s }
"""
OLD = [{"id": number, "price": {"units": number * 2**40, "currency": "EUR"}} for number in range(1, 6)]
NEW = [{**one, "note": f"größe {one['id']}"} for one in OLD]


@dataclass(frozen=True)
class Side:
    """Serializers of one library, for a schema of the old or new version, and its deserializer, as producers take them."""

    serializer: Callable[[str, str], Any]
    """From ``old`` or ``new`` and a framing."""
    deserializer: Callable[[], Any]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("server")
    with serving(folder, "--log", f"sqlite://{folder}/registry.db") as running:
        yield running


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The generated classes of both versions."""
    made = {}
    for version, more in {"old": "", "new": "string note = 4;"}.items():
        files = {"money.proto": PROTO_MONEY, "order.proto": PROTO_ORDER % more}
        pool = compiled(tmp_path_factory.mktemp(version), files)
        made[version] = GetMessageClass(pool.FindMessageTypeByName("shop.Order"))
    return made


@pytest.fixture
def client(server: Running) -> Iterator[Client]:
    with SchemaRegistryClient({"url": server.base}) as made:
        yield made


@pytest.fixture
def connection(server: Running) -> Iterator[Connection]:
    with connect(server.base) as made:
        yield made


def schemas(format_: str) -> dict[str, str]:
    if format_ == "AVRO":
        return {"old": avro_order(), "new": avro_order({"name": "note", "type": "string", "default": ""})}
    return {"old": json_order(), "new": json_order("note")}


def referring(format_: str) -> tuple[str, str, str]:
    """The name that the schemas refer to, the subject it stands in, its text."""
    return ("shop.Money", "shop.Money", MONEY) if format_ == "AVRO" else ("money.json", "money-json", JSON_MONEY)


def theirs(format_: str, client: Client, classes: dict[str, Any]) -> Side:
    if format_ == "PROTOBUF":
        return Side(
            lambda version, framing: ProtobufSerializer(
                classes[version], client, {"schema.id.serializer": FRAMINGS[framing]}
            ),
            lambda: ProtobufDeserializer(classes["new"], {}, client),
        )
    name, subject, text = referring(format_)
    client.register_schema(subject, Schema(text, format_))
    made = {
        version: Schema(each, format_, [SchemaReference(name, subject, 1)])
        for version, each in schemas(format_).items()
    }
    if format_ == "AVRO":
        return Side(
            lambda version, framing: AvroSerializer(
                client, made[version], conf={"schema.id.serializer": FRAMINGS[framing]}
            ),
            lambda: AvroDeserializer(client, made["new"]),
        )
    return Side(
        lambda version, framing: JSONSerializer(
            made[version], client, conf={"schema.id.serializer": FRAMINGS[framing]}
        ),
        lambda: JSONDeserializer(None, schema_registry_client=client),
    )


def ours(format_: str, connection: Connection, classes: dict[str, Any]) -> Side:
    if format_ == "PROTOBUF":
        return Side(
            lambda version, framing: for_producer(
                ours_protobuf.ProtobufSerializer(connection, classes[version], SerializerSettings(framing=framing))  # type: ignore[arg-type] # a literal
            ),
            lambda: for_consumer(ours_protobuf.ProtobufDeserializer(connection, classes["new"])),
        )
    name, subject, text = referring(format_)
    connection.register(subject, Draft(text, format_))
    made = {version: Draft(each, format_, (Reference(name, subject, 1),)) for version, each in schemas(format_).items()}
    kind = ours_avro.AvroSerializer if format_ == "AVRO" else ours_json.JsonSerializer
    opens: Any = ours_avro.AvroDeserializer if format_ == "AVRO" else ours_json.JsonDeserializer
    return Side(
        lambda version, framing: for_producer(kind(connection, made[version], SerializerSettings(framing=framing))),  # type: ignore[arg-type] # a literal
        lambda: for_consumer(opens(connection, made["new"] if format_ == "AVRO" else None)),
    )


def values(format_: str, version: str, classes: dict[str, Any]) -> list[Any]:
    plain = OLD if version == "old" else NEW
    return [ParseDict(one, classes[version]()) for one in plain] if format_ == "PROTOBUF" else plain


def seen(format_: str, found: Iterable[Any]) -> list[Any]:
    """What was read, as plain values."""
    if format_ != "PROTOBUF":
        return list(found)
    return [json.loads(json.dumps(MessageToDict(one)), object_hook=whole) for one in found]


def whole(members: dict[str, Any]) -> dict[str, Any]:
    """Protobuf's JSON has 64-bit numbers as strings."""
    return {name: int(one) if name in {"id", "units"} else one for name, one in members.items()}


def produce(kafka: Kafka, topic: str, pair: tuple[Any, Any], records: Iterable[tuple[Any, Any]]) -> None:
    producer = SerializingProducer(
        {"bootstrap.servers": kafka.bootstrap, "log_level": 0, "key.serializer": pair[0], "value.serializer": pair[1]}
    )
    for key, value in records:
        producer.produce(topic=topic, key=key, value=value, headers=[])
    assert producer.flush(30) == 0


def consume(kafka: Kafka, topic: str, pair: tuple[Any, Any]) -> list[tuple[Any, Any]]:
    consumer = DeserializingConsumer(
        {
            "bootstrap.servers": kafka.bootstrap,
            "group.id": topic,
            "log_level": 0,
            "key.deserializer": pair[0],
            "value.deserializer": pair[1],
        }
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    _, end = consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=30)
    found = []
    for _ in range(end):
        message: Any = consumer.poll(30)
        assert message is not None
        found.append((message.key(), message.value()))
    consumer.close()
    return found


def keys(side: str, client: Client, connection: Connection, framing: str) -> tuple[Any, Any]:
    if side == "theirs":
        made = AvroSerializer(client, KEY, conf={"schema.id.serializer": FRAMINGS[framing]})
        return made, AvroDeserializer(client)
    writing: Any = SerializerSettings(framing=framing)  # type: ignore[arg-type] # a literal
    return for_producer(ours_avro.AvroSerializer(connection, KEY, writing)), for_consumer(
        ours_avro.AvroDeserializer(connection)
    )


@pytest.mark.parametrize("framing", list(FRAMINGS))
@pytest.mark.parametrize("format_", ["AVRO", "JSON", "PROTOBUF"])
def test_each_side_reads_what_the_other_wrote(
    kafka: Kafka,
    topic: str,
    client: Client,
    connection: Connection,
    classes: dict[str, Any],
    format_: str,
    framing: str,
    figure: Callable[[str], None],
) -> None:
    """Old and new version of a schema with references, keys of their own, both libraries on one topic."""
    sides = {"theirs": theirs(format_, client, classes), "ours": ours(format_, connection, classes)}
    expected = []
    for version in ("old", "new"):
        for name, side in sides.items():
            records = [({"tenant": name, "id": at}, one) for at, one in enumerate(values(format_, version, classes))]
            front, _ = keys(name, client, connection, framing)
            produce(kafka, topic, (front, side.serializer(version, framing)), records)
            plain = seen(format_, values(format_, version, classes))
            if format_ == "AVRO" and version == "old":
                plain = [{**one, "note": ""} for one in plain]
            expected += [(key, value) for (key, _), value in zip(records, plain, strict=True)]

    for name, side in sides.items():
        _, back = keys(name, client, connection, framing)
        found = consume(kafka, topic, (back, side.deserializer()))
        assert [key for key, _ in found] == [key for key, _ in expected]
        assert seen(format_, [value for _, value in found]) == [value for _, value in expected]
    versions = client.get_versions(f"{topic}-value")
    assert versions == [1, 2]  # both libraries' schemas are the same two
    figure(f"{len(expected)} records of {len(versions)} versions by two libraries, read by both")


@pytest.mark.parametrize("framing", list(FRAMINGS))
@pytest.mark.parametrize("format_", ["AVRO", "JSON", "PROTOBUF"])
def test_payloads_are_the_same_to_the_byte(
    kafka: Kafka,
    topic: str,
    client: Client,
    connection: Connection,
    classes: dict[str, Any],
    format_: str,
    framing: str,
) -> None:
    sides = (theirs(format_, client, classes), ours(format_, connection, classes))
    for side in sides:
        produce(
            kafka,
            topic,
            (None, side.serializer("new", framing)),
            [(None, one) for one in values(format_, "new", classes)],
        )

    records = [value for _, value in consume(kafka, topic, (None, None))]

    if format_ == "JSON":  # they leave spaces between members, which JSON does not count
        head = 0 if framing == "header" else 5
        assert [one[:head] for one in records[:5]] == [one[:head] for one in records[5:]]
        assert [json.loads(one[head:]) for one in records[:5]] == [json.loads(one[head:]) for one in records[5:]]
    else:
        assert records[:5] == records[5:]


@pytest.mark.parametrize("format_", ["AVRO", "JSON", "PROTOBUF"])
def test_their_asyncio_producer_and_consumer(
    kafka: Kafka, topic: str, server: Running, connection: Connection, classes: dict[str, Any], format_: str
) -> None:
    async def story() -> list[Any]:
        async with AsyncSchemaRegistryClient({"url": server.base}) as client:
            if format_ == "PROTOBUF":
                serializer: Any = await AsyncProtobufSerializer(classes["new"], client)
                deserializer: Any = await AsyncProtobufDeserializer(classes["new"], {}, client)
            else:
                name, subject, text = referring(format_)
                await client.register_schema(subject, Schema(text, format_))
                schema = Schema(schemas(format_)["new"], format_, [SchemaReference(name, subject, 1)])
                if format_ == "AVRO":
                    serializer, deserializer = (
                        await AsyncAvroSerializer(client, schema),
                        await AsyncAvroDeserializer(client),
                    )
                else:
                    serializer = await AsyncJSONSerializer(schema, client)
                    deserializer = await AsyncJSONDeserializer(None, schema_registry_client=client)
            settings = {"bootstrap.servers": kafka.bootstrap, "log_level": 0}
            producer: Any = await AsyncSerializingProducer({**settings, "value.serializer": serializer})
            sent = [await producer.produce(topic=topic, value=one) for one in values(format_, "new", classes)]
            await producer.flush()
            await asyncio.gather(*sent)
            await producer.close()
            consumer: Any = await AsyncDeserializingConsumer(
                {**settings, "group.id": topic, "value.deserializer": deserializer}
            )
            await consumer.assign([TopicPartition(topic, 0, 0)])
            found = [(await consumer.poll(30)).value() for _ in sent]
            await consumer.close()
            return found

    found = asyncio.run(story())

    assert seen(format_, found) == NEW
    by_ours = consume(kafka, topic, (None, ours(format_, connection, classes).deserializer()))
    assert seen(format_, [value for _, value in by_ours]) == NEW


def test_delete_markers_pass_both_ways(kafka: Kafka, topic: str, client: Client, connection: Connection) -> None:
    for name in ("theirs", "ours"):
        front, _ = keys(name, client, connection, "prefix")
        made = (
            AvroSerializer(client, KEY) if name == "theirs" else for_producer(ours_avro.AvroSerializer(connection, KEY))
        )
        produce(kafka, topic, (front, made), [({"tenant": name, "id": 1}, None)])

    for name in ("theirs", "ours"):
        _, back = keys(name, client, connection, "prefix")
        found = consume(kafka, topic, (back, back))
        assert found == [({"tenant": "theirs", "id": 1}, None), ({"tenant": "ours", "id": 1}, None)]


def test_a_producer_meets_the_schema_law(kafka: Kafka, topic: str, client: Client, tmp_path: Path) -> None:
    """The second producer's schema is refused before anything is sent."""
    produce(kafka, topic, (None, AvroSerializer(client, KEY)), [(None, {"tenant": "a", "id": 1})])
    other = KEY.replace('"long"', '"string"')

    with pytest.raises(Exception, match="Schema being registered is incompatible with an earlier schema"):
        produce(kafka, topic, (None, AvroSerializer(client, other)), [(None, {"tenant": "a", "id": "x"})])

    assert len(consume(kafka, topic, (None, None))) == 1
