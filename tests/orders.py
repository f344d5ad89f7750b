"""Orders in three formats and three versions each, written by confluent-kafka's serializers or Treaty's, read back by each format's own library.

What a reader of all versions must get is computed without Treaty: by fastavro, protoc's classes and `json`.
"""

import datetime as dt
import io
import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
from confluent_kafka.schema_registry import (
    SchemaRegistryClient,
    header_schema_id_serializer,
    prefix_schema_id_serializer,
)
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf.message_factory import GetMessageClass

from tests.facades.test_confluent_python_protobuf import compiled
from treaty.client.connection import Connection
from treaty.client.serializers import avro as ours_avro
from treaty.client.serializers import jsonschema as ours_json
from treaty.client.serializers import protobuf as ours_protobuf
from treaty.client.serializers.settings import SerializerSettings

VERSIONS = (0, 1, 2)
SECOND = dt.timedelta(seconds=1)
BEGIN = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
KEY = '{"type":"record","name":"Key","namespace":"shop","fields":[{"name":"id","type":"long"}]}'
FRAMINGS: Mapping[str, Any] = {"prefix": prefix_schema_id_serializer, "header": header_schema_id_serializer}

Headers = list[tuple[str, bytes]]
Write = Callable[[Any], tuple[bytes, Headers]]
Order = dict[str, Any]


def _avro(version: int) -> str:
    line = [{"name": "sku", "type": "string"}, {"name": "count", "type": "int"}]
    place = {"type": "record", "name": "Place", "fields": [{"name": "x", "type": "double"}]}
    fields: list[Any] = [
        {"name": "name", "type": "string"},
        {"name": "n", "type": "long" if version else "int"},
        {"name": "state", "type": {"type": "enum", "name": "State", "symbols": ["NEW", "PAID", "SENT"]}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "lines", "type": {"type": "array", "items": {"type": "record", "name": "Line", "fields": line}}},
        {"name": "tags", "type": {"type": "map", "values": "string"}},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
        {"name": "note", "type": ["null", "string"], "default": None},
        {"name": "where", "type": ["null", place], "default": None},
    ]
    return json.dumps({"type": "record", "name": "Order", "namespace": "shop", "fields": fields[: 7 + version]})


def _proto(version: int) -> str:
    more = ("optional string note = 8;", "Place where = 9; message Place { double x = 1; }")
    return f"""syntax = "proto3"; package shop; import "google/protobuf/timestamp.proto";
message Other {{ string name = 1; }}
message Order {{
  string name = 1; {"int64" if version else "int32"} n = 2; State state = 3; google.protobuf.Timestamp at = 4;
  repeated Line lines = 5; map<string, string> tags = 6; double price = 7; {" ".join(more[:version])}
  enum State {{ NEW = 0; PAID = 1; SENT = 2; }}
  message Line {{ string sku = 1; int32 count = 2; }}
}}"""


def _json(version: int) -> str:
    line = {"type": "object", "properties": {"sku": {"type": "string"}, "count": {"type": "integer"}}}
    members = {
        "name": {"type": "string"},
        "n": {"type": "integer"},
        "state": {"enum": ["NEW", "PAID", "SENT"]},
        "at": {"type": "string", "format": "date-time"},
        "lines": {"type": "array", "items": line},
        "tags": {"type": "object", "additionalProperties": {"type": "string"}},
        "price": {"type": "number"},
        "note": {"type": ["string", "null"]},
        "where": {"type": "object", "properties": {"x": {"type": "number"}}},
    }
    kept = dict(list(members.items())[: 7 + version])
    return json.dumps({"title": "Order", "type": "object", "properties": kept})


