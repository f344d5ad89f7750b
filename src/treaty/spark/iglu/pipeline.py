"""Streams of events into tables: good parts in typed columns, bad events with their reasons, each exactly once."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from treaty.arrow.iglu.events import ENVELOPES, EventOptions
from treaty.client.iglu.resolver import Resolver
from treaty.plan.errors import PlanError
from treaty.plan.iglu.resolution import ResolvedSchemas, resolve_schemas
from treaty.plan.iglu.shred_plan import ShredPlan, make_shred_plan
from treaty.spark.iglu.bad_rows import to_snowplow_bad_rows
from treaty.spark.iglu.shred import ShreddedEvents, shred_rows
from treaty.spark.iglu.validate import (
    FAILURES,
    ValidatedEvents,
    find_schemas,
    is_unresolved,
    require_columns,
    validate_rows,
)
from treaty.spark.lake import tables
from treaty.spark.lake.table import LakeTable, WriteId
from treaty.spark.pipelines.plan_store import query_id
from treaty.spark.pipelines.restarts import PipelineQuery
from treaty.spark.pipelines.source import Source, open_stream
from treaty.spark.pipelines.trigger import StreamTrigger, set_trigger
from treaty.spark.pipelines.value import PipelineError
from treaty.spark.session import NotOnConnectError, is_on_connect

MODEL = "{model}"
"""Placeholder in the place of the good table: each model of a schema then has a table of its own."""
BAD_ROWS = ("failures", "snowplow")
"""Shapes of the table of bad events: the events with their failures, or Snowplow's bad rows in a column ``value``."""
SCHEMAS = "treaty-schemas"
"""The folder in the checkpoint where the schemas of each batch are stored."""
STORED = "batch BIGINT, same_as BIGINT, schemas STRING, plan STRING"


@dataclass(frozen=True, slots=True)
class EventPipeline:
    """Where events come from and go to.

    `columns` hold self-describing JSON, `keep` names further columns of the source that all tables get. The good table has
    a column for each model of a schema, or with ``{model}`` in its place each model has a table. A table that is only a
    path is a Delta table. A batch with schemas that a registry can't give waits for `patience` seconds, then it fails
    without having written anything, and comes again with the next start.
    """

    good: str | LakeTable
    bad: str | LakeTable
    checkpoint: str
    columns: tuple[str, ...] = ("value",)
    keep: tuple[str, ...] = ()
    envelopes: tuple[str, ...] = ENVELOPES
    source: Source | None = None
    trigger: StreamTrigger = field(default_factory=StreamTrigger)
    patience: float = 30.0
    bad_rows: str = "failures"

    def __post_init__(self) -> None:
        """Refuse what can't run."""
        if self.bad_rows not in BAD_ROWS:
            raise PipelineError(
                f"bad_rows = {self.bad_rows!r} is no shape of bad rows; there are {', '.join(BAD_ROWS)}"
            )
        twins = set(self.columns) & set(self.keep)
        if twins:
            raise PipelineError(
                f"{', '.join(sorted(twins))} is named by columns and by keep; columns are kept for bad events anyway"
            )

    @property
    def good_table(self) -> LakeTable:
        """Where parts of good events go; its place may have the placeholder ``{model}``."""
        return _table(self.good)

    @property
    def bad_table(self) -> LakeTable:
        """Where bad events go."""
        return _table(self.bad)

    @property
    def options(self) -> EventOptions:
        """How events are validated."""
        return EventOptions(self.columns, self.envelopes)


REASONS = 5
"""Reasons of bad events that a report names."""


@dataclass(frozen=True, slots=True)
class BadEventReason:
    """Why events of a batch are bad: the code, the schema that the part names ("" for a part that names none), and how many."""

    code: str
    schema: str
    events: int


@dataclass(frozen=True, slots=True)
class EventBatchReport:
    """What a batch was: its number, events, good ones, bad ones, and the versions that schemas were validated with."""

    number: int
    events: int
    good: int
    bad: int
    schemas: ResolvedSchemas
    reasons: tuple[BadEventReason, ...] = ()
    """The `REASONS` most frequent reasons of bad events, by the first failure of each."""


OnEventBatch = Callable[[EventBatchReport], None]


