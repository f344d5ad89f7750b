"""Validates events with self-describing JSON: schemas are resolved once, on the driver, and workers ask no registry."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, BinaryType, StringType, StructField, StructType

from treaty.arrow.iglu.events import ENVELOPES, FAILURE, SCHEMA_UNAVAILABLE, EventOptions, share_validator
from treaty.arrow.iglu.names import gather_schemas
from treaty.client.iglu.resolver import Resolver
from treaty.core.limits import IGLU_BATCH_SCHEMAS
from treaty.plan.ddl import quote_name
from treaty.plan.errors import PlanError
from treaty.plan.iglu.resolution import ResolvedSchemas, resolve_schemas

FAILURES = "failures"
"""The column of `ValidatedEvents.rows`: what is wrong with a row, null for a good one."""
VALIDATED_COLUMNS = "treaty.validated_columns"
"""A member of the metadata of the column `FAILURES`: the names of the validated columns."""
FAILURE_TYPE = ArrayType(StructType([StructField(one.name, StringType()) for one in FAILURE]))


@dataclass(frozen=True, slots=True)
class ValidatedEvents:
    """Events with what is wrong with them, and the schemas that they were validated with.

    Each of the frames validates the events when it is computed; cache `rows` if you need more than one of them.
    """

    rows: DataFrame
    """The events and the column `FAILURES`."""
    schemas: ResolvedSchemas
    """Which document each schema came to. The same value gives the same rows again: see `validate_self_describing`."""
    options: EventOptions
    """The columns that were validated, and the envelopes. `shred` and `to_snowplow_bad_rows` take them from here."""

    @property
    def good(self) -> DataFrame:
        """Events without failures, as they came."""
        return self.rows.filter(F.col(FAILURES).isNull()).drop(FAILURES)

    @property
    def bad(self) -> DataFrame:
        """Events that their schemas do not allow, or whose schemas no registry has; with `FAILURES`."""
        return self.rows.filter(F.col(FAILURES).isNotNull() & ~is_unresolved())

    @property
    def unresolved(self) -> DataFrame:
        """Events with a schema that a registry can't give now; with `FAILURES`. They are not bad: validate them again."""
        return self.rows.filter(F.col(FAILURES).isNotNull() & is_unresolved())


def is_unresolved() -> Column:
    """Whether a row with failures has a schema that a registry can't give now."""
    return F.exists(F.col(FAILURES), lambda one: one["code"] == SCHEMA_UNAVAILABLE)


def validate_self_describing(
    frame: DataFrame,
    resolver: Resolver,
    *,
    columns: Iterable[str] | str = "value",
    envelopes: Iterable[str] = ENVELOPES,
    schemas: ResolvedSchemas | None = None,
    patience: float = 0.0,
) -> ValidatedEvents:
    """Validate the self-describing JSON in columns of events: the value itself, and the parts inside envelopes.

    A job finds the schemas that the events name, the resolver resolves each of them once, here on the driver, and the
    rows carry what it came to. Schemas that a registry can't give now are asked again for `patience` seconds. With
    `schemas`, of an earlier call, nothing is asked but what these do not have. Raises `PlanError` for columns that hold no
    texts or bytes, and `TooManySchemasError`.
    """
    options = EventOptions((columns,) if isinstance(columns, str) else tuple(columns), tuple(envelopes))
    require_columns(frame, options)
    named = find_schemas(frame, options.columns)
    resolved = resolve_schemas(resolver, named, schemas, depth=resolver.depth, patience=patience)
    return ValidatedEvents(validate_rows(frame, resolved, options), resolved, options)


def find_schemas(frame: DataFrame, columns: Iterable[str]) -> frozenset[str]:
    """Return the URIs of schemas that columns of JSON name; runs a job.

    Each task returns its own in one row, so that no exchange is needed; at most one more than the limit, which refuses the
    batch.
    """

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        names = sorted(gather_schemas(batches, IGLU_BATCH_SCHEMAS))
        yield pa.RecordBatch.from_pydict({"names": pa.array([names], pa.list_(pa.string()))})

    gathered = frame.select(*(F.col(quote_name(one)) for one in columns)).mapInArrow(work, "names ARRAY<STRING>")
    return frozenset(chain.from_iterable(row["names"] for row in gathered.collect()))


def validate_rows(frame: DataFrame, schemas: ResolvedSchemas, options: EventOptions) -> DataFrame:
    """The frame with the column `FAILURES`, by schemas that are resolved."""
    target = StructType([*frame.schema.fields, failures_field(options)])
    names = target.names

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        validator = share_validator(schemas, options)
        for batch in batches:
            failures = validator.validate([batch.column(one) for one in options.columns])
            yield pa.RecordBatch.from_arrays([*batch.columns, failures], names=names)

    return frame.mapInArrow(work, target)


def failures_field(options: EventOptions) -> StructField:
    """The column `FAILURES`. Its metadata name the validated columns, so that bad rows alone say which columns hold the event."""
    return StructField(FAILURES, FAILURE_TYPE, metadata={VALIDATED_COLUMNS: list(options.columns)})


def require_columns(frame: DataFrame, options: EventOptions) -> None:
    """Raise `PlanError` for columns that are missing or hold no texts or bytes."""
    types = {field.name: field.dataType for field in frame.schema.fields}
    if FAILURES in types:
        raise PlanError(f"the frame has a column {FAILURES!r} already; rename it")
    for name in options.columns:
        kind = types.get(name)
        if kind is None:
            raise PlanError(f"the frame has no column {name!r}; there are {', '.join(types)}")
        if not isinstance(kind, StringType | BinaryType):
            raise PlanError(f"the column {name!r} is {kind.simpleString()}; self-describing JSON is STRING or BINARY")
