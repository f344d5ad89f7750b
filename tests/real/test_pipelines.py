"""Whole pipelines: topics into tables, schemas that come in flight, registries that lag, commands; and what is told of it all."""

import gzip
import json
import random
import threading
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Producer
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from tests.frames import SPOILT, frame, header, record
from tests.real.pipeline_files import B1, B2, V1, V2, V3, Lines, ended, put, sound
from tests.shares import REST
from treaty.client.connection import Connection
from treaty.client.groups.codecs import GZIP
from treaty.client.serializers.frames import encode_encoding
from treaty.client.serializers.schema_heads import MARK
from treaty.core.messages.listings import ListVersions
from treaty.core.messages.request import Request
from treaty.core.messages.schemas import GetSchema
from treaty.core.refusals import NotFound, Reason
from treaty.core.registry import CALL, A, CallOptions, Reply
from treaty.formats.avro.fingerprint import crc64
from treaty.plan.avro.flat import parse_avro
from treaty.plan.rows import BadRowFilter
from treaty.spark import (
    BatchEvent,
    BatchReport,
    KafkaSource,
    LakeTable,
    Pipeline,
    StreamTrigger,
    preview,
    remaining_bad_rows,
    replay,
    status,
)
from treaty.spark.lake import tables
from treaty.spark.pipelines.batch_history import sum_topics

if TYPE_CHECKING:
    from tests.servers.kafka import Kafka

pytestmark = [pytest.mark.jvm, pytest.mark.slow]


def comment(schema: StructType | None, *way: str) -> str:
    """The comment on a column."""
    assert schema is not None
    one = schema[way[0]]
    if len(way) > 1:
        assert isinstance(one.dataType, StructType)
        return comment(one.dataType, *way[1:])
    return str((one.metadata or {}).get("comment", ""))


@dataclass
class Topics:
    """Two topics with subjects of their own, Avro in the one and JSON in the other, and what was sent to them by code."""

    spark: SparkSession
    servers: str
    registry: Connection
    root: Path
    a: str
    b: str
    format: str
    dice: random.Random = field(default_factory=lambda: random.Random(5))
    truth: Counter[tuple[str, str]] = field(default_factory=Counter)

    def send(self, topic: str, code: str, *values: bytes | None) -> None:
        producer = Producer({"bootstrap.servers": self.servers})
        for value in values:
            producer.produce(topic, value, b"k", self.dice.randrange(2), headers=[("h", b"1")])
        self.truth[topic, code] += len(values)
        assert producer.flush(30) == 0

    @property
    def pipeline(self) -> Pipeline:
        return Pipeline(
            "",
            LakeTable(str(self.root / "{topic}"), self.format),
            LakeTable(str(self.root / "bad"), self.format),
            str(self.root / "checkpoint"),
            keep=("topic", "partition", "offset", "timestamp", "key", "headers"),
            with_id="schema_id",
            source=KafkaSource(self.servers, (self.a, self.b), most=1_000, headers=True),
            trigger=StreamTrigger("available"),
        )

    def run(self) -> BatchReport:
        (report,) = ended(self.pipeline, self.registry, self.spark)
        return report

    def table(self, topic: str) -> Any:
        return tables.read(self.spark, LakeTable(str(self.root / topic), self.format))


@pytest.fixture(params=["parquet", pytest.param("delta", marks=REST)])
def topics(
    spark: SparkSession, kafka: "Kafka", registry: Connection, tmp_path: Path, request: pytest.FixtureRequest
) -> Topics:
    a, b = (kafka.topic(f"{name}{time.time_ns()}", 2) for name in "ab")
    return Topics(spark, kafka.bootstrap, registry, tmp_path, a, b, request.param)


def test_topics_become_tables_that_grow_and_what_is_bad_comes_back(topics: Topics) -> None:
    first, other = put(topics.registry, V1, f"{topics.a}-value"), put(topics.registry, B1, f"{topics.b}-value", "JSON")
    begin(topics, first, other)
    grow(topics, first + 2, first + 3, other + 3)
    come_back(topics)


