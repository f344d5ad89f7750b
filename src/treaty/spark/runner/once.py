"""Queries worked off once: what is there is read, written exactly once, and the run ends."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from treaty.client.connection import run_exchange
from treaty.core.column_types import expand_type, parse_column_type, print_column_type
from treaty.core.column_types.tokens import print_name
from treaty.core.limits import SOURCES_PAGE
from treaty.core.messages.metastore import DescribeSource, ListSources
from treaty.core.registry import Registry
from treaty.core.sources import RUNNING, Incarnation, Source, SourceColumn
from treaty.metastore.columns.source_refresh import read_user_types
from treaty.spark.planner.settings import RESTRICTED
from treaty.spark.planner.views import STREAM, split_watermark
from treaty.spark.runner.row_order import propagate_order
from treaty.spark.runner.sinks import DeltaSink
from treaty.spark.runner.source_frames import SourceNotRunnableError, SourceOpener


@dataclass(frozen=True, slots=True)
class QueryReport:
    """What a query has done: rows that it read, rows that could not be decoded, batches; and why it failed, empty where it did not."""

    name: str
    rows: int = 0
    bad: int = 0
    batches: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True)
class OnceRunner:
    """Works off the queries of a registry whose data is below a root; their checkpoints are below another folder."""

    spark: SparkSession
    registry: Registry
    root: Path
    checkpoints: Path

    def run(self, on_report: Callable[[QueryReport], None], names: tuple[str, ...] = ()) -> bool:
        """Run all queries whose desired state is RUNNING, or those named, each after those that it reads; return whether none failed.

        A name that no query has, and one of a paused query, is reported as an error.
        """
        wanted = {name.lower(): name for name in names}
        fine = True
        for source in order_queries(list_queries(self.registry)):
            is_named = wanted.pop(source.name.lower(), None) is not None
            if names and not is_named:
                continue
            if source.desired != RUNNING:
                if is_named:
                    on_report(QueryReport(source.name, error=f"it is paused: RESUME {source.name}"))
                    fine = False
                continue
            report = self._run_query(source)
            on_report(report)
            fine = fine and not report.error
        for name in wanted.values():
            on_report(QueryReport(name, error="there is no query of this name: SHOW QUERIES lists them"))
        return fine and not wanted

    def _run_query(self, source: Source) -> QueryReport:
        assert source.query is not None, "a source without a query is not listed"
        try:
            query = self._start(source, source.query)
            query.awaitTermination()
        except (SourceNotRunnableError, PySparkException, StreamingQueryException) as error:
            return QueryReport(source.name, error=str(error).strip().split("\n")[0])
        return summarize(source.name, [json.loads(one.json) for one in query.recentProgress])

    def _start(self, source: Source, incarnation: Incarnation) -> StreamingQuery:
        plan = incarnation.plan
        if source.connector != "delta":
            message = f"{source.name} writes to {source.connector}, and --once writes Delta tables: CONNECTOR = 'delta' and PATH"
            raise SourceNotRunnableError(message)
        session = self.spark.newSession()
        for name, value in (*plan.settings, *RESTRICTED.items()):
            session.conf.set(name, value)
        opener = SourceOpener(session, self.registry, self.root)
        for read in plan.reads:
            there = self.registry.ask(DescribeSource(read.source)).answer.source
            if there.kind != STREAM and read.mode == "changes":
                message = f"{source.name} reads the changes of the table {there.name}, which --once does not: a stream in its place"
                raise SourceNotRunnableError(message)
            frame = self._open(opener, there, streaming=there.kind == STREAM)
            frame.createOrReplaceTempView(print_name(read.spelling or there.name))
        result = session.sql(plan.body)
        place = str(incarnation.began)  # not by generation: a source that comes back goes on where it was
        key = (
            tuple(one.name for one in source.columns if one.role == "key")
            if plan.output_mode == "update" or source.kind != STREAM
            else ()
        )
        sink = DeltaSink(opener.folder(source), f"treaty-{place}", result.schema, key)
        folder = self.checkpoints / place
        return (
            (propagate_order(result) if key else result)
            .writeStream.queryName(f"{source.name} {place}")
            .option("checkpointLocation", str(folder))
            .outputMode(plan.output_mode)
            .trigger(availableNow=True)
            .foreachBatch(sink.write)
            .start()
        )

    def _open(self, opener: SourceOpener, source: Source, *, streaming: bool) -> DataFrame:
        """The frame of a source with its watermark and its DEDUPLICATE."""
        frame = opener.open(source, streaming=streaming, columns=self._expand(source))
        properties = dict(source.properties)
        if streaming and (watermark := properties.get("WATERMARK", "")):
            frame = frame.withWatermark(*split_watermark(watermark))
        names = [one.strip().strip("`") for one in properties.get("DEDUPLICATE", "").split(",") if one.strip()]
        return frame.dropDuplicatesWithinWatermark(names) if streaming and names else frame

    def _expand(self, source: Source) -> tuple[SourceColumn, ...]:
        """The columns of a source with the types of users written out."""
        kinds = [parse_column_type(one.type) for one in source.columns]
        types = run_exchange(self.registry, read_user_types(kinds)).expanded
        return tuple(
            replace(one, type=print_column_type(expand_type(kind, types.get)))
            for one, kind in zip(source.columns, kinds, strict=True)
        )


def list_queries(registry: Registry) -> list[Source]:
    """Return all sources of a registry that have a query."""
    found: list[Source] = []
    after = ""
    while True:
        page = registry.ask(ListSources(queries=True, after=after, limit=SOURCES_PAGE)).answer
        found += page.sources
        if not page.last:
            return found
        after = page.last


def order_queries(queries: list[Source]) -> Iterator[Source]:
    """List queries so that each comes after those whose results it reads; there are no cycles."""
    waiting = {one.name.lower(): one for one in queries}
    while waiting:
        ready = [
            name
            for name, one in waiting.items()
            if one.query is None or not any(read.source.lower() in waiting for read in one.query.plan.reads)
        ]
        for name in ready or [*waiting]:
            yield waiting.pop(name)


def summarize(name: str, progress: list[Mapping[str, Any]]) -> QueryReport:
    """Return the report of a query from the progress of its batches."""
    rows = sum(int(one.get("numInputRows", 0)) for one in progress)
    observed = [dict(value) for one in progress for value in dict(one.get("observedMetrics") or {}).values()]
    bad = sum(int(one.get("bad") or 0) for one in observed)
    batches = sum(1 for one in progress if int(one.get("numInputRows", 0)))
    return QueryReport(name, rows, bad, batches)
