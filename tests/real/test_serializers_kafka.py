"""Our serializers inside confluent_kafka's and aiokafka's producers and consumers, over a real broker and a registry."""

import asyncio
import dataclasses
import datetime as dt
from collections.abc import Iterator
from typing import Any, cast

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from confluent_kafka import DeserializingConsumer, SerializingProducer

from tests.behaviours.served import served
from tests.servers.kafka import Kafka
from treaty.assemble import connect, connect_async
from treaty.client.adapters import deserialize_part, for_consumer, for_producer, serialize_part
from treaty.client.connection import Connection
from treaty.client.serializers.async_serializers import AsyncDeserializer, AsyncSerializer
from treaty.client.serializers.avro import AvroDeserializer, AvroSerializer
from treaty.client.serializers.jsonschema import JsonDeserializer, JsonSerializer
from treaty.client.serializers.settings import SerializerSettings

pytestmark = [pytest.mark.jvm, pytest.mark.slow]

SECONDS = 30.0
Framing = Any


@dataclasses.dataclass
class Line:
    sku: str
    count: int = 1


@dataclasses.dataclass
class Order:
    id: int
    at: dt.datetime
    lines: list[Line]


ORDERS = [Order(n, dt.datetime(2026, 1, 2, n, tzinfo=dt.UTC), [Line("a"), Line("b", n)]) for n in range(3)]


@pytest.fixture
def registry() -> Iterator[tuple[Connection, str]]:
    with served("memory:") as server, connect(server.url) as connection:
        yield connection, server.url


@pytest.mark.parametrize("framing", ["prefix", "header"])
def test_confluent_kafka_calls_our_serializers(
    kafka: Kafka, topic: str, registry: tuple[Connection, str], framing: Framing
) -> None:
    connection, settings = registry[0], SerializerSettings(framing=framing)
    producer = cast("Any", SerializingProducer)({
        "bootstrap.servers": kafka.bootstrap,
        "key.serializer": for_producer(JsonSerializer(connection, Line, settings)),
        "value.serializer": for_producer(AvroSerializer(connection, Order, settings)),
    })  # fmt: skip
    for order in ORDERS:
        producer.produce(topic, key=order.lines[1], value=order, headers=[("mine", b"x")])
    producer.produce(topic, key=ORDERS[0].lines[0], value=None, headers=[])
    assert producer.flush(SECONDS) == 0

    consumer = cast("Any", DeserializingConsumer)({
        "bootstrap.servers": kafka.bootstrap,
        "group.id": topic,
        "auto.offset.reset": "earliest",
        "key.deserializer": for_consumer(JsonDeserializer(connection, Line)),
        "value.deserializer": for_consumer(AvroDeserializer(connection, Order)),
    })  # fmt: skip
    consumer.subscribe([topic])
    try:
        records = [consumer.poll(SECONDS) for _ in range(4)]
        assert [record.value() for record in records] == [*ORDERS, None]
        assert [record.key() for record in records] == [*(order.lines[1] for order in ORDERS), ORDERS[0].lines[0]]
        names = {name for record in records[:3] for name, _ in record.headers()}
        assert names == ({"mine", "__key_schema_id", "__value_schema_id"} if framing == "header" else {"mine"})
    finally:
        consumer.close()
    assert connection.subjects() == (f"{topic}-key", f"{topic}-value")


def test_aiokafka_calls_our_serializers(kafka: Kafka, topic: str, registry: tuple[Connection, str]) -> None:
    async def story(url: str) -> None:
        async with connect_async(url) as door:
            write = AsyncSerializer(door, lambda sync: AvroSerializer(sync, Order))
            headed = AsyncSerializer(
                door, lambda sync: AvroSerializer(sync, Order, SerializerSettings(framing="header"))
            )
            keys = AsyncSerializer(door, lambda sync: AvroSerializer(sync, '"long"'))
            read = AsyncDeserializer(door, lambda sync: AvroDeserializer(sync, Order))
            read_key = AsyncDeserializer(door, AvroDeserializer)
            plain = AIOKafkaProducer(
                bootstrap_servers=kafka.bootstrap,
                key_serializer=await keys.bind(topic, "key"),
                value_serializer=await write.bind(topic),
            )
            bare = AIOKafkaProducer(bootstrap_servers=kafka.bootstrap)
            consumer = AIOKafkaConsumer(topic, bootstrap_servers=kafka.bootstrap, auto_offset_reset="earliest")
            started = [plain, bare, consumer]
            try:
                for each in started:
                    await each.start()
                for order in ORDERS:
                    await plain.send_and_wait(topic, order, key=order.id)
                one = await serialize_part(headed, ORDERS[1], topic)
                await bare.send_and_wait(topic, one.data, headers=one.headers)
                records = [await asyncio.wait_for(consumer.getone(), SECONDS) for _ in range(4)]
                assert [await deserialize_part(read, record) for record in records] == [*ORDERS, ORDERS[1]]
                assert [await deserialize_part(read_key, record, "key") for record in records] == [0, 1, 2, None]
            finally:
                for each in started:
                    await each.stop()

    asyncio.run(story(registry[1]))
