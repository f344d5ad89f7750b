"""What becomes of record types: the columns of a plan by the shape that was wished for."""

from collections.abc import Sequence
from dataclasses import replace

from treaty.plan.ddl import find_free_name, struct_ddl
from treaty.plan.format_plans import RecordType, RecordTypes
from treaty.plan.types.wide import widen_columns
from treaty.plan.value import DecodePlan

MARKER, VARIANT = "record_type", "record"


def shape_plan(plan: DecodePlan, kinds: Sequence[RecordType], shape: str, wanted: str = "") -> DecodePlan:
    """The plan with the columns of this shape; the first one has the full name of a row's type.

    `wanted` are the types that the caller named.
    """
    marker = find_free_name(MARKER, {one.column.lower() for one in kinds})
    match shape:
        case "wide":
            columns = tuple((one.name, one.type) for one in widen_columns(kinds, marker))
        case "variant":
            columns = ((VARIANT, "VARIANT"),)
        case _:
            columns = tuple((one.column, one.type) for one in kinds)
    columns = ((marker, "STRING"), *columns)
    return replace(
        plan, columns=columns, type=struct_ddl(columns), types=RecordTypes(shape, marker, tuple(kinds), wanted)
    )
