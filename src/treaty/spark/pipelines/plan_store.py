"""The plans of a stream by batch, in a Parquet table beside its checkpoint, so that a batch that runs again decodes
alike.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from treaty.plan.value import DecodePlan
from treaty.spark.lake import tables
from treaty.spark.lake.table import LakeTable, WriteId

FIRST, LATE = 1, 2
"""A batch's first plan, and the one that was extended by the ids it brought."""
PLANS = "treaty-plans"
"""The table's folder in the checkpoint."""
SETTLED = 4
"""Batches of which it is kept that nothing was to be decided."""
COLUMNS = "batch BIGINT, part INT, plan STRING, topic STRING"


PlanKey = tuple[str, int, int]
"""A topic ("" where a pipeline has one subject), a batch, and which of its plans: `FIRST` or `LATE`."""


@dataclass(frozen=True, slots=True)
class StoredPlans:
    """What the table of plans holds: the plans, and the batches that continued without another one."""

    plans: dict[PlanKey, DecodePlan] = field(default_factory=dict)
    settled: set[tuple[str, int]] = field(default_factory=set)


def parse_plans(rows: Iterable[Mapping[str, Any]]) -> StoredPlans:
    """Read the rows of the table of plans. Raises ValueError for a plan of a format that this version does not know."""
    stored = StoredPlans()
    for row in rows:
        key = (row.get("topic") or "", row["batch"], row["part"])
        if not row["plan"]:
            stored.settled.add(key[:2])
            continue
        stored.plans[key] = DecodePlan.from_json(row["plan"])
    return stored


@dataclass(slots=True)
class PlanStore:
    """Plans of one stream, by topic where it has several. A plan holds from the batch it is stored under until the next
    one.
    """

    spark: SparkSession
    table: LakeTable
    writer: str
    plans: dict[tuple[str, int, int], DecodePlan] = field(default_factory=dict)
    settled: set[tuple[str, int]] = field(default_factory=set)
    """Topics and batches whose strange ids the registry did not know."""

    def load(self) -> None:
        """Read what was stored before; a stream that never ran has nothing."""
        if tables.schema(self.spark, self.table) is None:
            return
        stored = parse_plans(row.asDict() for row in tables.read(self.spark, self.table).collect())
        self.plans.update(stored.plans)
        self.settled |= stored.settled

    def find_first(self, batch: int, topic: str = "") -> DecodePlan | None:
        """The plan with which this batch begins: its own, else the last one of an earlier batch."""
        key = max((key for key in self.plans if key[0] == topic and key <= (topic, batch, FIRST)), default=None)
        return None if key is None else self.plans[key]

    def is_bound(self, batch: int, topic: str = "", *, may_be_written: bool) -> bool:
        """Whether this batch has to begin with the plan of `find_first`: it is its own, or the batch may have been written with it in part, by a
        run before.
        """
        return may_be_written or self.find_own(batch, FIRST, topic) is not None

    def find_own(self, batch: int, part: int, topic: str = "") -> DecodePlan | None:
        """The plan that is stored under this batch itself, if one is."""
        return self.plans.get((topic, batch, part))

    def is_settled(self, batch: int, topic: str = "") -> bool:
        """Whether it was decided that this batch continues without another plan."""
        return (topic, batch) in self.settled

    def store(self, batch: int, part: int, plan: DecodePlan, topic: str = "") -> None:
        """Keep a plan under a batch: in the table first, then here."""
        self._append((batch, part, plan.to_json(), topic), f"plans/{part}", batch)
        self.plans[topic, batch, part] = plan

    def settle(self, batch: int, topic: str = "") -> None:
        """Keep that a batch continues without another plan; only the last `SETTLED` of these are kept, since old
        batches never run again.
        """
        self._append((batch, LATE, "", topic), "settled", batch % SETTLED)
        self.settled.add((topic, batch))

    def _append(self, row: tuple[int, int, str, str], name: str, number: int) -> None:
        frame = self.spark.createDataFrame([row], COLUMNS).coalesce(1)
        writer = f"{self.writer}/{row[3]}" if row[3] else self.writer
        tables.append(frame, self.table, WriteId(f"{writer}/{name}", number))


class NeverRanError(RuntimeError):
    """A pipeline that never ran has no batches, and no rows that could be bad."""


def query_id(spark: SparkSession, checkpoint: str) -> str:
    """The id that Spark gave the query of a checkpoint; a new checkpoint at its place has another. Raises
    `NeverRanError`.
    """
    try:
        stored = spark.read.json(f"{checkpoint}/metadata").first()
    except AnalysisException as missing:
        if missing.getCondition() != "PATH_NOT_FOUND":
            raise
        raise NeverRanError(
            f"no stream has written to the checkpoint {checkpoint}; run the pipeline first"
        ) from missing
    assert stored is not None, "Spark writes the query's id before its first batch"
    query: str = stored["id"]
    return query
