"""A pipeline runs: each batch of a stream goes into tables of good rows and of bad ones, each row exactly once."""

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from threading import Event

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from treaty.core.registry import Registry
from treaty.plan.addresses import open_registry
from treaty.spark.frames import require_frames
from treaty.spark.lake.table import Table
from treaty.spark.pipelines.batch import Way
from treaty.spark.pipelines.counting.counts import Counts
from treaty.spark.pipelines.counting.journal import Journal, Report
from treaty.spark.pipelines.ledger import PLANS, Ledger, query_id
from treaty.spark.pipelines.planning import Planning
from treaty.spark.pipelines.restarts import PipelineQuery
from treaty.spark.pipelines.route import Route, route_of, routes
from treaty.spark.pipelines.rows import refuse_kept
from treaty.spark.pipelines.source import stream
from treaty.spark.pipelines.trigger import Trigger, triggered
from treaty.spark.pipelines.value import Pipeline, PipelineError, Watch
from treaty.spark.session import NotOnConnectError, on_connect

Told = Callable[[Report], None]
"""Told after every batch, in the stream's own thread."""
ELSEWHERE = (
    "a pipeline does not run on Spark Connect: its batches would run in the server's Python, which has neither this registry nor "
    "`watch`; start it in a program that spark-submit runs, or write a stream of your own with decode, or with foreachBatch and a plan made before it"
)
ENDED = "the stream ends before its next batch, as it was asked to"


class EndedError(Exception):
    """The stream was asked to end: the batch that would have begun has done nothing, and is the next run's first."""


def run(
    pipeline: Pipeline,
    registry: Registry | str,
    spark: SparkSession,
    *,
    watch: Watch = lambda _: None,
    told: Told = lambda _: None,
    ending: Event | None = None,
) -> PipelineQuery:
    """Open the pipeline's source and start the stream, or go on from its checkpoint.

    After the one fault that Spark's Kafka source has at the end of a batch that runs again, the query starts itself anew.
    `registry` may be the address of a server. `told` gets the report of every batch. Once `ending` is set, the running batch ends and no
    other begins. Raises `PipelineError` without a source, `SourceError` for one that can't be opened, and `PlanError` for one without frames.
    """
    if pipeline.source is None:
        raise PipelineError("this pipeline has no source; give one, or a frame to start()")
    source = pipeline.source
    return _started(pipeline, stream(spark, source), pipeline.trigger, registry, _Hooks(watch, told, ending or Event()))


def start(
    pipeline: Pipeline,
    source: DataFrame,
    registry: Registry | str,
    *,
    watch: Watch = lambda _: None,
    told: Told = lambda _: None,
    available: bool = False,
    ending: Event | None = None,
) -> PipelineQuery:
    """Start a stream from any frame, or go on from its checkpoint. With `available` it ends when all there is has been read.

    `watch` is called after each step of a batch, in the stream's own thread; see `run`. Raises `NotOnConnectError` on a Connect session.
    """
    trigger = Trigger("available") if available else pipeline.trigger
    return _started(pipeline, source, trigger, registry, _Hooks(watch, told, ending or Event()))


@dataclass(frozen=True, slots=True)
class _Hooks:
    """What is called while a stream runs, and what asks it to end."""

    watch: Watch
    told: Told
    ending: Event


def _started(
    pipeline: Pipeline, frame: DataFrame, trigger: Trigger, registry: Registry | str, hooks: _Hooks
) -> PipelineQuery:
    """The stream; each start has a run of its own, since only its first batch can have been written in part before."""
    if on_connect(frame.sparkSession):
        raise NotOnConnectError(ELSEWHERE)
    refuse_kept(pipeline)
    require_frames(frame, pipeline.frames)
    resources = ExitStack()
    known = resources.enter_context(open_registry(registry))
    # A session has no two queries of one name, and may run several pipelines of one subject.
    name = f"treaty {pipeline.subject or 'topics'} into {pipeline.good_table.place} by {pipeline.checkpoint}"

    def begin() -> StreamingQuery:
        writer = frame.writeStream.foreachBatch(_Run(pipeline, known, hooks).batch)
        placed = writer.option("checkpointLocation", pipeline.checkpoint)
        return triggered(placed, trigger).queryName(name).start()

    try:
        return PipelineQuery(begin, resources.close)
    except BaseException:
        resources.close()
        raise


@dataclass(slots=True)
class _Run:
    pipeline: Pipeline
    registry: Registry
    hooks: _Hooks
    ledger: Ledger | None = None
    journal: Journal | None = None
    ways: dict[str, Way] = field(default_factory=dict)

    def batch(self, frame: DataFrame, number: int) -> None:
        """Write one batch, the rows of every route; keep what it was; end the stream where too much of it was bad."""
        if self.hooks.ending.is_set():
            raise EndedError(ENDED)
        began = time.monotonic()
        journal = self._opened(frame.sparkSession)
        several = self.pipeline.by_topic and self._several
        if several:
            frame = frame.persist()
        try:
            counts: dict[str, Counts] = {}
            for route in self._routes(frame):
                counts[route.topic] = self._way(route).batch(route.of(frame), number)
        finally:
            if several:
                frame.unpersist()
        report = journal.keep(number, time.time(), time.monotonic() - began, counts)
        self.hooks.told(report)
        for topic, some in counts.items():
            self.ways[topic].judge(number, some)

    def _opened(self, spark: SparkSession) -> Journal:
        if self.ledger is None or self.journal is None:
            table = Table(f"{self.pipeline.checkpoint}/{PLANS}", "parquet")
            self.ledger = Ledger(spark, table, query_id(spark, self.pipeline.checkpoint))
            self.ledger.load()
            self.journal = Journal(spark, self.pipeline.checkpoint)
            self.journal.load()
        return self.journal

    @property
    def _several(self) -> bool:
        known = routes(self.pipeline)
        return known is None or len(known) > 1

    def _routes(self, frame: DataFrame) -> tuple[Route, ...]:
        """The routes that rows of this batch take."""
        known = routes(self.pipeline)
        if known is not None and len(known) == 1:
            return known
        there = sorted(row["topic"] for row in frame.select("topic").distinct().collect())
        return tuple(route_of(self.pipeline, one) for one in there)

    def _way(self, route: Route) -> Way:
        if route.topic not in self.ways:
            assert self.ledger is not None, "opened before"
            planning = Planning(route.pipeline, self.registry)
            self.ways[route.topic] = Way(route, self.ledger, planning, self.hooks.watch)
        return self.ways[route.topic]
