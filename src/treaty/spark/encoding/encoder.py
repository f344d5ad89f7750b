"""`Encoder`: one way from a row to a payload, as a frozen record of functions."""

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import Column

from treaty.plan.encoding.value import EncodePlan


@dataclass(frozen=True, slots=True)
class Encoder:
    """How payloads are written.

    - ``payload(plan, row)``: the bytes of the struct that a row was brought to (or of the one value, where the schema is no
      record), without what stands before them; a null row must stay null.
    - ``apart(plan)``: whether workers of Python write them. What `payload` gives is then a struct `WRITTEN`.
    """

    payload: Callable[[EncodePlan, Column], Column]
    apart: Callable[[EncodePlan], bool]


WRITTEN = "STRUCT<`payload`: BINARY, `said`: STRING>"
"""A payload, or what is wrong with a row that could not be written."""
