"""Rows as payloads of a plug-in's format, row by row, by its function `PayloadEncoding.write`."""

import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from treaty.core.state.columns import ColumnType, List, Map, Scalar, Struct
from treaty.formats.registry import find_formats
from treaty.plan.ddl import parse_type
from treaty.plan.encoding.value import EncodePlan

Take = Callable[[Any], Any]
"""A function from a value as Arrow gives it to one that a format writes."""


def make_payload_writer(plan: EncodePlan) -> Callable[[pa.Array], pa.Array]:
    """A function from rows to payloads, and to what is wrong with those that have none."""
    writers: list[Callable[[Any], bytes]] = []
    take = make_take(parse_type(plan.fit.type))

    def write(rows: pa.Array) -> pa.Array:
        if not writers:
            writers.append(_make_write(plan))
        payloads: list[bytes | None] = []
        messages: list[str | None] = []
        for row in rows.to_pylist():
            payload, message = _write_row(writers[0], take, row)
            payloads.append(payload)
            messages.append(message)
        return pa.StructArray.from_arrays(
            [pa.array(payloads, pa.binary()), pa.array(messages, pa.string())], names=["payload", "said"]
        )

    return write


def _make_write(plan: EncodePlan) -> Callable[[Any], bytes]:
    recipe = plan.recipe
    assert recipe is not None, "a plan of a plug-in's format has its schema"
    form = find_formats()[plan.format]
    return form.payloads[recipe.encoding].write(form.parse(recipe.resolve(plan.format)[recipe.reader], False))


def _write_row(write: Callable[[Any], bytes], take: Take, row: Any) -> tuple[bytes | None, str | None]:
    if row is None:
        return None, None
    try:
        return write(take(row)), None
    except ValueError as error:
        return None, str(error)


def make_take(kind: ColumnType) -> Take:
    """A function that makes values of a column type those of a format: pairs of a map become a dictionary, the text of a
    variant becomes its value, and the fields of a record that are null are left as None.
    """
    match kind:
        case Struct(columns):
            inside = {one.name: make_take(one.type) for one in columns}
            return lambda row: None if row is None else {name: take(row[name]) for name, take in inside.items()}
        case List(element):
            take_item = make_take(element)
            return lambda items: None if items is None else [take_item(one) for one in items]
        case Map(key, value):
            first, second = make_take(key), make_take(value)
            return lambda pairs: None if pairs is None else {first(one): second(two) for one, two in pairs}
        case Scalar("variant"):
            return lambda text: None if text is None else json.loads(text)
    return lambda value: value
