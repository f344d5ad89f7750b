"""Rows of several record types in Arrow: what a reader gives as a column for each type, in the shape that the plan wants (a struct for
each, or all columns side by side).
"""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from treaty.arrow.types import arrow_type
from treaty.plan.ddl import parse_type
from treaty.plan.errors import PlanError
from treaty.plan.format_plans import RecordTypes
from treaty.plan.types.wide import widen_columns
from treaty.plan.value import DecodePlan


def find_record_type(plan: DecodePlan) -> pa.DataType:
    """The type of a record as the plan's columns have it. Raises `PlanError` for VARIANT, which Arrow has not."""
    if any(kind == "VARIANT" for _, kind in plan.columns):
        raise PlanError(
            "Arrow has no VARIANT: make the plan with reader='types' or 'wide' and not 'variant', with rest='map'"
        )
    return arrow_type(parse_type(plan.type))


def shape_records(plan: DecodePlan, record: pa.StructArray, kind: pa.DataType) -> pa.Array:
    """The records in the shape of the plan; `record` is the reader's, `kind` the type they shall have."""
    if plan.types is None:
        return record
    marker = pa.nulls(len(record), pa.string())
    for kind_of_record in plan.types.kinds:
        marker = pc.if_else(record.field(kind_of_record.column).is_valid(), kind_of_record.name, marker)
    parts = [marker, *(_wide_columns if plan.types.shape == "wide" else _structs)(plan.types, record, kind)]
    fields = [kind.field(place) for place in range(kind.num_fields)]
    return pa.StructArray.from_arrays(parts, fields=fields, mask=record.is_null())


def _structs(types: RecordTypes, record: pa.StructArray, kind: pa.DataType) -> Iterator[pa.Array]:
    del kind
    return (record.field(one.column) for one in types.kinds)


def _wide_columns(types: RecordTypes, record: pa.StructArray, kind: pa.DataType) -> Iterator[pa.Array]:
    for place, wide_column in enumerate(widen_columns(types.kinds, types.marker)):
        parts = []
        for column, field in wide_column.sources:
            owner = record.field(column)
            part = owner if field is None else pc.struct_field(owner, [field])  # null where its owner is
            parts.append(part.cast(kind.field(place + 1).type))
        yield parts[0] if len(parts) == 1 else pc.coalesce(*parts)