def begin(topics: Topics, first: int, other: int) -> None:
    """The first batch: both tables are made, with comments; every row is counted by id and error."""
    a, b, spark = topics.a, topics.b, topics.spark
    made = preview(topics.pipeline, topics.registry, spark)
    assert [(one.topic, one.new, one.fine) for one in made] == [(a, True, True), (b, True, True)]
    assert status(topics.pipeline, spark).query == ""
    topics.send(a, "", *(frame(first, V1, {"name": "x", "n": one}) for one in range(20)))
    for code, deed in SPOILT.values():
        topics.send(a, code, deed(frame(first, V1, {"name": "spoilt", "n": 7}), topics.dice))
    topics.send(a, "DELETE", None)
    topics.send(b, "", *(header(other) + json.dumps({"id": one}).encode() for one in range(10)))
    topics.send(b, "UNKNOWN_ID", header(other + 3) + b'{"id": 77, "note": "early"}')
    report = topics.run()

    told = Counter[tuple[str, str]]()
    for topic, some in report.rows.items():
        for (_, code), rows in some.items():
            told[topic, code] += rows
    assert told == topics.truth
    assert (report.rows[a][first, ""], report.rows[b][other, ""]) == (20, 10)
    good = topics.table(a)
    read = good.collect()
    kept = {(row["topic"], row["schema_id"], bytes(row["key"]), row["headers"][0]["key"]) for row in read}
    assert kept == {(a, first, b"k", "h")}
    assert len({(row["partition"], row["offset"]) for row in read}) == 20
    assert (comment(good.schema, "n"), dict(good.dtypes)["n"]) == ("its number", "int")
    assert comment(topics.table(b).schema, "id") == "whose"
    seen = status(topics.pipeline, spark)
    assert (seen.lag, [topic for topic, _, _ in seen.plans]) == (0, [a, b])


def grow(topics: Topics, second: int, third: int, early: int) -> None:
    """Two more versions: one the table grows for, at every depth; one that it can't hold."""
    a, b, registry, spark = topics.a, topics.b, topics.registry, topics.spark
    assert (put(registry, V2, f"{a}-value"), put(registry, V3, f"{a}-value")) == (second, third)
    assert put(registry, B2, f"{b}-value", "JSON") == early
    in_a, in_b = preview(topics.pipeline, registry, spark)
    assert {str(one) for one in in_a.grows} == {"n grows from int to bigint", "at struct<x:double> is new"}
    assert in_a.plan is not None
    assert [one.schema_id for one in in_a.plan.rejected] == [third]
    assert (in_a.fine, in_b.fine) == (False, True)
    topics.send(a, "", *(frame(second, V2, {"name": "y", "n": 2**40, "at": {"x": 0.5}}) for _ in range(10)))
    topics.send(a, "RESOLUTION", *(frame(third, V3, {"name": "z", "n": "text"}) for _ in range(5)))
    assert status(topics.pipeline, spark).lag == 15
    report = topics.run()
    assert report.rows == {a: {(second, ""): 10, (third, "RESOLUTION"): 5}}
    assert sum_topics(report.total).rows == sum(topics.truth.values())
    schema = topics.table(a).schema
    assert (comment(schema, "n"), comment(schema, "at", "x")) == ("its number", "metres east")
    assert topics.table(a).filter("n = 1099511627776 AND at.x = 0.5").count() == 10


def come_back(topics: Topics) -> None:
    """What was early is good after a replay, once; what is left says why."""
    a, b, spark = topics.a, topics.b, topics.spark
    done = replay(topics.pipeline, topics.registry, spark)
    bad = sum(rows for (_, code), rows in topics.truth.items() if code not in {"", "DELETE"})
    assert (done.rows, done.passed) == (bad, 1)
    assert [(one.topic, one.passed) for one in done.topics] == [(a, 0), (b, 1)]
    assert dict(done.reasons)["RESOLUTION"] == 5
    assert topics.table(b).filter("id = 77 AND note = 'early'").count() == 1
    seen = status(topics.pipeline, spark)
    assert {one.topic for one in seen.bad} == {a}
    assert sum(one.rows for one in seen.bad) == done.rows - 1
    assert ended(topics.pipeline, topics.registry, spark) == []


@pytest.fixture
def lines(spark: SparkSession, tmp_path: Path) -> Lines:
    return Lines(spark, tmp_path)


