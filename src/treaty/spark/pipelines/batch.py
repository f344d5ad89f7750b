"""One batch of one route: good rows and bad rows into their tables, each step as it was before where the batch runs again."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from treaty.plan.heads import MAGICS
from treaty.plan.value import DecodePlan
from treaty.spark.decode import ids_of
from treaty.spark.frames import read_frame_id
from treaty.spark.lake import tables
from treaty.spark.lake.changes import list_changes
from treaty.spark.lake.comments import Docs, add_comments
from treaty.spark.lake.projection import drop_void_columns
from treaty.spark.lake.table import LakeTable, WriteId
from treaty.spark.pipelines.counts import NO_SCHEMA_ID, Counts, add_counts, make_aggregates, read_counts, sum_counts
from treaty.spark.pipelines.plan_store import FIRST, LATE, PlanStore
from treaty.spark.pipelines.planner import RoutePlanner
from treaty.spark.pipelines.route import TopicRoute
from treaty.spark.pipelines.rows import (
    ERROR,
    decode_rows,
    list_source_columns,
    select_bad_rows,
    select_good_rows,
    write_good_rows,
)
from treaty.spark.pipelines.value import BatchEvent, OnEvent, Pipeline, TooManyBadRowsError


@dataclass(slots=True)
class RouteRunner:
    """A route while its stream runs. Only its first batch after a start can have been written, in part, by an earlier run."""

    route: TopicRoute
    plan_store: PlanStore
    planner: RoutePlanner
    on_event: OnEvent
    began: float = 0.0
    may_be_written: bool = True
    shaped: DecodePlan | None = None
    has_bad: bool = field(default=False)

    def run_batch(self, frame: DataFrame, number: int) -> Counts:
        """Decode the rows and write them; returns what they were. Every step may be done again after a crash without a change."""
        self.began = time.monotonic()
        plan = self._plan(number)
        self._report(number, "planned", {}, plan)
        counts = self._write(frame, number, plan, "good")
        late = self.plan_store.find_own(number, LATE, self.route.topic)
        if late is None and sum_counts(counts).unknown and not self.plan_store.is_settled(number, self.route.topic):
            late = self._extend(frame, number, plan)
        if late is not None:
            more = self._write(self._select_by_plan(frame, plan, late), number, late, "late")
            counts = add_counts(counts, more, {(NO_SCHEMA_ID, "UNKNOWN_ID"): -sum_counts(more).rows})
        self._write_bad(frame, number, plan, late, bad=sum_counts(counts).bad)
        self.may_be_written = False
        self._report(number, "done", dict(sum_counts(counts).pairs()), late or plan)
        return counts

    def _plan(self, number: int) -> DecodePlan:
        """The plan of a batch, stored under it before its first write where it is another one than that of the batch before."""
        topic = self.route.topic
        plan = self.plan_store.find_first(number, topic)
        if plan is None:
            first_plan = self.planner.make_first()
        elif self.plan_store.is_bound(number, topic, may_be_written=self.may_be_written):
            return plan
        else:
            first_plan = self.planner.refresh(plan)
        if first_plan != plan:
            self.plan_store.store(number, FIRST, first_plan, topic)
        return first_plan

    def _write(self, frame: DataFrame, number: int, plan: DecodePlan, name: str) -> Counts:
        """Write the good rows among these; returns the counts of all of them, taken from the write itself."""
        pipeline = self.route.pipeline
        decoded, observation = decode_rows(pipeline, frame, plan), Observation()
        observed = decoded.observe(observation, *make_aggregates())
        if pipeline.keyed is None:
            self._shape(select_good_rows(pipeline, observed, plan), plan)
        write_good_rows(pipeline, observed, plan, WriteId(f"{self._writer}/{name}", number))
        if self.may_be_written:
            # The append may have been skipped, since the table has the batch; then nothing was observed.
            row = decoded.agg(*make_aggregates()).first()
            assert row is not None, "an aggregate has one row"
            counts = read_counts(row.asDict())
        else:
            counts = read_counts(observation.get)
        self._report(number, name, dict(sum_counts(counts).pairs()), plan)
        return counts

    def _shape(self, rows: DataFrame, plan: DecodePlan) -> None:
        """Let the table grow ahead of the rows of a plan that it has not seen, so that its columns have comments."""
        if plan.docs and plan != self.shaped:
            pipeline = self.route.pipeline
            evolve_ahead(rows, pipeline.good_table, pipeline.evolution, plan.docs)
        self.shaped = plan

    def _extend(self, frame: DataFrame, number: int, plan: DecodePlan) -> DecodePlan | None:
        """The plan with the ids that this batch brought, stored; None where the registry knows none of them, which is stored too.

        Else a batch that runs again could find rows good after it has written them as bad.
        """
        pipeline, topic = self.route.pipeline, self.route.topic
        framing = plan.framing.name
        in_frame = framing in MAGICS
        ids = ids_of(frame, pipeline.frames, besides=plan.known, framing=framing) if in_frame else frozenset[int]()
        if in_frame and not ids:
            return None
        longer = self.planner.extend(plan, ids)
        if longer.known == plan.known:
            self.plan_store.settle(number, topic)
            return None
        self.plan_store.store(number, LATE, longer, topic)
        self._report(number, "extended", {"ids": len(longer.known - plan.known)}, longer)
        return longer

    def _select_by_plan(self, frame: DataFrame, plan: DecodePlan, late: DecodePlan, *, rest: bool = False) -> DataFrame:
        """The rows that only the later plan may know, or all the others."""
        framing = plan.framing.name
        if framing in MAGICS:
            is_late = F.coalesce(
                read_frame_id(F.col(self.route.pipeline.frames), framing).isin(sorted(late.known - plan.known)),
                F.lit(False),
            )
            return frame.filter(~is_late if rest else is_late)
        # Such heads are looked up by the plan itself: what it does not find is the later one's.
        unknown = F.coalesce(F.col(ERROR)["code"] == "UNKNOWN_ID", F.lit(False))
        decoded = decode_rows(self.route.pipeline, frame, plan)
        return decoded.filter(~unknown if rest else unknown).select(*list_source_columns(self.route.pipeline))

    def _write_bad(self, frame: DataFrame, number: int, plan: DecodePlan, late: DecodePlan | None, *, bad: int) -> None:
        """Write the bad rows, each with the reason that its own plan gives; nothing where there is none and the table is there."""
        pipeline = self.route.pipeline
        if bad or not self.has_bad:
            decoded = decode_rows(
                pipeline, frame if late is None else self._select_by_plan(frame, plan, late, rest=True), plan
            )
            rows = select_bad_rows(pipeline, decoded, number)
            if late is not None:
                more = decode_rows(pipeline, self._select_by_plan(frame, plan, late), late)
                rows = rows.unionByName(select_bad_rows(pipeline, more, number))
            tables.append(rows, pipeline.bad_table, WriteId(f"{self._writer}/bad", number))
            self.has_bad = True
        self._report(number, "bad", {}, late or plan)

    @property
    def _writer(self) -> str:
        return self.route.writer(self.plan_store.writer)

    def _report(self, number: int, name: str, counts: dict[str, int], plan: DecodePlan) -> None:
        seconds = time.monotonic() - self.began
        self.on_event(BatchEvent(number, name, tuple(sorted(counts.items())), seconds, plan, self.route.topic))


def check_limits(pipeline: Pipeline, number: int, counts: Counts) -> None:
    """Raise `TooManyBadRowsError` where more rows are bad than the pipeline allows: of a batch, and of each topic by itself."""
    total = sum_counts(counts)
    exceeds_count = pipeline.most_bad is not None and total.bad > pipeline.most_bad
    if exceeds_count or total.bad > total.rows * pipeline.worst_share:
        allowed = " and ".join(_list_limits(pipeline))
        sentence = (
            f"{total.bad} of {total.rows} rows are bad, allowed are {allowed} at most; see {pipeline.bad_table.place}"
        )
        raise TooManyBadRowsError(f"batch {number} of {pipeline.subject}: {sentence}")


def _list_limits(pipeline: Pipeline) -> Iterator[str]:
    """Yield the limits that a pipeline sets."""
    if pipeline.most_bad is not None:
        yield f"{pipeline.most_bad}"
    if pipeline.worst_share < 1:
        yield f"{pipeline.worst_share:.2%}"


def evolve_ahead(rows: DataFrame, table: LakeTable, evolution: str, docs: Docs) -> None:
    """Bring a table to the columns of rows, if it has to grow for them, before they come. Raises `EvolutionError`."""
    columns, spark = add_comments(rows.schema, docs), rows.sparkSession
    have = tables.schema(spark, table)
    ahead = find_columns_ahead(have, columns)
    if ahead is None:
        return
    if have is None:
        tables.create(spark, table, ahead)
    else:
        tables.fit_table(spark, ahead, table, evolution)


def find_columns_ahead(have: StructType | None, columns: StructType) -> StructType | None:
    """The columns that a table must have before rows of these columns come; None where it can take them as it is."""
    if have is None:
        return drop_void_columns(columns)
    grows = any(change.kind in {"add", "widen"} for change in list_changes(have, columns))
    return columns if grows else None
