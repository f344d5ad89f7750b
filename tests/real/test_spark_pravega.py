"""Pravega's frames on Spark: what serializers of groups write is decoded, what Spark encodes they read, encodings are learned."""

import dataclasses
import gzip
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.costs import used_by
from tests.group_records import Order, writing
from treaty import arrow
from treaty.client.connection import Connection
from treaty.client.groups import codecs
from treaty.client.groups.deserializer import GroupDeserializer
from treaty.client.groups.serializer import GroupSerializer
from treaty.client.groups.settings import pravega_group
from treaty.client.serializers.frames import encode_encoding, encode_id
from treaty.core.schema import Draft
from treaty.plan.decode_plans import extend
from treaty.plan.encoding.options import EncodeOptions
from treaty.spark import DecodePlan, PlanError, decode, make_plan, to_registry
from treaty.spark.decode import ids_of

pytestmark = pytest.mark.jvm
GROUP = "orders"


def read(spark: SparkSession, plan: DecodePlan, *values: bytes | None) -> list[dict[str, Any]]:
    """The rows that Spark makes of frames; Arrow has to make the same."""
    frame = spark.createDataFrame([(at, value) for at, value in enumerate(values)], "at INT, value BINARY")
    rows = [row.asDict(recursive=True) for row in decode(frame, plan).orderBy("at").collect()]
    table = arrow.decode(pa.table({"value": pa.array(values, pa.binary())}), plan)
    for row, record, error in zip(rows, table["record"].to_pylist(), table["error"].to_pylist(), strict=True):
        assert (row["record"] is None) == (record is None), (row, record, error)
        found, other = row["error"] or {}, error or {}
        assert (found.get("code"), found.get("message")) == (other.get("code"), other.get("message"))
    return rows


@pytest.mark.parametrize("format_", ["AVRO", "JSON"])
def test_what_serializers_wrote_is_decoded_and_new_encodings_are_learned(
    spark: SparkSession, registry: Connection, format_: str
) -> None:
    values = [Order("a" * 9, 0), Order("b", 2)]
    data: list[bytes | None] = [None]
    for codec in ("", "gzip", "snappy"):
        write = GroupSerializer(registry, GROUP, Order, writing(format_, codec), format_=format_)
        data += [write(one).data for one in values]
        if codec == "":
            plan = make_plan(registry, GROUP, framing="pravega", reader="latest")
    assert plan.known == {0}
    assert DecodePlan.from_json(plan.to_json()) == plan
    frame = spark.createDataFrame([(one,) for one in data], "value BINARY")
    new = ids_of(frame, besides=plan.known, framing="pravega")
    assert new == {1, 2}
    assert extend(plan, registry, [77]) is plan
    longer = extend(plan, registry, new)
    assert longer == make_plan(registry, GROUP, framing="pravega", reader="latest")
    assert [row["error"] and row["error"]["code"] for row in read(spark, plan, *data)] == [None] * 3 + [
        "UNKNOWN_ID"
    ] * 4
    padded = encode_encoding(1) + gzip.compress(gzip.decompress(data[3][5:]) + bytes(99))  # type: ignore[index]  # as Java packs it
    rows = read(spark, longer, *data, padded, encode_encoding(77), encode_encoding(1) + b"\xff\xff\xff")
    assert [row["record"] for row in rows[1:8]] == [dataclasses.asdict(one) for one in values] * 3 + [
        {"item": "a" * 9, "count": 0}
    ]
    assert [row["error"]["message"] for row in rows[8:]] == [
        "the group has no encoding 77, or the plan was made before it",
        "no gzip stream: Error -3 while decompressing data: incorrect header check",
    ]


def test_a_message_is_the_one_that_its_encoding_says(spark: SparkSession, registry: Connection) -> None:
    text = 'syntax = "proto3"; message A { string a = 1; } message B { int32 b = 1; }'
    registry.create_subject("two", pravega_group("PROTOBUF", many_types=True))
    for ordinal, name in enumerate("BA"):
        registry.register("two", Draft(text, "PROTOBUF", type_name=name))
        registry.assign_encoding("two", ordinal)
    plan = make_plan(registry, "two", framing="pravega", message="B")
    rows = read(spark, plan, encode_encoding(0) + b"\x08\7", encode_encoding(1) + b"\x0a\1x")
    assert rows[0]["record"] == {"b": 7}
    assert rows[1]["error"]["code"] == "RESOLUTION"


