"""confluent-kafka-python's asynchronous client and serializers against a real server."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka.schema_registry import AsyncSchemaRegistryClient, Schema, SchemaReference
from confluent_kafka.schema_registry.avro import AsyncAvroDeserializer, AsyncAvroSerializer
from confluent_kafka.schema_registry.error import SchemaRegistryError
from confluent_kafka.schema_registry.json_schema import AsyncJSONDeserializer, AsyncJSONSerializer
from confluent_kafka.schema_registry.protobuf import AsyncProtobufDeserializer, AsyncProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

from tests.real.running import Running, serving

USER = json.dumps({"type": "record", "name": "User", "fields": [{"name": "name", "type": "string"}]})
OTHER = USER.replace('"string"', '"int"')


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("server")
    with serving(folder, "--log", f"sqlite://{folder}/registry.db", "--workers", "2") as running:
        yield running


def test_many_tasks_register_and_read_at_once(server: Running) -> None:
    async def story() -> None:
        async with AsyncSchemaRegistryClient({"url": server.base, "max.retries": 0}) as client:

            async def one(number: int) -> tuple[int, int]:
                subject = f"async-{number % 5}"
                schema_id = await client.register_schema(subject, Schema(USER, "AVRO"))
                found = await client.get_latest_version(subject)
                assert found.schema_id == schema_id
                assert (await client.get_schema(schema_id)).schema_str
                return schema_id, found.version

            assert set(await asyncio.gather(*(one(number) for number in range(40)))) == {(1, 1)}
            with pytest.raises(SchemaRegistryError, match="incompatible with an earlier schema"):
                await client.register_schema("async-0", Schema(OTHER, "AVRO"))

    asyncio.run(story())


def test_serializers(server: Running) -> None:
    async def story() -> None:
        async with AsyncSchemaRegistryClient({"url": server.base, "max.retries": 0}) as client:
            where = SerializationContext("async-topic", MessageField.VALUE)
            serializer = await AsyncAvroSerializer(client, USER)
            deserializer = await AsyncAvroDeserializer(client)
            frame = await serializer({"name": "ann"}, where)
            assert await deserializer(frame, where) == {"name": "ann"}

    asyncio.run(story())


def test_json_serializers(server: Running) -> None:
    async def story() -> None:
        async with AsyncSchemaRegistryClient({"url": server.base, "max.retries": 0}) as client:
            where = SerializationContext("async-json", MessageField.VALUE)
            inner = Schema('{"type":"string"}', "JSON")
            await client.register_schema("async-name", inner)
            text = '{"title":"User","type":"object","properties":{"name":{"$ref":"name.json"}}}'
            schema = Schema(text, "JSON", [SchemaReference("name.json", "async-name", 1)])
            frame = await (await AsyncJSONSerializer(schema, client))({"name": "ann"}, where)
            deserializer = await AsyncJSONDeserializer(None, schema_registry_client=client)
            assert await deserializer(frame, where) == {"name": "ann"}

    asyncio.run(story())


def test_protobuf_serializers(server: Running) -> None:
    async def story() -> None:
        async with AsyncSchemaRegistryClient({"url": server.base, "max.retries": 0}) as client:
            where = SerializationContext("async-protobuf", MessageField.VALUE)
            file = FileDescriptorProto(name="user.proto", package="shop", syntax="proto3")
            file.message_type.add(name="User").field.add(name="name", number=1, label=1, type=9, json_name="name")
            pool = DescriptorPool()
            pool.Add(file)
            kind: Any = GetMessageClass(pool.FindMessageTypeByName("shop.User"))
            frame = await (await AsyncProtobufSerializer(kind, client))(kind(name="ann"), where)
            assert await (await AsyncProtobufDeserializer(kind, {}, client))(frame, where) == kind(name="ann")

    asyncio.run(story())
