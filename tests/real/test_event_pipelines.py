"""Streams of events into lake tables: every event in one table, exactly once, through failures and restarts."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from tests.real.arriving import arrive
from tests.self_describing import CONTEXTS, make_events, make_resolver, uri
from treaty.client.iglu import REMOTE, Resolver, SchemaDocument, memory_registry, repo_failure
from treaty.client.iglu.registries import RegistryAnswer, RegistryQuestion
from treaty.spark.iglu.pipeline import BadEventReason, EventBatchReport, EventPipeline, run_events
from treaty.spark.lake import tables
from treaty.spark.lake.table import LakeTable
from treaty.spark.pipelines.source import FilesSource
from treaty.spark.pipelines.trigger import StreamTrigger

pytestmark = pytest.mark.jvm
FORMATS = ("delta", "iceberg", "parquet")


class CutOffError(Exception):
    """A batch ends in its middle."""


@dataclass
class Events:
    """Files of events for a stream that reads one in each batch."""

    spark: SparkSession
    root: Path
    format: str = "parquet"
    files: int = 0
    truth: dict[int, str] = field(default_factory=dict)

    def write(self, events: list[tuple[str, str]]) -> None:
        numbers = range(len(self.truth), len(self.truth) + len(events))
        self.truth |= {number: damage for number, (_, damage) in zip(numbers, events, strict=True)}
        (self.root / "in").mkdir(exist_ok=True)
        made = {"number": pa.array(numbers, pa.int64()), "value": pa.array([text for text, _ in events])}
        arrive(self.root / "in", self.files, made)
        self.files += 1

    def pipeline(self, **options: Any) -> EventPipeline:
        good, bad = (LakeTable(str(self.root / name), self.format) for name in ("good", "bad"))
        source = FilesSource(str(self.root / "in"), schema="number BIGINT, value STRING", most=1)
        settings: dict[str, Any] = {"keep": ("number",), "patience": 0.0, **options}
        checkpoint, trigger = str(self.root / "checkpoint"), StreamTrigger("available")
        return EventPipeline(good, bad, checkpoint, source=source, trigger=trigger, **settings)

    def run(self, resolver: Resolver, **options: Any) -> list[EventBatchReport]:
        reports: list[EventBatchReport] = []
        on_batch: Callable[[EventBatchReport], None] = options.pop("on_batch", reports.append)
        query = run_events(self.pipeline(**options), resolver, self.spark, on_batch=on_batch)
        try:
            query.awaitTermination()
        finally:
            query.stop()
        return reports

    def check(self) -> None:
        mine = self.pipeline()
        assert isinstance(mine.good, LakeTable)
        assert isinstance(mine.bad, LakeTable)
        good = sorted(row["number"] for row in tables.read(self.spark, mine.good).select("number").collect())
        bad = sorted(row["number"] for row in tables.read(self.spark, mine.bad).select("number").collect())
        assert good == [number for number, damage in self.truth.items() if not damage]
        assert bad == [number for number, damage in self.truth.items() if damage]


@pytest.mark.parametrize(
    "format_", [pytest.param(one, marks=[pytest.mark.soak] if one == "iceberg" else []) for one in FORMATS]
)
def test_each_event_is_in_one_table_once_though_batches_are_cut_off(
    spark: SparkSession, tmp_path: Path, format_: str
) -> None:
    events = Events(spark, tmp_path, format_)
    for seed in range(2):
        events.write(make_events(seed, 120, 0.2))

    def cut_off(report: EventBatchReport) -> None:
        raise CutOffError(report.number)

    with make_resolver() as resolver:
        for _ in range(2):  # each start writes a batch and is cut off before Spark hears of it
            with pytest.raises(StreamingQueryException, match="CutOffError"):
                events.run(resolver, on_batch=cut_off)
        reports = events.run(resolver)
    assert [one.number for one in reports] == [1] or [one.number for one in reports] == [0, 1]
    events.check()


def test_a_batch_that_runs_again_has_the_schemas_that_it_had(spark: SparkSession, tmp_path: Path) -> None:
    """A schema that is patched between two runs of a batch does not change what the batch is."""
    key, allowed = "iglu:com.acme/note/jsonschema/1-0-0", [True]

    def answer(question: RegistryQuestion) -> RegistryAnswer:
        return SchemaDocument({"type": "object", "properties": {"a": {"type": "integer" if allowed[0] else "string"}}})

    events = Events(spark, tmp_path)
    events.write([(json.dumps({"schema": key, "data": {"a": 1}}), "")])

    def cut_off(report: EventBatchReport) -> None:
        raise CutOffError(report.number)

    with make_resolver(memory_registry("notes", answer)) as resolver, pytest.raises(StreamingQueryException):
        events.run(resolver, on_batch=cut_off)
    allowed[0] = False
    events.write([(json.dumps({"schema": key, "data": {"a": 1}}), "type")])
    with make_resolver(memory_registry("notes", answer)) as resolver:
        events.run(resolver)
    events.check()


def test_a_batch_waits_for_registries_and_is_never_bad_for_them(spark: SparkSession, tmp_path: Path) -> None:
    key, ready = "iglu:com.late/event/jsonschema/1-0-0", [False]

    def answer(question: RegistryQuestion) -> RegistryAnswer:
        return (
            SchemaDocument({"type": "object", "properties": {"id": {"type": "integer"}}})
            if ready[0]
            else repo_failure("restarting")
        )

    events = Events(spark, tmp_path)
    events.write([(json.dumps({"schema": key, "data": {"id": 1}}), ""), ("no JSON", "cut")])
    with make_resolver(memory_registry("late", answer, class_priority=REMOTE)) as resolver:
        with pytest.raises(StreamingQueryException, match="batch 0 waits for 1 schemas"):
            events.run(resolver)
        assert not (tmp_path / "good").exists()
        assert not (tmp_path / "bad").exists()
        ready[0] = True
        events.run(resolver, patience=10.0)
    events.check()


def test_events_without_parts_are_good_before_there_is_any_column(spark: SparkSession, tmp_path: Path) -> None:
    events = Events(spark, tmp_path)
    empty = json.dumps({"schema": f"iglu:{CONTEXTS}", "data": []})
    full = json.dumps({"schema": uri(1), "data": {"id": "a", "count": 1}})
    for texts in ((empty, empty), (empty, full), (empty,)):
        events.write([(one, "") for one in texts])
    with make_resolver() as resolver:
        reports = events.run(resolver, keep=())
    assert [(one.good, one.bad) for one in reports] == [(2, 0), (2, 0), (1, 0)]
    rows = tables.read(spark, LakeTable(f"{tmp_path}/good", "parquet"))
    assert rows.columns == ["com_acme_shop_event_01_1"]
    assert sorted(len(row[0] or ()) for row in rows.collect()) == [0, 0, 1], (
        "a row for each event since there is a column"
    )


def test_each_model_has_a_table_and_bad_events_have_the_shape_of_snowplow(spark: SparkSession, tmp_path: Path) -> None:
    events = Events(spark, tmp_path)
    values = [{"schema": uri(number), "data": {"id": "a", "count": number}} for number in (1, 2, 1)]
    wrong = [(json.dumps({"schema": uri(2), "data": {"count": count}}), "required") for count in range(3)]
    events.write([(json.dumps(one), "") for one in values] + [("no JSON", "cut"), *wrong])
    good, bad = LakeTable(f"{tmp_path}/{{model}}", "parquet"), LakeTable(f"{tmp_path}/bad", "parquet")
    pipeline = EventPipeline(
        good, bad, f"{tmp_path}/checkpoint", keep=("number",), bad_rows="snowplow",
        source=FilesSource(f"{tmp_path}/in", schema="number BIGINT, value STRING"), trigger=StreamTrigger("available"),
    )  # fmt: skip
    with make_resolver() as resolver:
        reports: list[EventBatchReport] = []
        query = run_events(pipeline, resolver, spark, on_batch=reports.append)
        query.awaitTermination()
    reasons = [BadEventReason("INVALID_DATA", uri(2), 3), BadEventReason("NOT_JSON", "", 1)]
    assert [reason for report in reports for reason in report.reasons] == reasons
    rows = tables.read(spark, LakeTable(f"{tmp_path}/com_acme_shop_event_01_1", "parquet")).orderBy("number").collect()
    assert [(row["number"], row["count"], row["_schema_version"]) for row in rows] == [(0, 1, "1-0-0"), (2, 1, "1-0-0")]
    messages = [json.loads(row["value"])["data"]["failure"]["messages"][0] for row in tables.read(spark, bad).collect()]
    assert sorted(message.get("field", message.get("schemaKey")) for message in messages) == [*[uri(2)] * 3, "value"]