def order(dice: random.Random, version: int, name: str) -> Order:
    """An order as the Avro serializers take it; about 150 bytes."""
    made: Order = {
        "name": name,
        "n": dice.randrange(2**40 if version else 2**31),
        "state": dice.choice(["NEW", "PAID", "SENT"]),
        "at": BEGIN + dice.randrange(10**7) * SECOND + dt.timedelta(microseconds=dice.randrange(10**6)),
        "lines": [{"sku": f"ä{dice.randrange(999)}", "count": dice.randrange(99)} for _ in range(dice.randrange(4))],
        "tags": {key: dice.choice(["red", "blue", ""]) for key in "abc"[: dice.randrange(4)]},
        "price": Decimal(dice.randrange(10**8)) / 100,
    }
    if version:
        made["note"] = dice.choice([None, "a note of more than eight signs, and a smile \U0001f600"])
    if version > 1:
        made["where"] = dice.choice([None, {"x": dice.random()}])
    return made


def _message(kind: Any, made: Order) -> Any:
    seconds, micros = divmod(round((made["at"] - BEGIN) / dt.timedelta(microseconds=1)), 10**6)
    at = {"seconds": int(BEGIN.timestamp()) + seconds, "nanos": micros * 1000}
    return kind(**{**made, "at": at, "price": float(made["price"])})


def _document(made: Order) -> Any:
    found = {**made, "at": made["at"].isoformat(), "price": float(made["price"])}
    return {name: one for name, one in found.items() if name != "where" or one is not None}


def _avro_read(payload: bytes, version: int) -> Order:
    writer, reader = (fastavro.parse_schema(json.loads(_avro(one))) for one in (version, VERSIONS[-1]))
    found: Any = fastavro.schemaless_reader(io.BytesIO(payload), writer, reader)
    return dict(found)


