"""The plans of a stream by batch, in a Parquet table beside its checkpoint, so that a batch that runs again decodes alike."""

from dataclasses import dataclass, field

from pyspark.sql import SparkSession

from treaty.spark.lake import lakes
from treaty.spark.lake.table import Batch, Table
from treaty.spark.plan.value import DecodePlan

FIRST, LATE = 1, 2
"""A batch's first plan, and the one that was extended by the ids it brought."""


@dataclass(slots=True)
class Ledger:
    """Plans of one stream. A plan holds from the batch it is stored under until the next one that is stored."""

    spark: SparkSession
    table: Table
    writer: str
    plans: dict[tuple[int, int], DecodePlan] = field(default_factory=dict)

    def load(self) -> None:
        """Read what was stored before; a stream that never ran has nothing."""
        stored = lakes.schema(self.spark, self.table) is not None
        rows = lakes.read(self.spark, self.table).collect() if stored else []
        self.plans = {(row["batch"], row["part"]): DecodePlan.from_json(row["plan"]) for row in rows}

    def first(self, batch: int) -> DecodePlan | None:
        """The plan with which this batch begins: its own, else the last one of an earlier batch."""
        keys = [key for key in self.plans if key <= (batch, FIRST)]
        return self.plans[max(keys)] if keys else None

    def late(self, batch: int) -> DecodePlan | None:
        """The plan that this batch was extended to, if it was."""
        return self.plans.get((batch, LATE))

    def store(self, batch: int, part: int, plan: DecodePlan) -> None:
        """Keep a plan under a batch: in the table first, then here."""
        row = self.spark.createDataFrame([(batch, part, plan.to_json())], "batch BIGINT, part INT, plan STRING")
        lakes.append(row.coalesce(1), self.table, Batch(f"{self.writer}/plans/{part}", batch))
        self.plans[batch, part] = plan


def query_id(spark: SparkSession, checkpoint: str) -> str:
    """The id that Spark gave the query of a checkpoint; a checkpoint that is made anew at its place has another."""
    stored = spark.read.json(f"{checkpoint}/metadata").first()
    assert stored is not None, "Spark writes the query's id before its first batch"
    found: str = stored["id"]
    return found
