"""Topics of a real broker to tables and back to topics, by Spark's own Kafka source and sink, in three formats.

Records come from confluent-kafka's serializers and from Treaty's in turns, in three versions that were registered in no
order, inside transactions of which some are aborted. What the tables must hold is computed on the driver by each format's own library.
"""

import io
import json
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fastavro
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.serialization import MessageField
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.behaviours.served import Served, served
from tests.orders import KEY, VERSIONS, Headers, Kind, Order, Write, confluents, kinds, order, plain, treatys
from tests.servers.kafka import COMPACTED, Kafka
from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.client.serializers.avro import AvroSerializer as OurAvroSerializer
from treaty.core.messages.settings import Config, Scope, SetConfig
from treaty.spark import BatchEvent, EncodeOptions, LakeTable, Names, Pipeline, decode, make_plan, start, to_topic
from treaty.spark.lake import tables

pytestmark = [pytest.mark.jvm, pytest.mark.slow]

NAMES = ("AVRO", "PROTOBUF", "JSON")
ABORTED = "of an aborted transaction"
BATCH = 100


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with served("memory:") as found:
        yield found


@pytest.fixture(scope="module")
def registry(server: Served) -> Iterator[Connection]:
    with connect(server.url) as found:
        found.ask(SetConfig(Scope("*"), Config(level="NONE")))
        yield found


@pytest.fixture(scope="module")
def client(server: Served) -> Iterator[Any]:
    with SchemaRegistryClient({"url": server.url}) as found:
        yield found


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Kind]:
    return kinds(tmp_path_factory.mktemp("protoc"))


@dataclass(frozen=True, slots=True)
class Sides:
    """Both libraries' serializers of a topic, for each version; and for keys."""

    values: list[tuple[Write, int]]
    keys: list[Write]


def sides(kind: Kind, client: Any, registry: Connection, topic: str, framing: str = "prefix") -> Sides:
    libraries = {"theirs": client, "ours": registry}
    values = [
        (kind.written_by(name, library, version, topic, framing), version)
        for name, library in libraries.items()
        for version in VERSIONS
    ]
    keys = [
        confluents(AvroSerializer(client, KEY), topic, MessageField.KEY),
        treatys(OurAvroSerializer(registry, KEY), topic, "key"),
    ]
    return Sides(values, keys)


def produce(
    kafka: Kafka, topic: str, kind: Kind, made: Sides, count: int, dice: random.Random, *, keys: int = 0
) -> list[int]:
    """So many committed records by both libraries in turns, and one transaction in four that is aborted; returns the versions.

    The key is the record's number, or one of so many `keys`, and then some values are delete markers.
    """
    settings = {"bootstrap.servers": kafka.bootstrap, "transactional.id": topic, "log_level": 0, "linger.ms": 20}
    producer = Producer(settings)
    producer.init_transactions(60)
    at, versions = 0, []
    while at < count:
        lost = dice.randrange(4) == 0
        names = [ABORTED] * 50 if lost else [str(one) for one in range(at, min(at + BATCH, count))]
        producer.begin_transaction()
        for name in names:
            write, version = dice.choice(made.values)
            value, headers = write(kind.value(order(dice, version, name), version))
            number = -1 if lost else int(name)
            if not lost:
                versions.append(version)
            key, front = dice.choice(made.keys)({"id": number % keys if keys else number})
            dead = bool(keys) and dice.randrange(20) == 0
            producer.produce(topic, None if dead else value, key, headers=[*headers, *front])
            producer.poll(0)
        if lost:
            producer.flush(60)  # so that the broker knows of it
            producer.abort_transaction(60)
        else:
            producer.commit_transaction(60)
            at += len(names)
    return versions


@dataclass(frozen=True, slots=True)
class Record:
    """A record as a consumer gets it."""

    place: tuple[int, int]
    key: bytes
    value: bytes | None
    headers: Headers


def consumed(kafka: Kafka, topic: str) -> list[Record]:
    """All committed records of a topic, by a consumer that is not Spark's."""
    consumer = Consumer({
        "bootstrap.servers": kafka.bootstrap, "group.id": topic, "log_level": 0, "isolation.level": "read_committed", "enable.partition.eof": True,
    })  # fmt: skip
    parts = consumer.list_topics(topic, 30).topics[topic].partitions
    consumer.assign([TopicPartition(topic, one, 0) for one in parts])
    found: list[Record] = []
    ended: set[Any] = set()
    while len(ended) < len(parts):
        message: Any
        for message in consumer.consume(5000, 5):
            if message.error():
                ended.add(message.partition())
                continue
            place = (message.partition(), message.offset())
            found.append(Record(place, message.key(), message.value(), list(message.headers() or ())))
    consumer.close()
    return found


