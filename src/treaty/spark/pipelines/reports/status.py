"""What became of a pipeline so far: its last batch, all rows by id and error, what is left to read, bad rows that are
still bad.
"""

from dataclasses import dataclass

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from treaty.client.kafka.library import KafkaClientError, KafkaMissingError
from treaty.core.kafka import KafkaSettingsError
from treaty.plan.value import DecodePlan
from treaty.spark.lake import tables
from treaty.spark.lake.table import LakeTable
from treaty.spark.pipelines.batch_history import BatchHistory, BatchReport
from treaty.spark.pipelines.plan_store import PLANS, NeverRanError, PlanStore, StoredPlans, query_id
from treaty.spark.pipelines.replay import remaining_bad_rows
from treaty.spark.pipelines.reports.lag import Offsets, ask_end_offsets, count_behind, read_last_offsets
from treaty.spark.pipelines.reports.suspect_queries import SuspectQuery, list_plan_queries
from treaty.spark.pipelines.route import TopicRoute, make_route
from treaty.spark.pipelines.source import KafkaSource, SourceError
from treaty.spark.pipelines.value import Pipeline


@dataclass(frozen=True, slots=True)
class RemainingBadRows:
    """Bad rows of one reason that no replay took over, by the newest reason."""

    topic: str
    code: str
    schema_id: int | None
    rows: int
    message: str


@dataclass(frozen=True, slots=True)
class PipelineStatus:
    """The state of a pipeline.

    `query` is "" for one that never ran. `lag` is the number of records that were not read, None if unknown, with the
    reason in `no_lag`. `plans` are the last ones, by topic. `suspect` are queries for rows that a development build may
    have written wrongly.
    """

    query: str
    last: BatchReport | None = None
    lag: int | None = None
    no_lag: str = ""
    bad: tuple[RemainingBadRows, ...] = ()
    plans: tuple[tuple[str, int, DecodePlan], ...] = ()
    suspect: tuple[SuspectQuery, ...] = ()


def status(pipeline: Pipeline, spark: SparkSession) -> PipelineStatus:
    """Read the state from the checkpoint and the tables; a running stream is not disturbed."""
    try:
        query = query_id(spark, pipeline.checkpoint)
    except NeverRanError:
        return PipelineStatus("")
    history = BatchHistory(spark, pipeline.checkpoint)
    history.load()
    plan_store = PlanStore(spark, LakeTable(f"{pipeline.checkpoint}/{PLANS}", "parquet"), query)
    plan_store.load()
    plans = list_newest_plans(plan_store)
    last = history.last
    lag, no_lag = ask_lag(pipeline, read_last_offsets(spark, pipeline.checkpoint, last.batch) if last else {})
    routes = [make_route(pipeline, topic) if topic else TopicRoute(pipeline) for topic, _, _ in plans]
    bad = tuple(rows for route in routes for rows in _list_bad(route, spark))
    return PipelineStatus(query, last, lag, no_lag, bad, plans, list_plan_queries(pipeline, plans))


def list_newest_plans(stored: PlanStore | StoredPlans) -> tuple[tuple[str, int, DecodePlan], ...]:
    """The newest plan of each topic, with the batch since which it holds."""
    topics = sorted({topic for topic, _, _ in stored.plans})
    newest = {topic: max(key for key in stored.plans if key[0] == topic) for topic in topics}
    return tuple((topic, key[1], stored.plans[key]) for topic, key in newest.items())


def ask_lag(pipeline: Pipeline, read: Offsets) -> tuple[int | None, str]:
    """The records of the topics beyond these offsets; None, with the reason, where that is unknown."""
    source = pipeline.source
    if not isinstance(source, KafkaSource):
        return None, "the source is no topic"
    if not read:
        return None, "no batch has ended"
    try:
        return count_behind(read, ask_end_offsets(source, read)).lag, ""
    except (KafkaClientError, KafkaMissingError, KafkaSettingsError, SourceError) as away:
        return None, str(away)


def _list_bad(route: TopicRoute, spark: SparkSession) -> list[RemainingBadRows]:
    table = route.pipeline.bad_table
    if tables.schema(spark, table) is None:
        return []
    rows = route.select_rows(remaining_bad_rows(spark, table)).groupBy("code", "schema_id")
    counted = rows.agg(F.count(F.lit(1)).alias("rows"), F.first("message").alias("message"))
    return [
        RemainingBadRows(route.topic, row["code"], row["schema_id"], row["rows"], row["message"])
        for row in counted.orderBy(F.desc("rows"), "code", "schema_id").limit(LISTED).collect()
    ]


LISTED = 100
"""Reasons that are listed for a topic, those with the most rows."""
