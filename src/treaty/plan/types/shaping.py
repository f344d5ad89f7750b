"""What becomes of record types: the columns of a plan by the shape that was wished for."""

from collections.abc import Sequence
from dataclasses import replace

from treaty.plan.ddl import free, struct_ddl
from treaty.plan.recipes import RecordType, Types
from treaty.plan.types.wide import widened
from treaty.plan.value import DecodePlan

MARKER, VARIANT = "record_type", "record"


def shaped(plan: DecodePlan, kinds: Sequence[RecordType], shape: str, wanted: str = "") -> DecodePlan:
    """The plan with the columns of this shape; the first one has the full name of a row's type.

    `wanted` are the types that the caller named.
    """
    marker = free(MARKER, {one.column.lower() for one in kinds})
    match shape:
        case "wide":
            columns = tuple((one.name, one.type) for one in widened(kinds, marker))
        case "variant":
            columns = ((VARIANT, "VARIANT"),)
        case _:
            columns = tuple((one.column, one.type) for one in kinds)
    columns = ((marker, "STRING"), *columns)
    return replace(plan, columns=columns, type=struct_ddl(columns), types=Types(shape, marker, tuple(kinds), wanted))
