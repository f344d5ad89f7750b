"""The plans of a stream by batch, in a Delta table beside its checkpoint, so that a batch that runs again decodes alike."""

from dataclasses import dataclass, field

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from treaty.spark import lake
from treaty.spark.plan.value import DecodePlan

FIRST, LATE = 1, 2
"""A batch's first plan, and the one that was extended by the ids it brought."""


@dataclass(slots=True)
class Ledger:
    """Plans of one stream. A plan holds from the batch it is stored under until the next one that is stored."""

    spark: SparkSession
    path: str
    writer: str
    plans: dict[tuple[int, int], DecodePlan] = field(default_factory=dict)

    def load(self) -> None:
        """Read what was stored before; a stream that never ran has nothing."""
        try:
            rows = lake.read(self.spark, self.path).collect()
        except AnalysisException as missing:
            if missing.getCondition() not in {"DELTA_TABLE_NOT_FOUND", "PATH_NOT_FOUND", "DELTA_PATH_DOES_NOT_EXIST"}:
                raise
            rows = []
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
        lake.append(row.coalesce(1), self.path, lake.Batch(f"{self.writer}/plans", batch * 2 + part))
        self.plans[batch, part] = plan
