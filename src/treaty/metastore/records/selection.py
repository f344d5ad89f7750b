"""SELECT from the records of a source: which columns, and which records meet its conditions."""

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from difflib import get_close_matches
from typing import Any

from treaty.core.column_types import SqlType, lower_name, parse_column_type
from treaty.core.refusals import Invalid
from treaty.core.sources import Source
from treaty.core.state.columns import Decimal as DecimalType
from treaty.core.state.columns import Scalar
from treaty.metastore.columns.from_schema import PSEUDO_COLUMNS
from treaty.metastore.columns.sql_types import read_sql_type
from treaty.metastore.records.literals import UnfitLiteralError, cast_literal
from treaty.metastore.sql.statements import SelectRecordsStatement, SelectRowsStatement

PSEUDO_TYPES: Mapping[str, Scalar] = {
    "_topic": Scalar("string"),
    "_partition": Scalar("int32"),
    "_offset": Scalar("int64"),
    "_timestamp": Scalar("timestamp"),
}
"""Pseudo-columns that a condition may name."""


@dataclass(frozen=True, slots=True)
class RecordSelection:
    """The columns of a SELECT by their spelling, and what its conditions want: key of the column and value."""

    columns: tuple[str, ...]
    conditions: tuple[tuple[str, Any], ...]

    def row(self, cells: Mapping[str, Any]) -> list[Any]:
        """Return the columns of a record."""
        return [cells.get(lower_name(name)) for name in self.columns]

    def is_met(self, cells: Mapping[str, Any]) -> bool:
        """Return whether a record meets all conditions."""
        return all(equals(cells.get(name), wanted) for name, wanted in self.conditions)


def make_selection(
    statement: SelectRecordsStatement | SelectRowsStatement, source: Source, types: Mapping[str, SqlType]
) -> RecordSelection:
    """Return the selection of a statement. Raises `Invalid` for a column that there is not, and a value that does not fit it."""
    names = {lower_name(one.name): one.name for one in source.columns}
    pseudo = {name: name for name in PSEUDO_COLUMNS if name not in names and name != "_schema_id"}
    columns_by_key = names | pseudo
    chosen = statement.columns or tuple(names.values())
    columns = tuple(columns_by_key[_find(name, columns_by_key, source)] for name in chosen)
    kinds = {lower_name(one.name): read_sql_type(parse_column_type(one.type), types.get) for one in source.columns}
    conditions = []
    for condition in statement.conditions:
        key = _find(condition.column, columns_by_key, source)
        kind = kinds.get(key, PSEUDO_TYPES.get(key))
        if not isinstance(kind, Scalar | DecimalType):
            raise Invalid.of(
                "CONDITION_REFUSED", f"{condition.column} has parts, and a condition compares one value", path="/sql", new=condition.column,
                allowed="a column of numbers, texts, bytes, times or booleans",
            )  # fmt: skip
        try:
            conditions.append((key, cast_literal(condition.value, kind, columns_by_key[key])))
        except UnfitLiteralError as error:
            raise Invalid.of(
                "VALUE_UNFIT", str(error), path=error.path, old=error.type, new=error.shown, allowed=error.type
            ) from error
    return RecordSelection(columns, tuple(conditions))


def _find(name: str, columns_by_key: Mapping[str, str], source: Source) -> str:
    key = lower_name(name)
    if key in columns_by_key:
        return key
    near = get_close_matches(key, columns_by_key, 1)
    hint = f"did you mean {columns_by_key[near[0]]}?" if near else f"one of {', '.join(columns_by_key.values())}"
    raise Invalid.of("COLUMN_UNKNOWN", f"{source.name} has no column {name}", path="/sql", new=name, allowed=hint)


def equals(cell: Any, literal: Any) -> bool:
    """Return whether a decoded value is the one that a literal means; null equals nothing."""
    if cell is None or literal is None:
        return False
    compare = _COMPARED.get(type(literal), lambda one, other: bool(one == other))
    try:
        return compare(cell, literal)
    except (ValueError, TypeError, InvalidOperation, binascii.Error):
        return False


def _same_instant(cell: Any, instant: datetime) -> bool:
    cell_instant = datetime.fromisoformat(str(cell))
    return (cell_instant.replace(tzinfo=UTC) if cell_instant.tzinfo is None else cell_instant) == (
        instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant
    )


def _same_bytes(cell: Any, data: bytes) -> bool:
    text = str(cell)
    return text == data.decode("latin-1") or base64.b64decode(text, validate=True) == data


_COMPARED: Mapping[type, Callable[[Any, Any], bool]] = {
    bool: lambda cell, wanted: cell is wanted,
    int: lambda cell, wanted: not isinstance(cell, bool) and int(cell) == wanted,
    float: lambda cell, wanted: float(cell) == wanted,
    Decimal: lambda cell, wanted: Decimal(str(cell)) == wanted,
    datetime: _same_instant,
    date: lambda cell, wanted: date.fromisoformat(str(cell)) == wanted,
    bytes: _same_bytes,
}
"""By type of the literal, what compares a decoded value with it: numbers of Protobuf's JSON are texts, times too."""


def print_cells(cells: Sequence[Any], as_text: Callable[[Any], str]) -> list[Any]:
    """Return cells for a table: lists and objects as their JSON text, numbers with a fraction as text."""
    return [as_text(cell) if isinstance(cell, dict | list | float) else cell for cell in cells]
