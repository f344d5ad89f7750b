"""The columns of several record types side by side: one where their types agree or one holds both, else one for each, with its record type behind its name."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from treaty.core.state.columns import Struct
from treaty.plan.ddl import find_free_name, parse_type, type_ddl
from treaty.plan.format_plans import RecordType

WIDER = {frozenset(("INT", "BIGINT")): "BIGINT", frozenset(("FLOAT", "DOUBLE")): "DOUBLE"}


@dataclass(frozen=True, slots=True)
class WideColumn:
    """A column and its Spark type, with what fills it: (column of a record type, field in it or None for the whole)."""

    name: str
    type: str
    sources: tuple[tuple[str, str | None], ...]


def widen_columns(kinds: Sequence[RecordType], marker: str) -> tuple[WideColumn, ...]:
    """The columns of all record types; the name `marker` is in use.

    Fields of one name share a column where their types agree or one grows to the other. Where they do not, the field
    of a later type has the name of its type behind its own, so that no column changes when a type is added.
    """
    by_name: dict[str, WideColumn] = {}
    for kind in kinds:
        for field, type_ in _fields(kind):
            source = (kind.column, field)
            name = kind.column if field is None else field
            existing = by_name.get(name.lower())
            wider = _agree_types(existing.type, type_) if existing else None
            if (
                existing is not None
                and wider is not None
                and all(column != kind.column for column, _ in existing.sources)
            ):
                by_name[name.lower()] = WideColumn(existing.name, wider, (*existing.sources, source))
                continue
            used = {*by_name, marker.lower()}
            own = name if name.lower() not in used else find_free_name(f"{name}_{kind.column}", used)
            by_name[own.lower()] = WideColumn(own, type_, (source,))
    return tuple(by_name.values())


def _fields(kind: RecordType) -> Iterator[tuple[str | None, str]]:
    column_type = parse_type(kind.type)
    if not isinstance(column_type, Struct):
        yield None, kind.type
        return
    for column in column_type.columns:
        yield column.name, type_ddl(column.type)


def _agree_types(first: str, other: str) -> str | None:
    return first if first == other else WIDER.get(frozenset((first, other)))
