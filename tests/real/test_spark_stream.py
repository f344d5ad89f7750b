"""The stream into two tables: crashes at every step, ids that come later, a registry that is away; counts stay exact."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from tests.frames import SPOILT, frame, record, resolved
from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.core.answers import Config
from treaty.core.names import subject_of
from treaty.core.refusals import Unavailable
from treaty.core.registry import CALL, A, Call, Reply
from treaty.core.requests import Register, Request, Scope, SetConfig
from treaty.core.schema import Draft
from treaty.spark import Pipeline, Step, start
from treaty.spark.plan.value import DecodePlan

pytestmark = pytest.mark.jvm

V1 = record(("name", "string"), ("n", "int"))
V2 = record(("name", "string"), ("n", "long"), ("note", ["null", "string"], None))
V3 = record(
    {"name": "title", "type": "string", "aliases": ["name"]},
    ("n", "long"),
    ("at", ["null", {"type": "record", "name": "Place", "fields": [{"name": "x", "type": "double"}]}], None),
)
TEXTS = (V1, V2, V3)


@pytest.fixture
def registry() -> Iterator[Connection]:
    with connect("memory:") as found:
        found.ask(SetConfig(Scope("*"), Config(level="NONE")))
        yield found


def put(registry: Connection, text: str, subject: str = "orders-value") -> int:
    return registry.ask(Register(subject_of(subject), Draft(text))).answer.version.schema_id


@dataclass
class Topic:
    """Files of frames, what is true of each offset, and the tables that a stream makes of them."""

    spark: SparkSession
    root: Path
    truth: dict[int, str]
    dice: random.Random
    files: int = 0

    def write(self, values: list[tuple[bytes | None, str]]) -> None:
        first = len(self.truth)
        offsets = range(first, first + len(values))
        self.truth |= {at: code for at, (_, code) in zip(offsets, values, strict=True)}
        frames = pa.array([value for value, _ in values], pa.binary())
        (self.root / "in").mkdir(exist_ok=True)
        table = pa.table({"offset": pa.array(offsets, pa.int64()), "value": frames})
        pq.write_table(table, self.root / "in" / f"{self.files}.parquet")
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
        good, bad, checkpoint = (str(self.root / name) for name in ("good", "bad", "checkpoint"))
        return Pipeline("orders-value", good, bad, checkpoint, keep=("offset",), with_version="version")

    def run(self, registry: Any, watch: Any = lambda _: None) -> None:
        source = self.spark.readStream.schema("offset BIGINT, value BINARY").option("maxFilesPerTrigger", 1)
        frames = source.parquet(str(self.root / "in"))
        query = start(self.pipeline, frames, registry, watch=watch, available=True)
        try:
            query.awaitTermination()
        finally:
            query.stop()

    def check(self, deletes: int = 0) -> list[Any]:
        """Every offset is in exactly one table, with its code; returns the good rows."""
        good = self.spark.read.format("delta").load(self.pipeline.good).collect()
        bad = self.spark.read.format("delta").load(self.pipeline.bad).collect()
        assert len(good) + len(bad) == len(self.truth) - deletes
        found = {row["offset"]: "" for row in good} | {row["offset"]: row["code"] for row in bad}
        assert found == {at: code for at, code in self.truth.items() if code != "DELETE"}
        return good


@pytest.fixture
def topic(spark: SparkSession, tmp_path: Path) -> Topic:
    return Topic(spark, tmp_path, {}, random.Random(7))


def test_the_table_grows_with_ids_that_come_later_and_nothing_is_restarted(topic: Topic, registry: Connection) -> None:
    first = put(registry, V1)
    other = put(registry, record(("x", "int"), name="Other"), "other-value")
    topic.write([*topic.sound(first, 1, 40), *topic.spoilt(first, 24), (None, "DELETE")])
    later: list[int] = []

    def watch(step: Step) -> None:
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
    kinds = dict(topic.spark.read.format("delta").load(topic.pipeline.good).dtypes)
    assert (kinds["n"], kinds["at"]) == ("bigint", "struct<x:double>")


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


def test_a_crash_after_any_step_neither_loses_nor_repeats_a_row(topic: Topic, registry: Connection) -> None:
    first = put(registry, V1)
    topic.write([*topic.sound(first, 1, 30), *topic.spoilt(first, 12)])
    seen: list[tuple[int, str]] = []
    crashed: set[tuple[int, str]] = set()

    def watch(step: Step) -> None:
        seen.append((step.batch, step.name))
        if seen.count((step.batch, step.name)) == 1:
            if step.batch == 0 and step.name == "planned":
                late = put(registry, V2)
                topic.write([*topic.sound(late, 2, 20), *topic.sound(first, 1, 5), *topic.spoilt(late, 12, 2)])
                return
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

    def ask(self, request: Request[A], call: Call = CALL) -> Reply[A]:
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

    def crash(step: Step) -> None:
        if step.name == "good":
            raise CrashError

    with pytest.raises(StreamingQueryException):
        topic.run(registry, crash)
    put(registry, V2)
    plans: list[DecodePlan] = []
    topic.run(registry, lambda step: plans.append(step.plan) if step.plan else None)
    assert {len(plan.writers) for plan in plans} == {1}
    topic.check()


def test_pipelines_are_values(topic: Topic) -> None:
    assert replace(topic.pipeline, reader="latest") != topic.pipeline
    assert hash(topic.pipeline) == hash(replace(topic.pipeline))
