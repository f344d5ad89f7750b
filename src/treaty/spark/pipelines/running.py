"""A pipeline runs: each batch of a stream goes into a table of good rows and a table of bad ones, both exactly once."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from treaty.core.limits import REGISTRY_TRIES
from treaty.core.refusals import Unavailable
from treaty.core.registry import Registry
from treaty.spark.decode import ids_of
from treaty.spark.frames import frame_id
from treaty.spark.lake import lakes
from treaty.spark.lake.table import Batch, Table
from treaty.spark.pipelines.ledger import FIRST, LATE, Ledger, query_id
from treaty.spark.pipelines.rows import ERROR, RECORD, bad_rows, decoded_rows, good_rows
from treaty.spark.pipelines.value import Pipeline, Step, TooManyBadRowsError, Watch
from treaty.spark.plan.making import extend, make_plan
from treaty.spark.plan.value import DecodePlan

T = TypeVar("T")


def start(
    pipeline: Pipeline, source: DataFrame, registry: Registry, *, watch: Watch = lambda _: None, available: bool = False
) -> StreamingQuery:
    """Start the stream, or go on from its checkpoint. With `available` it ends when all there is has been read.

    `watch` is called after each step of a batch, in the stream's own thread.
    """
    run = _Run(pipeline, registry, watch)
    writer = source.writeStream.foreachBatch(run.batch).option("checkpointLocation", pipeline.checkpoint)
    if available:
        writer = writer.trigger(availableNow=True)
    return writer.queryName(f"treaty {pipeline.subject}").start()


@dataclass(slots=True)
class _Run:
    pipeline: Pipeline
    registry: Registry
    watch: Watch
    ledger: Ledger | None = None
    began: float = 0.0
    fresh: bool = True

    def batch(self, frame: DataFrame, number: int) -> None:
        """Decode one batch and write it; every step may be done again after a crash without a change."""
        self.began = time.monotonic()
        ledger = self._ledger(frame.sparkSession)
        # Only the first batch after a start can have been written, in part, by an earlier run.
        again, self.fresh = self.fresh, False
        plan = ledger.first(number)
        if plan is None:
            plan = self._patiently(self._made)
            ledger.store(number, FIRST, plan)
        self._tell(number, "planned", {}, plan)
        counts = self._good(frame, number, plan, again=again)
        late = ledger.late(number)
        if late is None and counts.get("unknown"):
            late = self._extended(frame, number, plan)
        if late is not None:
            self._late(frame, number, plan, late)
        self._bad(frame, number, plan, late)
        if late is not None:
            counts["bad"] -= self._known_now(frame, plan, late)
        self._judge(number, counts)

    def _ledger(self, spark: SparkSession) -> Ledger:
        if self.ledger is None:
            table = Table(f"{self.pipeline.checkpoint}/treaty-plans", "parquet")
            self.ledger = Ledger(spark, table, query_id(spark, self.pipeline.checkpoint))
            self.ledger.load()
        return self.ledger

    def _made(self) -> DecodePlan:
        mine = self.pipeline
        return make_plan(self.registry, mine.subject, reader=mine.reader, message=mine.message)

    def _patiently(self, ask: Callable[[], T]) -> T:
        """Ask again while the registry can't be reached; at the last try the batch fails, and no row is bad for it."""
        for turn in range(REGISTRY_TRIES - 1):
            try:
                return ask()
            except Unavailable as away:
                time.sleep(min(away.retry_after * 2**turn, 30.0))
        return ask()

    def _good(self, frame: DataFrame, number: int, plan: DecodePlan, *, again: bool) -> dict[str, int]:
        """Write the good rows; returns counts, `unknown` of them rows with ids that the plan does not know."""
        ledger = self._ledger(frame.sparkSession)
        code = F.col(ERROR)["code"]
        counts = {
            "rows": F.count(F.lit(1)),
            "good": F.count_if(F.col(RECORD).isNotNull()),
            "bad": F.count_if(code.isNotNull()),
            "deletes": F.count_if(F.col(self.pipeline.column).isNull()),
            "unknown": F.count_if(code == "UNKNOWN_ID"),
        }
        decoded, mine = decoded_rows(self.pipeline, frame, plan), self.pipeline
        seen = Observation()
        watched = decoded.observe(seen, *(made.alias(name) for name, made in counts.items()))
        lakes.append(
            good_rows(self.pipeline, watched, plan),
            self.pipeline.good_table,
            Batch(f"{ledger.writer}/good", number),
            mine.evolution,
        )
        if again:
            # Delta may have skipped the append, and then nothing was observed.
            row = decoded.agg(*(made.alias(name) for name, made in counts.items())).first()
            assert row is not None, "an aggregate has one row"
            found = row.asDict()
        else:
            found = seen.get
        self._tell(number, "good", found, plan)
        return found

    def _extended(self, frame: DataFrame, number: int, plan: DecodePlan) -> DecodePlan | None:
        """The plan with the ids that this batch brought, stored; None if the registry knows none of them."""
        ids = ids_of(frame, self.pipeline.column, besides=plan.known)
        longer = self._patiently(lambda: extend(plan, self.registry, ids))
        if longer.known == plan.known:
            return None
        self._ledger(frame.sparkSession).store(number, LATE, longer)
        self._tell(number, "extended", {"ids": len(longer.known - plan.known)}, longer)
        return longer

    def _late(self, frame: DataFrame, number: int, plan: DecodePlan, late: DecodePlan) -> None:
        """Write the good ones among the rows whose ids the first plan did not know."""
        ledger = self._ledger(frame.sparkSession)
        rows = good_rows(self.pipeline, decoded_rows(self.pipeline, self._of(frame, plan, late), late), late)
        lakes.append(rows, self.pipeline.good_table, Batch(f"{ledger.writer}/late", number), self.pipeline.evolution)
        self._tell(number, "late", {}, late)

    def _known_now(self, frame: DataFrame, plan: DecodePlan, late: DecodePlan) -> int:
        """How many rows were bad for the first plan and are good for the later one."""
        decoded = decoded_rows(self.pipeline, self._of(frame, plan, late), late)
        return decoded.filter(F.col(RECORD).isNotNull()).count()

    def _of(self, frame: DataFrame, plan: DecodePlan, late: DecodePlan, *, others: bool = False) -> DataFrame:
        """The rows whose id only the later plan knows, or all the others."""
        mine = frame_id(F.col(self.pipeline.column)).isin(sorted(late.known - plan.known))
        return frame.filter(~F.coalesce(mine, F.lit(False)) if others else mine)

    def _bad(self, frame: DataFrame, number: int, plan: DecodePlan, late: DecodePlan | None) -> None:
        """Write the bad rows, each with the reason that its own plan gives."""
        ledger = self._ledger(frame.sparkSession)
        decoded = decoded_rows(self.pipeline, frame if late is None else self._of(frame, plan, late, others=True), plan)
        rows = bad_rows(self.pipeline, decoded, number)
        if late is not None:
            more = decoded_rows(self.pipeline, self._of(frame, plan, late), late)
            rows = rows.unionByName(bad_rows(self.pipeline, more, number))
        lakes.append(rows, self.pipeline.bad_table, Batch(f"{ledger.writer}/bad", number))
        self._tell(number, "bad", {}, late or plan)

    def _judge(self, number: int, counts: dict[str, int]) -> None:
        """End the stream where too many rows are bad; `counts` are those of the first plan."""
        mine, bad, rows = self.pipeline, counts.get("bad", 0), counts.get("rows", 0)
        if (mine.most_bad is not None and bad > mine.most_bad) or bad > rows * mine.worst_share:
            allowed = (
                f"{mine.worst_share:.2%}" if mine.most_bad is None else f"{mine.most_bad} or {mine.worst_share:.2%}"
            )
            raise TooManyBadRowsError(
                f"batch {number} of {mine.subject}: {bad} of {rows} rows are bad, allowed are {allowed}; see {mine.bad}"
            )

    def _tell(self, number: int, name: str, counts: dict[str, int], plan: DecodePlan) -> None:
        self.watch(Step(number, name, tuple(sorted(counts.items())), time.monotonic() - self.began, plan))