@pytest.mark.parametrize("format_", ["AVRO", "JSON", "PROTOBUF"])
@pytest.mark.parametrize("codec", ["", "gzip", "snappy"])
def test_what_spark_encodes_readers_of_the_group_read(
    spark: SparkSession, registry: Connection, format_: str, codec: str
) -> None:
    given: dict[str, Any] = {
        "AVRO": Order,
        "JSON": Order,
        "PROTOBUF": Draft('syntax = "proto3"; message First {} message Order { string item = 1; int32 count = 2; }', "PROTOBUF", type_name="Order"),
    }  # fmt: skip
    GroupSerializer(registry, GROUP, given[format_], writing(format_, codec), format_=format_)
    frame = spark.createDataFrame([("tea", 3), ("", 0)], "item STRING, count INT")
    options = EncodeOptions(framing="pravega", codec=codec, message="Order" if format_ == "PROTOBUF" else "")
    found = to_registry(frame, registry, GROUP, options).orderBy(F.desc("count")).collect()
    assert [row["error"] for row in found] == [None, None]
    texts = GroupDeserializer(registry, GROUP)
    values = [texts(bytes(row["value"])) for row in found]
    if format_ == "PROTOBUF":
        values = [{"item": one.item, "count": one.count} for one in values]
    assert values == [{"item": "tea", "count": 3}, {"item": "", "count": 0}]


