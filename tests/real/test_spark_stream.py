"""The stream into two tables: crashes at every step, ids that come later, a registry that is away; counts stay exact."""

import random
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from tests.frames import SPOILT, frame, record, resolved
from tests.real.arriving import arrive
from tests.shares import REST
from treaty.client.connection import Connection
from treaty.core.messages.registration import Register
from treaty.core.messages.request import Request
from treaty.core.names import subject_of
from treaty.core.refusals import Unavailable
from treaty.core.registry import CALL, A, CallOptions, Reply
from treaty.core.schema import Draft
from treaty.plan.value import DecodePlan
from treaty.spark import BatchEvent, LakeTable, Pipeline, TooManyBadRowsError, remaining_bad_rows, replay, start
from treaty.spark.lake import tables
from treaty.spark.lake.table import FORMATS

STEP_BY_STEP = ["delta", *(pytest.param(one, marks=pytest.mark.soak) for one in FORMATS if one != "delta")]
"""Drivers are killed with one of the other formats too, in `test_pipeline_kills`; step by step these are in the soak."""
CHEAP = ["parquet", *(pytest.param(one, marks=REST) for one in FORMATS if one != "parquet")]
"""What a stream does whatever its tables are is seen with the format that costs least; with the others it is in the soak."""
pytestmark = [pytest.mark.jvm, pytest.mark.slow]

V1 = record(("name", "string"), ("n", "int"))
V2 = record(("name", "string"), ("n", "long"), ("note", ["null", "string"], None))
V3 = record(
    {"name": "title", "type": "string", "aliases": ["name"]},
    ("n", "long"),
    ("at", ["null", {"type": "record", "name": "Place", "fields": [{"name": "x", "type": "double"}]}], None),
)
TEXTS = (V1, V2, V3)


def put(registry: Connection, text: str, subject: str = "orders-value") -> int:
    return registry.ask(Register(subject_of(subject), Draft(text))).answer.version.schema_id


@dataclass
class Topic:
    """Files of frames, what is true of each offset, and the tables that a stream makes of them."""

    spark: SparkSession
    root: Path
    truth: dict[int, str]
    dice: random.Random
    format: str
    files: int = 0

    def write(self, values: list[tuple[bytes | None, str]]) -> None:
        first = len(self.truth)
        offsets = range(first, first + len(values))
        self.truth |= {at: code for at, (_, code) in zip(offsets, values, strict=True)}
        frames = pa.array([value for value, _ in values], pa.binary())
        (self.root / "in").mkdir(exist_ok=True)
        arrive(self.root / "in", self.files, {"offset": pa.array(offsets, pa.int64()), "value": frames})
        self.files += 1

    def sound(self, schema_id: int, version: int, count: int) -> list[tuple[bytes | None, str]]:
        return [(frame(schema_id, TEXTS[version - 1], self.row(version)), "") for _ in range(count)]

    def row(self, version: int) -> dict[str, Any]:
        made = {"name": f"n{self.dice.randrange(999)}", "n": self.dice.randrange(999)}
        return made | {"title": made["name"], "note": "x", "at": {"x": 0.5}} if version else made

    def spoilt(self, schema_id: int, count: int, version: int = 1) -> list[tuple[bytes | None, str]]:
        ways = list(SPOILT.values())
        made: list[tuple[bytes | None, str]] = []
        for turn, (value, _) in enumerate(self.sound(schema_id, version, count)):
            code, deed = ways[turn % len(ways)]
            assert value is not None
            made.append((deed(value, self.dice), code))
        return made

    @property
    def pipeline(self) -> Pipeline:
        good, bad = (LakeTable(str(self.root / name), self.format) for name in ("good", "bad"))
        return Pipeline(
            "orders-value", good, bad, str(self.root / "checkpoint"), keep=("offset",), with_version="version"
        )

    def run(self, registry: Any, watch: Any = lambda _: None) -> None:
        source = self.spark.readStream.schema("offset BIGINT, value BINARY").option("maxFilesPerTrigger", 1)
        frames = source.parquet(str(self.root / "in"))
        query = start(self.pipeline, frames, registry, on_event=watch, available=True)
        try:
            query.awaitTermination()
        finally:
            query.stop()

    def check(self, deletes: int = 0) -> list[Any]:
        """Every offset is in exactly one table, with its code; returns the good rows."""
        good = tables.read(self.spark, self.pipeline.good_table).collect()
        bad = tables.read(self.spark, self.pipeline.bad_table).collect()
        assert len(good) + len(bad) == len(self.truth) - deletes
        found = {row["offset"]: "" for row in good} | {row["offset"]: row["code"] for row in bad}
        assert found == {at: code for at, code in self.truth.items() if code != "DELETE"}
        return good


