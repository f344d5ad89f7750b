"""`Pipeline`: a stream of frames into a table of good rows and a table of bad ones, both exactly once."""

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
from treaty.spark import lake
from treaty.spark.decode import Names, decode, ids_of
from treaty.spark.frames import frame_id
from treaty.spark.ledger import FIRST, LATE, Ledger
from treaty.spark.plan.making import extend, make_plan
from treaty.spark.plan.value import DecodePlan

RECORD, ERROR = "_record", "_error"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Where rows come from and go to.

    `column` holds the frames and `keep` names further columns of the source that both tables get. The tables and the
    checkpoint are paths; the plans lie under the checkpoint. `with_id` and `with_version` name columns of the good
    table for the schema id and version of a row, empty for none. Delete markers (null values) are counted in the steps;
    a table that is only appended to has no place for them.
    """

    subject: str
    good: str
    bad: str
    checkpoint: str
    reader: str | int = "union"
    column: str = "value"
    keep: tuple[str, ...] = ()
    with_id: str = ""
    with_version: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """What a batch has just done: ``planned``, ``good``, ``extended``, ``late``, ``bad``; counts where they are known."""

    batch: int
    name: str
    counts: tuple[tuple[str, int], ...] = ()
    seconds: float = 0.0
    plan: DecodePlan | None = None


Watch = Callable[[Step], None]


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
        unknown = self._good(frame, number, plan, again=again)
        late = ledger.late(number)
        if late is None and unknown:
            late = self._extended(frame, number, plan)
        if late is not None:
            self._late(frame, number, plan, late)
        self._bad(frame, number, plan, late)

    def _ledger(self, spark: SparkSession) -> Ledger:
        if self.ledger is None:
            stored = spark.read.json(f"{self.pipeline.checkpoint}/metadata").first()
            assert stored is not None, "Spark writes the query's id before its first batch"
            self.ledger = Ledger(spark, f"{self.pipeline.checkpoint}/treaty-plans", stored["id"])
            self.ledger.load()
        return self.ledger

    def _made(self) -> DecodePlan:
        return make_plan(self.registry, self.pipeline.subject, reader=self.pipeline.reader)

    def _patiently(self, ask: Callable[[], T]) -> T:
        """Ask again while the registry can't be reached; at the last try the batch fails, and no row is bad for it."""
        for turn in range(REGISTRY_TRIES - 1):
            try:
                return ask()
            except Unavailable as away:
                time.sleep(min(away.retry_after * 2**turn, 30.0))
        return ask()

    def _decoded(self, frame: DataFrame, plan: DecodePlan) -> DataFrame:
        mine = self.pipeline
        kept = frame.select(mine.column, *mine.keep)
        names = Names(RECORD, ERROR, schema_id=mine.with_id, version=mine.with_version)
        return decode(kept, plan, column=mine.column, names=names)

    def _rows(self, decoded: DataFrame, plan: DecodePlan) -> DataFrame:
        """The good rows as the table has them."""
        mine = self.pipeline
        extra = [*mine.keep, *(name for name in (mine.with_id, mine.with_version) if name)]
        fields = [F.col(RECORD)[name].alias(name) for name, _ in plan.columns] or [F.col(RECORD).alias("value")]
        return decoded.filter(F.col(RECORD).isNotNull()).select(*extra, *fields)

    def _good(self, frame: DataFrame, number: int, plan: DecodePlan, *, again: bool) -> bool:
        """Write the good rows; tells whether some rows have ids that the plan does not know."""
        ledger = self._ledger(frame.sparkSession)
        code = F.col(ERROR)["code"]
        counts = {
            "rows": F.count(F.lit(1)),
            "good": F.count_if(F.col(RECORD).isNotNull()),
            "bad": F.count_if(code.isNotNull()),
            "deletes": F.count_if(F.col(self.pipeline.column).isNull()),
            "unknown": F.count_if(code == "UNKNOWN_ID"),
        }
        decoded = self._decoded(frame, plan)
        seen = Observation()
        watched = decoded.observe(seen, *(made.alias(name) for name, made in counts.items()))
        lake.append(self._rows(watched, plan), self.pipeline.good, lake.Batch(f"{ledger.writer}/good", number))
        if again:
            # Delta may have skipped the append, and then nothing was observed.
            row = decoded.agg(*(made.alias(name) for name, made in counts.items())).first()
            assert row is not None, "an aggregate has one row"
            found = row.asDict()
        else:
            found = seen.get
        self._tell(number, "good", found, plan)
        return bool(found.get("unknown"))

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
        rows = self._rows(self._decoded(self._of(frame, plan, late), late), late)
        lake.append(rows, self.pipeline.good, lake.Batch(f"{ledger.writer}/late", number))
        self._tell(number, "late", {}, late)

    def _of(self, frame: DataFrame, plan: DecodePlan, late: DecodePlan, *, others: bool = False) -> DataFrame:
        """The rows whose id only the later plan knows, or all the others."""
        mine = frame_id(F.col(self.pipeline.column)).isin(sorted(late.known - plan.known))
        return frame.filter(~F.coalesce(mine, F.lit(False)) if others else mine)

    def _bad(self, frame: DataFrame, number: int, plan: DecodePlan, late: DecodePlan | None) -> None:
        """Write the bad rows, each with the reason that its own plan gives."""
        ledger = self._ledger(frame.sparkSession)
        decoded = self._decoded(frame if late is None else self._of(frame, plan, late, others=True), plan)
        keep = [*self.pipeline.keep, ERROR]
        rows = decoded.filter(F.col(ERROR).isNotNull()).select(*keep)
        if late is not None:
            more = self._decoded(self._of(frame, plan, late), late)
            rows = rows.unionByName(more.filter(F.col(ERROR).isNotNull()).select(*keep))
        flat = rows.select(*self.pipeline.keep, f"{ERROR}.*")
        lake.append(flat, self.pipeline.bad, lake.Batch(f"{ledger.writer}/bad", number))
        self._tell(number, "bad", {}, late or plan)

    def _tell(self, number: int, name: str, counts: dict[str, int], plan: DecodePlan) -> None:
        self.watch(Step(number, name, tuple(sorted(counts.items())), time.monotonic() - self.began, plan))
