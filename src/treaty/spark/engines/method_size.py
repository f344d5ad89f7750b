"""How large the methods become that Spark generates for a plan, and the way to smaller ones.

HotSpot compiles no method of more than `treaty.spark.jars.COMPILED_BYTES` bytes: it is interpreted for good, and a row then costs several
times as much. Spark fuses the steps of a plan into one method (whole-stage code), and makes many small ones of a step
that it leaves out of that. A step is left out where one of its functions is interpreted, as those of lists are.
"""

from pyspark.sql import Column
from pyspark.sql import functions as F

from treaty.plan.avro.limited import strip_limits
from treaty.plan.format_plans import AvroFormatPlan, JsonFormatPlan
from treaty.plan.value import DecodePlan
from treaty.spark.engines.wrapped_fields import wrap_fields
from treaty.spark.frames import SPREAD_FROM

FUSED_BYTES = 6500
"""The most bytes, by estimate, of steps that stay in whole-stage code: the rest is for the steps of the query around them."""

JUDGED_BYTES = 4200
"""Codes and errors of rows; what follows are the bytes of one more of each."""
SPREAD_BYTES, REASONS_BYTES, PARTLY_BYTES, FRAMING_BYTES, ADDED_BYTES = 960, 300, 900, 900, 500
COLUMN_BYTES, FLAT_BYTES = 230, 90
REBUILT_BYTES, REPAIR_BYTES, SHAPED_BYTES, UNFIT_BYTES = 90, 500, 180, 90
LIMITED_BYTES, LIMITED_HEAD_BYTES = 1900, 90
"""Readings of a refused payload without the types of values that may not fit, and what these take more for each version, as
each of them looks for the version in a map.
"""
CODE_BYTES, FIELD_BYTES = 2400, 190
"""Codes alone, and fields that are taken out of what was decoded; what follows are the readings of refused payloads for a code."""
UNFIT_CODE_BYTES, UNFIT_HEAD_BYTES = 900, 45


def leave_whole_stage() -> Column:
    """False. The step that holds it is no part of whole-stage code."""
    # The number of a partition keeps Spark from computing it beforehand.
    return F.exists(F.array(F.spark_partition_id()), lambda number: number < 0)


def is_split(plan: DecodePlan, columns: int, flat: int = 0, added: int = 0) -> bool:
    """Whether the steps behind decoding are to be left out of whole-stage code.

    `columns` are those of the frame that go through the steps, `flat` the fields of the record that become columns,
    and `added` the columns with ids, versions and subjects.
    """
    return _estimate(plan, columns, added) + flat * FLAT_BYTES > FUSED_BYTES


def is_check_split(plan: DecodePlan, columns: int, fields: int, added: int = 0) -> bool:
    """The same for the steps behind decoding that make codes alone, and take so many fields out of what was decoded."""
    size = CODE_BYTES + fields * FIELD_BYTES + columns * COLUMN_BYTES + added * ADDED_BYTES + _count_plan_bytes(plan)
    if isinstance(plan.recipe, AvroFormatPlan) and strip_limits(plan.recipe.reader_text):
        size += UNFIT_CODE_BYTES + UNFIT_HEAD_BYTES * min(len(plan.writers) - 1, SPREAD_FROM)
    return size > FUSED_BYTES


def is_wide(fields: int) -> bool:
    """Whether the fields of a record, each taken by itself, are too many for a step within whole-stage code."""
    return fields * FLAT_BYTES > JUDGED_BYTES


def _estimate(plan: DecodePlan, columns: int, added: int) -> int:
    size = JUDGED_BYTES + columns * COLUMN_BYTES + added * ADDED_BYTES + _count_plan_bytes(plan)
    if plan.types:
        size += SHAPED_BYTES * sum(max(1, type_.count(":")) for _, type_ in plan.types.columns)
    recipe = plan.recipe
    if isinstance(recipe, AvroFormatPlan):
        size += UNFIT_BYTES * recipe.reader_text.count('"logicalType"')
        if strip_limits(recipe.reader_text):
            size += LIMITED_BYTES + LIMITED_HEAD_BYTES * min(len(plan.writers) - 1, SPREAD_FROM)
        layouts = wrap_fields(recipe).layouts
        size += REBUILT_BYTES * sum(len(one.fields) for one in layouts) + REPAIR_BYTES * len(recipe.repairs)
    elif isinstance(recipe, JsonFormatPlan) and recipe.rest:
        size += REBUILT_BYTES * len(plan.columns)
    return size


def _count_plan_bytes(plan: DecodePlan) -> int:
    """Bytes for what codes look up: many heads, rejected schemas, values that a reader does not take, and other framings."""
    size = SPREAD_BYTES * (len(plan.known_schemas) > SPREAD_FROM) + REASONS_BYTES * bool(plan.rejected)
    size += FRAMING_BYTES * bool(plan.framing.name != "prefix")
    return size + PARTLY_BYTES * bool(isinstance(plan.recipe, AvroFormatPlan) and plan.recipe.partly)
