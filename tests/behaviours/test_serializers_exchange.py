"""Records cross over: what Confluent's Python serializers write is read here, and the other way round."""

import json
from typing import Any

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer as TheirDeserializer
from confluent_kafka.schema_registry.avro import AvroSerializer as TheirSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from tests.behaviours.served import Served
from treaty.assemble import connect
from treaty.client.serializers.avro import AvroDeserializer, AvroSerializer
from treaty.client.serializers.settings import SerializerSettings, UseLatest

SCHEMA = json.dumps(
    {
        "type": "record",
        "name": "shop.Order",
        "fields": [
            {"name": "id", "type": "long"},
            {"name": "state", "type": {"type": "enum", "name": "State", "symbols": ["NEW", "SENT"]}},
            {"name": "note", "type": ["null", "string"], "default": None},
            {"name": "lines", "type": {"type": "array", "items": {"type": "map", "values": "double"}}},
            {"name": "mark", "type": {"type": "fixed", "name": "Mark", "size": 2}},
        ],
    }
)
ORDERS: list[dict[str, Any]] = [
    {"id": 1, "state": "NEW", "note": None, "lines": [], "mark": b"ab"},
    {"id": -(2**40), "state": "SENT", "note": "Käse", "lines": [{"a": 1.5}, {}], "mark": b"\x00\xff"},
]


def place(topic: str) -> SerializationContext:
    return SerializationContext(topic, MessageField.VALUE, [])


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: str(order["id"]))
def test_records_cross_over_both_ways(server: Served, order: dict[str, Any]) -> None:
    with SchemaRegistryClient({"url": server.url}) as client, connect(server.url) as connection:
        theirs = TheirSerializer(client, SCHEMA)(order, place("orders"))
        ours = AvroSerializer(connection, SCHEMA)(order, "orders").data
        assert theirs == ours
        assert ours is not None
        assert AvroDeserializer(connection)(theirs, "orders") == order
        assert TheirDeserializer(client)(ours, place("orders")) == order
        assert connection.versions("orders-value") == (1,)


def test_guids_in_headers_cross_over(server: Served) -> None:
    with SchemaRegistryClient({"url": server.url}) as client, connect(server.url) as connection:
        framed = AvroSerializer(connection, SCHEMA, SerializerSettings(framing="header"))(ORDERS[1], "orders")
        context = SerializationContext("orders", MessageField.VALUE, list(framed.headers))
        assert framed.data is not None
        assert TheirDeserializer(client)(framed.data, context) == ORDERS[1]


def test_their_writer_is_read_as_our_latest(server: Served) -> None:
    wider = json.loads(SCHEMA)
    wider["fields"].append({"name": "more", "type": "int", "default": 5})
    with SchemaRegistryClient({"url": server.url}) as client, connect(server.url) as connection:
        data = TheirSerializer(client, SCHEMA)(ORDERS[0], place("orders"))
        connection.register("orders-value", json.dumps(wider))
        assert AvroDeserializer(connection, UseLatest())(data, "orders") == {**ORDERS[0], "more": 5}
