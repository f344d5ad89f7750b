"""Replays: bad rows are decoded again after a fix, and those that pass are written to the good table exactly once.

Bad rows stay in their table. A second table has the result of each: replayed, or its new error. An interrupted replay
is completed by the next one, with the same rows and plan.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from treaty.core.registry import Registry
from treaty.plan.addresses import open_registry
from treaty.plan.rows import PASSED, REPLAY, BadRowFilter
from treaty.plan.value import DecodePlan
from treaty.spark.lake import tables
from treaty.spark.lake.local_files import NeedsSparkError, find_local_folder
from treaty.spark.lake.table import LakeTable, WriteId
from treaty.spark.pipelines.plan_store import PLANS, PlanStore, query_id
from treaty.spark.pipelines.planner import make_planner
from treaty.spark.pipelines.replay_lock import lock_replays
from treaty.spark.pipelines.route import TopicRoute, make_route
from treaty.spark.pipelines.rows import BAD_ID, BATCH, ERROR, decode_rows, write_good_rows
from treaty.spark.pipelines.value import Pipeline

RESULTS = "-replays"
"""What is put behind the place of a table of bad rows for the table of what became of them."""
REPLAYS = "treaty-replays"
"""The table in the checkpoint with the plans of replays."""
PAYLOAD = "payload"
EVERY = BadRowFilter()


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """What a replay did: its number, the rows it looked at, how many of them are good now, and why the others are not
    (code, rows).

    Where a pipeline has several topics, `topics` are the replays of each, and the rest their sums.
    """

    number: int
    rows: int
    passed: int
    reasons: tuple[tuple[str, int], ...] = ()
    topic: str = ""
    topics: tuple["ReplayReport", ...] = ()


def result_table(bad: LakeTable) -> LakeTable:
    """The table of what became of bad rows."""
    return LakeTable(f"{bad.folder}{RESULTS}" if bad.is_path else f"{bad.place}_replays", bad.format)


def remaining_bad_rows(spark: SparkSession, bad: LakeTable, row_filter: BadRowFilter = EVERY) -> DataFrame:
    """The bad rows that no replay took over, each with the last reason that is known; `row_filter` means some of them, by their last reason or
    their first. Raises ValueError for one by time, which such a table does not have.
    """
    _refuse_time(row_filter)
    rows = tables.read(spark, bad)
    if row_filter.schema_id is not None:
        rows = rows.filter(F.col("schema_id") == row_filter.schema_id)
    meant = [*row_filter.reasons]
    if tables.schema(spark, result_table(bad)) is None:
        return rows.filter(F.col("code").isin(meant)) if meant else rows
    newest = Window.partitionBy(BAD_ID).orderBy(F.desc(REPLAY))
    marks = tables.read(spark, result_table(bad)).withColumn("_turn", F.row_number().over(newest)).filter("_turn = 1")
    results = marks.select(BAD_ID, PASSED, F.col("code").alias("_code"), F.col("message").alias("_message"))
    joined = rows.join(results, BAD_ID, "left").filter(~F.coalesce(PASSED, F.lit(False)))
    if meant:
        joined = joined.filter(F.coalesce("_code", "code").isin(meant) | F.col("code").isin(meant))
    reasons = {"code": F.coalesce("_code", "code"), "message": F.coalesce("_message", "message")}
    return joined.withColumns(reasons).select(*rows.columns)


def replay(
    pipeline: Pipeline,
    registry: Registry | str,
    spark: SparkSession,
    row_filter: BadRowFilter = EVERY,
    *,
    dry_run: bool = False,
) -> ReplayReport:
    """Decode the bad rows of a pipeline again with what the registry knows now; a running stream is not disturbed.

    A replay that was cut short is completed first, with the rows that it had meant. With `dry_run` nothing is written, and the number is 0.
    Raises `NeverRanError`, what `make_plan` raises, `EvolutionError` where the table can't take the rows, and `ReplayRunsError` where
    another process replays them now, and ValueError for a filter by time.
    """
    _refuse_time(row_filter)
    with open_registry(registry) as client, _lock(pipeline, dry_run=dry_run):
        return _replay_with(pipeline, client, spark, row_filter, dry_run=dry_run)


def _refuse_time(row_filter: BadRowFilter) -> None:
    if row_filter.since is not None:
        raise ValueError(
            "a pipeline's table of bad rows does not say when a row was found: leave out since, and name reasons or a schema id"
        )


@contextmanager
def _lock(pipeline: Pipeline, *, dry_run: bool) -> Iterator[None]:
    """Keep other replays out for the block; on another file system than this machine's nothing does."""
    try:
        folder = find_local_folder(pipeline.checkpoint)
    except NeedsSparkError:
        yield
        return
    if dry_run or not folder.exists():
        yield
        return
    with lock_replays(folder / f"{REPLAYS}-lock", pipeline.bad_table.place):
        yield


