"""The data source `treaty`: files and topics by `spark.read`, by streams and by SQL alone; Spark finds it by itself."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka import Producer
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from tests.behaviours.served import Served, served
from tests.frames import frame, header, record
from tests.group_records import writing
from tests.real.arriving import arrive
from tests.real.pipeline_files import put
from tests.servers.kafka import Kafka
from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.client.groups.serializer import GroupSerializer
from treaty.client.serializers.frames import encode_encoding
from treaty.core.kafka import KafkaSettingsError
from treaty.core.messages.settings import Config, Scope, SetConfig
from treaty.core.messages.transfers import ImportEncoding
from treaty.core.names import subject_of
from treaty.spark import PlanError, SourceError, decode, make_plan, register_functions
from treaty.spark.datasource.options import read_options

pytestmark = pytest.mark.jvm

V1 = record(("id", "int"), ("note", "string"))
V2 = record(("id", "long"), ("note", "string"), ("cents", "int", 0))
V3 = record(("id", "int"), ("note", "string"), ("cents", "int", 0))
PRICE = {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}
PAY = record(("id", "int"), ("price", PRICE), ("tags", {"type": "map", "values": "bytes"}), name="Pay")


@pytest.fixture
def server() -> Iterator[Served]:
    with served("memory:") as found:
        yield found


@pytest.fixture
def registry(server: Served) -> Iterator[Connection]:
    with connect(server.url) as found:
        found.ask(SetConfig(Scope("*"), Config(level="NONE")))
        yield found


def put_file(folder: Path, number: int, *values: bytes | None) -> None:
    folder.mkdir(exist_ok=True)
    arrive(folder, number, {"value": pa.array(values, pa.binary())})


def run_to_end(stream: DataFrame, folder: Path) -> StreamingQuery:
    writer = stream.writeStream.format("parquet").option("checkpointLocation", str(folder / "checkpoint"))
    query = writer.start(str(folder / "out"))
    query.processAllAvailable()
    return query


def test_sql_alone_reads_files_of_frames(
    spark: SparkSession, server: Served, registry: Connection, tmp_path: Path
) -> None:
    one, two, pay = (put(registry, text, "shop-order") for text in (V1, V2, PAY))
    prices = {"id": 3, "price": b"\x04\xd2", "tags": {"a": b"\xff"}}
    put_file(tmp_path / "in", 0, frame(one, V1, {"id": 1, "note": "a"}), None, b"oops!")
    put_file(tmp_path / "in", 1, frame(two, V2, {"id": 2**40, "note": "b", "cents": 9}), frame(pay, PAY, prices))
    options = f"registry '{server.url}', subject 'shop-order', path 'file:{tmp_path}/in'"
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW orders USING treaty OPTIONS ({options}, reader '2', flatten 'true')")
    rows = spark.sql("SELECT id, note, cents, error.code FROM orders ORDER BY id NULLS LAST, code").collect()
    assert [tuple(row) for row in rows] == [
        (1, "a", 0, None), (2**40, "b", 9, None), (None, None, None, None), (None, None, None, "BAD_MAGIC"), (None, None, None, "RESOLUTION"),
    ]  # fmt: skip

    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW shop USING treaty OPTIONS ({options}, reader 'variant')")
    mixed = spark.sql(
        "SELECT record.record_type AS type, record.record:id::bigint AS id, record.record:price::decimal(9, 2) AS price, "
        "record.record:tags.a::string AS tag FROM shop WHERE record IS NOT NULL ORDER BY id"
    ).collect()
    assert [(row["type"], row["id"], str(row["price"]), row["tag"]) for row in mixed] == [
        ("shop.Order", 1, "None", None),
        ("shop.Pay", 3, "12.34", "/w=="),
        ("shop.Order", 2**40, "None", None),
    ]


def test_a_stream_over_files_reads_versions_that_come_later(
    spark: SparkSession, server: Served, registry: Connection, tmp_path: Path
) -> None:
    one = put(registry, V1, "n-value")
    put_file(tmp_path / "in", 0, frame(one, V1, {"id": 1, "note": "a"}))
    reader = spark.readStream.format("treaty").option("registry", server.url).option("subject", "n-value")
    stream = reader.load(str(tmp_path / "in")).select("record.*", "error.code")
    query = run_to_end(stream, tmp_path)
    two = put(registry, V2, "n-value")
    put_file(tmp_path / "in", 1, frame(two, V2, {"id": 2, "note": "b", "cents": 5}))
    three = put(registry, record(("note", "string")), "n-value")
    put_file(tmp_path / "in", 2, header(three + 1) + b"\2c", frame(one, V1, {"id": 4, "note": "d"}))
    query.processAllAvailable()
    query.stop()
    found = spark.read.parquet(str(tmp_path / "out")).collect()
    assert sorted((tuple(row) for row in found), key=str) == [
        (1, "a", None), (4, "d", None), (None, None, "RESOLUTION"), (None, None, "UNKNOWN_ID"),
    ]  # fmt: skip
    run_to_end(
        reader.option("reader", "union").load(str(tmp_path / "in")).select("record.id", "record.note", "error.code"),
        tmp_path,
    ).stop()
    assert spark.read.parquet(str(tmp_path / "out")).count() == 4, "files that were read are not read again"


def test_a_stream_over_a_group_reads_encodings_that_come_later(
    spark: SparkSession, server: Served, registry: Connection, tmp_path: Path
) -> None:
    """A codec that comes to a version that was there, a version that comes, and ids behind a gap; a stranger is bad."""
    plain = GroupSerializer(registry, "g", V1, writing(many=False))
    put_file(tmp_path / "in", 0, plain({"id": 1, "note": "a"}).data)
    reader = spark.readStream.format("treaty").option("registry", server.url).option("framing", "pravega")
    stream = reader.option("subject", "g").load(str(tmp_path / "in")).select("record.*", "error.code", "error.message")
    query = run_to_end(stream, tmp_path)
    packed = GroupSerializer(registry, "g", V1, writing(codec="gzip", many=False))
    put_file(tmp_path / "in", 1, packed({"id": 2, "note": "b"}).data, encode_encoding(7) + b"x")
    query.processAllAvailable()
    wide = GroupSerializer(registry, "g", V3, writing(codec="gzip", many=False))
    registry.set_mode("g", "IMPORT", force=True)
    registry.ask(ImportEncoding(subject_of("g"), 900, 1))
    put_file(
        tmp_path / "in",
        2,
        wide({"id": 3, "note": "c", "cents": 5}).data,
        encode_encoding(900) + frame(1, V3, {"id": 4, "note": "d", "cents": 6})[5:],
    )
    query.processAllAvailable()
    query.stop()
    found = spark.read.parquet(str(tmp_path / "out")).collect()
    assert sorted((tuple(row) for row in found), key=str) == [
        (1, "a", None, None),
        (2, "b", None, None),
        (3, "c", None, None),
        (4, "d", None, None),
        (None, None, "UNKNOWN_ID", "the group has no encoding 7, or the plan was made before it"),
    ]


class _Produce:
    """Writes numbers to a topic of two partitions, each call in one transaction."""

    def __init__(self, kafka: Kafka, topic: str, key: int, schema_id: int) -> None:
        self.topic, self.key, self.schema_id = topic, key, schema_id
        settings = {"bootstrap.servers": kafka.bootstrap, "transactional.id": topic, "log_level": 0}
        self.producer = Producer(settings)
        self.producer.init_transactions(60)

    def __call__(self, ids: range, schema_id: int = 0, text: str = V1, *, lost: bool = False, **more: Any) -> None:
        self.producer.begin_transaction()
        for at in ids:
            value = frame(schema_id or self.schema_id, text, {"id": at, "note": "x", **more})
            key = frame(self.key, '"int"', at)
            self.producer.produce(self.topic, value, key, partition=at % 2, headers=[("from", b"test")])
        self.producer.flush(60)
        if lost:
            self.producer.abort_transaction(60)
        else:
            self.producer.commit_transaction(60)


@pytest.mark.slow
def test_a_topic_by_sql_and_as_a_stream(
    spark: SparkSession, server: Served, registry: Connection, kafka: Kafka, tmp_path: Path
) -> None:
    """Keys, headers, holes of aborted transactions at both ends, offsets that are given."""
    topic, key, one = (
        kafka.topic("source-orders", 2),
        put(registry, '"int"', "k"),
        put(registry, V1, "source-orders-value"),
    )
    produce = _Produce(kafka, topic, key, one)
    produce(range(900, 910), lost=True)
    produce(range(100))
    produce(range(900, 910), lost=True)
    options = {
        "registry": server.url, "kafka.bootstrap.servers": kafka.bootstrap, "subscribe": topic, "keySubject": "k", "includeHeaders": "true",
    }  # fmt: skip
    listed = ", ".join(f"`{name}` '{value}'" for name, value in options.items())
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW topic USING treaty OPTIONS ({listed})")
    counted = spark.sql(
        "SELECT count(*), count(error), sum(record.id), sum(key_record), max(offset), count(DISTINCT partition), max(headers[0].key), "
        "count_if(timestamp > current_timestamp() - INTERVAL 1 HOUR) FROM topic"
    ).collect()
    assert [tuple(row) for row in counted] == [(100, 0, 4950, 4950, 55, 2, "from", 100)]
    some = (
        spark.read.format("treaty")
        .options(**options)
        .option("startingOffsets", json.dumps({topic: {"0": -1, "1": 50}}))
    )
    assert sorted(row["offset"] for row in some.load().collect()) == [50, 51, 52, 53, 54, 55]

    stream = spark.readStream.format("treaty").options(**options).load()
    query = run_to_end(stream.select("record.*", "error.code"), tmp_path)
    two = put(registry, V3, "source-orders-value")
    produce(range(100, 140), two, V3, cents=1)
    produce(range(900, 910), lost=True)
    query.processAllAvailable()
    query.stop()
    produce(range(140, 150))
    run_to_end(stream.select("record.*", "error.code"), tmp_path).stop()
    found = spark.read.parquet(str(tmp_path / "out"))
    assert sorted(row["id"] for row in found.collect()) == list(range(150))
    assert found.filter("code IS NOT NULL").count() == 0


def test_options_that_can_not_be_meant_are_told() -> None:
    files = {"registry": "localhost:9", "path": "x", "subject": "s"}
    topics = {"registry": "localhost:9", "kafka.bootstrap.servers": "localhost:9", "subscribe": "a,b"}
    for options, error, sentence in (
        (
            {},
            SourceError,
            "nothing to read is named: topics by kafka.bootstrap.servers and subscribe, or files by path",
        ),
        ({"path": "x"}, PlanError, "the option registry is missing"),
        ({**files, "subject": ""}, PlanError, "the option subject is missing"),
        ({**files, "shema": "x"}, PlanError, "option 'shema' is unknown; options are registry"),
        ({**files, "flatten": "yes"}, PlanError, "flatten = 'yes' is neither true nor false"),
        ({**files, "fileFormat": "csv"}, SourceError, "fileFormat = 'csv' can't be read"),
        ({**files, "keySubject": "k"}, PlanError, "keySubject is for topics"),
        ({**files, "depth": "x"}, PlanError, "depth = 'x' is no number"),
        ({**topics, "path": "x"}, SourceError, "either topics"),
        (topics, PlanError, "the option subject is missing"),
        ({**topics, "subscribe": ""}, SourceError, "the option subscribe is missing"),
        ({**topics, "kafka.sasl.password": "${NOT_SET_AT_ALL}"}, SourceError, "the variable NOT_SET_AT_ALL"),
        ({**topics, "kafka.ssl.truststore.location": "x"}, KafkaSettingsError, "is a setting of Java clients"),
    ):
        with pytest.raises(error, match=sentence):
            read_options(options)
    found = read_options({**files, "Reader": "3", "VALIDATE": "true", "confluent.schema.registry.timeout": "2"})
    assert (found.reader, found.choices, found.settings) == (3, {"validate": True}, {"timeout": 2.0})
    assert "timeout" not in repr(found)
    assert found.without_registry().settings == {}


def test_functions_of_sql_by_one_call(spark: SparkSession, registry: Connection) -> None:
    one, two, pay = (put(registry, text, "shop-order") for text in (V1, V2, PAY))
    values = [
        frame(one, V1, {"id": 1, "note": "a"}),
        frame(two, V2, {"id": 2, "note": "b", "cents": 7}),
        b"oops!",
        None,
    ]
    values.append(frame(pay, PAY, {"id": 3, "price": b"\x01", "tags": {}}))
    rows = spark.createDataFrame([(at, value) for at, value in enumerate(values)], "at INT, value BINARY")
    rows.createOrReplaceTempView("frames")
    assert register_functions(spark, registry, {"order": "shop-order"}, reader=2) == (
        "frame_id", "decode_order",
    )  # fmt: skip
    found = spark.sql(
        "SELECT frame_id(value) AS schema_id, decode_order(value) AS d, d.record.cents, d.error.code FROM frames ORDER BY at"
    ).drop("d")
    assert [tuple(row) for row in found.collect()] == [
        (one, 0, None), (two, 7, None), (None, None, "BAD_MAGIC"), (None, None, None), (pay, None, "RESOLUTION"),
    ]  # fmt: skip
    plan = make_plan(registry, "shop-order", reader=2)
    decoded = spark.sql("SELECT at, d.* FROM (SELECT at, decode_order(value) AS d FROM frames WHERE value IS NOT NULL)")
    expected = decode(rows, plan).filter("value IS NOT NULL").drop("value")
    assert decoded.orderBy("at").collect() == expected.orderBy("at").collect()
    register_functions(spark, registry, {"any": "shop-*"}, reader="variant")
    mixed = spark.sql("SELECT decode_any(value).record.record:id::int AS id FROM frames ORDER BY at").collect()
    assert [row["id"] for row in mixed] == [1, 2, None, None, 3]
    with pytest.raises(PlanError, match="'or der' is no name of a function"):
        register_functions(spark, registry, {"or der": "shop-order"})
