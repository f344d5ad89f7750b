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
from treaty.spark.lake.table import LakeTable
from treaty.spark.pipelines.batch import RouteRunner, check_limits
from treaty.spark.pipelines.batch_history import BatchHistory, BatchReport
from treaty.spark.pipelines.counts import Counts
from treaty.spark.pipelines.plan_store import PLANS, PlanStore, query_id
from treaty.spark.pipelines.planner import make_planner
from treaty.spark.pipelines.restarts import PipelineQuery
from treaty.spark.pipelines.route import TopicRoute, list_routes, make_route
from treaty.spark.pipelines.rows import refuse_kept
from treaty.spark.pipelines.run_lock import lock_checkpoint
from treaty.spark.pipelines.source import open_stream
from treaty.spark.pipelines.source_check import require_source_columns
from treaty.spark.pipelines.trigger import StreamTrigger, set_trigger
from treaty.spark.pipelines.value import OnEvent, Pipeline, PipelineError
from treaty.spark.session import NotOnConnectError, is_on_connect

OnReport = Callable[[BatchReport], None]
"""Called after every batch, in the stream's own thread."""
ELSEWHERE = (
    "a pipeline does not run on Spark Connect: its batches would run in the server's Python, which has neither this registry nor "
    "`on_event`; start it in a program that spark-submit runs, or write a stream of your own with decode, or with foreachBatch and a plan made before it"
)
ENDED = "the stream ends before its next batch, as it was asked to"


class StopRequestedError(Exception):
    """The stream was asked to end: the batch that would have begun has done nothing, and is the next run's first."""


def run(
    pipeline: Pipeline,
    registry: Registry | str,
    spark: SparkSession,
    *,
    on_event: OnEvent = lambda _: None,
    on_report: OnReport = lambda _: None,
    ending: Event | None = None,
) -> PipelineQuery:
    """Open the pipeline's source and start the stream, or continue from its checkpoint.

    After the one fault that Spark's Kafka source has at the end of a batch that runs again, the query restarts itself.
    `registry` may be the address of a server. `on_report` gets the report of every batch. Once `ending` is set, the
    running batch ends and no other begins. Raises `PipelineError` without a source, `SourceError` for one that can't be
    opened, `PlanError` for one without frames, and `CheckpointInUseError` where another process runs with its checkpoint.
    """
    if pipeline.source is None:
        raise PipelineError("this pipeline has no source; give one, or a frame to start()")
    source = pipeline.source
    return _start_query(
        pipeline, open_stream(spark, source), pipeline.trigger, registry, _Hooks(on_event, on_report, ending or Event())
    )


def start(
    pipeline: Pipeline,
    source: DataFrame,
    registry: Registry | str,
    *,
    on_event: OnEvent = lambda _: None,
    on_report: OnReport = lambda _: None,
    available: bool = False,
    ending: Event | None = None,
) -> PipelineQuery:
    """Start a stream from any frame, or continue from its checkpoint. With `available` it ends when all there is has
    been read.

    `on_event` is called after each step of a batch, in the stream's own thread; see `run`. Raises `NotOnConnectError`
    on a Connect session.
    """
    trigger = StreamTrigger("available") if available else pipeline.trigger
    return _start_query(pipeline, source, trigger, registry, _Hooks(on_event, on_report, ending or Event()))


@dataclass(frozen=True, slots=True)
class _Hooks:
    """What is called while a stream runs, and what asks it to end."""

    on_event: OnEvent
    on_report: OnReport
    ending: Event


def _start_query(
    pipeline: Pipeline, frame: DataFrame, trigger: StreamTrigger, registry: Registry | str, hooks: _Hooks
) -> PipelineQuery:
    """The stream; each start has a run of its own, since only its first batch can have been written in part before."""
    if is_on_connect(frame.sparkSession):
        raise NotOnConnectError(ELSEWHERE)
    refuse_kept(pipeline)
    require_source_columns(pipeline, frame)
    resources = ExitStack()
    resources.enter_context(lock_checkpoint(pipeline.checkpoint))
    # A session has no two queries of one name, and may run several pipelines of one subject.
    name = f"treaty {pipeline.subject or 'topics'} into {pipeline.good_table.place} by {pipeline.checkpoint}"

    def begin() -> StreamingQuery:
        writer = frame.writeStream.foreachBatch(_StreamRun(pipeline, client, hooks).batch)
        placed = writer.option("checkpointLocation", pipeline.checkpoint)
        return set_trigger(placed, trigger).queryName(name).start()

    try:
        client = resources.enter_context(open_registry(registry))
        return PipelineQuery(begin, resources.close)
    except BaseException:
        resources.close()
        raise


@dataclass(slots=True)
class _StreamRun:
    pipeline: Pipeline
    registry: Registry
    hooks: _Hooks
    plan_store: PlanStore | None = None
    history: BatchHistory | None = None
    runners: dict[str, RouteRunner] = field(default_factory=dict)

    def batch(self, frame: DataFrame, number: int) -> None:
        """Write one batch, the rows of every route; keep what it was; end the stream where too much of it was bad."""
        if self.hooks.ending.is_set():
            raise StopRequestedError(ENDED)
        began = time.monotonic()
        history = self._open(frame.sparkSession)
        several = self.pipeline.by_topic and self._has_several
        if several:
            frame = frame.persist()
        try:
            counts: dict[str, Counts] = {}
            for route in self._routes(frame):
                counts[route.topic] = self._runner_of(route, frame.sparkSession).run_batch(
                    route.select_rows(frame), number
                )
        finally:
            if several:
                frame.unpersist()
        report = history.keep(number, time.time(), time.monotonic() - began, counts)
        self.hooks.on_report(report)
        for topic, some in counts.items():
            check_limits(self.runners[topic].route.pipeline, number, some)

    def _open(self, spark: SparkSession) -> BatchHistory:
        if self.plan_store is None or self.history is None:
            table = LakeTable(f"{self.pipeline.checkpoint}/{PLANS}", "parquet")
            self.plan_store = PlanStore(spark, table, query_id(spark, self.pipeline.checkpoint))
            self.plan_store.load()
            self.history = BatchHistory(spark, self.pipeline.checkpoint)
            self.history.load()
        return self.history

    @property
    def _has_several(self) -> bool:
        routes = list_routes(self.pipeline)
        return routes is None or len(routes) > 1

    def _routes(self, frame: DataFrame) -> tuple[TopicRoute, ...]:
        """The routes that rows of this batch take."""
        routes = list_routes(self.pipeline)
        if routes is not None and len(routes) == 1:
            return routes
        topics = sorted(row["topic"] for row in frame.select("topic").distinct().collect())
        return tuple(make_route(self.pipeline, one) for one in topics)

    def _runner_of(self, route: TopicRoute, spark: SparkSession) -> RouteRunner:
        if route.topic not in self.runners:
            assert self.plan_store is not None, "opened before"
            planner = make_planner(route, self.registry, spark)
            self.runners[route.topic] = RouteRunner(route, self.plan_store, planner, self.hooks.on_event)
        return self.runners[route.topic]
