"""Cells of columns that a Protobuf message leaves empty, counted along the columns of a plan."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from treaty.arrow.cells import AbsentCells, count_cells

CountAbsent = Callable[[Any, AbsentCells], None]
"""From a message to the cells that it lacks. Raises `TooManyCellsError`."""


def make_absence_counter(descriptor: Descriptor, kind: pa.StructType) -> CountAbsent:
    """What counts the cells of the columns whose fields a message has not set, in itself and in all messages inside it."""
    widths: dict[int, int] = {}
    inner: dict[int, CountAbsent] = {}
    for place in range(kind.num_fields):
        column = kind.field(place)
        field = descriptor.fields_by_name[column.name]
        widths[field.number] = count_cells(column.type)
        if (count_field := _count_field(field, column.type)) is not None:
            inner[field.number] = count_field
    total = sum(widths.values())

    def count(message: Any, cells: AbsentCells) -> None:
        present = message.ListFields()
        cells.lack(total - sum(widths.get(field.number, 0) for field, _ in present))
        for field, value in present:
            if field.number in inner:
                inner[field.number](value, cells)

    return count


def _count_field(field: FieldDescriptor, kind: pa.DataType) -> CountAbsent | None:
    """What counts in the values of a field; None where they are no messages in columns of their own."""
    inside, descriptor = kind, field.message_type
    if descriptor is None:
        return None
    if pa.types.is_map(kind):
        inside, descriptor = kind.item_type, descriptor.fields_by_name["value"].message_type
    elif field.is_repeated:
        inside = kind.value_type
    if descriptor is None or not pa.types.is_struct(inside):
        return None
    count = make_absence_counter(descriptor, inside)
    if not field.is_repeated:
        return count

    def count_all(values: Any, cells: AbsentCells) -> None:
        for item in values.values() if pa.types.is_map(kind) else values:
            count(item, cells)

    return count_all