def message_row(message: Any) -> Order:
    """A message of the last version's class as a row."""
    at = BEGIN.fromtimestamp(message.at.seconds, dt.UTC) + dt.timedelta(microseconds=message.at.nanos // 1000)
    return {
        "name": message.name,
        "n": message.n,
        "state": ("NEW", "PAID", "SENT")[message.state],
        "at": at if message.HasField("at") else None,
        "lines": [{"sku": one.sku, "count": one.count} for one in message.lines],
        "tags": dict(message.tags),
        "price": message.price,
        "note": message.note if message.HasField("note") else None,
        "where": {"x": message.where.x} if message.HasField("where") else None,
    }


def document_row(document: Any) -> Order:
    """A document as a row: what is missing is null."""
    return {**dict.fromkeys(("note", "where")), **document, "at": dt.datetime.fromisoformat(document["at"])}


@dataclass(frozen=True, slots=True)
class Kind:
    """Orders of one format: their schemas, both libraries' serializers for a version, and how each format's own library reads a payload."""

    name: str
    texts: Sequence[str]
    head: bytes
    """What stands between a frame's id and the payload."""
    value: Callable[[Order, int], Any]
    """An order as the serializers of this format take it."""
    read: Callable[[bytes, int], Order]
    """A payload of a version as a row of the last one."""
    message: str
    theirs: Callable[[SchemaRegistryClient, int, str], Any]
    ours: Callable[[Connection, int, str], Any]
    back: Mapping[str, Callable[[Any], Any]]
    """By library: its deserializer, made with its own client."""
    row: Callable[[Any], Order]
    """What they give, as a row."""

    def written_by(self, library: str, registry: Any, version: int, topic: str, framing: str = "prefix") -> Write:
        """Writes values of a version; `registry` is the library's own client."""
        if library == "theirs":
            return confluents(self.theirs(registry, version, framing), topic)
        return treatys(self.ours(registry, version, framing), topic)

    def read_by(self, library: str, registry: Any, topic: str) -> Callable[[bytes], Order]:
        """Reads framed values of the last version as rows; `registry` is the library's own client."""
        found = self.back[library](registry)
        context = SerializationContext(topic, MessageField.VALUE)
        return lambda data: self.row(found(data, context) if library == "theirs" else found(data, topic))


def confluents(serializer: Any, topic: str, part: Any = MessageField.VALUE) -> Write:
    """A serializer of confluent-kafka as a function from a value to bytes and headers."""

    def write(value: Any) -> tuple[bytes, Headers]:
        headers: Any = []
        made = serializer(value, SerializationContext(topic, part, headers))
        return bytes(made), list(headers)

    return write


def treatys(serializer: Any, topic: str, part: str = "value") -> Write:
    """A serializer of Treaty as a function from a value to bytes and headers."""

    def write(value: Any) -> tuple[bytes, Headers]:
        made = serializer(value, topic, part)
        return made.data, list(made.headers)

    return write


def _conf(framing: str) -> dict[str, Any]:
    return {"schema.id.serializer": FRAMINGS[framing]}


def kinds(folder: Path) -> Mapping[str, Kind]:
    """The three formats; protoc writes into the folder."""
    classes = []
    for version in VERSIONS:
        place = folder / str(version)
        place.mkdir()
        pool = compiled(place, {"order.proto": _proto(version)})
        classes.append(GetMessageClass(pool.FindMessageTypeByName("shop.Order")))
    avro, json_ = [_avro(one) for one in VERSIONS], [_json(one) for one in VERSIONS]
    # Confluent's check of each value is slow and not what these tests are about.
    loose = {"validate": False}
    made = (
        Kind(
            "AVRO", avro, b"", lambda made, _: made, _avro_read, "",
            lambda client, version, framing: AvroSerializer(client, avro[version], conf=_conf(framing)),
            lambda registry, version, framing: ours_avro.AvroSerializer(registry, avro[version], _writing(framing)),
            {"theirs": lambda client: AvroDeserializer(client, avro[-1]), "ours": ours_avro.AvroDeserializer}, dict,
        ),
        Kind(
            "PROTOBUF", [_proto(one) for one in VERSIONS], b"\2\2", lambda made, version: _message(classes[version], made),
            lambda payload, _: message_row(classes[-1].FromString(payload)), "shop.Order",
            lambda client, version, framing: ProtobufSerializer(classes[version], client, _conf(framing)),
            lambda registry, version, framing: ours_protobuf.ProtobufSerializer(registry, classes[version], _writing(framing)),
            {
                "theirs": lambda client: ProtobufDeserializer(classes[-1], {}, client),
                "ours": lambda registry: ours_protobuf.ProtobufDeserializer(registry, classes[-1]),
            },
            message_row,
        ),
        Kind(
            "JSON", json_, b"", lambda made, _: _document(made), lambda payload, _: document_row(json.loads(payload)), "",
            lambda client, version, framing: JSONSerializer(json_[version], client, conf={**loose, **_conf(framing)}),
            lambda registry, version, framing: ours_json.JsonSerializer(registry, json_[version], _writing(framing)),
            {
                "theirs": lambda client: JSONDeserializer(None, schema_registry_client=client, conf=loose),
                "ours": ours_json.JsonDeserializer,
            },
            document_row,
        ),
    )  # fmt: skip
    return {one.name: one for one in made}


def _writing(framing: str) -> SerializerSettings:
    return SerializerSettings(framing=framing)  # type: ignore[arg-type] # a literal


def plain(row: Mapping[str, Any]) -> Order:
    """A row as Arrow gives it, with maps as dictionaries."""
    return {**row, "tags": None if row["tags"] is None else dict(row["tags"])}


def sorted_maps(value: Any) -> Any:
    """Entries of maps in one order, and floats by their texts."""
    if isinstance(value, dict):
        return {name: sorted_maps(one) for name, one in value.items()}
    if isinstance(value, list):
        made = [sorted_maps(one) for one in value]
        return sorted(made, key=repr) if made and isinstance(made[0], tuple) else made
    return (
        tuple(map(sorted_maps, value))
        if isinstance(value, tuple)
        else repr(value)
        if isinstance(value, float)
        else value
    )
