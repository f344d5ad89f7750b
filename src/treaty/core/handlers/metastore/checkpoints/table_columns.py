"""Types of the columns of a table whose rows stay, which a changed query has to keep."""

from collections.abc import Iterator

from treaty.core import limits
from treaty.core.column_types import (
    SqlArray,
    SqlField,
    SqlMap,
    SqlStruct,
    SqlType,
    parse_column_type,
    print_column_type,
)
from treaty.core.column_types.tokens import print_name
from treaty.core.refusals import NotPermitted
from treaty.core.sources import Source, SourceColumn
from treaty.core.state.metastore.keys import key_of_name

LAKE = frozenset({"delta", "iceberg"})
"""Connectors whose tables have types of their own: rows of another type can't be appended to them."""


def list_type_changes(stored: Source, source: Source) -> tuple[str, ...]:
    """Return in words to which columns of a table a new query gives another type, with the CAST that keeps it; no more than CHANGE_REASONS."""
    reasons = [
        f"the type of {own.name}: {own_type} → {new_type}, which its rows can't have beside those that are there; CAST(… AS {own_type}) AS {print_name(own.name)} keeps it"
        for own, own_type, new_type in _pair_types(stored, source)
    ]
    return tuple(reasons[: limits.CHANGE_REASONS])


def refuse_other_types(stored: Source, source: Source) -> None:
    """Raise `NotPermitted` where the rows of a table stay, and a new query gives a column of them another type."""
    for own, own_type, new_type in _pair_types(stored, source):
        raise NotPermitted.of(
            "QUERY_COLUMNS",
            f"The rows of {stored.name} stay, and its column {own.name} is {own_type}: the new query can't append {new_type}",
            path="/definition/query",
            old=f"{own.name} {own_type}",
            new=f"{own.name} {new_type}",
            allowed=f"CAST(… AS {own_type}) AS {print_name(own.name)}; or WITH (ON_CHANGE = 'backfill') for a Delta table, which exchanges all rows",
        )


def _pair_types(stored: Source, source: Source) -> Iterator[tuple[SourceColumn, str, str]]:
    """Yield each column that has another type in the new definition, with both types."""
    if source.connector not in LAKE:
        return
    types = {key_of_name(column.name): print_bare_type(column, not_null=False) for column in source.columns}
    for own in stored.columns:
        own_type = print_bare_type(own, not_null=False)
        new_type = types.get(key_of_name(own.name), own_type)
        if new_type != own_type:
            yield own, own_type, new_type


def print_bare_type(column: SourceColumn, *, not_null: bool = True) -> str:
    """Return the text of a column's type without COMMENT of fields, and without their NOT NULL where `not_null` is false."""
    if "STRUCT" not in column.type:
        return column.type
    return print_column_type(_strip(parse_column_type(column.type), not_null=not_null))


def _strip(kind: SqlType, *, not_null: bool) -> SqlType:
    match kind:
        case SqlArray(element):
            return SqlArray(_strip(element, not_null=not_null))
        case SqlMap(key, value):
            return SqlMap(_strip(key, not_null=not_null), _strip(value, not_null=not_null))
        case SqlStruct(fields):
            return SqlStruct(
                tuple(
                    SqlField(field.name, _strip(field.type, not_null=not_null), field.nullable or not not_null)
                    for field in fields
                )
            )
    return kind
