"""`FormatPlanner`: how the plans of one format are made, as a frozen record of functions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from treaty.formats.format import Format
from treaty.formats.jsonschema.format import FORMAT as JSON
from treaty.formats.protobuf.format import FORMAT as PROTOBUF
from treaty.formats.registry import find_formats
from treaty.plan import jsonschema, payloads
from treaty.plan.avro import planner as avro
from treaty.plan.errors import PlanError
from treaty.plan.format_plans import RecordType
from treaty.plan.options import DecodeOptions
from treaty.plan.protobuf import planner as protobuf
from treaty.plan.registered_schema import RegisteredSchema
from treaty.plan.types import avro as avro_types
from treaty.plan.types import jsonschema as jsonschema_types
from treaty.plan.types import payloads as payload_types
from treaty.plan.types import protobuf as protobuf_types
from treaty.plan.value import DecodePlan, RejectedSchema


@dataclass(frozen=True, slots=True)
class FormatPlanner:
    """What a format does its own way. `Any` is the parsed schema of the format, as in `RegisteredSchema`.

    - ``union(known, options)``: one reader for all versions, oldest first, and those that have no part in it.
    - ``compose(known, reader, options)``: the plan, without a registry. Raises `PlanError` if no writer can be read.
    - ``types(known, options)``: the plan of several record types, and which they are. Raises the same.
    - ``show(reader)``: the text of a reader, as a plan has it.
    - ``divides``: whether versions that are compatible may still have no common column type, so that one of them has
      no part in the union.
    - ``base(before, known, options)``: what the union of a plan begins with that follows another one, as versions; `known` are
      those of the plan before that are still there.
    - ``is_newest_first``: whether a union begins with its newest version, whichever versions the plan before has read.
    """

    format: str
    union: Callable[[Sequence[RegisteredSchema], DecodeOptions], tuple[Any, list[RejectedSchema]]]
    compose: Callable[[Sequence[RegisteredSchema], Any, DecodeOptions], DecodePlan]
    types: Callable[[Sequence[RegisteredSchema], DecodeOptions], tuple[DecodePlan, tuple[RecordType, ...]]]
    show: Callable[[Any], str]
    base: Callable[[DecodePlan, Sequence[RegisteredSchema], DecodeOptions], list[RegisteredSchema]]
    divides: bool = False
    is_newest_first: bool = False


def _show_with(form: Format[Any]) -> Callable[[Any], str]:
    return lambda reader: form.show(reader, False).canonical


PLANNERS: Mapping[str, FormatPlanner] = {
    "AVRO": FormatPlanner(
        "AVRO",
        lambda known, options: avro.union(known, options.lossy),
        lambda known, reader, options: avro.compose(known, reader, options.depth, options.lossy),
        avro_types.plan_types,
        avro.show_reader,
        lambda before, known, options: avro.find_base(before, known, options.lossy),
        divides=True,
    ),
    "PROTOBUF": FormatPlanner(
        "PROTOBUF",
        protobuf.union,
        protobuf.compose,
        protobuf_types.plan_types,
        _show_with(PROTOBUF),
        protobuf.find_base,
        is_newest_first=True,
    ),
    "JSON": FormatPlanner(
        "JSON",
        jsonschema.union,
        jsonschema.compose,
        jsonschema_types.plan_types,
        _show_with(JSON),
        jsonschema.find_base,
    ),
}
"""By format of this package."""


def find_planner(name: str) -> FormatPlanner:
    """The planner of a format; one of a plug-in has payloads and columns. Raises `PlanError` where there is none."""
    planner = PLANNERS.get(name)
    if planner is not None:
        return planner
    formats = find_formats()
    form = formats.find(name)
    if form is None or not payloads.is_decodable(form):
        able = sorted({*PLANNERS, *(one for one in formats.names if payloads.is_decodable(formats[one]))})
        raise PlanError(f"rows of the format {name} cannot be decoded; supported are {', '.join(able)}")
    return FormatPlanner(
        name,
        lambda known, options: payloads.union(form, known),
        lambda known, reader, options: payloads.compose(form, known, reader, options),
        lambda known, options: payload_types.plan_types(form, known, options),
        _show_with(form),
        jsonschema.find_base,
    )