class UnresolvedSchemasError(RuntimeError):
    """Schemas of a batch that registries can't give now; the batch has written nothing, and comes again."""

    def __init__(self, number: int, schemas: ResolvedSchemas) -> None:
        listed = "; ".join(f"{one.uri}: {one.error}" for one in schemas.unavailable[:3])
        super().__init__(
            f"batch {number} waits for {len(schemas.unavailable)} schemas that registries can't give now: {listed}"
        )


def run_events(
    pipeline: EventPipeline, resolver: Resolver, spark: SparkSession, *, on_batch: OnEventBatch = lambda _: None
) -> PipelineQuery:
    """Open the pipeline's source and start the stream, or continue from its checkpoint. Raises as `start_events`, and
    `PipelineError` without a source.
    """
    if pipeline.source is None:
        raise PipelineError("this pipeline has no source; give one, or a frame to start_events()")
    return start_events(pipeline, open_stream(spark, pipeline.source), resolver, on_batch=on_batch)


def start_events(
    pipeline: EventPipeline, frame: DataFrame, resolver: Resolver, *, on_batch: OnEventBatch = lambda _: None
) -> PipelineQuery:
    """Start a stream from any frame, or continue from its checkpoint.

    `on_batch` is called after each batch, in the stream's own thread. Raises `PlanError` for columns that hold no texts or
    bytes, and `NotOnConnectError` on a Connect session.
    """
    if is_on_connect(frame.sparkSession):
        raise NotOnConnectError(
            "a pipeline of events does not run on Spark Connect; call validate_self_describing in your own stream"
        )
    require_columns(frame, pipeline.options)
    missing = [one for one in pipeline.keep if one not in frame.columns]
    if missing:
        raise PlanError(f"the source has no column {', '.join(missing)} to keep; there are {', '.join(frame.columns)}")
    name = f"treaty events into {pipeline.good_table.place} by {pipeline.checkpoint}"

    def begin() -> StreamingQuery:
        writer = frame.writeStream.foreachBatch(_EventRun(pipeline, resolver, on_batch).batch).option(
            "checkpointLocation", pipeline.checkpoint
        )
        return set_trigger(writer, pipeline.trigger).queryName(name).start()

    return PipelineQuery(begin, lambda: None)


@dataclass(slots=True)
class SchemaStore:
    """Schemas and plan of each batch, in a Parquet table in the checkpoint, so that a batch that runs again ends alike."""

    spark: SparkSession
    table: LakeTable
    writer: str
    last: tuple[int, ResolvedSchemas, ShredPlan] | None = None
    """The newest schemas that were stored, and their batch."""

    def load(self, number: int) -> bool:
        """Read what was stored up to a batch; returns whether the batch itself was stored."""
        if tables.schema(self.spark, self.table) is None:
            return False
        rows = tables.read(self.spark, self.table).filter(F.col("batch") <= number)
        newest = rows.orderBy(F.col("batch").desc()).first()
        if newest is None:
            return False
        place = newest["same_as"] if newest["same_as"] >= 0 else newest["batch"]
        row = newest if place == newest["batch"] else rows.filter(F.col("batch") == place).first()
        assert row is not None, "a batch says the same as one before it"
        self.last = place, ResolvedSchemas.from_json(row["schemas"]), ShredPlan.from_json(row["plan"])
        return bool(newest["batch"] == number)

    def store(self, number: int, schemas: ResolvedSchemas, plan: ShredPlan) -> None:
        """Keep the schemas and the plan of a batch, before its first write."""
        if self.last is not None and self.last[1:] == (schemas, plan):
            row = (number, self.last[0], "", "")
        else:
            row = (number, -1, schemas.to_json(), plan.to_json())
            self.last = number, schemas, plan
        frame = self.spark.createDataFrame([row], STORED).coalesce(1)
        tables.append(frame, self.table, WriteId(f"{self.writer}/schemas", number))


