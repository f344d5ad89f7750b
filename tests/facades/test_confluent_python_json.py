"""confluent-kafka-python's JSON serializers, unmodified, against a real server: references, framings, both policies."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from confluent_kafka.schema_registry import Schema, SchemaReference, SchemaRegistryClient, header_schema_id_serializer
from confluent_kafka.schema_registry.error import SchemaRegistryError
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.serialization import MessageField, SerializationContext, SerializationError

from tests.real.running import Running, serving

Client = Any
"""The client: its annotations are stricter than what it takes and gives."""

CUSTOMER = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "title": "Customer",
    "type": "object",
    "properties": {"name": {"type": "string", "minLength": 1}, "born": {"$ref": "date.json#/definitions/day"}},
    "required": ["name"],
}
DATE = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "definitions": {"day": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}},
}
ORDER = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "title": "Order",
    "type": "object",
    "properties": {"id": {"type": "integer"}, "customer": {"$ref": "customer.json"}},
    "required": ["id"],
}
VALUE = {"id": 7, "customer": {"name": "Größe", "born": "1815-12-10"}}


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


def schema(value: object, *references: SchemaReference) -> Schema:
    return Schema(json.dumps(value), "JSON", list(references))


@pytest.fixture
def order(client: Client, topic: str) -> Schema:
    """A schema that refers to one that refers to another."""
    client.register_schema(f"{topic}-date", schema(DATE))
    customer = schema(CUSTOMER, SchemaReference("date.json", f"{topic}-date", 1))
    client.register_schema(f"{topic}-customer", customer)
    return schema(ORDER, SchemaReference("customer.json", f"{topic}-customer", 1))


@pytest.fixture
def where(topic: str) -> SerializationContext:
    return SerializationContext(topic, MessageField.VALUE)


def test_a_record_with_references_goes_there_and_back(
    client: Client, topic: str, order: Schema, where: SerializationContext
) -> None:
    frame = JSONSerializer(order, client)(VALUE, where)
    client.clear_caches()

    assert JSONDeserializer(None, schema_registry_client=client)(frame, where) == VALUE
    assert frame[:5] == b"\0" + client.lookup_schema(f"{topic}-value", order).schema_id.to_bytes(4, "big")
    stored = client.get_version(f"{topic}-value", 1).schema
    assert json.loads(stored.schema_str) == ORDER
    assert [(one.name, one.subject, one.version) for one in stored.references] == [
        ("customer.json", f"{topic}-customer", 1)
    ]
    assert client.get_referenced_by(f"{topic}-customer", 1) == [client.get_latest_version(f"{topic}-value").schema_id]


def test_a_value_is_judged_by_what_the_references_say(
    client: Client, order: Schema, where: SerializationContext
) -> None:
    writer = JSONSerializer(order, client)
    for wrong in ({"id": 7, "customer": {}}, {"id": 7, "customer": {"name": "a", "born": "yesterday"}}):
        with pytest.raises(SerializationError):
            writer(wrong, where)


def test_the_guid_in_a_header_is_enough(client: Client, topic: str, order: Schema) -> None:
    headers: Any = []
    where = SerializationContext(topic, MessageField.VALUE, headers)
    frame = JSONSerializer(order, client, conf={"schema.id.serializer": header_schema_id_serializer})(VALUE, where)
    client.clear_caches()

    assert json.loads(frame) == VALUE
    assert JSONDeserializer(None, schema_registry_client=client)(frame, where) == VALUE


def test_the_latest_version_is_used_and_the_schema_of_a_lookup_found(
    client: Client, topic: str, order: Schema, where: SerializationContext
) -> None:
    config = {"auto.register.schemas": False, "use.latest.version": True}
    schema_id = client.register_schema(f"{topic}-value", order)
    latest = JSONSerializer(None, client, conf=config)(VALUE, where)
    known = JSONSerializer(order, client, conf={"auto.register.schemas": False})(VALUE, where)

    assert latest == known
    assert latest[:5] == b"\0" + schema_id.to_bytes(4, "big")
    assert (
        JSONDeserializer(None, schema_registry_client=client, conf={"use.latest.version": True})(latest, where) == VALUE
    )


def test_normalised_spellings_are_one_schema(client: Client, topic: str, where: SerializationContext) -> None:
    config = {"normalize.schemas": True}
    frames = [
        JSONSerializer(schema(dict(sorted(DATE.items(), reverse=turned))), client, conf=config)({}, where)
        for turned in (False, True)
    ]

    assert frames[0] == frames[1]
    assert client.get_versions(f"{topic}-value") == [1]


def test_a_new_field_is_refused_strictly_and_admitted_leniently(
    client: Client, topic: str, where: SerializationContext
) -> None:
    wider = {**DATE, "type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}}
    narrow = {**wider, "properties": {"a": {"type": "integer"}}}
    JSONSerializer(schema(narrow), client)({"a": 1}, where)
    with pytest.raises(SchemaRegistryError, match="OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL") as refused:
        JSONSerializer(schema(wider), client)({"a": 1}, where)
    assert refused.value.error_code == 40901
    assert client.test_compatibility(f"{topic}-value", schema(wider)) is False
    client._rest_client.put(f"config/{topic}-value", body={"compatibilityPolicy": "LENIENT"})  # it has no word for it

    assert client.test_compatibility_all_versions(f"{topic}-value", schema(wider)) is True
    frame = JSONSerializer(schema(wider), client)({"a": 1, "b": "x"}, where)
    assert JSONDeserializer(json.dumps(wider), schema_registry_client=client)(frame, where) == {"a": 1, "b": "x"}


def test_an_invalid_schema_and_a_missing_reference_are_refused(client: Client, topic: str) -> None:
    for wrong in (schema({"type": "strin"}), Schema("{", "JSON"), schema(ORDER)):
        with pytest.raises(SchemaRegistryError, match="Invalid schema") as failure:
            client.register_schema(f"{topic}-value", wrong)
        assert failure.value.error_code == 42201
    with pytest.raises(SchemaRegistryError, match="No schema reference found") as failure:
        client.register_schema(f"{topic}-value", schema(ORDER, SchemaReference("customer.json", "nobody", 1)))
    assert failure.value.error_code == 42201
