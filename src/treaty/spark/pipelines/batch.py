"""One batch of one route: good rows and bad rows into their tables, each step as it was before where the batch runs again."""

import time
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from treaty.plan.frame_format import PREFIX
from treaty.plan.value import DecodePlan
from treaty.spark.decode import ids_of
from treaty.spark.frames import frame_id
from treaty.spark.lake import lakes
from treaty.spark.lake.table import Batch
from treaty.spark.pipelines.counting.counts import STRANGE, Counts, added, counted, counting, tally
from treaty.spark.pipelines.ledger import FIRST, LATE, Ledger
from treaty.spark.pipelines.planning import Planning
from treaty.spark.pipelines.route import Route
from treaty.spark.pipelines.rows import ERROR, bad_rows, decoded_rows, good_rows, place, read_columns
from treaty.spark.pipelines.shaping import shape
from treaty.spark.pipelines.value import Step, TooManyBadRowsError, Watch


@dataclass(slots=True)
class Way:
    """A route while its stream runs. Only its first batch after a start can have been written, in part, by an earlier run."""

    route: Route
    ledger: Ledger
    planning: Planning
    watch: Watch
    began: float = 0.0
    again: bool = True
    shaped: DecodePlan | None = None
    has_bad: bool = field(default=False)

    def batch(self, frame: DataFrame, number: int) -> Counts:
        """Decode the rows and write them; returns what they were. Every step may be done again after a crash without a change."""
        self.began = time.monotonic()
        plan = self._plan(frame.sparkSession, number)
        self._tell(number, "planned", {}, plan)
        counts = self._write(frame, number, plan, "good")
        late = self.ledger.own(number, LATE, self.route.topic)
        if late is None and tally(counts).unknown and not self.ledger.is_settled(number, self.route.topic):
            late = self._extended(frame, number, plan)
        if late is not None:
            more = self._write(self._of(frame, plan, late), number, late, "late")
            counts = added(counts, more, {(STRANGE, "UNKNOWN_ID"): -tally(more).rows})
        self._bad(frame, number, plan, late, bad=tally(counts).bad)
        self.again = False
        self._tell(number, "done", dict(tally(counts).pairs()), late or plan)
        return counts

    def _plan(self, spark: SparkSession, number: int) -> DecodePlan:
        """The plan of a batch, stored under it before its first write where it is another one than that of the batch before."""
        topic = self.route.topic
        plan = self.ledger.first(number, topic)
        if plan is None:
            made = self.planning.first(spark)
        elif self.again or self.ledger.own(number, FIRST, topic):
            return plan
        else:
            made = self.planning.fresh(spark, plan)
        anew = made is not plan and self.ledger.is_outdated(number, topic)
        if made != plan or anew:
            self.ledger.store(number, FIRST, made, topic)
        return made

    def _write(self, frame: DataFrame, number: int, plan: DecodePlan, name: str) -> Counts:
        """Write the good rows among these; returns the counts of all of them, taken from the write itself."""
        mine = self.route.pipeline
        decoded, seen = decoded_rows(mine, frame, plan), Observation()
        watched = decoded.observe(seen, *counting())
        if mine.keyed is None:
            self._shape(good_rows(mine, watched, plan), plan)
        place(mine, watched, plan, Batch(f"{self._writer}/{name}", number))
        if self.again:
            # The append may have been skipped, since the table has the batch; then nothing was observed.
            row = decoded.agg(*counting()).first()
            assert row is not None, "an aggregate has one row"
            counts = counted(row.asDict())
        else:
            counts = counted(seen.get)
        self._tell(number, name, dict(tally(counts).pairs()), plan)
        return counts

    def _shape(self, rows: DataFrame, plan: DecodePlan) -> None:
        """Let the table grow ahead of the rows of a plan that it has not seen, so that its columns have comments."""
        if plan.docs and plan != self.shaped:
            mine = self.route.pipeline
            shape(rows, mine.good_table, mine.evolution, plan.docs)
        self.shaped = plan

    def _extended(self, frame: DataFrame, number: int, plan: DecodePlan) -> DecodePlan | None:
        """The plan with the ids that this batch brought, stored; None where the registry knows none of them, which is stored too.

        Else a batch that runs again could find rows good after it has written them as bad.
        """
        mine, topic = self.route.pipeline, self.route.topic
        in_frame = plan.framing == PREFIX
        ids = ids_of(frame, mine.frames, besides=plan.known) if in_frame else frozenset[int]()
        if in_frame and not ids:
            return None
        longer = self.planning.extended(frame.sparkSession, plan, ids)
        if longer.known == plan.known:
            self.ledger.settle(number, topic)
            return None
        self.ledger.store(number, LATE, longer, topic)
        self._tell(number, "extended", {"ids": len(longer.known - plan.known)}, longer)
        return longer

    def _of(self, frame: DataFrame, plan: DecodePlan, late: DecodePlan, *, others: bool = False) -> DataFrame:
        """The rows that only the later plan may know, or all the others."""
        if plan.framing == PREFIX:
            mine = F.coalesce(
                frame_id(F.col(self.route.pipeline.frames)).isin(sorted(late.known - plan.known)), F.lit(False)
            )
            return frame.filter(~mine if others else mine)
        # Such heads are looked up by the plan itself: what it does not find is the later one's.
        unknown = F.coalesce(F.col(ERROR)["code"] == "UNKNOWN_ID", F.lit(False))
        decoded = decoded_rows(self.route.pipeline, frame, plan)
        return decoded.filter(~unknown if others else unknown).select(*read_columns(self.route.pipeline))

    def _bad(self, frame: DataFrame, number: int, plan: DecodePlan, late: DecodePlan | None, *, bad: int) -> None:
        """Write the bad rows, each with the reason that its own plan gives; nothing where there is none and the table is there."""
        mine = self.route.pipeline
        if bad or not self.has_bad:
            decoded = decoded_rows(mine, frame if late is None else self._of(frame, plan, late, others=True), plan)
            rows = bad_rows(mine, decoded, number)
            if late is not None:
                more = decoded_rows(mine, self._of(frame, plan, late), late)
                rows = rows.unionByName(bad_rows(mine, more, number))
            lakes.append(rows, mine.bad_table, Batch(f"{self._writer}/bad", number))
            self.has_bad = True
        self._tell(number, "bad", {}, late or plan)

    def judge(self, number: int, counts: Counts) -> None:
        """End the stream where too many rows are bad."""
        mine, seen = self.route.pipeline, tally(counts)
        if (mine.most_bad is not None and seen.bad > mine.most_bad) or seen.bad > seen.rows * mine.worst_share:
            share = f"{mine.worst_share:.2%}"
            allowed = share if mine.most_bad is None else f"{mine.most_bad} or {share}"
            told = f"{seen.bad} of {seen.rows} rows are bad, allowed are {allowed}; see {mine.bad}"
            raise TooManyBadRowsError(f"batch {number} of {mine.subject}: {told}")

    @property
    def _writer(self) -> str:
        return self.route.writer(self.ledger.writer)

    def _tell(self, number: int, name: str, counts: dict[str, int], plan: DecodePlan) -> None:
        seconds = time.monotonic() - self.began
        self.watch(Step(number, name, tuple(sorted(counts.items())), seconds, plan, self.route.topic))
