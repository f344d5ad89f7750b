"""`Engine`: one way from a frame's payload to a value, as a frozen record of functions."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from treaty.plan.value import DecodePlan

DECODED = "_treaty"
"""The column that `decoded` adds."""
SECRET = secrets.token_bytes(32)
"""Of this process. What marks the end of a row depends on it, so that no row can hold the mark, whoever wrote it and whatever he read."""


@dataclass(frozen=True, slots=True)
class Engine:
    """How payloads are read.

    - ``decoded(frame, plan, column)``: the frame with the column `DECODED`, whatever its type is.
    - ``good(plan)``: whether a row of that frame is a record.
    - ``record(plan, value)``: the record of a good row; `value` is the frame's column.
    - ``failed(plan)``: the code of a row of a known id that is no record.
    - ``whole(plan, value)``: whether such a row is well formed, of ids that the reader takes some values of; None where `failed` says that too.
    - ``said(plan)``: a sentence about such a row, or null where its code says it all.
    """

    decoded: Callable[[DataFrame, DecodePlan, str], DataFrame]
    good: Callable[[DecodePlan], Column]
    record: Callable[[DecodePlan, Column], Column]
    failed: Callable[[DecodePlan], Column]
    said: Callable[[DecodePlan], Column] | None = None
    whole: Callable[[DecodePlan, Column], Column] | None = None


def barrier(decoded: Column) -> Column:
    """The same column, but one that a filter is not moved below: Spark would decode a second time for it."""
    # The number of a partition is as good as any expression that is not deterministic, and a stream may have it too.
    return F.when(F.spark_partition_id() >= 0, decoded)