def _replay_with(
    pipeline: Pipeline, registry: Registry, spark: SparkSession, row_filter: BadRowFilter, *, dry_run: bool
) -> ReplayReport:
    query = query_id(spark, pipeline.checkpoint)
    plan_store = PlanStore(spark, LakeTable(f"{pipeline.checkpoint}/{REPLAYS}", "parquet"), f"{query}/replay")
    plan_store.load()
    before = PlanStore(spark, LakeTable(f"{pipeline.checkpoint}/{PLANS}", "parquet"), query)
    before.load()
    if not pipeline.by_topic:
        return _RouteReplay(TopicRoute(pipeline), registry, spark, plan_store, before, row_filter).replay(
            dry_run=dry_run
        )
    routes = [make_route(pipeline, topic) for topic in sorted({topic for topic, _, _ in before.plans})]
    replays = (_RouteReplay(route, registry, spark, plan_store, before, row_filter) for route in routes)
    reports = tuple(route_replay.replay(dry_run=dry_run) for route_replay in replays)
    reasons: dict[str, int] = {}
    for code, rows in (pair for report in reports for pair in report.reasons):
        reasons[code] = reasons.get(code, 0) + rows
    number = max((report.number for report in reports), default=0)
    rows, passed = sum(report.rows for report in reports), sum(report.passed for report in reports)
    return ReplayReport(number, rows, passed, tuple(sorted(reasons.items())), topics=reports)


