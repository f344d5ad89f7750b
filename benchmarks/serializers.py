"""Records to bytes and back: CPU of our serializers beside Confluent's for Python, and for Avro beside bare fastavro.

Each serializer has seen its schema before, so no registry is asked while the clock runs. A datum of 60 bytes and one of
1,200 are written and read in all three formats; both sides write the same bytes, which is checked before. "Bare" is
fastavro's own schemaless writer and reader on a parsed schema, with the five bytes of the frame put in front or taken
off, and without any check of values or bytes; ours checks both. The sizes are those in Avro; the large message of
Protobuf has the lines alone. Sides take turns, and the least of several rounds counts.
"""

import dataclasses
import io
import json
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, cast

import fastavro
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry import avro as their_avro
from confluent_kafka.schema_registry import json_schema as their_json
from confluent_kafka.schema_registry import protobuf as their_protobuf
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.text_format import Parse

from benchmarks.load import treaty
from benchmarks.row import Row, against
from treaty.assemble import connect
from treaty.client.serializers.avro import AvroDeserializer, AvroSerializer
from treaty.client.serializers.jsonschema import JsonDeserializer, JsonSerializer
from treaty.client.serializers.protobuf import ProtobufDeserializer, ProtobufSerializer
from treaty.client.types.typed import typed_avro, typed_json
from treaty.core.registry import Registry

ROUNDS = 9
SECONDS = 0.05
"""CPU that one turn takes at least."""
FASTER = 0.5
"""Goal against Confluent's: twice as fast."""
BARE = 1.2
"""Goal against bare fastavro, on the large datum."""

Work = Callable[[], object]
Client = Any
"""Confluent's client: its annotations are stricter than what it takes."""


@dataclasses.dataclass
class Order:
    """The datum of 60 bytes."""

    id: int
    customer: str
    paid: bool
    amount: float
    note: str | None = None


@dataclasses.dataclass
class Customer:
    """Who buys."""

    name: str
    email: str | None
    tags: list[str]


@dataclasses.dataclass
class Line:
    """What is bought."""

    sku: str
    count: int
    price: float
    note: str | None = None


@dataclasses.dataclass
class Basket:
    """The datum of 1,200 bytes."""

    id: int
    customer: Customer
    lines: list[Line]
    props: dict[str, str]


ORDER = Order(123456789, "Ada Lovelace of London", True, 12.5, "leave at the door")
BASKET = Basket(
    1,
    Customer("Ada Lovelace", "ada@example.org", ["a", "b", "c"]),
    [Line(f"SKU-{n:08d}", n, n * 1.5, "a note" if n % 2 else None) for n in range(36)],
    {f"k{n}": "v" * 14 for n in range(11)},
)
PROTO = """
name: "benchmark.proto" package: "shop" syntax: "proto3"
message_type { name: "Order"
  field { name: "id" number: 1 type: TYPE_INT64 label: LABEL_OPTIONAL }
  field { name: "customer" number: 2 type: TYPE_STRING label: LABEL_OPTIONAL }
  field { name: "paid" number: 3 type: TYPE_BOOL label: LABEL_OPTIONAL }
  field { name: "amount" number: 4 type: TYPE_DOUBLE label: LABEL_OPTIONAL }
  field { name: "note" number: 5 type: TYPE_STRING label: LABEL_OPTIONAL } }
message_type { name: "Line"
  field { name: "sku" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL }
  field { name: "count" number: 2 type: TYPE_INT64 label: LABEL_OPTIONAL }
  field { name: "price" number: 3 type: TYPE_DOUBLE label: LABEL_OPTIONAL }
  field { name: "note" number: 4 type: TYPE_STRING label: LABEL_OPTIONAL } }
message_type { name: "Basket"
  field { name: "id" number: 1 type: TYPE_INT64 label: LABEL_OPTIONAL }
  field { name: "lines" number: 2 type: TYPE_MESSAGE type_name: ".shop.Line" label: LABEL_REPEATED } }
"""


