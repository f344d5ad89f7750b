"""`Planner`: how the plans of one format are made, as a frozen record of functions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from treaty.spark.plan.avro import composing as avro
from treaty.spark.plan.documents import composing as documents
from treaty.spark.plan.known import Known
from treaty.spark.plan.messages import composing as messages
from treaty.spark.plan.value import DecodePlan, Rejected
from treaty.spark.plan.wish import Wish


@dataclass(frozen=True, slots=True)
class Planner:
    """What a format does its own way. `Any` is the parsed schema of the format, as in `Known`.

    - ``union(known, wish)``: one reader for all versions, oldest first, and those that have no part in it.
    - ``compose(known, reader, wish)``: the plan, without a registry. Raises `PlanError` if no writer can be read.
    """

    format: str
    union: Callable[[Sequence[Known], Wish], tuple[Any, list[Rejected]]]
    compose: Callable[[Sequence[Known], Any, Wish], DecodePlan]


PLANNERS: Mapping[str, Planner] = {
    "AVRO": Planner("AVRO", lambda known, _: avro.union(known), lambda k, reader, w: avro.compose(k, reader, w.depth)),
    "PROTOBUF": Planner("PROTOBUF", messages.union, messages.compose),
    "JSON": Planner("JSON", documents.union, documents.compose),
}
"""By format."""