@pytest.fixture(params=["parquet", pytest.param("delta", marks=REST)])
def topic(spark: SparkSession, tmp_path: Path, request: pytest.FixtureRequest) -> Topic:
    return Topic(spark, tmp_path, {}, random.Random(7), request.param)


def test_the_table_grows_with_ids_that_come_later_and_nothing_is_restarted(topic: Topic, registry: Connection) -> None:
    first = put(registry, V1)
    other = put(registry, record(("x", "int"), name="Other"), "other-value")
    topic.write([*topic.sound(first, 1, 40), *topic.spoilt(first, 24), (None, "DELETE")])
    later: list[int] = []

    def watch(step: BatchEvent) -> None:
        if step.name == "bad" and step.batch == 0:
            later.extend((put(registry, V2), put(registry, V3)))
            foreign = b"\0" + other.to_bytes(4, "big") + b"\2\2"
            topic.write([*topic.sound(first, 1, 10), *topic.sound(later[0], 2, 10), (foreign, "WRONG_SUBJECT")])
            topic.write([*topic.sound(later[1], 3, 10), *topic.spoilt(first, 12)])

    topic.run(registry, watch)
    topic.run(registry)  # the files written meanwhile are the next run's
    rows = topic.check(deletes=1)
    assert [row.asDict().keys() for row in rows[:1]] == [{"offset", "version", "name", "n", "note", "at"}]
    assert {row["version"]: row["note"] for row in rows} == {1: None, 2: "x", 3: None}
    assert all(row["name"].startswith("n") for row in rows)
    kinds = dict(tables.read(topic.spark, topic.pipeline.good_table).dtypes)
    assert (kinds["n"], kinds["at"]) == ("bigint", "struct<x:double>")


@pytest.mark.soak  # by batches; `test_spark_damage` has as many in one frame
@pytest.mark.rest
@pytest.mark.parametrize("topic", ["delta"], indirect=True)
def test_500_bad_rows_over_two_files_are_each_classified_and_no_neighbour_is_touched(
    topic: Topic, registry: Connection
) -> None:
    first = put(registry, V1)
    written: list[tuple[bytes | None, str]] = []
    for _ in range(2):
        rows = [*topic.sound(first, 1, 500), *topic.spoilt(first, 250)]
        topic.dice.shuffle(rows)
        topic.write(rows)
        written += rows
    topic.run(registry)

    good = topic.check()
    assert (len(good), len(topic.truth)) == (1_000, 1_500)
    for row in good:
        value, _ = written[row["offset"]]
        assert value is not None
        assert {"name": row["name"], "n": row["n"]} == resolved(value, V1, V1)


class CrashError(Exception):
    """The driver is gone."""


@pytest.mark.parametrize("topic", STEP_BY_STEP, indirect=True)
def test_a_crash_after_any_step_neither_loses_nor_repeats_a_row(topic: Topic, registry: Connection) -> None:
    first = put(registry, V1)
    topic.write([*topic.sound(first, 1, 30), *topic.spoilt(first, 12)])
    seen: list[tuple[int, str]] = []
    crashed: set[tuple[int, str]] = set()

    def watch(step: BatchEvent) -> None:
        seen.append((step.batch, step.name))
        if seen.count((step.batch, step.name)) == 1:
            if step.batch == 0 and step.name == "planned":
                late = first + 1
                topic.write([*topic.sound(late, 2, 20), *topic.sound(first, 1, 5), *topic.spoilt(late, 12, 2)])
                return
            if step.batch == 1 and step.name == "planned":
                assert put(registry, V2) == first + 1  # after the batch got its plan
                return
            if step.name == "done":
                return  # nothing is written between this and the step before
            crashed.add((step.batch, step.name))
            raise CrashError(step.name)

    for _ in range(12):
        try:
            topic.run(registry, watch)
            break
        except StreamingQueryException:
            assert crashed
    assert crashed >= {(0, "good"), (0, "bad"), (1, "good"), (1, "extended"), (1, "late"), (1, "bad")}
    topic.run(registry)
    topic.check()


