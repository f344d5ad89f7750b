"""`Encoder`: one way from a row to a payload, as a frozen record of functions."""

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import Column

from treaty.plan.encoding.value import EncodePlan


@dataclass(frozen=True, slots=True)
class Encoder:
    """How payloads are written.

    - ``packed(plan, row)``: the struct that a row was brought to (or the one value, where the schema is no record) as
      what `payload` and `said` read; a null row must stay null.
    - ``payload(plan, packed)``: the bytes, without what stands before them; null for a bad row.
    - ``said(plan, packed)``: what is wrong with a row that could not be written, or null; None where that can't be.
    """

    packed: Callable[[EncodePlan, Column], Column]
    payload: Callable[[EncodePlan, Column], Column]
    said: Callable[[EncodePlan, Column], Column] | None = None
