"""The columns of several record types side by side: one where two agree, one for each where they do not."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from treaty.core.state.columns import Struct
from treaty.plan.ddl import find_free_name, parse_type, type_ddl
from treaty.plan.format_plans import RecordType

WIDER = {frozenset(("INT", "BIGINT")): "BIGINT", frozenset(("FLOAT", "DOUBLE")): "DOUBLE"}


@dataclass(frozen=True, slots=True)
class WideColumn:
    """A column and its Spark type, with what fills it: (column of a record type, field in it or "" for the whole)."""

    name: str
    type: str
    sources: tuple[tuple[str, str], ...]


def widen_columns(kinds: Sequence[RecordType], taken: str) -> tuple[WideColumn, ...]:
    """The columns of all record types; the name `taken` is in use.

    Fields of one name share a column where their types agree or one grows to the other. Where they do not, the field
    of a later type has the name of its type behind its own, so that no column changes when a type is added.
    """
    made: dict[str, WideColumn] = {}
    for kind in kinds:
        for field, type_ in _fields(kind):
            source = (kind.column, field)
            name = field or kind.column
            there = made.get(name.lower())
            wider = _agree_types(there.type, type_) if there else None
            if there is not None and wider is not None and all(column != kind.column for column, _ in there.sources):
                made[name.lower()] = WideColumn(there.name, wider, (*there.sources, source))
                continue
            used = {*made, taken.lower()}
            own = name if name.lower() not in used else find_free_name(f"{name}_{kind.column}", used)
            made[own.lower()] = WideColumn(own, type_, (source,))
    return tuple(made.values())


def _fields(kind: RecordType) -> Iterator[tuple[str, str]]:
    made = parse_type(kind.type)
    if not isinstance(made, Struct):
        yield "", kind.type
        return
    for one in made.columns:
        yield one.name, type_ddl(one.type)


def _agree_types(one: str, other: str) -> str | None:
    return one if one == other else WIDER.get(frozenset((one, other)))
