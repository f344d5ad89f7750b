"""Cells of columns that a JSON document leaves empty, counted along the types of a plan."""

from collections.abc import Callable
from typing import Any

from treaty.arrow.cells import AbsentCells
from treaty.arrow.jsonschema.values import JsonMembers
from treaty.core.state import columns as table
from treaty.core.state.columns import ColumnType, Struct

CountAbsent = Callable[[Any, AbsentCells], None]
"""From a value of parsed JSON to the cells that it lacks; what is none of its column's type lacks all. Raises `TooManyCellsError`."""


def make_absence_counter(kind: ColumnType) -> CountAbsent:
    """What counts the cells that a value of this type lacks."""
    match kind:
        case Struct():
            return _count_struct(kind)
        case table.List(element):
            count_item = make_absence_counter(element)
            return lambda value, cells: _count_items(count_item, value if type(value) is list else (), cells)
        case table.Map(_, inner):
            count_value = make_absence_counter(inner)
            return lambda value, cells: _count_items(
                count_value, (item for _, item in value) if type(value) is JsonMembers else (), cells
            )
    return lambda value, cells: None


def _count_items(count: CountAbsent, items: Any, cells: AbsentCells) -> None:
    for item in items:
        count(item, cells)


def _count_struct(kind: Struct) -> CountAbsent:
    widths = {one.name: _count_cells(one.type) for one in kind.columns}
    inner = {one.name: make_absence_counter(one.type) for one in kind.columns}
    total = sum(widths.values())

    def count(value: Any, cells: AbsentCells) -> None:
        if type(value) is not JsonMembers:
            cells.lack(total)
            return
        present = {name: inside for name, inside in value if inside is not None and name in widths}
        cells.lack(total - sum(widths[name] for name in present))
        for name, inside in present.items():
            inner[name](inside, cells)

    return count


def _count_cells(kind: ColumnType) -> int:
    return 1 + sum(_count_cells(one.type) for one in kind.columns) if isinstance(kind, Struct) else 1