@dataclass(slots=True)
class _EventRun:
    """A stream while it runs. Only its first batch after a start can have been stored by an earlier run."""

    pipeline: EventPipeline
    resolver: Resolver
    on_batch: OnEventBatch
    opened: SchemaStore | None = None

    def batch(self, frame: DataFrame, number: int) -> None:
        """Validate, shred and write one batch."""
        pipeline = self.pipeline
        schemas, plan = self._resolve(frame, number)
        rows = validate_rows(frame.select(*pipeline.keep, *pipeline.columns), schemas, pipeline.options).persist()
        events = ValidatedEvents(rows, schemas, pipeline.options)
        shredded = ShreddedEvents(shred_rows(events.good, schemas, plan, pipeline.options).persist(), plan)
        try:
            report = self._count(rows, shredded, number, schemas)
            self._write_good(shredded, number)
            if report.bad:
                bad = events.bad.unionByName(shredded.bad)
                self._write_bad(bad, number)
                report = replace(report, reasons=_list_reasons(bad))
        finally:
            shredded.rows.unpersist()
            rows.unpersist()
        self.on_batch(report)

    def _resolve(self, frame: DataFrame, number: int) -> tuple[ResolvedSchemas, ShredPlan]:
        """The schemas of a batch and its plan: as stored under it, else resolved now and stored."""
        store = self.opened
        if store is None:
            spark = frame.sparkSession
            store = SchemaStore(
                spark,
                LakeTable(f"{self.pipeline.checkpoint}/{SCHEMAS}", "parquet"),
                query_id(spark, self.pipeline.checkpoint),
            )
            self.opened = store
            if store.load(number) and store.last is not None:
                return store.last[1:]
        named = find_schemas(frame, self.pipeline.columns)
        schemas = resolve_schemas(self.resolver, named, depth=self.resolver.depth, patience=self.pipeline.patience)
        if schemas.unavailable:
            raise UnresolvedSchemasError(number, schemas)
        last_plan = None if store.last is None else store.last[2]
        plan = make_shred_plan(self.resolver, schemas, last_plan, without=self.pipeline.envelopes)
        store.store(number, schemas, plan)
        return schemas, plan

    def _count(
        self, rows: DataFrame, shredded: ShreddedEvents, number: int, schemas: ResolvedSchemas
    ) -> EventBatchReport:
        invalid, unasked = F.col(FAILURES).isNotNull(), F.coalesce(is_unresolved(), F.lit(False))
        counted = rows.agg(F.count(F.lit(1)), F.count_if(invalid), F.count_if(unasked)).first()
        unfit = shredded.rows.agg(F.count_if(F.col(FAILURES).isNotNull())).first()
        assert counted is not None
        assert unfit is not None
        if counted[2]:
            message = f"batch {number} has {counted[2]} events whose schemas were not found before: its source gives other rows each time"
            raise PipelineError(message)
        bad = counted[1] + unfit[0]
        return EventBatchReport(number, counted[0], counted[0] - bad, bad, schemas)

    def _write_good(self, shredded: ShreddedEvents, number: int) -> None:
        pipeline, target = self.pipeline, self.pipeline.good_table
        if MODEL not in target.place:
            rows = shredded.good.drop(*pipeline.columns)
            # Until an event has a part, and without columns to keep, there is nothing that a table could hold.
            if rows.columns:
                tables.append(rows, target, WriteId(f"{self._writer}/good", number))
            return
        for column in shredded.plan.columns:
            table = LakeTable(target.place.replace(MODEL, column.name), target.format, target.partitions)
            tables.append(
                shredded.table(column.name, pipeline.keep), table, WriteId(f"{self._writer}/{column.name}", number)
            )

    def _write_bad(self, bad: DataFrame, number: int) -> None:
        pipeline = self.pipeline
        rows = to_snowplow_bad_rows(bad) if pipeline.bad_rows == "snowplow" else bad
        tables.append(rows, pipeline.bad_table, WriteId(f"{self._writer}/bad", number))

    @property
    def _writer(self) -> str:
        assert self.opened is not None, "opened with the first batch"
        return self.opened.writer


def _list_reasons(bad: DataFrame) -> tuple[BadEventReason, ...]:
    """The most frequent reasons of bad events."""
    first = F.element_at(F.col(FAILURES), 1)
    counts = bad.groupBy(first["code"].alias("code"), F.coalesce(first["schema"], F.lit("")).alias("schema")).count()
    rows = counts.orderBy(F.desc("count"), "code", "schema").limit(REASONS).collect()
    return tuple(BadEventReason(row["code"], row["schema"], row["count"]) for row in rows)


def _table(place: str | LakeTable) -> LakeTable:
    if isinstance(place, LakeTable):
        return place
    return LakeTable(place if "/" in place else f"./{place}")
