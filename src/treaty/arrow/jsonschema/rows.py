"""JSON row by row, to the values that Spark's `from_json` makes of the same text, and to a bad row where it makes none."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from treaty.arrow.cells import TOO_MANY, AbsentCells, TooManyCellsError, find_widest, may_lack_much
from treaty.arrow.decoded import NOTHING, ReadRow, RowResult
from treaty.arrow.jsonschema.absence import CountAbsent, make_absence_counter
from treaty.arrow.jsonschema.rest import find_rest
from treaty.arrow.jsonschema.unfit import find_unfit
from treaty.arrow.jsonschema.validity import make_checker
from treaty.arrow.jsonschema.values import (
    PLAIN_SCALARS,
    SCALARS,
    ConvertValue,
    JsonMembers,
    OversizedValueError,
    WrongKindError,
    make_converter,
    read_number,
)
from treaty.arrow.types import arrow_type
from treaty.plan.avro.envelope import make_header
from treaty.plan.ddl import parse_type
from treaty.plan.format_plans import JsonFormatPlan, JsonKind
from treaty.plan.value import DecodePlan

REFUSED = (WrongKindError, ValueError, ArithmeticError, RecursionError)
"""What is raised for a document that is none of its columns' types."""
WRONG_VALUE = "the payload is no JSON, or a value in it is not of its column's type"


def make_row_reader(plan: DecodePlan) -> ReadRow:
    """A function from a frame to its record as Arrow takes it, or to why there is none."""
    recipe = plan.recipe
    assert isinstance(recipe, JsonFormatPlan)
    ids = tuple(writer.schema_id for writer in plan.writers)
    kinds = recipe.kinds or (JsonKind("", plan.type, ids, recipe.whole),)
    check = make_checker(recipe) if recipe.checks else None
    shapes = {
        (at, plain): _make_shape(kind, recipe.rest, plain) for at, kind in enumerate(kinds) for plain in (False, True)
    }
    shapes_by_head = {
        make_header(number): (shapes[at, number in recipe.plain], kind)
        for at, kind in enumerate(kinds)
        for number in kind.ids
    }
    columns = frozenset(name for name, _ in plan.columns if name != recipe.rest)
    parse = json.JSONDecoder(
        object_pairs_hook=JsonMembers,
        parse_float=read_number if recipe.rest else Decimal,
        parse_constant=_refuse_constant,
    ).decode

    def read(value: bytes | None) -> RowResult:
        shape_and_kind = shapes_by_head.get(value[:5]) if value is not None else None
        if value is None or shape_and_kind is None:
            return NOTHING
        shape, kind = shape_and_kind
        try:
            document = parse(value[5:].decode())
            if may_lack_much(len(value), shape.widest):
                shape.count_absent(document, AbsentCells())
            record: Any = None if document is None else shape.convert(document)
        except OversizedValueError:
            return _reject_unfit(shape, document)
        except TooManyCellsError:
            return None, "INVALID", TOO_MANY
        except REFUSED:
            return None, "MALFORMED", WRONG_VALUE
        if record is None and not kind.whole:
            return None, "MALFORMED", WRONG_VALUE
        if check is not None and (fault := check(value)) is not None:
            return None, "INVALID", fault
        if recipe.rest:
            record[recipe.rest] = find_rest(document, columns)
        return ({kind.column: record} if kind.column else record), None, None

    return read


@dataclass(frozen=True, slots=True)
class _DocumentShape:
    """What makes documents of a record type into records, and what finds a value in one that its column can't hold."""

    widest: int
    """The most cells of one item of a list or map."""
    count_absent: CountAbsent
    convert: ConvertValue
    find_unfit: Callable[[Any], str]


def _make_shape(kind: JsonKind, rest: str, is_plain: bool) -> _DocumentShape:  # noqa: FBT001 - a part of a key
    type_, scalars, without = parse_type(kind.type), PLAIN_SCALARS if is_plain else SCALARS, rest or None
    return _DocumentShape(
        find_widest(arrow_type(type_)),
        make_absence_counter(type_),
        make_converter(type_, scalars, without=without),
        lambda document: find_unfit(type_, document, scalars, without=without),
    )


def _reject_unfit(shape: _DocumentShape, document: Any) -> RowResult:
    """INVALID with the path of the value; MALFORMED where another value of the document is none of its column's type."""
    try:
        return None, "INVALID", shape.find_unfit(document)
    except REFUSED:
        return None, "MALFORMED", WRONG_VALUE


def _refuse_constant(word: str) -> Any:
    raise ValueError(f"{word} is no JSON")
