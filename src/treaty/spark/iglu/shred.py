"""Shreds events: the parts of valid events as typed columns, one for each model of a schema, or as tables of their own."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, StructField, StructType

from treaty.arrow.iglu.events import EventOptions
from treaty.arrow.iglu.shred import EventShredder
from treaty.client.iglu.resolver import Resolver
from treaty.plan.ddl import quote_name
from treaty.plan.errors import PlanError
from treaty.plan.iglu.columns import type_ddl
from treaty.plan.iglu.resolution import ResolvedSchemas
from treaty.plan.iglu.shred_plan import ShredPlan, make_shred_plan
from treaty.spark.iglu.validate import FAILURES, ValidatedEvents, failures_field


@dataclass(frozen=True, slots=True)
class ShreddedEvents:
    """Valid events with a column for each model of a schema: an array of its parts, null where an event has none.

    Each of the frames computes everything again; cache `rows` if you need several of them.
    """

    rows: DataFrame
    """The events, the columns of the plan, and `FAILURES`: parts that their schemas allow and their columns can't hold."""
    plan: ShredPlan

    @property
    def good(self) -> DataFrame:
        """Events whose parts all fit, with their columns."""
        return self.rows.filter(F.col(FAILURES).isNull()).drop(FAILURES)

    @property
    def bad(self) -> DataFrame:
        """Events with a part that does not fit its columns, with `FAILURES`, as `ValidatedEvents.bad` has them."""
        return self.rows.filter(F.col(FAILURES).isNotNull()).drop(*(one.name for one in self.plan.columns))

    def table(self, column: str, keep: Iterable[str] = ()) -> DataFrame:
        """The parts in one of the plan's columns as rows of their own, beside the columns to `keep` of their event."""
        kept_columns = [F.col(quote_name(one)) for one in keep]
        parts = self.good.select(*kept_columns, F.explode(quote_name(column)).alias(column))
        return parts.select(*kept_columns, f"{quote_name(column)}.*")


def shred(
    events: ValidatedEvents,
    resolver: Resolver,
    *,
    columns: Iterable[str] | str | None = None,
    plan: ShredPlan | None = None,
) -> ShreddedEvents:
    """Shred the good ones among validated events: the parts in all columns that were validated.

    With `columns`, some of the validated columns, only the parts in these are shredded. Types, nulls and merges of
    versions are those of Snowplow's loaders for Parquet. A version that breaks its model has a column of its own. With
    `plan`, of an earlier call, columns only grow. Raises `PlanError` where the frame has a column of such a name, or a
    column was not validated, and `ResolutionError` where an older version of a model can't be had.
    """
    options = events.options
    if columns is not None:
        options = EventOptions(_require_validated(columns, options.columns), options.envelopes)
    shred_plan = make_shred_plan(resolver, events.schemas, plan, without=options.envelopes)
    return ShreddedEvents(shred_rows(events.good, events.schemas, shred_plan, options), shred_plan)


def _require_validated(columns: Iterable[str] | str, validated: tuple[str, ...]) -> tuple[str, ...]:
    """The columns as a tuple. Raises `PlanError` for a column that was not validated."""
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    unvalidated = [name for name in names if name not in validated]
    if unvalidated:
        raise PlanError(
            f"the column {unvalidated[0]!r} was not validated, only {', '.join(validated)}: "
            "name it in columns= of validate_self_describing"
        )
    return names


def shred_rows(frame: DataFrame, schemas: ResolvedSchemas, plan: ShredPlan, options: EventOptions) -> DataFrame:
    """A frame of good events with the columns of a plan and `FAILURES`, which is null where all parts fit their columns.

    The parts are those in the columns of `options`. Raises `PlanError` where the frame has a column of such a name.
    """
    clashing = sorted({one.name for one in plan.columns} & set(frame.columns))
    if clashing:
        raise PlanError(f"the frame has columns that shredding makes: {', '.join(clashing)}; rename them")
    fields = [StructField(one.name, DataType.fromDDL(f"ARRAY<{type_ddl(one.type)}>")) for one in plan.columns]
    target = StructType([*frame.schema.fields, *fields, failures_field(options)])
    names = target.names

    def shred_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        shredder = EventShredder(schemas, plan, options)
        for batch in batches:
            shredded, failures = shredder.shred([batch.column(one) for one in options.columns])
            yield pa.RecordBatch.from_arrays([*batch.columns, *shredded, failures], names=names)

    return frame.mapInArrow(shred_batches, target)