def run() -> list[Row]:
    """Measure all formats, both ways, both sizes."""
    with treaty("memory:") as server, connect(f"http://127.0.0.1:{server.port}") as registry:
        url = {"url": f"http://127.0.0.1:{server.port}"}
        with cast("Client", SchemaRegistryClient)(url) as client:
            return [row for measure in (avro, classes, json_schema, protobuf) for row in measure(registry, client)]


def costs(works: Mapping[str, Work]) -> dict[str, float]:
    """Return the microseconds of CPU of one call of each: the least of several rounds, in which all take turns."""
    calls = dict.fromkeys(works, 1)
    best = dict.fromkeys(works, float("inf"))
    for _ in range(ROUNDS):
        for name, work in works.items():
            while True:
                before = time.process_time()
                for _ in range(calls[name]):
                    work()
                taken = time.process_time() - before
                if taken >= SECONDS:
                    break
                calls[name] = max(calls[name] * 2, int(calls[name] * SECONDS / max(taken, 1e-6)))
            best[name] = min(best[name], taken / calls[name])
    return {name: each * 1e6 for name, each in best.items()}


def rows(what: str, works: Mapping[str, Work], goals: Mapping[str, float]) -> Iterator[Row]:
    """Compare ``ours`` with every other work."""
    spent = costs(works)
    for name in works:
        if name != "ours":
            yield against(f"{what}, against {name}", spent["ours"], spent[name], unit="us CPU", goal=goals.get(name))


def place(topic: str) -> SerializationContext:
    """Where Confluent's serializers are told that a record goes."""
    return SerializationContext(topic, MessageField.VALUE)


def avro(registry: Registry, client: Client) -> Iterator[Row]:
    """Values as dictionaries, under schemas as texts."""
    for size, value in (("60 bytes", ORDER), ("1,200 bytes", BASKET)):
        topic = f"avro-{type(value).__name__}"
        text, plain = typed_avro(type(value), "shop").draft.text, dataclasses.asdict(value)
        write, read = AvroSerializer(registry, text), AvroDeserializer(registry)
        their_write, their_read = their_avro.AvroSerializer(client, text), their_avro.AvroDeserializer(client)
        data, where = write(plain, topic).data, place(topic)
        assert data is not None
        same(their_write(plain, where), data)
        same(read(data, topic), plain, their_read(data, where))
        parsed = fastavro.parse_schema(json.loads(text))
        goals = {"Confluent's": FASTER, **({"bare fastavro": BARE} if size != "60 bytes" else {})}
        writes: dict[str, Work] = {
            "ours": partial(write, plain, topic),
            "Confluent's": partial(their_write, plain, where),
            "bare fastavro": partial(bare_write, parsed, plain, data[:5]),
        }
        reads: dict[str, Work] = {
            "ours": partial(read, data, topic),
            "Confluent's": partial(their_read, data, where),
            "bare fastavro": partial(bare_read, parsed, data),
        }
        yield from rows(f"Avro, {size}: serialize", writes, goals)
        yield from rows(f"Avro, {size}: deserialize", reads, goals)


def bare_write(schema: Any, value: Any, head: bytes) -> bytes:
    """What a program writes that has only fastavro."""
    out = io.BytesIO()
    out.write(head)
    fastavro.schemaless_writer(out, schema, value)
    return out.getvalue()


def bare_read(schema: Any, data: bytes) -> Any:
    """What a program reads that has only fastavro."""
    return fastavro.schemaless_reader(io.BytesIO(data[5:]), schema, None)


def same(*values: object) -> None:
    """Both sides give the same."""
    if any(each != values[0] for each in values[1:]):
        raise AssertionError(values)