def test_a_version_that_its_table_can_not_hold_makes_bad_rows_and_ends_nothing(
    lines: Lines, registry: Connection
) -> None:
    first = put(registry, V1, "orders-value")
    lines.write(*sound(first, V1, 1, 2))
    pipeline = replace(lines.pipeline, reader="latest")
    ids: list[int] = []

    def watch(step: BatchEvent) -> None:
        if (step.batch, step.name) == (0, "done"):
            ids.append(put(registry, V3, "orders-value"))
        if (step.batch, step.name) == (1, "done"):
            ids.append(put(registry, record(("name", "string"), ("n", "long")), "orders-value"))

    strange = [(value, "RESOLUTION") for value, _ in sound(first + 1, V3, "a", "b")]
    lines.write(*sound(first, V1, 3), *strange)
    lines.write(*sound(first, V1, 4), *sound(first + 2, record(("name", "string"), ("n", "long")), 2**40), *strange)
    plans: list[tuple[int, str, str]] = []

    def both(step: BatchEvent) -> None:
        watch(step)
        if step.plan:
            plans.append((step.batch, step.name, step.plan.type))

    reports = ended(pipeline, registry, lines.spark, on_event=both)
    assert [sum_topics(one.rows).bad for one in reports] == [0, 2, 2]
    messages = lines.check()
    assert "n is int in the table and string in the rows" in messages[3]
    assert all("cannot be read" in messages[at] for at in (7, 8))
    assert ids == [first + 1, first + 2]
    # The third version is there before its batch begins: that batch has one plan, and it is not extended.
    assert {(name, "BIGINT" in kind) for batch, name, kind in plans if batch == 2} == {
        (name, True) for name in ("planned", "good", "bad", "done")
    }

    strict = replace(pipeline, evolution="fail")
    wide = put(registry, V2, "orders-value")
    lines.write((frame(wide, V2, {"name": "x", "n": 1, "at": None}), ""))
    with pytest.raises(StreamingQueryException, match=r"at struct<x:double> is new"):
        ended(strict, registry, lines.spark)


class CrashError(Exception):
    """The driver is gone."""


def test_rows_that_were_written_as_bad_stay_bad_when_their_batch_runs_again(lines: Lines, registry: Connection) -> None:
    first = put(registry, V1, "orders-value")
    lines.write(*sound(first, V1, 1), *[(value, "UNKNOWN_ID") for value, _ in sound(first + 1, V2, 2)])

    def crash(step: BatchEvent) -> None:
        if step.name == "bad":
            put(registry, V2, "orders-value")  # the id is known from now on
            raise CrashError

    with pytest.raises(StreamingQueryException, match="CrashError"):
        ended(lines.pipeline, registry, lines.spark, on_event=crash)
    (report,) = ended(lines.pipeline, registry, lines.spark)
    lines.check()
    assert sum_topics(report.rows).pairs() == (("bad", 1), ("deletes", 0), ("good", 1), ("rows", 2), ("unknown", 1))
    assert replay(lines.pipeline, registry, lines.spark).passed == 1


def test_a_batch_that_was_cut_off_begins_with_the_plan_of_the_batch_before(lines: Lines, registry: Connection) -> None:
    """It is stored under an earlier batch. With a plan of what the registry has by now, rows that were no part of the write would be lost."""
    first = put(registry, V1, "orders-value")
    lines.write(*sound(first, V1, 1))
    lines.write(*sound(first, V1, 2), *sound(first + 1, V2, 3))

    def crash(step: BatchEvent) -> None:
        if (step.batch, step.name) == (1, "good"):
            put(registry, V2, "orders-value")  # the good rows are written, and those of this id are not looked up yet
            raise CrashError

    with pytest.raises(StreamingQueryException, match="CrashError"):
        ended(lines.pipeline, registry, lines.spark, on_event=crash)
    planned: list[frozenset[int]] = []

    def watch(step: BatchEvent) -> None:
        if step.name in {"planned", "extended"} and step.plan:
            planned.append(step.plan.known)

    ended(lines.pipeline, registry, lines.spark, on_event=watch)
    assert lines.check() == {}
    assert planned == [{first}, {first, first + 1}]


@dataclass
class Behind:
    """A registry that does not know an id and later versions until it has been asked for them so many times."""

    registry: Connection
    schema_id: int
    times: int

    def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
        reply = self.registry.ask(request, call)
        if self.times:
            if isinstance(request, GetSchema) and request.schema_id == self.schema_id:
                self.times -= 1
                raise NotFound(Reason("NOT_FOUND", f"no schema {self.schema_id}"))
            if isinstance(request, ListVersions):
                numbers = reply.answer.numbers[:1]  # type: ignore[attr-defined] # the answer to this request
                return replace(reply, answer=replace(reply.answer, numbers=numbers))  # type: ignore[type-var] # as above
        return reply


