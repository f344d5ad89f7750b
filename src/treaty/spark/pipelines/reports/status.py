"""What became of a pipeline so far: its last batch, all rows by id and error, what is left to read, bad rows that are still bad."""

from dataclasses import dataclass

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from treaty.client.kafka.errors import KafkaClientError
from treaty.client.kafka.library import KafkaMissingError
from treaty.core.kafka import KafkaSettingsError
from treaty.plan.value import DecodePlan
from treaty.spark.lake import lakes
from treaty.spark.lake.table import Table
from treaty.spark.pipelines.counting.journal import Journal, Report
from treaty.spark.pipelines.ledger import PLANS, Ledger, NeverRanError, query_id
from treaty.spark.pipelines.replay import still_bad
from treaty.spark.pipelines.reports.lag import behind, ends_of, read_so_far
from treaty.spark.pipelines.route import Route, route_of
from treaty.spark.pipelines.source import KafkaSource, SourceError
from treaty.spark.pipelines.value import Pipeline


@dataclass(frozen=True, slots=True)
class StillBad:
    """Bad rows of one reason that no replay took over, by the newest reason."""

    topic: str
    code: str
    schema_id: int | None
    rows: int
    message: str


@dataclass(frozen=True, slots=True)
class Status:
    """The state of a pipeline.

    `query` is "" for one that never ran. `lag` is the number of records that were not read, None where nobody can say, with the reason in
    `no_lag`. `plans` are the last ones, by topic.
    """

    query: str
    last: Report | None = None
    lag: int | None = None
    no_lag: str = ""
    bad: tuple[StillBad, ...] = ()
    plans: tuple[tuple[str, int, DecodePlan], ...] = ()


def status(pipeline: Pipeline, spark: SparkSession) -> Status:
    """Read the state from the checkpoint and the tables; a running stream is not disturbed."""
    try:
        query = query_id(spark, pipeline.checkpoint)
    except NeverRanError:
        return Status("")
    journal = Journal(spark, pipeline.checkpoint)
    journal.load()
    ledger = Ledger(spark, Table(f"{pipeline.checkpoint}/{PLANS}", "parquet"), query)
    ledger.load()
    topics = sorted({topic for topic, _, _ in ledger.plans})
    last = {topic: max(key for key in ledger.plans if key[0] == topic) for topic in topics}
    plans = tuple((topic, key[1], ledger.plans[key]) for topic, key in last.items())
    lag, no_lag = _lag(pipeline, spark, journal.last)
    routes = [route_of(pipeline, one) if one else Route(pipeline) for one in topics]
    bad = tuple(one for route in routes for one in _bad(route, spark))
    return Status(query, journal.last, lag, no_lag, bad, plans)


def _lag(pipeline: Pipeline, spark: SparkSession, last: Report | None) -> tuple[int | None, str]:
    source = pipeline.source
    if not isinstance(source, KafkaSource):
        return None, "the source is no topic"
    read = read_so_far(spark, pipeline.checkpoint, last.batch) if last else {}
    if not read:
        return None, "no batch has ended"
    try:
        return behind(read, ends_of(source, read)).lag, ""
    except (KafkaClientError, KafkaMissingError, KafkaSettingsError, SourceError) as away:
        return None, str(away)


def _bad(route: Route, spark: SparkSession) -> list[StillBad]:
    table = route.pipeline.bad_table
    if lakes.schema(spark, table) is None:
        return []
    rows = route.of(still_bad(spark, table)).groupBy("code", "schema_id")
    counted = rows.agg(F.count(F.lit(1)).alias("rows"), F.first("message").alias("message"))
    return [
        StillBad(route.topic, row["code"], row["schema_id"], row["rows"], row["message"])
        for row in counted.orderBy(F.desc("rows"), "code", "schema_id").limit(LISTED).collect()
    ]


LISTED = 100
"""Reasons that are listed for a topic, those with the most rows."""