def classes(registry: Registry, client: Client) -> Iterator[Row]:
    """Values of dataclasses: ours derives the schema, theirs is told how to make dictionaries of them and back."""
    for size, value, make in (("60 bytes", ORDER, order_of), ("1,200 bytes", BASKET, basket_of)):
        kind, topic = type(value), f"classes-{type(value).__name__}"
        write, read = AvroSerializer(registry, kind), AvroDeserializer(registry, kind)
        data, where = write(value, topic).data, place(topic)
        text = typed_avro(kind).draft.text
        their_write = their_avro.AvroSerializer(client, text, lambda value, _: dataclasses.asdict(value))
        their_read = their_avro.AvroDeserializer(client, None, lambda plain, _, make=make: make(plain))
        same(their_write(value, where), data)
        same(read(data, topic), value, their_read(data, where))
        yield from rows(
            f"Avro with dataclasses, {size}: serialize",
            {"ours": partial(write, value, topic), "Confluent's": partial(their_write, value, where)},
            {},
        )
        yield from rows(
            f"Avro with dataclasses, {size}: deserialize",
            {"ours": partial(read, data, topic), "Confluent's": partial(their_read, data, where)},
            {},
        )


def order_of(plain: Any) -> Order:
    """What a program writes by hand."""
    return Order(**plain)


def basket_of(plain: Any) -> Basket:
    """What a program writes by hand."""
    return Basket(plain["id"], Customer(**plain["customer"]), [Line(**line) for line in plain["lines"]], plain["props"])


def json_schema(registry: Registry, client: Client) -> Iterator[Row]:
    """Values as dictionaries; both sides check each one by its schema when they write, and neither when they read."""
    for size, value in (("60 bytes", ORDER), ("1,200 bytes", BASKET)):
        topic, plain = f"json-{type(value).__name__}", dataclasses.asdict(value)
        text = typed_json(type(value)).draft.text
        write, read = JsonSerializer(registry, text), JsonDeserializer(registry)
        their_write = their_json.JSONSerializer(text, client)
        their_read = their_json.JSONDeserializer(text, conf={"validate": False}, schema_registry_client=client)
        data, where = write(plain, topic).data, place(topic)
        same(their_write(plain, where), data)
        same(read(data, topic), plain, their_read(data, where))
        writes = {"ours": partial(write, plain, topic), "Confluent's": partial(their_write, plain, where)}
        reads = {"ours": partial(read, data, topic), "Confluent's": partial(their_read, data, where)}
        yield from rows(f"JSON, {size}: serialize", writes, {})
        yield from rows(f"JSON, {size}: deserialize", reads, {})


def protobuf(registry: Registry, client: Client) -> Iterator[Row]:
    """Messages of generated classes."""
    pool = DescriptorPool()
    pool.AddSerializedFile(Parse(PROTO, FileDescriptorProto()).SerializeToString())
    order, basket = (
        cast("Any", GetMessageClass(pool.FindMessageTypeByName(f"shop.{name}"))) for name in ("Order", "Basket")
    )
    lines = [dataclasses.asdict(line) for line in BASKET.lines]
    for size, value in (("60 bytes", order(**dataclasses.asdict(ORDER))), ("1,200 bytes", basket(id=1, lines=lines))):
        kind: type[Message] = type(value)
        topic = f"protobuf-{kind.DESCRIPTOR.name}"
        write, read = ProtobufSerializer(registry, kind), ProtobufDeserializer(registry, kind)
        their_write = their_protobuf.ProtobufSerializer(kind, client)
        their_read = their_protobuf.ProtobufDeserializer(kind, {}, client)
        data, where = write(value, topic).data, place(topic)
        same(their_write(value, where), data)
        same(read(data, topic), value, their_read(data, where))
        writes = {"ours": partial(write, value, topic), "Confluent's": partial(their_write, value, where)}
        reads = {"ours": partial(read, data, topic), "Confluent's": partial(their_read, data, where)}
        yield from rows(f"Protobuf, {size}: serialize", writes, {})
        yield from rows(f"Protobuf, {size}: deserialize", reads, {})