def test_a_registry_that_is_behind_is_waited_for_and_a_stream_ends_between_batches(
    lines: Lines, registry: Connection
) -> None:
    first, second = put(registry, V1, "orders-value"), put(registry, V2, "orders-value")
    for turn in range(3):
        lines.write(*sound(first, V1, turn), *sound(second, V2, turn))
    patient = replace(lines.pipeline, patience=60.0)
    ending = threading.Event()

    def watch(step: BatchEvent) -> None:
        if (step.batch, step.name) == (1, "planned"):
            ending.set()  # the running batch ends, and no other begins

    with pytest.raises(StreamingQueryException, match="the stream ends before its next batch"):
        ended(patient, Behind(registry, second, 3), lines.spark, on_event=watch, ending=ending)
    assert tables.read(lines.spark, patient.good_table).count() == 4
    ended(patient, registry, lines.spark)
    assert lines.check() == {}


def single(text: str, row: dict[str, Any]) -> bytes:
    """A record as one of Avro's single objects: the schema's CRC-64 before it, and no id."""
    return MARK + crc64(parse_avro(text)) + frame(1, text, row)[5:]


def test_other_framings_have_late_versions_and_replays_too(lines: Lines, registry: Connection) -> None:
    put(registry, V1, "orders-value")
    early = record(("name", "string"), ("n", "long"), ("more", "int", 7))
    lines.write(
        *[(single(V1, {"name": "x", "n": one}), "") for one in range(3)],
        *[(single(V2, {"name": "y", "n": 2**40, "at": {"x": 0.5}}), "") for _ in range(2)],
        (single(early, {"name": "z", "n": 5, "more": 8}), "UNKNOWN_ID"),
        (single(V1, {"name": "x", "n": 1})[:-1], "MALFORMED"),
        (b"\xc3\x02", "TOO_SHORT"),
    )

    steps: list[str] = []

    def watch(step: BatchEvent) -> None:
        steps.append(step.name)
        if step.name == "planned":
            put(registry, V2, "orders-value")  # the plan of this batch lacks it

    pipeline = replace(lines.pipeline, framing="single-object")
    (report,) = ended(pipeline, registry, lines.spark, on_event=watch)
    lines.check()
    assert steps == ["planned", "good", "extended", "late", "bad", "done"]
    assert report.rows == {
        "": {(-1, "TOO_SHORT"): 1, (-1, "UNKNOWN_ID"): 1, (1, ""): 3, (1, "MALFORMED"): 1, (2, ""): 2}
    }
    put(registry, early, "orders-value")
    done = replay(pipeline, registry, lines.spark, BadRowFilter(("UNKNOWN_ID", "MALFORMED")))
    assert (done.rows, done.passed, done.reasons) == (2, 1, (("MALFORMED", 1),))
    left = {
        row_filter: [row["offset"] for row in remaining_bad_rows(lines.spark, pipeline.bad_table, row_filter).collect()]
        for row_filter in (
            BadRowFilter(("UNKNOWN_ID",)),
            BadRowFilter(("TOO_SHORT", "MALFORMED"), 1),
            BadRowFilter(("TOO_SHORT",)),
        )
    }
    assert [*left.values()] == [[], [6], [7]]
    assert tables.read(lines.spark, pipeline.good_table).filter("more = 8 AND offset = 5").count() == 1


def test_encodings_that_come_in_flight_are_learned_as_ids_are(lines: Lines, registry: Connection) -> None:
    put(registry, V1, "orders-value")
    registry.add_codec("orders-value", GZIP)
    registry.assign_encoding("orders-value", 0)
    plain = frame(1, V1, {"name": "x", "n": 1})[5:]
    wide = frame(1, V2, {"name": "y", "n": 2**40, "at": {"x": 0.5}})[5:]
    lines.write(
        (encode_encoding(0) + plain, ""),
        (encode_encoding(1) + gzip.compress(plain + bytes(9)), ""),  # as Java packs it
        (encode_encoding(2) + gzip.compress(wide), ""),
        (encode_encoding(2) + gzip.compress(wide)[:-2], "MALFORMED"),
        (encode_encoding(9) + plain, "UNKNOWN_ID"),
        (header(1) + plain, "BAD_MAGIC"),
    )
    steps: list[str] = []

    def watch(step: BatchEvent) -> None:
        steps.append(step.name)
        if step.name == "planned":  # the plan of this batch lacks them
            put(registry, V2, "orders-value")
            registry.assign_encoding("orders-value", 0, GZIP)
            registry.assign_encoding("orders-value", 1, GZIP)

    ended(replace(lines.pipeline, framing="pravega"), registry, lines.spark, on_event=watch)
    said = lines.check()
    assert steps == ["planned", "good", "extended", "late", "bad", "done"]
    assert said[3] == "the gzip stream is cut short"
    assert said[4] == "the group has no encoding 9, or the plan was made before it"
