"""Our serializers where Confluent's stand, and beside them: the same bytes, halves, frames and markers, read both ways."""

import asyncio
import dataclasses
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from confluent_kafka.schema_registry import (
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    header_schema_id_serializer,
    prefix_schema_id_serializer,
)
from confluent_kafka.schema_registry import avro as their_avro
from confluent_kafka.schema_registry import json_schema as their_json
from confluent_kafka.schema_registry import protobuf as their_protobuf
from confluent_kafka.serialization import MessageField, SerializationContext

from tests.behaviours.served import Served
from tests.behaviours.test_serializers_protobuf import kinds, order
from treaty.assemble import connect, connect_async
from treaty.client.adapters import for_async_consumer, for_async_producer, for_consumer, for_producer
from treaty.client.connection import Connection
from treaty.client.serializers.async_serializers import AsyncDeserializer, AsyncSerializer
from treaty.client.serializers.avro import AvroDeserializer, AvroSerializer
from treaty.client.serializers.jsonschema import JsonDeserializer, JsonSerializer
from treaty.client.serializers.protobuf import ProtobufDeserializer, ProtobufSerializer
from treaty.client.serializers.settings import Deserializer, Serializer, SerializerSettings
from treaty.core.registry import Registry
from treaty.core.schema import Draft, Metadata, Reference, Rule, RuleSet

Client = Any
"""Confluent's client: its annotations are stricter than what it takes and gives."""
Theirs = Callable[[Any, SerializationContext], Any]


@dataclasses.dataclass
class Line:
    sku: str
    count: int = 1


LINE = Line("a long one", 2)
PLAIN = {"sku": "a long one", "count": 2}
AVRO = '{"type":"record","name":"Line","fields":[{"name":"sku","type":"string"},{"name":"count","type":"long"}]}'
JSON = json.dumps(
    {"title": "Line", "type": "object", "properties": {"sku": {"type": "string"}, "count": {"type": "integer"}}}
)


@dataclasses.dataclass
class Format:
    """A format on both sides: makers of serializers and deserializers, and a value that equals what is read."""

    writes: Callable[[Registry, SerializerSettings], Serializer]
    reads: Callable[[Registry], Deserializer]
    their_writes: Callable[[Client, dict[str, Any]], Theirs]
    their_reads: Callable[[Client], Theirs]
    value: Any


FORMATS = {
    "avro": Format(
        lambda registry, settings: AvroSerializer(registry, AVRO, settings),
        AvroDeserializer,
        lambda client, conf: their_avro.AvroSerializer(client, AVRO, conf=conf),
        their_avro.AvroDeserializer,
        PLAIN,
    ),
    "json": Format(
        lambda registry, settings: JsonSerializer(registry, JSON, settings),
        JsonDeserializer,
        lambda client, conf: their_json.JSONSerializer(JSON, client, conf=conf),
        lambda client: their_json.JSONDeserializer(None, schema_registry_client=client),
        PLAIN,
    ),
    "protobuf": Format(
        lambda registry, settings: ProtobufSerializer(registry, kinds()[0], settings),
        lambda registry: ProtobufDeserializer(registry, kinds()[0]),
        lambda client, conf: their_protobuf.ProtobufSerializer(kinds()[0], client, conf=conf),
        lambda client: their_protobuf.ProtobufDeserializer(kinds()[0], {}, client),
        order(id=7),
    ),
}


@pytest.fixture
def both(server: Served) -> Iterator[tuple[Client, Connection]]:
    with SchemaRegistryClient({"url": server.url}) as client, connect(server.url) as connection:
        yield client, connection


def place(field: str, headers: Any = None) -> SerializationContext:
    return SerializationContext("lines", MessageField(field), headers if headers is not None else [])


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("field", ["key", "value"])
@pytest.mark.parametrize("framing", ["prefix", "header"])
def test_halves_and_frames_are_the_same_and_cross_over(
    both: tuple[Client, Connection], name: str, field: str, framing: Any
) -> None:
    form, (client, connection) = FORMATS[name], both
    framer = {"prefix": prefix_schema_id_serializer, "header": header_schema_id_serializer}[framing]
    here, there = place(field), place(field)
    ours = for_producer(form.writes(connection, SerializerSettings(framing=framing)))(form.value, here)
    theirs = form.their_writes(client, {"schema.id.serializer": framer})(form.value, there)

    assert (ours, here.headers) == (theirs, there.headers)
    assert for_consumer(form.reads(connection))(theirs, place(field, there.headers)) == form.value
    assert form.their_reads(client)(ours, place(field, here.headers)) == form.value
    assert [each for each in connection.subjects() if each.startswith("lines-")] == [f"lines-{field}"]
    assert connection.versions(f"lines-{field}") == (1,)


