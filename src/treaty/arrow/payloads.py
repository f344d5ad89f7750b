"""Payloads of formats of plug-ins become rows, one by one: their values by the types of columns, and a bad row where they do not fit."""

import json
from collections.abc import Callable, Mapping
from decimal import Decimal as Digits
from functools import cache
from typing import Any

from treaty.arrow.decoded import NOTHING, ReadRow, RowResult
from treaty.core.state.columns import ColumnType, List, Map, Scalar, Struct
from treaty.formats.format import BadPayloadError
from treaty.formats.registry import find_formats
from treaty.plan.avro.envelope import make_header
from treaty.plan.ddl import parse_type
from treaty.plan.format_plans import PayloadFormatPlan
from treaty.plan.value import DecodePlan

Fit = Callable[[Any], Any]
"""A function from a value of a format to one that Arrow takes for a column."""


def make_row_reader(plan: DecodePlan) -> ReadRow:
    """A function from a frame to its record as Arrow takes it, or to why there is none."""
    recipe = plan.recipe
    assert isinstance(recipe, PayloadFormatPlan)
    form = find_formats()[plan.format]
    codec, schemas, places = form.payloads[recipe.encoding], recipe.resolve(plan.format), dict(recipe.writers)

    @cache
    def make(schema_id: int) -> Callable[[bytes], Any]:
        writer = form.parse(schemas[places[schema_id]], False)
        reader = writer if recipe.reader < 0 else form.parse(schemas[recipe.reader], False)
        return codec.read(writer, reader)

    ids = {make_header(schema_id): schema_id for schema_id in places}
    fit, columns = make_fit(parse_type(plan.engine_type)), dict(recipe.kinds)

    def decode(value: bytes | None) -> RowResult:
        schema_id = ids.get(value[:5]) if value is not None else None
        if value is None or schema_id is None:
            return NOTHING
        try:
            value_read = make(schema_id)(value[5:])
            return fit({columns[schema_id]: value_read} if columns else value_read), None, None
        except BadPayloadError as bad:
            return None, bad.code, bad.message

    return decode


def make_fit(kind: ColumnType) -> Fit:
    """A function that makes values fit a column: columns by name, maps as pairs, and JSON text where a text is wanted."""
    match kind:
        case Struct(columns):
            fits = {one.name: make_fit(one.type) for one in columns}
            return lambda value: None if value is None else _fit_record(value, fits)
        case List(element):
            inner = make_fit(element)
            return lambda value: None if value is None else [inner(one) for one in value]
        case Map(key, held):
            first, second = make_fit(key), make_fit(held)
            return lambda value: None if value is None else [(first(one), second(two)) for one, two in value.items()]
        case Scalar("string"):
            return lambda value: value if value is None or isinstance(value, str) else _print(value)
    return lambda value: value


def _fit_record(value: Mapping[str, Any], fits: Mapping[str, Fit]) -> dict[str, Any]:
    return {name: fit(value.get(name)) for name, fit in fits.items()}


def _print(value: Any) -> str:
    """A value as JSON text, bytes as characters."""

    def show(part: Any) -> Any:
        if isinstance(part, bytes):
            return part.decode("latin-1")
        return float(part) if isinstance(part, Digits) else str(part)

    return json.dumps(value, default=show, ensure_ascii=False, separators=(",", ":"))
