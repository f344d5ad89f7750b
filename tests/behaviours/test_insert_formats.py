"""INSERT: records of three formats as confluent-kafka's own deserializers read them."""

import base64
import random
import struct
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf.message_factory import GetMessageClass

from tests.behaviours.kept_records import KeptRecords
from tests.behaviours.served import Served, served
from treaty import connect
from treaty.client.kafka.producer import OutgoingRecord
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.protobuf.format import FORMAT as PROTOBUF
from treaty.formats.protobuf.runtime import build_pool
from treaty.metastore import Metastore

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ROWS = 40
MANY = 34_000
"""Rows of each format, and in a soak."""


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with served("memory:") as running:
        yield running


@pytest.fixture
def kept() -> KeptRecords:
    return KeptRecords()


@pytest.fixture
def metastore(server: Served, kept: KeptRecords) -> Iterator[Metastore]:
    with connect(server.url) as connection:
        yield Metastore(connection.registry, destination=kept)


# ------------------------------------------------------------------------------------------------ read by other programs

Value = tuple[str, Any]
"""A literal, and what a reader gets."""


def text(chance: random.Random) -> Value:
    found = "".join(chance.choice("aZ09 ß→'\"\\\n%_") for _ in range(chance.randrange(9)))
    return "'" + found.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'", found


def decimal(chance: random.Random) -> Value:
    unscaled = chance.randrange(-(10**20), 10**20)
    found = Decimal(unscaled).scaleb(-4)
    return format(found, "f"), found


def instant(chance: random.Random) -> Value:
    found = EPOCH + timedelta(microseconds=chance.randrange(-(10**16), 10**17))
    return f"TIMESTAMP '{found.replace(tzinfo=None).isoformat(' ')}Z'", found


def day(chance: random.Random) -> Value:
    found = date(1, 1, 1) + timedelta(days=chance.randrange(3_600_000))
    return f"DATE '{found.isoformat()}'", found


def octets(chance: random.Random) -> Value:
    found = chance.randbytes(chance.randrange(6))
    return f"X'{found.hex()}'", found


def whole(bits: int) -> Callable[[random.Random], Value]:
    def make(chance: random.Random) -> Value:
        found = chance.choice([-(2 ** (bits - 1)), 2 ** (bits - 1) - 1, 0, chance.getrandbits(bits - 1)])
        return str(found), found

    return make


def double(chance: random.Random) -> Value:
    found = chance.choice([0.0, 1.5, chance.uniform(-1e9, 1e9), chance.random() * 10 ** chance.randrange(-300, 300)])
    return f"{found!r}D" if "e" not in repr(found) else repr(found), found


def truth(chance: random.Random) -> Value:
    found = chance.random() < 0.5
    return str(found).upper(), found


def listed(chance: random.Random) -> Value:
    parts = [text(chance) for _ in range(chance.randrange(4))]
    return f"ARRAY({', '.join(one for one, _ in parts)})", [found for _, found in parts]


def mapped(chance: random.Random) -> Value:
    parts = {f"k{at}": whole(32)(chance) for at in range(chance.randrange(4))}
    pairs = (f"'{name}', {one}" for name, (one, _) in parts.items())
    return f"MAP({', '.join(pairs)})", {name: found for name, (_, found) in parts.items()}


COLUMNS: dict[str, tuple[str, Callable[[random.Random], Value]]] = {
    "s": ("STRING", text), "i": ("INT", whole(32)), "l": ("BIGINT", whole(64)), "x": ("DOUBLE", double), "t": ("BOOLEAN", truth),
    "b": ("BINARY", octets), "d": ("DATE", day), "at": ("TIMESTAMP", instant), "p": ("DECIMAL(20, 4)", decimal),
    "a": ("ARRAY<STRING>", listed), "m": ("MAP<STRING, INT>", mapped),
}  # fmt: skip
"""Columns by name: type, and what makes a literal with the value that it means."""


