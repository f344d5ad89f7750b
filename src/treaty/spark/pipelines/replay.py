"""Replays: bad rows are decoded again after a fix, and those that pass are written to the good table exactly once.

Bad rows stay in their table. A second table has the result of each: replayed, or its new error. An interrupted replay
is completed by the next one, with the same rows and plan.
"""

from dataclasses import dataclass, replace

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from treaty.core.registry import Registry
from treaty.plan.addresses import open_registry
from treaty.plan.value import DecodePlan
from treaty.spark.lake import tables
from treaty.spark.lake.table import LakeTable, WriteId
from treaty.spark.pipelines.plan_store import PLANS, PlanStore, query_id
from treaty.spark.pipelines.planner import RoutePlanner
from treaty.spark.pipelines.route import TopicRoute, make_route
from treaty.spark.pipelines.rows import BAD_ID, BATCH, ERROR, decode_rows, write_good_rows
from treaty.spark.pipelines.value import Pipeline

RESULTS = "-replays"
"""What is put behind the place of a table of bad rows for the table of what became of them."""
REPLAYS = "treaty-replays"
"""The table in the checkpoint with the plans of replays."""
PAYLOAD = "payload"
REPLAY, PASSED = "replay", "passed"


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


def remaining_bad_rows(spark: SparkSession, bad: LakeTable) -> DataFrame:
    """The bad rows that no replay took over, each with the last reason that is known."""
    rows = tables.read(spark, bad)
    if tables.schema(spark, result_table(bad)) is None:
        return rows
    newest = Window.partitionBy(BAD_ID).orderBy(F.desc(REPLAY))
    marks = tables.read(spark, result_table(bad)).withColumn("_turn", F.row_number().over(newest)).filter("_turn = 1")
    results = marks.select(BAD_ID, PASSED, F.col("code").alias("_code"), F.col("message").alias("_message"))
    joined = rows.join(results, BAD_ID, "left").filter(~F.coalesce(PASSED, F.lit(False)))
    reasons = {"code": F.coalesce("_code", "code"), "message": F.coalesce("_message", "message")}
    return joined.withColumns(reasons).select(*rows.columns)


def replay(pipeline: Pipeline, registry: Registry | str, spark: SparkSession) -> ReplayReport:
    """Decode the bad rows of a pipeline again with what the registry knows now; a running stream is not disturbed.

    Raises `NeverRanError`, what `make_plan` raises, and `EvolutionError` where the table can't take the rows.
    """
    with open_registry(registry) as known:
        return _replay_with(pipeline, known, spark)


def _replay_with(pipeline: Pipeline, registry: Registry, spark: SparkSession) -> ReplayReport:
    query = query_id(spark, pipeline.checkpoint)
    plan_store = PlanStore(spark, LakeTable(f"{pipeline.checkpoint}/{REPLAYS}", "parquet"), f"{query}/replay")
    plan_store.load()
    before = PlanStore(spark, LakeTable(f"{pipeline.checkpoint}/{PLANS}", "parquet"), query)
    before.load()
    if not pipeline.by_topic:
        return _RouteReplay(TopicRoute(pipeline), registry, spark, plan_store, before).run()
    ways = [make_route(pipeline, one) for one in sorted({topic for topic, _, _ in before.plans})]
    made = tuple(_RouteReplay(one, registry, spark, plan_store, before).run() for one in ways)
    reasons: dict[str, int] = {}
    for code, rows in (pair for one in made for pair in one.reasons):
        reasons[code] = reasons.get(code, 0) + rows
    number = max((one.number for one in made), default=0)
    rows, passed = sum(one.rows for one in made), sum(one.passed for one in made)
    return ReplayReport(number, rows, passed, tuple(sorted(reasons.items())), topics=made)


@dataclass(frozen=True, slots=True)
class _RouteReplay:
    """A replay of one route; `before` has the plans of its stream."""

    route: TopicRoute
    registry: Registry
    spark: SparkSession
    plan_store: PlanStore
    before: PlanStore

    def run(self) -> ReplayReport:
        """Decode, write the good rows, then the marks; either may be done again."""
        mine, topic = self.route.pipeline, self.route.topic
        number, bound, plan = self._intent()
        writer = self.route.writer(self.plan_store.writer)
        rows = self.route.select_rows(remaining_bad_rows(self.spark, mine.bad_table)).filter(F.col(BATCH) <= bound)
        decoded = decode_rows(self._reading((BAD_ID, *mine.keep)), rows, plan)
        write_good_rows(mine, decoded, plan, WriteId(f"{writer}/good", number), PAYLOAD)
        results = decoded.select(
            BAD_ID,
            F.lit(number).alias(REPLAY),
            F.col(ERROR).isNull().alias(PASSED),
            F.col(ERROR)["code"].alias("code"),
            F.col(ERROR)["message"].alias("message"),
            F.current_timestamp().alias("at"),
            F.lit(topic).alias("topic"),
        )
        tables.append(results, result_table(mine.bad_table), WriteId(f"{writer}/marks", number))
        marks = tables.read(self.spark, result_table(mine.bad_table)).filter(F.col(REPLAY) == number)
        counted = marks.groupBy(F.coalesce("code", F.lit("")).alias("code")).count().collect()
        counts = {row["code"]: row["count"] for row in counted}
        reasons = tuple(sorted((code, rows) for code, rows in counts.items() if code))
        return ReplayReport(number, sum(counts.values()), counts.get("", 0), reasons, topic)

    def _reading(self, keep: tuple[str, ...]) -> Pipeline:
        """The pipeline as it reads bad rows: their payload is the frame, and their name is kept."""
        return replace(self.route.pipeline, column=PAYLOAD, keep=keep)

    def _intent(self) -> tuple[int, int, DecodePlan]:
        """Number, last batch and plan of this replay: those of one that was cut short, else new ones, stored first."""
        bad, topic = self.route.pipeline.bad_table, self.route.topic
        last, mine = self._done()
        begun = max((key[1:] for key in self.plan_store.plans if key[0] == topic), default=(0, 0))
        if begun[0] > mine:
            return *begun, self.plan_store.plans[topic, *begun]
        found = tables.read(self.spark, bad).agg(F.max(BATCH).alias("last")).first()
        bound = found["last"] if found and found["last"] is not None else -1
        planner = RoutePlanner(self.route, self.registry)
        plan = planner.make_fitting(self.spark, self.before.first(bound + 1, topic))
        number = max(last, *(key[1] for key in self.plan_store.plans), 0) + 1 if self.plan_store.plans else last + 1
        self.plan_store.store(number, bound, plan, topic)
        return number, bound, plan

    def _done(self) -> tuple[int, int]:
        """The last replay that is finished: of all topics, and of this one."""
        bad = self.route.pipeline.bad_table
        if tables.schema(self.spark, result_table(bad)) is None:
            return 0, 0
        marks = tables.read(self.spark, result_table(bad))
        topics = F.coalesce("topic", F.lit("")) if "topic" in marks.columns else F.lit("")
        mine = F.max(F.when(topics == self.route.topic, F.col(REPLAY)))
        found = marks.agg(F.max(REPLAY).alias("last"), mine.alias("mine")).first()
        return (found["last"] or 0, found["mine"] or 0) if found else (0, 0)
