"""Bad rows that come back: after a fix they are decoded again, and those that pass move into the table exactly once.

Bad rows stay where they are. A table beside theirs says what became of each: that a replay took it over, or why it is
still bad. A replay that was cut short is finished by the next one, on the same rows and with the same plan.
"""

from dataclasses import dataclass, replace

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from treaty.core.registry import Registry
from treaty.plan.addresses import open_registry
from treaty.plan.value import DecodePlan
from treaty.spark.lake import lakes
from treaty.spark.lake.table import Batch, Table
from treaty.spark.pipelines.ledger import PLANS, Ledger, query_id
from treaty.spark.pipelines.planning import Planning
from treaty.spark.pipelines.route import Route, route_of
from treaty.spark.pipelines.rows import BAD_ID, BATCH, ERROR, decoded_rows, place
from treaty.spark.pipelines.value import Pipeline

MARKS = "-replays"
"""What is put behind the place of a table of bad rows for the table of what became of them."""
REPLAYS = "treaty-replays"
"""The table in the checkpoint with the plans of replays."""
PAYLOAD = "payload"
REPLAY, PASSED = "replay", "passed"


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a replay did: its number, the rows it looked at, how many of them are good now, and why the others are not (code, rows).

    Where a pipeline has several topics, `topics` are the replays of each, and the rest their sums.
    """

    number: int
    rows: int
    passed: int
    reasons: tuple[tuple[str, int], ...] = ()
    topic: str = ""
    topics: tuple["Replayed", ...] = ()


def marks_of(bad: Table) -> Table:
    """The table of what became of bad rows."""
    return Table(f"{bad.folder}{MARKS}" if bad.is_path else f"{bad.place}_replays", bad.format)


def still_bad(spark: SparkSession, bad: Table) -> DataFrame:
    """The bad rows that no replay took over, each with the last reason that is known."""
    rows = lakes.read(spark, bad)
    if lakes.schema(spark, marks_of(bad)) is None:
        return rows
    newest = Window.partitionBy(BAD_ID).orderBy(F.desc(REPLAY))
    marks = lakes.read(spark, marks_of(bad)).withColumn("_turn", F.row_number().over(newest)).filter("_turn = 1")
    told = marks.select(BAD_ID, PASSED, F.col("code").alias("_code"), F.col("message").alias("_message"))
    joined = rows.join(told, BAD_ID, "left").filter(~F.coalesce(PASSED, F.lit(False)))
    reasons = {"code": F.coalesce("_code", "code"), "message": F.coalesce("_message", "message")}
    return joined.withColumns(reasons).select(*rows.columns)


def replay(pipeline: Pipeline, registry: Registry | str, spark: SparkSession) -> Replayed:
    """Decode the bad rows of a pipeline again with what the registry knows now; a running stream is not disturbed.

    Raises `NeverRanError`, what `make_plan` raises, and `EvolutionError` where the table can't take the rows.
    """
    with open_registry(registry) as known:
        return _replay_with(pipeline, known, spark)


def _replay_with(pipeline: Pipeline, registry: Registry, spark: SparkSession) -> Replayed:
    query = query_id(spark, pipeline.checkpoint)
    ledger = Ledger(spark, Table(f"{pipeline.checkpoint}/{REPLAYS}", "parquet"), f"{query}/replay")
    ledger.load()
    before = Ledger(spark, Table(f"{pipeline.checkpoint}/{PLANS}", "parquet"), query)
    before.load()
    if not pipeline.by_topic:
        return _Turn(Route(pipeline), registry, spark, ledger, before).replayed()
    ways = [route_of(pipeline, one) for one in sorted({topic for topic, _, _ in before.plans})]
    made = tuple(_Turn(one, registry, spark, ledger, before).replayed() for one in ways)
    reasons: dict[str, int] = {}
    for code, rows in (pair for one in made for pair in one.reasons):
        reasons[code] = reasons.get(code, 0) + rows
    number = max((one.number for one in made), default=0)
    rows, passed = sum(one.rows for one in made), sum(one.passed for one in made)
    return Replayed(number, rows, passed, tuple(sorted(reasons.items())), topics=made)


@dataclass(frozen=True, slots=True)
class _Turn:
    """A replay of one route; `before` has the plans of its stream."""

    route: Route
    registry: Registry
    spark: SparkSession
    ledger: Ledger
    before: Ledger

    def replayed(self) -> Replayed:
        """Decode, write the good rows, then the marks; either may be done again."""
        mine, topic = self.route.pipeline, self.route.topic
        number, bound, plan = self._intent()
        writer = self.route.writer(self.ledger.writer)
        rows = self.route.of(still_bad(self.spark, mine.bad_table)).filter(F.col(BATCH) <= bound)
        decoded = decoded_rows(self._reading((BAD_ID, *mine.keep)), rows, plan)
        place(mine, decoded, plan, Batch(f"{writer}/good", number), PAYLOAD)
        told = decoded.select(
            BAD_ID,
            F.lit(number).alias(REPLAY),
            F.col(ERROR).isNull().alias(PASSED),
            F.col(ERROR)["code"].alias("code"),
            F.col(ERROR)["message"].alias("message"),
            F.current_timestamp().alias("at"),
            F.lit(topic).alias("topic"),
        )
        lakes.append(told, marks_of(mine.bad_table), Batch(f"{writer}/marks", number))
        marks = lakes.read(self.spark, marks_of(mine.bad_table)).filter(F.col(REPLAY) == number)
        counted = marks.groupBy(F.coalesce("code", F.lit("")).alias("code")).count().collect()
        counts = {row["code"]: row["count"] for row in counted}
        reasons = tuple(sorted((code, rows) for code, rows in counts.items() if code))
        return Replayed(number, sum(counts.values()), counts.get("", 0), reasons, topic)

    def _reading(self, keep: tuple[str, ...]) -> Pipeline:
        """The pipeline as it reads bad rows: their payload is the frame, and their name is kept."""
        return replace(self.route.pipeline, column=PAYLOAD, keep=keep)

    def _intent(self) -> tuple[int, int, DecodePlan]:
        """Number, last batch and plan of this replay: those of one that was cut short, else new ones, stored first."""
        bad, topic = self.route.pipeline.bad_table, self.route.topic
        last, mine = self._done()
        begun = max((key[1:] for key in self.ledger.plans if key[0] == topic), default=(0, 0))
        if begun[0] > mine:
            return *begun, self.ledger.plans[topic, *begun]
        found = lakes.read(self.spark, bad).agg(F.max(BATCH).alias("last")).first()
        bound = found["last"] if found and found["last"] is not None else -1
        planning = Planning(self.route.pipeline, self.registry)
        plan = planning.fitting(self.spark, self.before.first(bound + 1, topic))
        number = max(last, *(key[1] for key in self.ledger.plans), 0) + 1 if self.ledger.plans else last + 1
        self.ledger.store(number, bound, plan, topic)
        return number, bound, plan

    def _done(self) -> tuple[int, int]:
        """The last replay that is finished: of all topics, and of this one."""
        bad = self.route.pipeline.bad_table
        if lakes.schema(self.spark, marks_of(bad)) is None:
            return 0, 0
        marks = lakes.read(self.spark, marks_of(bad))
        topics = F.coalesce("topic", F.lit("")) if "topic" in marks.columns else F.lit("")
        mine = F.max(F.when(topics == self.route.topic, F.col(REPLAY)))
        found = marks.agg(F.max(REPLAY).alias("last"), mine.alias("mine")).first()
        return (found["last"] or 0, found["mine"] or 0) if found else (0, 0)
