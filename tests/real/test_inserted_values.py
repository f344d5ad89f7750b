"""INSERT into a real broker, read back by confluent-kafka's own deserializers: drawn values of each type in three formats, and wrong values."""

import base64
import datetime as dt
import random
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf.message_factory import GetMessageClass

from tests.behaviours.test_insert import WRONG
from tests.real.running import Running, serving
from tests.real.test_statements_kafka import post, records
from tests.servers.kafka import Kafka
from treaty.formats.protobuf.runtime import build_pool
from treaty.plan.registry_queries import parse_text

pytestmark = pytest.mark.jvm  # of the broker
TYPES = {
    "b": "BOOLEAN", "n": "INT", "x": "DOUBLE", "t": "STRING", "y": "BINARY", "d": "DATE", "at": "TIMESTAMP", "p": "DECIMAL(9, 2)",
    "a": "ARRAY<STRING>", "m": "MAP<STRING, INT>", "s": "STRUCT<u: INT, v: STRING>",
}  # fmt: skip
MOST_ROWS = 60
"""Rows of an INSERT; each has at least one."""
Values = Mapping[str, Any]


@pytest.fixture(scope="module")
def server(kafka: Kafka, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("server")
    with serving(folder, "--log", "memory:", "--cluster", f"main=kafka://{kafka.bootstrap}") as running:
        yield running


def draw_values(draw: random.Random) -> Values:
    """Values of all columns; some are null."""
    text = "".join(draw.choices("aB'\\\"\n €𝄞;-%", k=draw.randint(0, 8)))
    at = dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(
        seconds=draw.randint(-(2**31), 2**33), milliseconds=draw.choice((0, 7, 250))
    )
    values = {
        "b": draw.random() < 0.5,
        "n": draw.choice((0, -1, 2**31 - 1, -(2**31), draw.randint(-9999, 9999))),
        "x": draw.choice((0.0, -1.5, 1e300, 5e-324, draw.random())),
        "t": text,
        "y": draw.randbytes(draw.randint(0, 5)),
        "d": at.date(),
        "at": at,
        "p": Decimal(draw.randint(-999_999_999, 999_999_999)).scaleb(-2),
        "a": draw.choices(("", "it's", "é", "a"), k=draw.randint(0, 3)),
        "m": {key: draw.randint(-5, 5) for key in draw.sample("abc", draw.randint(0, 3))},
        "s": {"u": draw.randint(-5, 5), "v": draw.choice(("", "x"))},
    }
    return {name: None if draw.random() < 0.1 else value for name, value in values.items()}


def print_value(value: Any) -> str:
    """A literal of SQL."""
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).upper()
        case str():
            escaped = value.replace("\\", "\\\\").replace("'", "''")
            return f"'{escaped}'"
        case bytes():
            return f"X'{value.hex()}'"
        case dt.datetime():
            return f"TIMESTAMP '{value:%Y-%m-%d %H:%M:%S}.{value.microsecond:06}Z'"
        case dt.date():
            return f"DATE '{value}'"
        case float():
            return f"{value!r}D" if "e" not in repr(value) else repr(value).upper()
        case list():
            return f"ARRAY({', '.join(map(print_value, value))})"
        case {"u": first, "v": second}:
            return f"STRUCT(u := {first}, v := {print_value(second)})"
        case dict():
            return f"MAP({', '.join(f'{print_value(key)}, {one}' for key, one in value.items())})"
        case _:
            return str(value)


def read_json(row: dict[str, Any]) -> Values:
    """The values of JSON's own types."""
    found = dict(row)
    readers: dict[str, Callable[[Any], Any]] = {
        "y": base64.b64decode, "d": dt.date.fromisoformat, "at": dt.datetime.fromisoformat, "x": float,
        "p": lambda number: Decimal(repr(number)),
    }  # fmt: skip
    return {name: None if value is None else readers.get(name, lambda it: it)(value) for name, value in found.items()}


def read_message(message: Any) -> Values:
    """The values of a message, None for a field without presence."""
    found: dict[str, Any] = {}
    for field in message.DESCRIPTOR.fields:
        value = getattr(message, field.name)
        if field.has_presence and not message.HasField(field.name):
            found[field.name] = None
        elif field.name in {"a", "m"}:
            found[field.name] = dict(value) if field.name == "m" else list(value)
        else:
            found[field.name] = _read_field(field.name, value)
    return found