def topic_frame(spark: SparkSession, kafka: Kafka, topic: str, *, most: int = 0) -> DataFrame:
    """The committed records of a topic as a frame; a stream with so many offsets a batch if they are given."""
    options = {
        "kafka.bootstrap.servers": kafka.bootstrap,
        "subscribe": topic,
        "startingOffsets": "earliest",
        "kafka.isolation.level": "read_committed",
        "includeHeaders": "true",
    }
    if most:
        return spark.readStream.format("kafka").options(**options, maxOffsetsPerTrigger=most).load()
    return spark.read.format("kafka").options(**options).load()


def number_of(record: Record) -> int:
    """The number in a key, read without a registry."""
    found: Any = fastavro.schemaless_reader(io.BytesIO(record.key[5:]), fastavro.parse_schema(json.loads(KEY)), None)
    return int(found["id"])


def expected(kind: Kind, records: Iterable[Record], versions: list[int]) -> dict[tuple[int, int], Order]:
    """The rows that each format's own library makes of prefixed values; `versions` are the writers' by number."""
    head = 5 + len(kind.head)
    return {one.place: kind.read((one.value or b"")[head:], versions[number_of(one)]) for one in records}


def placed(rows: DataFrame) -> dict[tuple[int, int], Order]:
    """A frame's rows by partition and offset."""
    return {(one.pop("partition"), one.pop("offset")): one for one in rows.toArrow().to_pylist()}


