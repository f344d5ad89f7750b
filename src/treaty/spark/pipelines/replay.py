"""Bad rows that come back: after a fix they are decoded again, and those that pass move into the table exactly once.

Bad rows stay where they are. A table beside theirs says what became of each: that a replay took it over, or why it is
still bad. A replay that was cut short is finished by the next one, on the same rows and with the same plan.
"""

from dataclasses import dataclass, replace

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from treaty.core.registry import Registry
from treaty.spark.lake import lakes
from treaty.spark.lake.table import Batch, Table
from treaty.spark.pipelines.ledger import Ledger, query_id
from treaty.spark.pipelines.rows import BAD_ID, BATCH, ERROR, RECORD, decoded_rows, good_rows
from treaty.spark.pipelines.value import Pipeline
from treaty.spark.plan.making import make_plan
from treaty.spark.plan.value import DecodePlan

MARKS = "-replays"
"""What is put behind the place of a table of bad rows for the table of what became of them."""
PAYLOAD = "payload"
REPLAY, PASSED = "replay", "passed"


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a replay did: its number, the rows it looked at, and how many of them are good now."""

    number: int
    rows: int
    passed: int


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


def replay(pipeline: Pipeline, registry: Registry, spark: SparkSession) -> Replayed:
    """Decode the bad rows of a pipeline again with what the registry knows now; a running stream is not disturbed.

    Raises what `make_plan` raises, and `EvolutionError` where the table can't take the rows.
    """
    bad, good = pipeline.bad_table, pipeline.good_table
    writer = f"{query_id(spark, pipeline.checkpoint)}/replay"
    ledger = Ledger(spark, Table(f"{pipeline.checkpoint}/treaty-replays", "parquet"), writer)
    ledger.load()
    number, bound, plan = _intent(pipeline, registry, spark, ledger)
    rows = still_bad(spark, bad).filter(F.col(BATCH) <= bound)
    decoded = decoded_rows(_again(pipeline), rows, plan)
    passed = good_rows(_again(pipeline, keep=pipeline.keep), decoded, plan)
    lakes.append(passed, good, Batch(f"{writer}/good", number), pipeline.evolution)
    told = decoded.select(
        BAD_ID,
        F.lit(number).alias(REPLAY),
        F.col(RECORD).isNotNull().alias(PASSED),
        F.col(ERROR)["code"].alias("code"),
        F.col(ERROR)["message"].alias("message"),
        F.current_timestamp().alias("at"),
    )
    lakes.append(told, marks_of(bad), Batch(f"{writer}/marks", number))
    mine = lakes.read(spark, marks_of(bad)).filter(F.col(REPLAY) == number)
    counted = mine.agg(F.count(F.lit(1)).alias("rows"), F.count_if(PASSED).alias("passed")).first()
    assert counted is not None, "an aggregate has one row"
    return Replayed(number, counted["rows"], counted["passed"])


def _again(pipeline: Pipeline, keep: tuple[str, ...] | None = None) -> Pipeline:
    """The pipeline as it reads bad rows: their payload is the frame, and their name is kept."""
    return replace(pipeline, column=PAYLOAD, keep=(BAD_ID, *pipeline.keep) if keep is None else keep)


def _intent(pipeline: Pipeline, registry: Registry, spark: SparkSession, ledger: Ledger) -> tuple[int, int, DecodePlan]:
    """Number, last batch and plan of this replay: those of one that was cut short, else new ones, stored first."""
    bad = pipeline.bad_table
    done = 0
    if lakes.schema(spark, marks_of(bad)) is not None:
        found = lakes.read(spark, marks_of(bad)).agg(F.max(REPLAY).alias("last")).first()
        done = found["last"] or 0 if found else 0
    begun = max(ledger.plans, default=(0, 0))
    if begun[0] > done:
        return begun[0], begun[1], ledger.plans[begun]
    last = lakes.read(spark, bad).agg(F.max(BATCH).alias("last")).first()
    bound = last["last"] if last and last["last"] is not None else -1
    plan = make_plan(registry, pipeline.subject, reader=pipeline.reader, message=pipeline.message)
    number = max(done, begun[0]) + 1
    ledger.store(number, bound, plan)
    return number, bound, plan
