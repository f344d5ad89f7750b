"""JSON serializers over any registry, and records that cross over to Confluent's and back."""

import json
from dataclasses import asdict, dataclass

import pytest
from confluent_kafka.schema_registry import Schema, SchemaReference, SchemaRegistryClient
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from tests.behaviours.served import Served
from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.client.serializers.errors import BadRecordError, BadValueError, RecordErrorCode
from treaty.client.serializers.frames import encode_id
from treaty.client.serializers.jsonschema import JsonDeserializer, JsonSerializer
from treaty.client.serializers.settings import DeserializerSettings, MustExist, SerializerSettings, UseId, UseLatest
from treaty.client.serializers.subject_names import record_name
from treaty.core.refusals import SchemaNotFound
from treaty.core.schema import Draft, Reference

DRAFT = "http://json-schema.org/draft-07/schema#"
ORDER = json.dumps(
    {
        "$schema": DRAFT,
        "title": "Order",
        "type": "object",
        "properties": {"id": {"type": "integer"}, "note": {"type": ["null", "string"]}},
        "required": ["id"],
        "additionalProperties": False,
    }
)
MONEY = json.dumps({"$schema": DRAFT, "title": "Money", "type": "object", "properties": {"cents": {"type": "integer"}}})
PRICED = Draft(
    json.dumps(
        {"$schema": DRAFT, "title": "Priced", "type": "object", "properties": {"price": {"$ref": "money.json"}}}
    ),
    "JSON",
    (Reference("money.json", "money", 1),),
)


@dataclass(frozen=True)
class Order:
    id: int
    note: str | None = None


def test_a_value_goes_out_framed_and_comes_back(connection: Connection) -> None:
    framed = JsonSerializer(connection, ORDER)({"id": 7, "note": "Käse"}, "orders")

    assert framed.data == b"\x00\x00\x00\x00\x01" + '{"id":7,"note":"Käse"}'.encode()
    assert JsonDeserializer(connection)(framed.data, "orders") == {"id": 7, "note": "Käse"}
    assert JsonDeserializer(connection)(None) is None
    assert connection.version("orders-value").format == "JSON"


def test_a_value_that_is_not_valid_is_refused_with_every_fault(connection: Connection) -> None:
    write = JsonSerializer(connection, ORDER)

    with pytest.raises(BadValueError, match=r"/id .*/note|/note .*/id"):
        write({"id": "x", "note": 5}, "orders")
    with pytest.raises(BadValueError, match="has no JSON form"):
        write({"id": {1}}, "orders")
    with pytest.raises(BadValueError, match="has no JSON form"):
        write({"id": float("nan")}, "orders")
    assert JsonSerializer(connection, ORDER, SerializerSettings(check=False))({"id": "x"}, "orders").data is not None


def test_bad_records_have_their_codes(connection: Connection) -> None:
    write = JsonSerializer(connection, ORDER, SerializerSettings(check=False))
    wrong = write({"id": "x"}, "orders").data
    assert wrong is not None

    assert JsonDeserializer(connection)(wrong, "orders") == {"id": "x"}
    for reader in (
        JsonDeserializer(connection, ORDER),
        JsonDeserializer(connection, settings=DeserializerSettings(check=True)),
    ):
        with pytest.raises(BadRecordError) as bad:
            reader(wrong, "orders")
        assert bad.value.code is RecordErrorCode.INVALID
        assert "/id" in bad.value.message
    for payload in (b"{", b"\xff", b"[" * 100_000):
        with pytest.raises(BadRecordError) as bad:
            JsonDeserializer(connection)(encode_id(1) + payload, "orders")
        assert bad.value.code is RecordErrorCode.MALFORMED
    with pytest.raises(BadRecordError) as bad:
        JsonDeserializer(connection)(encode_id(99) + b"{}", "orders")
    assert bad.value.code is RecordErrorCode.UNKNOWN_ID


def test_a_schema_with_references_checks_all_of_a_value(connection: Connection) -> None:
    connection.register("money", Draft(MONEY, "JSON"))
    write = JsonSerializer(connection, PRICED)

    framed = write({"price": {"cents": 5}}, "prices")
    with pytest.raises(BadValueError, match="/price/cents"):
        write({"price": {"cents": "many"}}, "prices")
    assert JsonDeserializer(connection, settings=DeserializerSettings(check=True))(framed.data) == {
        "price": {"cents": 5}
    }


def test_which_schema_is_written_with(connection: Connection) -> None:
    with pytest.raises(ValueError, match="needs a schema"):
        JsonSerializer(connection)
    made = connection.register("orders-value", Draft(ORDER, "JSON")).version
    for settings, schema in (
        (SerializerSettings(MustExist()), ORDER),
        (SerializerSettings(UseLatest()), None),
        (SerializerSettings(UseId(made.schema_id)), None),
    ):
        assert JsonSerializer(connection, schema, settings)({"id": 1}, "orders").schema_id == made.schema_id
    with pytest.raises(SchemaNotFound):
        JsonSerializer(connection, MONEY, SerializerSettings(MustExist()))({}, "orders")
    connection.register("text-value", '"string"')
    with pytest.raises(BadValueError, match="is AVRO"):
        JsonSerializer(connection, None, SerializerSettings(UseLatest()))({}, "text")


def test_names_and_values_of_a_programs_own(connection: Connection) -> None:
    write = JsonSerializer(connection, ORDER, SerializerSettings(name_strategy=record_name), to_json=asdict)
    read = JsonDeserializer(connection, from_json=lambda members: Order(**members))

    framed = write(Order(3), "orders")
    assert connection.subjects() == ("Order",)
    assert read(framed.data) == Order(3)


def place(topic: str) -> SerializationContext:
    return SerializationContext(topic, MessageField.VALUE, [])


def test_records_cross_over_both_ways(server: Served) -> None:
    value = {"id": 4, "note": "Käse"}
    with SchemaRegistryClient({"url": server.url}) as client, connect(server.url) as connection:
        theirs = JSONSerializer(ORDER, client)(value, place("orders"))
        ours = JsonSerializer(connection, ORDER)(value, "orders").data

        assert theirs == ours
        assert ours is not None
        assert JsonDeserializer(connection, settings=DeserializerSettings(check=True))(theirs, "orders") == value
        assert JSONDeserializer(ORDER, schema_registry_client=client)(ours, place("orders")) == value
        assert connection.versions("orders-value") == (1,)


def test_records_with_references_cross_over(server: Served) -> None:
    value = {"price": {"cents": 9}}
    with SchemaRegistryClient({"url": server.url}) as client, connect(server.url) as connection:
        connection.register("money", Draft(MONEY, "JSON"))
        schema = Schema(PRICED.text, "JSON", [SchemaReference("money.json", "money", 1)])
        theirs = JSONSerializer(schema, client)(value, place("prices"))
        ours = JsonSerializer(connection, PRICED)(value, "prices").data

        assert theirs == ours
        assert JSONDeserializer(schema, schema_registry_client=client)(ours, place("prices")) == value
        framed = JsonSerializer(connection, PRICED, SerializerSettings(framing="header"))(value, "prices")
        context = SerializationContext("prices", MessageField.VALUE, list(framed.headers))
        assert JSONDeserializer(schema, schema_registry_client=client)(framed.data, context) == value