def _read_field(name: str, value: Any) -> Any:
    match name:
        case "d":
            return dt.date(value.year, value.month, value.day)
        case "at":
            return value.ToDatetime(dt.UTC)
        case "p":
            return Decimal(int.from_bytes(value.value, signed=True)).scaleb(-value.scale)
        case "s":
            return {"u": value.u, "v": value.v}
        case _:
            return value


def make_reader(format_: str, client: SchemaRegistryClient, topic: str) -> Callable[[bytes], Values]:
    """What reads values of a topic by confluent-kafka's deserializer of a format."""
    where = SerializationContext(topic, MessageField.VALUE)
    schema = client.get_latest_version(f"{topic}-value").schema
    assert schema is not None
    if format_ == "AVRO":
        avro: Any = AvroDeserializer(client)
        return lambda data: avro(data, where)
    if format_ == "JSON":
        strict: Any = JSONDeserializer(schema.schema_str, schema_registry_client=client)
        return lambda data: read_json(strict(data, where))
    pool = build_pool(parse_text("PROTOBUF", str(schema.schema_str)))
    name = str(schema.schema_str).partition("message ")[2].split()[0]
    package = str(schema.schema_str).partition("package ")[2].partition(";")[0]
    kind = GetMessageClass(pool.FindMessageTypeByName(f"{package}.{name}" if package else name))
    protobuf: Any = ProtobufDeserializer(kind, {"use.deprecated.format": False})
    return lambda data: read_message(protobuf(data, where))


def create(server: Running, topic: str, format_: str, columns: str) -> None:
    text = f"CREATE STREAM {topic} (k BIGINT KEY, {columns}) WITH (KAFKA_TOPIC = '{topic}', VALUE_FORMAT = '{format_}')"
    assert post(server, text)[0] == 200


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("count", [pytest.param(34_000, marks=pytest.mark.soak), 120])
@pytest.mark.parametrize("format_", ["AVRO", "PROTOBUF", "JSON"])
def test_inserted_values_are_read_by_the_deserializers_of_confluent(
    server: Running, kafka: Kafka, format_: str, count: int
) -> None:
    draw, topic = random.Random(count), kafka.topic(f"t{uuid4().hex}")
    create(server, topic, format_, ", ".join(f"{name} {kind}" for name, kind in TYPES.items()))
    sent: list[Values] = []
    while len(sent) < count:
        rows = [draw_values(draw) for _ in range(min(count - len(sent), draw.randint(1, MOST_ROWS)))]
        texts = (
            f"({len(sent) + place}, {', '.join(map(print_value, row.values()))})" for place, row in enumerate(rows)
        )
        status, answer = post(server, f"INSERT INTO {topic} VALUES {', '.join(texts)}")
        assert status == 200, answer
        sent += rows
    with SchemaRegistryClient({"url": server.base}) as client:
        read = make_reader(format_, client, topic)
        came = {int.from_bytes(one.key or b"", signed=True): read(one.value or b"") for one in records(kafka, topic)}
    if format_ == "PROTOBUF":  # a list and a map are never null there
        sent = [{**row, "a": row["a"] or [], "m": row["m"] or {}} for row in sent]
    assert len(came) == count
    wrong = [
        (place, name, value, came[place].get(name))
        for place, row in enumerate(sent)
        for name, value in row.items()
        if came[place].get(name) != value
    ]
    assert not wrong, (len(wrong), wrong[:3])


@pytest.mark.soak
@pytest.mark.parametrize("format_", ["AVRO", "PROTOBUF", "JSON"])
def test_of_wrong_values_nothing_is_in_the_topic(server: Running, kafka: Kafka, format_: str) -> None:
    topics = []
    for kind, literals in WRONG.items():
        topics.append(kafka.topic(f"t{uuid4().hex}"))
        create(server, topics[-1], format_, f"c {kind}")
        for literal in literals:
            status, answer = post(server, f"INSERT INTO {topics[-1]} VALUES (1, NULL), (2, {literal})")
            assert (status, answer["code"]) == (400, "VALUE_UNFIT"), (kind, literal, answer)
    assert sum(map(len, WRONG.values())) >= 67, "of three formats more than two hundred"
    assert [one for topic in topics for one in records(kafka, topic)] == []