def test_codecs_that_a_group_or_this_machine_lacks_are_refused(
    registry: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    from treaty.core.refusals import CodecNotFound  # noqa: PLC0415 (only here)
    from treaty.core.state.columns import Column, Scalar  # noqa: PLC0415 (only here)
    from treaty.plan.encoding.encode_plans import make_encode_plan  # noqa: PLC0415 (only here)

    columns = [Column("item", Scalar("string")), Column("count", Scalar("int64"))]
    GroupSerializer(registry, GROUP, Order, writing())
    with pytest.raises(CodecNotFound):
        make_encode_plan(registry, GROUP, columns, EncodeOptions(framing="pravega", codec="gzip"))
    with pytest.raises(PlanError, match="no installed package has the codec 'secret'"):
        make_encode_plan(registry, GROUP, columns, EncodeOptions(framing="pravega", codec="secret"))
    with pytest.raises(PlanError, match="codec = 'gzip' is for the framing pravega"):
        make_encode_plan(registry, GROUP, columns, EncodeOptions(codec="gzip"))


# ------------------------------------------------------------------------------------------------------------ a soak

V1 = '{"type":"record","name":"R","fields":[{"name":"n","type":"long"},{"name":"text","type":"string"}]}'
V2 = '{"type":"record","name":"R","fields":[{"name":"n","type":"long"},{"name":"text","type":"string"},{"name":"more","type":"int","default":7}]}'
ENCODINGS = ((V1, ""), (V2, ""), (V1, "gzip"), (V2, "gzip"), (V2, "snappy"))
SHARE = 0.02
DAMAGE = (
    "TOO_SHORT head", "TOO_SHORT nothing", "BAD_MAGIC confluent", "BAD_MAGIC other", "UNKNOWN_ID encoding", "UNKNOWN_ID negative",
    "MALFORMED cut", "MALFORMED checksum", "MALFORMED plain", "MALFORMED bomb", "MALFORMED payload", "TRAILING bytes",
)  # fmt: skip
PADDING = 64


class Damager:
    """Makes rows of a group from a seed: most are good, the others damaged in one of twelve ways."""

    def __init__(self, writers: list[Callable[[Any], bytes]], dice: random.Random) -> None:
        self._writers = writers
        self._dice = dice
        self._codecs = [codecs.find_codec(codec) for _, codec in ENCODINGS]

    def make(self, at: int) -> tuple[bytes, str, int, bytes]:
        """A frame, what is to be said of it ("" for a good one), its encoding, and the good frame's payload."""
        number = self._dice.randrange(len(ENCODINGS))
        text, codec = ENCODINGS[number]
        record: dict[str, Any] = {"n": at, "text": f"row {at} " * self._dice.randrange(1, 9)}
        good = self._writers[number](record if text == V1 else {**record, "more": at % 1000})
        payload = codecs.unpack_payload(self._codecs[number], good[5:])
        if codec and self._dice.random() < 0.1:  # as Java packs it
            good = good[:5] + self._codecs[number].pack(payload + bytes(PADDING), ())
        if self._dice.random() >= SHARE:
            return good, "", number, payload
        way = DAMAGE[self._dice.randrange(len(DAMAGE))]
        return self._damage(way, good, number, payload), way.split()[0], number, payload

    def _damage(self, way: str, good: bytes, number: int, payload: bytes) -> bytes:
        codec = self._codecs[number]
        packed = number if codec.name else 3
        head, pack = encode_encoding(packed), self._codecs[packed].pack
        match way.split()[1]:
            case "head":
                return good[:3]
            case "nothing":
                return b""
            case "confluent":
                return b"\0" + good[1:]
            case "other":
                return b"\7" + good[1:]
            case "encoding":
                return encode_encoding(5 + self._dice.randrange(1000)) + good[5:]
            case "negative":
                return b"\1\xff" + good[2:]
            case "cut":
                return head + pack(payload, ())[:-2]
            case "checksum":
                whole = bytearray(encode_encoding(3) + self._codecs[3].pack(payload, ()))
                whole[-6] ^= 0x55
                return bytes(whole)
            case "plain":
                return head + b"\xff\xff\xff" + payload
            case "bomb":
                return encode_encoding(4) + b"\xff\xff\xff\xff\x07" + payload
            case "payload":
                return head + pack(payload[:-1] + b"", ()) if payload[-1] else encode_encoding(0) + payload[:1]
            case _:
                return good[:5] + codec.pack(payload + b"\1", ())


def write_rows(registry: Connection, path: Path, count: int, seed: int) -> DecodePlan:
    """Write parquet files with rows of a group; returns the plan of the group."""
    writers = []
    for text, codec in ENCODINGS:
        settings = writing("AVRO", codec, many=False)
        writers.append(GroupSerializer(registry, GROUP, text, settings))
    assert [one.encoding_id for one in (registry.encoding(GROUP, number) for number in range(5))] == [0, 1, 2, 3, 4]
    damager = Damager([lambda value, one=one: one(value).data for one in writers], random.Random(seed))  # type: ignore[misc]  # bound in the loop
    made = [damager.make(at) for at in range(count)]
    ids = [registry.encoding(GROUP, number).version.schema_id for number in range(5)]
    table = pa.table(
        {
            "at": pa.array(range(count), pa.int64()),
            "value": pa.array([one[0] for one in made], pa.binary()),
            "expected": [one[1] for one in made],
            "framed": pa.array([encode_id(ids[number]) + payload for _, _, number, payload in made], pa.binary()),
        }
    )
    for place in range(2):
        pq.write_table(table.slice(place * count // 2, count // 2), path / f"{place}.parquet")
    return make_plan(registry, GROUP, framing="pravega", reader="union")


def measure(spark: SparkSession, frame: DataFrame) -> float:
    """CPU seconds of the JVM and its workers while it reads all records of a frame."""
    jvm: Any = spark._jvm
    pid = int(jvm.java.lang.ProcessHandle.current().pid())
    before = used_by(pid)
    frame.select(F.max(F.xxhash64("record")), F.count("error")).collect()
    return used_by(pid) - before


def soak(spark: SparkSession, registry: Connection, folder: Path, count: int, seed: int) -> str:
    plan = write_rows(registry, folder, count, seed)
    frame = spark.read.parquet(str(folder))
    found = decode(frame, plan)
    code = F.coalesce(F.col("error.code"), F.lit(""))
    is_right = (F.col("record.n") == F.col("at")) & F.col("record.text").startswith(
        F.concat(F.lit("row "), F.col("at"), F.lit(" "))
    )
    told = (F.length("error.message") > 0) & (F.col("error.payload") == F.col("value"))
    counts = (
        found.groupBy("expected", code.alias("code"))
        .agg(F.count("*").alias("rows"), F.count_if(is_right).alias("right"), F.count_if(told).alias("told"))
        .collect()
    )
    total = 0
    for row in counts:
        assert row["expected"] == row["code"], row
        assert (row["right"], row["told"]) == ((row["rows"], 0) if not row["code"] else (0, row["rows"])), row
        total += row["rows"]
    assert total == count
    assert {row["code"] for row in counts} == {"", *(way.split()[0] for way in DAMAGE)}
    prefixed = make_plan(registry, GROUP, reader="union")
    plain = measure(spark, decode(frame.select("framed"), prefixed, column="framed"))
    packed = measure(spark, decode(frame.select("value"), plan))
    bad = sum(row["rows"] for row in counts if row["code"])
    return f"{count} rows of 5 encodings, {bad} bad ones: {packed:.1f} CPU seconds, {plain:.1f} of the same payloads behind the prefix"


def test_no_good_row_is_lost_and_each_bad_row_has_its_reason(
    spark: SparkSession, registry: Connection, tmp_path: Path, figure: Callable[[str], None]
) -> None:
    figure(soak(spark, registry, tmp_path, 6_000, random.randrange(10**6)))


@pytest.mark.soak
def test_no_good_row_of_half_a_million_is_lost(
    spark: SparkSession, registry: Connection, tmp_path: Path, figure: Callable[[str], None]
) -> None:
    figure(soak(spark, registry, tmp_path, 500_000, 20_261))
