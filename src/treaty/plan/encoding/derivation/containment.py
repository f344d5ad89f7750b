"""Whether a place of a schema holds a column: without loss, so that it may stay as it is in a derived schema."""

from treaty.core.state.columns import Column
from treaty.plan.encoding.column_pairs import pair_column
from treaty.plan.encoding.target import FindTarget, Handle
from treaty.plan.errors import PlanError

LOSSES = frozenset({"fits", "exact", "overflow", "digits", "clock", "text", "utf8", "keys", "json"})
"""Checks that stand for a type which is too narrow; others belong to what a schema says about values."""


def is_held(find_target: FindTarget, handle: Handle, column: Column) -> bool:
    """Whether values of the column can be written there as they are, or widened."""
    try:
        conversion = pair_column(column, find_target, handle)
    except PlanError:
        return False
    return all(check.name not in LOSSES for step in conversion.walk() for check in step.checks)
