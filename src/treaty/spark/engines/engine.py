"""`DecodeEngine`: a method to decode payloads in Spark, as a record of functions."""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from treaty.plan.value import DecodePlan

DECODED = "_treaty"
"""The column that `decode` adds."""
SECRET = secrets.token_bytes(32)
"""A random key of this process. The end marker of a row depends on it, so that no record can contain the marker."""


FieldReader = Callable[[str], Column]
"""From the name of a field to what it holds."""


@dataclass(frozen=True, slots=True)
class DecodeEngine:
    """How payloads are read.

    - ``decode(frame, plan, column)``: the frame with the column `DECODED`, whatever its type is.
    - ``is_good(plan)``: whether a row of that frame is a record.
    - ``read_record(plan, value)``: the record of a good row; `value` is the frame's column.
    - ``find_code(plan, value)``: the code of a row of a known id that is no record.
    - ``is_well_formed(plan, value)``: whether such a row is well formed, of ids that the reader takes some values of; None where `find_code` says that too.
    - ``find_message(plan, value)``: a sentence about such a row, or null where its code says it all.
    - ``find_fields(plan)``: what reads a field of the record of a good row, by its name, without making the whole record; None where that has to be made.
    """

    decode: Callable[[DataFrame, DecodePlan, str], DataFrame]
    is_good: Callable[[DecodePlan], Column]
    read_record: Callable[[DecodePlan, Column], Column]
    find_code: Callable[[DecodePlan, Column], Column]
    find_message: Callable[[DecodePlan, Column], Column] | None = None
    is_well_formed: Callable[[DecodePlan, Column], Column] | None = None
    find_fields: Callable[[DecodePlan], FieldReader | None] = lambda _: None


def barrier(decoded: Column) -> Column:
    """The same column, but one that a filter is not moved below: Spark would decode a second time for it."""
    # The number of a partition is as good as any expression that is not deterministic, and a stream may have it too.
    return F.when(F.spark_partition_id() >= 0, decoded)


def join_conditions(conditions: Sequence[Column], join: Callable[[Column, Column], Column]) -> Column:
    """Join conditions to a balanced tree, as deep as the logarithm of their number: Spark walks expressions by
    recursion.
    """
    row = list(conditions)
    while len(row) > 1:
        row = [join(*row[at : at + 2]) if at + 1 < len(row) else row[at] for at in range(0, len(row), 2)]
    return row[0]