@pytest.mark.parametrize("name", FORMATS)
def test_delete_markers_cross_over(both: tuple[Client, Connection], name: str) -> None:
    form, (client, connection) = FORMATS[name], both
    here = place("value")
    assert for_producer(form.writes(connection, SerializerSettings(framing="header")))(None, here) is None
    assert here.headers == []
    assert form.their_writes(client, {})(None, here) is None
    assert for_consumer(form.reads(connection))(None, here) is None
    assert form.their_reads(client)(None, here) is None
    assert connection.subjects() == ()


def test_headers_are_put_into_what_the_producer_gave(server: Served) -> None:
    with connect(server.url) as connection:
        write = for_producer(AvroSerializer(connection, Line, SerializerSettings(framing="header")))
        given: dict[str, bytes] = {"mine": b"x"}
        data = write(LINE, place("value", given))
        assert sorted(given) == ["__value_schema_id", "mine"]
        assert for_consumer(AvroDeserializer(connection, Line))(data, place("value", given)) == LINE
        with pytest.raises(ValueError, match="give produce"):
            write(LINE, SerializationContext("lines", MessageField.VALUE, None))
        with pytest.raises(ValueError, match="needs a topic"):
            write(LINE, None)
        prefixed = for_producer(AvroSerializer(connection, Line))
        context = SerializationContext("lines", MessageField.VALUE, None)
        assert for_consumer(AvroDeserializer(connection, Line))(prefixed(LINE, context), context) == LINE


def test_asyncio_clients_await_them(server: Served) -> None:
    async def story() -> None:
        async with connect_async(server.url) as registry:
            settings = SerializerSettings(framing="header")
            write = for_async_producer(AsyncSerializer(registry, lambda door: AvroSerializer(door, Line, settings)))
            read = for_async_consumer(AsyncDeserializer(registry, lambda door: AvroDeserializer(door, Line)))
            context = place("key")
            data = await write(LINE, context)
            assert isinstance(context.headers, list)
            assert [each[0] for each in context.headers] == ["__key_schema_id"]
            assert await read(data, context) == LINE
            assert await write(None, context) is None
            assert await read(None, context) is None

    asyncio.run(story())


RULES = RuleSet(domain=(Rule("note", "CONDITION", "WRITE", "CEL", expr="true", disabled=True),))


@pytest.mark.parametrize("name", ["avro", "json"])
def test_metadata_and_rules_stand_in_nobody_s_way(both: tuple[Client, Connection], name: str) -> None:
    form, (client, connection) = FORMATS[name], both
    text = {"avro": AVRO, "json": JSON}[name]
    draft = Draft(text, name.upper(), metadata=Metadata(properties=(("owner", "shop"),)), rules=RULES)
    connection.register("lines-value", draft)
    theirs = form.their_writes(client, {"auto.register.schemas": False, "use.latest.version": True})
    data = theirs(form.value, place("value"))
    assert for_consumer(form.reads(connection))(data, place("value")) == form.value
    ours = {"avro": AvroSerializer, "json": JsonSerializer}[name](connection, draft)(form.value, "lines")
    assert form.their_reads(client)(ours.data, place("value")) == form.value
    assert connection.versions("lines-value") == (1,)


@pytest.mark.parametrize("name", ["avro", "json"])
def test_references_cross_over(both: tuple[Client, Connection], name: str) -> None:
    client, connection = both
    if name == "avro":
        connection.register("line", AVRO)
        text = '{"type":"record","name":"Cart","fields":[{"name":"line","type":"Line"}]}'
        reference = "Line"
    else:
        connection.register("line", Draft(JSON, "JSON"))
        text = '{"title":"Cart","type":"object","properties":{"line":{"$ref":"line.json"}},"required":["line"]}'
        reference = "line.json"
    schema = Schema(text, name.upper(), [SchemaReference(reference, "line", 1)])
    draft = Draft(text, name.upper(), references=(Reference(reference, "line", 1),))
    value = {"line": PLAIN}
    if name == "avro":
        theirs = their_avro.AvroSerializer(client, schema)(value, place("value"))
        ours = AvroSerializer(connection, draft)(value, "lines").data
        assert ours == theirs
        assert their_avro.AvroDeserializer(client)(ours, place("value")) == value
        assert AvroDeserializer(connection)(theirs) == value
    else:
        theirs = their_json.JSONSerializer(schema, client)(value, place("value"))
        ours = JsonSerializer(connection, draft)(value, "lines").data
        assert ours == theirs
        assert their_json.JSONDeserializer(schema, schema_registry_client=client)(ours, place("value")) == value
        assert JsonDeserializer(connection, draft)(theirs) == value


def test_values_of_classes_cross_over(both: tuple[Client, Connection]) -> None:
    client, connection = both
    avro = AvroSerializer(connection, Line)(LINE, "lines").data
    assert their_avro.AvroDeserializer(client, from_dict=lambda plain, _: Line(**plain))(avro, place("value")) == LINE
    text = connection.version("lines-value").text
    theirs = their_avro.AvroSerializer(client, text, to_dict=lambda line, _: dataclasses.asdict(line))(
        LINE, place("value")
    )
    assert theirs == avro
    assert AvroDeserializer(connection, Line)(theirs) == LINE
