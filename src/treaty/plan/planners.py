"""`Planner`: how the plans of one format are made, as a frozen record of functions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from treaty.plan.avro import composing as avro
from treaty.plan.documents import composing as documents
from treaty.plan.known import Known
from treaty.plan.messages import composing as messages
from treaty.plan.recipes import RecordType
from treaty.plan.types import avro as avro_types
from treaty.plan.types import documents as document_types
from treaty.plan.types import messages as message_types
from treaty.plan.value import DecodePlan, Rejected
from treaty.plan.wish import Wish


@dataclass(frozen=True, slots=True)
class Planner:
    """What a format does its own way. `Any` is the parsed schema of the format, as in `Known`.

    - ``union(known, wish)``: one reader for all versions, oldest first, and those that have no part in it.
    - ``compose(known, reader, wish)``: the plan, without a registry. Raises `PlanError` if no writer can be read.
    - ``types(known, wish)``: the plan of several record types, and which they are. Raises the same.
    """

    format: str
    union: Callable[[Sequence[Known], Wish], tuple[Any, list[Rejected]]]
    compose: Callable[[Sequence[Known], Any, Wish], DecodePlan]
    types: Callable[[Sequence[Known], Wish], tuple[DecodePlan, tuple[RecordType, ...]]]


PLANNERS: Mapping[str, Planner] = {
    "AVRO": Planner(
        "AVRO",
        lambda known, options: avro.union(known, options.lossy),
        lambda known, reader, wish: avro.compose(known, reader, wish.depth, wish.lossy),
        avro_types.plan_types,
    ),
    "PROTOBUF": Planner("PROTOBUF", messages.union, messages.compose, message_types.plan_types),
    "JSON": Planner("JSON", documents.union, documents.compose, document_types.plan_types),
}
"""By format."""