@dataclass
class Away:
    """A registry that can't be reached the next `times` times."""

    registry: Connection
    times: int

    def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
        if self.times:
            self.times -= 1
            message = "away"
            raise Unavailable(message, retry_after=0.001)
        return self.registry.ask(request, call)

    def close(self) -> None:
        self.registry.close()


def test_a_registry_that_is_away_fails_the_batch_and_makes_no_bad_row(topic: Topic, registry: Connection) -> None:
    first = put(registry, V1)
    topic.write(topic.sound(first, 1, 20))
    topic.run(registry)
    late = put(registry, V2)
    topic.write([*topic.sound(late, 2, 10), *topic.spoilt(first, 12)])
    with pytest.raises(StreamingQueryException, match="away"):
        topic.run(Away(registry, 1_000))
    topic.run(Away(registry, 3))  # away for a while is only a wait
    topic.check()


def test_a_replayed_batch_uses_the_plan_that_was_stored(topic: Topic, registry: Connection) -> None:
    first = put(registry, V1)
    topic.write(topic.sound(first, 1, 10))

    def crash(step: BatchEvent) -> None:
        if step.name == "good":
            raise CrashError

    with pytest.raises(StreamingQueryException):
        topic.run(registry, crash)
    put(registry, V2)
    plans: list[DecodePlan] = []
    topic.run(registry, lambda step: plans.append(step.plan) if step.plan else None)
    assert {len(plan.writers) for plan in plans} == {1}
    topic.check()


@pytest.mark.parametrize("topic", CHEAP, indirect=True)
def test_bad_rows_come_back_once_after_a_fix(
    topic: Topic, registry: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = put(registry, V1)
    stranger = first + 1
    topic.write([*topic.sound(first, 1, 10), *topic.sound(stranger, 2, 7), *topic.spoilt(first, 12)])
    topic.truth |= dict.fromkeys(range(10, 17), "UNKNOWN_ID")
    topic.run(registry)
    topic.check()
    assert put(registry, V2) == stranger

    whole = tables.append

    def cut(frame: Any, table: LakeTable, batch: Any, evolution: str = "widen") -> None:
        if batch.writer.endswith("/marks"):
            raise CrashError
        whole(frame, table, batch, evolution)

    monkeypatch.setattr(tables, "append", cut)
    with pytest.raises(CrashError):  # after the good rows were written
        replay(topic.pipeline, registry, topic.spark)
    monkeypatch.undo()
    topic.write([*topic.sound(stranger, 2, 3), *topic.spoilt(first, 12)])
    topic.run(registry)
    done = replay(topic.pipeline, registry, topic.spark)
    assert (done.number, done.rows, done.passed) == (1, 19, 7)
    again = replay(topic.pipeline, registry, topic.spark)
    assert (again.number, again.rows, again.passed) == (2, 24, 0)

    good = tables.read(topic.spark, topic.pipeline.good_table).collect()
    assert sorted(row["offset"] for row in good) == [*range(17), 29, 30, 31]
    bad = remaining_bad_rows(topic.spark, topic.pipeline.bad_table).collect()
    assert {row["offset"]: row["code"] for row in bad} == {
        at: code for at, code in topic.truth.items() if code and at not in range(10, 17)
    }
    assert tables.read(topic.spark, topic.pipeline.bad_table).count() == 31


def test_too_many_bad_rows_end_the_stream_and_are_kept(topic: Topic, registry: Connection) -> None:
    first = put(registry, V1)
    topic.write([*topic.sound(first, 1, 20), *topic.spoilt(first, 12)])
    for limits in ({"most_bad": 11}, {"worst_share": 0.1}):
        strict = replace(topic.pipeline, **limits)
        frames = topic.spark.readStream.schema("offset BIGINT, value BINARY").parquet(str(topic.root / "in"))
        with pytest.raises(StreamingQueryException, match=f"{TooManyBadRowsError.__name__}.*12 of 32 rows are bad"):
            start(strict, frames, registry, available=True).awaitTermination()
        topic.check()
    topic.run(registry)
    topic.check()


def test_pipelines_are_values(topic: Topic) -> None:
    assert replace(topic.pipeline, reader="latest") != topic.pipeline
    assert hash(topic.pipeline) == hash(replace(topic.pipeline))