@dataclass(frozen=True, slots=True)
class _RouteReplay:
    """A replay of one route; `before` has the plans of its stream."""

    route: TopicRoute
    registry: Registry
    spark: SparkSession
    plan_store: PlanStore
    before: PlanStore
    row_filter: BadRowFilter = EVERY

    def replay(self, *, dry_run: bool) -> ReplayReport:
        """Complete what was cut short, if that meant other rows, and decode the rows that are meant."""
        if dry_run:
            return self._preview()
        number, bound, plan, row_filter = self._intent()
        report = self._run(number, bound, plan, row_filter)
        if row_filter == self.row_filter:
            return report
        return self._run(*self._intent())

    def _preview(self) -> ReplayReport:
        """What a replay would do."""
        pipeline = self.route.pipeline
        plan = make_planner(self.route, self.registry, self.spark).make_fitting(self._newest_plan())
        rows = self.route.select_rows(remaining_bad_rows(self.spark, pipeline.bad_table, self.row_filter))
        decoded = decode_rows(self._make_bad_row_pipeline((BAD_ID, *pipeline.keep)), rows, plan)
        counted = decoded.groupBy(F.coalesce(F.col(ERROR)["code"], F.lit("")).alias("code")).count().collect()
        return self._report(0, {row["code"]: row["count"] for row in counted})

    def _newest_plan(self) -> DecodePlan | None:
        return self.before.find_first(self._last_batch() + 1, self.route.topic)

    def _last_batch(self) -> int:
        row = tables.read(self.spark, self.route.pipeline.bad_table).agg(F.max(BATCH).alias("last")).first()
        return row["last"] if row and row["last"] is not None else -1

    def _run(self, number: int, bound: int, plan: DecodePlan, row_filter: BadRowFilter) -> ReplayReport:
        """Decode, write the good rows, then the marks; either may be done again."""
        pipeline, topic = self.route.pipeline, self.route.topic
        writer = self.route.writer(self.plan_store.writer)
        open_rows = remaining_bad_rows(self.spark, pipeline.bad_table, row_filter)
        rows = self.route.select_rows(open_rows).filter(F.col(BATCH) <= bound)
        decoded = decode_rows(self._make_bad_row_pipeline((BAD_ID, *pipeline.keep)), rows, plan)
        write_good_rows(pipeline, decoded, plan, WriteId(f"{writer}/good", number), PAYLOAD)
        results = decoded.select(
            BAD_ID,
            F.lit(number).alias(REPLAY),
            F.col(ERROR).isNull().alias(PASSED),
            F.col(ERROR)["code"].alias("code"),
            F.col(ERROR)["message"].alias("message"),
            F.current_timestamp().alias("at"),
            F.lit(topic).alias("topic"),
        )
        tables.append(results, result_table(pipeline.bad_table), WriteId(f"{writer}/marks", number))
        marks = tables.read(self.spark, result_table(pipeline.bad_table)).filter(F.col(REPLAY) == number)
        counted = marks.groupBy(F.coalesce("code", F.lit("")).alias("code")).count().collect()
        return self._report(number, {row["code"]: row["count"] for row in counted})

    def _report(self, number: int, counts: Mapping[str, int]) -> ReplayReport:
        reasons = tuple(sorted((code, rows) for code, rows in counts.items() if code))
        return ReplayReport(number, sum(counts.values()), counts.get("", 0), reasons, self.route.topic)

    def _make_bad_row_pipeline(self, keep: tuple[str, ...]) -> Pipeline:
        """The pipeline as it reads bad rows: their payload is the frame, and their name is kept."""
        return replace(self.route.pipeline, column=PAYLOAD, keep=keep)

    def _intent(self) -> tuple[int, int, DecodePlan, BadRowFilter]:
        """Number, last batch, plan and filter of this replay: those of one that was cut short, else new ones, stored first."""
        topic = self.route.topic
        last, own = self._last_numbers()
        begun = max((key[1:] for key in self.plan_store.plans if key[0] == topic), default=(0, 0))
        if begun[0] > own:
            return *begun, self.plan_store.plans[topic, *begun], self._read_filter(begun[0])
        bound = self._last_batch()
        plan = make_planner(self.route, self.registry, self.spark).make_fitting(self._newest_plan())
        number = max(last, *(key[1] for key in self.plan_store.plans), 0) + 1 if self.plan_store.plans else last + 1
        self._store_filter(number)
        self.plan_store.store(number, bound, plan, topic)
        return number, bound, plan, self.row_filter

    @property
    def _filters(self) -> LakeTable:
        return LakeTable(f"{self.route.pipeline.checkpoint}/{REPLAYS}-filters", "parquet")

    def _store_filter(self, number: int) -> None:
        """Keep which rows a replay means: one that is cut short is completed with the same."""
        row = (number, self.route.topic, [*self.row_filter.reasons], self.row_filter.schema_id)
        kinds = "number INT, topic STRING, reasons ARRAY<STRING>, schema_id INT"
        frame = self.spark.createDataFrame([row], kinds).coalesce(1)
        tables.append(frame, self._filters, WriteId(self.route.writer(f"{self.plan_store.writer}/filters"), number))

    def _read_filter(self, number: int) -> BadRowFilter:
        stored = (
            tables.read(self.spark, self._filters)
            .filter((F.col("number") == number) & (F.col("topic") == self.route.topic))
            .first()
        )
        assert stored is not None, "the filter is stored before the plan"
        return BadRowFilter(tuple(stored["reasons"]), stored["schema_id"])

    def _last_numbers(self) -> tuple[int, int]:
        """The last replay that is finished: of all topics, and of this one."""
        bad = self.route.pipeline.bad_table
        if tables.schema(self.spark, result_table(bad)) is None:
            return 0, 0
        marks = tables.read(self.spark, result_table(bad))
        topics = F.coalesce("topic", F.lit("")) if "topic" in marks.columns else F.lit("")
        own = F.max(F.when(topics == self.route.topic, F.col(REPLAY)))
        row = marks.agg(F.max(REPLAY).alias("last"), own.alias("own")).first()
        return (row["last"] or 0, row["own"] or 0) if row else (0, 0)
