"""What became of a pipeline whose checkpoint and tables lie on this machine's disk, read without starting Spark."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from treaty.arrow.bad_rows import join_results
from treaty.plan.rows import AT, OPEN, PASSED, REPLAY
from treaty.spark.lake.local_files import find_local_folder, list_parquet_files, read_local_table
from treaty.spark.lake.parquet import ROWS
from treaty.spark.lake.table import LakeTable
from treaty.spark.pipelines.batch_history import BATCHES, BatchReport
from treaty.spark.pipelines.plan_store import PLANS, StoredPlans, parse_plans
from treaty.spark.pipelines.replay import result_table
from treaty.spark.pipelines.reports.lag import Offsets, parse_offsets
from treaty.spark.pipelines.reports.status import LISTED, PipelineStatus, RemainingBadRows, ask_lag, list_newest_plans
from treaty.spark.pipelines.reports.suspect_queries import list_plan_queries
from treaty.spark.pipelines.route import TopicRoute, make_route
from treaty.spark.pipelines.rows import BAD_ID
from treaty.spark.pipelines.value import Pipeline


def read_local_status(pipeline: Pipeline) -> PipelineStatus:
    """Read the state from the checkpoint and the tables, as `status` does; a running stream is not disturbed.

    Raises `NeedsSparkError`, with the reason, where something is not on this disk or has a form that Spark alone reads.
    """
    checkpoint = find_local_folder(pipeline.checkpoint)
    if not (checkpoint / "metadata").exists():
        return PipelineStatus("")
    query: str = json.loads((checkpoint / "metadata").read_text("utf-8"))["id"]
    last = max(_read_reports(checkpoint / BATCHES), key=lambda report: report.batch, default=None)
    stored = _read_plans(checkpoint / PLANS / ROWS)
    plans = list_newest_plans(stored)
    lag, no_lag = ask_lag(pipeline, _read_offsets(checkpoint, last))
    routes = [make_route(pipeline, topic) if topic else TopicRoute(pipeline) for topic, _, _ in plans]
    bad = tuple(reason for route in routes for reason in _count_reasons(route))
    return PipelineStatus(query, last, lag, no_lag, bad, plans, list_plan_queries(pipeline, plans))


def _read_reports(folder: Path) -> Iterator[BatchReport]:
    """The reports of the last batches; a file that is being written has none yet."""
    for file in folder.glob("slot=*/part-*.json"):
        for line in file.read_text("utf-8").splitlines():
            yield BatchReport.from_json(json.loads(line)["report"])


def _read_plans(folder: Path) -> StoredPlans:
    rows: list[dict[str, Any]] = []
    for file in list_parquet_files(folder):
        rows += pq.read_table(file, partitioning=None).to_pylist()
    return parse_plans(rows)


def _read_offsets(checkpoint: Path, last: BatchReport | None) -> Offsets:
    """The offsets up to which the last batch read, from the checkpoint."""
    file = checkpoint / "offsets" / str(last.batch) if last else None
    lines = file.read_text("utf-8").splitlines() if file and file.exists() else []
    return parse_offsets(lines[-1]) if lines else {}


def _count_reasons(route: TopicRoute) -> list[RemainingBadRows]:
    """The bad rows of a route that no replay took over, by their newest reason, those with the most rows first."""
    topic = ("topic",) if route.topic else ()
    rows = read_local_table(route.pipeline.bad_table, (BAD_ID, "code", "message", "schema_id", *topic))
    if rows is None or not len(rows):
        return []
    if route.topic:
        rows = rows.filter(pc.equal(rows["topic"], route.topic))
    rows = _apply_results(rows, route)
    groups = rows.group_by(["code", "schema_id"]).aggregate([("message", "one"), ([], "count_all")]).to_pylist()
    groups.sort(key=lambda group: (-group["count_all"], group["code"], group["schema_id"] or -1))
    return [
        RemainingBadRows(route.topic, group["code"], group["schema_id"], group["count_all"], group["message_one"])
        for group in groups[:LISTED]
    ]


def read_bad_rows(pipeline: Pipeline, columns: Sequence[str]) -> pa.Table | None:
    """Return columns of all bad rows of a pipeline, with what became of each (`join_results`); None where there are none.

    Raises `NeedsSparkError`. A pipeline with a table of bad rows for each topic has the rows of all of them.
    """
    checkpoint = find_local_folder(pipeline.checkpoint)
    topics = sorted({topic for topic, _, _ in _read_plans(checkpoint / PLANS / ROWS).plans})
    routes = [make_route(pipeline, topic) if topic else TopicRoute(pipeline) for topic in topics]
    parts: list[pa.Table] = []
    for table in dict.fromkeys(route.pipeline.bad_table for route in routes):
        rows = read_local_table(table, columns)
        if rows is not None and len(rows):
            parts.append(join_results(rows, _read_marks(table)))
    return pa.concat_tables(parts, promote_options="permissive") if parts else None


def _read_marks(table: LakeTable) -> pa.Table | None:
    return read_local_table(result_table(table), (BAD_ID, REPLAY, PASSED, "code", "message", AT))


def _apply_results(rows: pa.Table, route: TopicRoute) -> pa.Table:
    """The rows that no replay took over, each with the reason that the last replay gave it."""
    joined = join_results(rows, _read_marks(route.pipeline.bad_table))
    return joined.filter(pc.equal(joined["state"], OPEN))
