"""What tests of pipelines share: schemas, files of frames with what is true of each, streams run to their end."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from tests.frames import frame, record
from tests.real.arriving import arrive
from treaty.client.connection import Connection
from treaty.core.messages.registration import Register
from treaty.core.names import subject_of
from treaty.core.schema import Draft
from treaty.spark import BatchReport, FilesSource, LakeTable, Pipeline, StreamTrigger, run
from treaty.spark.lake import tables

N = {"name": "n", "type": "int", "doc": "its number"}
V1 = record(("name", "string"), N)
PLACE = {"type": "record", "name": "Place", "fields": [{"name": "x", "type": "double", "doc": "metres east"}]}
V2 = record(("name", "string"), N | {"type": "long"}, ("at", ["null", PLACE], None))
V3 = record(("name", "string"), ("n", "string"))
B1 = '{"type": "object", "properties": {"id": {"type": "integer", "description": "whose"}}}'
B2 = '{"type": "object", "properties": {"id": {"type": "integer"}, "note": {"type": "string"}}}'


def put(registry: Connection, text: str, subject: str, format_: str = "AVRO") -> int:
    return registry.ask(Register(subject_of(subject), Draft(text, format_))).answer.version.schema_id


def ended(pipeline: Pipeline, registry: Any, spark: SparkSession, **more: Any) -> list[BatchReport]:
    """Run to the end; the reports of all batches."""
    reports: list[BatchReport] = []
    query = run(pipeline, registry, spark, on_report=reports.append, **more)
    try:
        query.awaitTermination()
    finally:
        query.stop()
    return reports


@dataclass
class Lines:
    """Files of frames for a stream that reads one a batch."""

    spark: SparkSession
    root: Path
    format: str = "parquet"
    files: int = 0
    rows: int = 0
    truth: dict[int, str] = field(default_factory=dict)

    def write(self, *values: tuple[bytes, str]) -> None:
        offsets = range(self.rows, self.rows + len(values))
        self.truth |= {at: code for at, (_, code) in zip(offsets, values, strict=True)}
        made = {"offset": pa.array(offsets, pa.int64()), "value": pa.array([one for one, _ in values], pa.binary())}
        (self.root / "in").mkdir(exist_ok=True)
        arrive(self.root / "in", self.files, made)
        self.files, self.rows = self.files + 1, self.rows + len(values)

    @property
    def pipeline(self) -> Pipeline:
        places = [str(self.root / name) for name in ("good", "bad", "checkpoint")]
        source = FilesSource(str(self.root / "in"), schema="offset BIGINT, value BINARY", most=1)
        good, bad = (LakeTable(place, self.format) for place in places[:2])
        return Pipeline(
            "orders-value", good, bad, places[2], keep=("offset",), source=source, trigger=StreamTrigger("available")
        )

    def check(self) -> dict[int, str]:
        """Every offset is in exactly one table, with its code; returns the messages of bad rows."""
        good = tables.read(self.spark, self.pipeline.good_table).collect()
        bad = tables.read(self.spark, self.pipeline.bad_table).collect()
        assert sorted([row["offset"] for row in (*good, *bad)]) == sorted(self.truth)
        assert {row["offset"]: "" for row in good} | {row["offset"]: row["code"] for row in bad} == self.truth
        return {row["offset"]: row["message"] for row in bad}


def sound(schema_id: int, text: str, *numbers: Any) -> list[tuple[bytes, str]]:
    return [(frame(schema_id, text, {"name": "x", "n": one}), "") for one in numbers]
