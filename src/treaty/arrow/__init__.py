"""Arrow: decodes frames to Arrow, pandas and Polars tables by a decode plan, without Spark."""

from typing import TYPE_CHECKING

from treaty.distribution import require_library

if not TYPE_CHECKING:
    require_library("pyarrow", "treaty.arrow", "arrow")

from treaty.arrow.decode import batches, decode, from_registry
from treaty.arrow.tables import to_pandas, to_polars
from treaty.plan.decode_plans import extend, make_plan
from treaty.plan.errors import PlanError
from treaty.plan.rows import Names
from treaty.plan.value import DecodePlan

__all__ = [
    "DecodePlan",
    "Names",
    "PlanError",
    "batches",
    "decode",
    "extend",
    "from_registry",
    "make_plan",
    "to_pandas",
    "to_polars",
]