def from_message(message: Any) -> dict[str, Any]:
    """A message of Protobuf as a row; what is not set is None."""
    row: dict[str, Any] = {}
    for field in message.DESCRIPTOR.fields:
        value = getattr(message, field.name)
        if field.name in {"a", "m"}:
            row[field.name] = list(value) if field.name == "a" else dict(value)
        elif not message.HasField(field.name):
            row[field.name] = None
        elif field.name == "at":
            row[field.name] = EPOCH + timedelta(seconds=value.seconds, microseconds=value.nanos // 1_000)
        elif field.name == "d":
            row[field.name] = date(value.year, value.month, value.day)
        elif field.name == "p":
            row[field.name] = Decimal(int.from_bytes(value.value, "big", signed=True)).scaleb(-value.scale)
        else:
            row[field.name] = value
    return row


def from_json(document: dict[str, Any]) -> dict[str, Any]:
    """A JSON document as a row: texts of dates, times and bytes read."""
    row = {name: document.get(name) for name in COLUMNS}
    reads: dict[str, Callable[[Any], Any]] = {
        "b": base64.b64decode, "d": date.fromisoformat, "at": datetime.fromisoformat, "p": float,
    }  # fmt: skip
    return {name: reads[name](one) if name in reads and one is not None else one for name, one in row.items()}


def reader(format_: str, client: Any, topic: str) -> Callable[[OutgoingRecord], dict[str, Any]]:
    """Confluent's deserializer of the values of a topic."""
    registered = client.get_latest_version(f"{topic}-value").schema.schema_str
    if format_ == "AVRO":
        deserializer: Any = AvroDeserializer(client)
        shape: Callable[[Any], dict[str, Any]] = dict
    elif format_ == "JSON":
        deserializer, shape = JSONDeserializer(registered, None, client), from_json
    else:
        model = PROTOBUF.parse(ResolvedSchema("PROTOBUF", registered), False)
        name = client.get_latest_version(f"{topic}-value").schema.schema_str.split("message ")[1].split()[0]
        full = ".".join(filter(None, [model.file.package, name]))
        kind = GetMessageClass(build_pool(model).FindMessageTypeByName(full))
        deserializer, shape = ProtobufDeserializer(kind, {"use.deprecated.format": False}, client), from_message

    def read(record: OutgoingRecord) -> dict[str, Any]:
        context = SerializationContext(topic, MessageField.VALUE, [*record.headers])
        return shape(deserializer(record.value, context))

    return read


def insert_and_read(
    metastore: Metastore, kept: KeptRecords, url: str, made: tuple[str, str, int], chance: random.Random
) -> None:
    format_, framing, count = made
    topic = f"t{chance.getrandbits(40)}"
    columns = ", ".join(f"{name} {kind}" for name, (kind, _) in COLUMNS.items())
    more = f"KAFKA_TOPIC = '{topic}', VALUE_FORMAT = '{format_}', FRAMING = '{framing}'"
    metastore.run(f"CREATE STREAM {topic} (id BIGINT KEY, {columns}) WITH ({more})")
    with SchemaRegistryClient({"url": url}) as client:
        read = reader(format_, client, topic)
        for begin in range(0, count, 500):
            wanted: list[dict[str, Any]] = []
            rows = []
            for number in range(begin, min(count, begin + 500)):
                values = {name: make(chance) for name, (_, make) in COLUMNS.items()}
                empty = {name for name in COLUMNS if name not in {"a", "m"} and chance.random() < 0.2}
                wanted.append({name: None if name in empty else found for name, (_, found) in values.items()})
                cells = ["NULL" if name in empty else one for name, (one, _) in values.items()]
                rows.append(f"({', '.join([str(number), *cells])})")
            kept.records.clear()
            metastore.run(f"INSERT INTO {topic} VALUES {', '.join(rows)}")
            keys = [struct.unpack(">q", record.key or b"")[0] for record in kept.records]
            assert keys == list(range(begin, begin + len(rows)))
            for record, row in zip(kept.records, wanted, strict=True):
                if format_ == "JSON" and row["p"] is not None:
                    row["p"] = float(row["p"])  # as programs read numbers of JSON
                assert read(record) == row


@pytest.mark.parametrize("framing", ["prefix", "header"])
@pytest.mark.parametrize("format_", ["AVRO", "PROTOBUF", "JSON"])
def test_confluents_deserializers_read_what_was_inserted(
    metastore: Metastore, kept: KeptRecords, server: Served, format_: str, framing: str
) -> None:
    insert_and_read(metastore, kept, server.url, (format_, framing, ROWS), random.Random(f"{format_} {framing}"))


@pytest.mark.soak
@pytest.mark.parametrize("format_", ["AVRO", "PROTOBUF", "JSON"])
def test_confluents_deserializers_read_very_many_records(
    metastore: Metastore, kept: KeptRecords, server: Served, format_: str
) -> None:
    insert_and_read(metastore, kept, server.url, (format_, "prefix", MANY), random.Random(format_))