@pytest.mark.parametrize(
    ("count", "format_"), [(1_200, "parquet"), pytest.param(50_000, "delta", marks=pytest.mark.soak)]
)
@pytest.mark.parametrize("name", NAMES)
def test_a_topic_becomes_a_table_and_the_table_a_topic(
    spark: SparkSession, kafka: Kafka, registry: Connection, client: Any, shop: Mapping[str, Kind], tmp_path: Path,
    name: str, count: int, format_: str, figure: Callable[[str], None],
) -> None:  # fmt: skip
    kind, topic, begin = shop[name], kafka.topic(f"orders-{name.lower()}-{count}", 2), time.monotonic()
    versions = produce(kafka, topic, kind, sides(kind, client, registry, topic), count, random.Random(count))
    records, produced = consumed(kafka, topic), time.monotonic()
    truth = expected(kind, records, versions)
    assert len(records) == len(truth) == count
    assert max(offset for _, offset in truth) > count // 2 + count // 40, "aborted records and markers take offsets too"

    keys = make_plan(registry, f"{topic}-key")
    source = topic_frame(spark, kafka, topic, most=count // 3)
    frames = decode(source, keys, column="key", names=Names(record="k", error="k_error"))
    into, bad = (LakeTable(f"{tmp_path}/{one}", format_) for one in ("good", "bad"))
    pipeline = Pipeline(
        f"{topic}-value", into, bad, f"{tmp_path}/checkpoint",
        keep=("partition", "offset", "k", "k_error"), message=kind.message,
    )  # fmt: skip
    steps: list[BatchEvent] = []
    start(pipeline, frames, registry, on_event=steps.append, available=True).awaitTermination()
    streamed = time.monotonic()
    good = tables.read(spark, into)
    found = placed(good)
    numbers = {one.place: number_of(one) for one in records}
    assert {place: row.pop("k")["id"] for place, row in found.items()} == numbers
    assert {row.pop("k_error") for row in found.values()} == {None}
    assert {place: plain(row) for place, row in found.items()} == truth
    assert {one.batch for one in steps} >= {0, 1, 2}
    assert sum(dict(one.counts)["bad"] for one in steps if one.name == "good") == 0

    again = kafka.topic(f"{topic}-again", 2)
    wish = EncodeOptions(schema=kind.texts[-1], schema_type=name, register=True, message=kind.message)
    fields = F.struct(*next(iter(truth.values()))).alias("order")
    out = to_topic(
        good.select("k", fields), registry, again, key="k", value="order",
        key_options=EncodeOptions(schema=KEY, register=True), value_options=wish,
    )  # fmt: skip
    out.rows.write.format("kafka").option("kafka.bootstrap.servers", kafka.bootstrap).save()
    written, sent = time.monotonic(), consumed(kafka, again)
    assert len(sent) == count
    expect = {numbers[place]: row for place, row in truth.items()}
    for library, asked in {"theirs": client, "ours": registry}.items():
        read = kind.read_by(library, asked, again)
        assert {number_of(one): read(one.value or b"") for one in sent} == expect
    figure(
        f"{count} {name} records by two libraries in 3 versions: {produced - begin:.0f} s to produce, "
        f"{streamed - produced:.0f} s to stream in {len({one.batch for one in steps})} batches, {written - streamed:.0f} s to write back, "
        f"all {time.monotonic() - begin:.0f} s"
    )


def test_holes_of_compaction_and_of_transactions_are_passed_over(
    spark: SparkSession, kafka: Kafka, registry: Connection, client: Any, shop: Mapping[str, Kind], tmp_path: Path,
    topic: str, figure: Callable[[str], None],
) -> None:  # fmt: skip
    kind = shop["AVRO"]
    kafka.set(topic, "cleanup.policy", "compact")
    for name, value in COMPACTED.items():
        kafka.set(topic, name, value)
    made, dice, sent = sides(kind, client, registry, topic), random.Random(4), 0
    end = time.monotonic() + 120
    records: list[Record] = []
    while sent < 1200 or len(records) > sent - 300:
        assert time.monotonic() < end, f"no compaction: {len(records)} of {sent} records are there"
        produce(kafka, topic, kind, made, 400, dice, keys=37)
        sent += 400
        records = consumed(kafka, topic)
    kafka.set(topic, "cleanup.policy", "delete")
    records = consumed(kafka, topic)
    plan = make_plan(registry, f"{topic}-value", reader="union")
    shown = decode(topic_frame(spark, kafka, topic), plan, names=Names(version="version")).select(
        "partition", "offset", "version", "value", "record", "error"
    )
    rows = placed(shown)
    assert rows.keys() == {one.place for one in records}
    texts = {one.version: one.text for one in plan.writers}
    for one in records:
        row = rows[one.place]
        assert row["error"] is None
        assert (row["record"] is None) == (one.value is None)
        if one.value is not None:
            version = [json.loads(text) for text in kind.texts].index(json.loads(texts[row["version"]]))
            assert plain(row["record"]) == kind.read(one.value[5:], version)
    into, bad = (LakeTable(f"{tmp_path}/{one}", "parquet") for one in ("good", "bad"))
    pipeline = Pipeline(f"{topic}-value", into, bad, f"{tmp_path}/checkpoint", keep=("partition", "offset"))
    steps: list[BatchEvent] = []
    frames = topic_frame(spark, kafka, topic, most=sent // 2)
    start(pipeline, frames, registry, on_event=steps.append, available=True).awaitTermination()
    good = placed(tables.read(spark, into))
    assert good.keys() == {one.place for one in records if one.value is not None}
    deletes = sum(dict(one.counts)["deletes"] for one in steps if one.name == "good")
    assert deletes == sum(one.value is None for one in records)
    last = max(offset for _, offset in rows)
    figure(
        f"{len(records)} records on {last + 1} offsets, {deletes} delete markers, {len({one.batch for one in steps})} batches"
    )


@pytest.mark.parametrize("name", NAMES)
def test_schemas_named_in_headers_of_kafka(
    spark: SparkSession,
    kafka: Kafka,
    registry: Connection,
    client: Any,
    shop: Mapping[str, Kind],
    topic: str,
    name: str,
) -> None:
    kind = shop[name]
    made = sides(kind, client, registry, topic, framing="header")
    versions = produce(kafka, topic, kind, made, 600, random.Random(5))
    records = consumed(kafka, topic)
    truth = {one.place: kind.read(one.value or b"", versions[number_of(one)]) for one in records}
    assert {one.headers[0][0] for one in records} == {"__value_schema_id"}
    plan = make_plan(registry, f"{topic}-value", reader="union", framing="header", message=kind.message)
    rows = placed(decode(topic_frame(spark, kafka, topic), plan).select("partition", "offset", "record", "error"))
    assert {row["error"] for row in rows.values()} == {None}
    assert {place: plain(row["record"]) for place, row in rows.items()} == truth
