"""The columns of several record types side by side: one where two agree, one for each where they do not."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from treaty.core.state.columns import Struct
from treaty.plan.ddl import free, type_ddl, type_of
from treaty.plan.recipes import RecordType

WIDER = {frozenset(("INT", "BIGINT")): "BIGINT", frozenset(("FLOAT", "DOUBLE")): "DOUBLE"}


@dataclass(frozen=True, slots=True)
class Wide:
    """A column and its Spark type, with what fills it: (column of a record type, field in it or "" for the whole)."""

    name: str
    type: str
    sources: tuple[tuple[str, str], ...]


def widened(kinds: Sequence[RecordType], taken: str) -> tuple[Wide, ...]:
    """The columns of all record types; the name `taken` is in use.

    Fields of one name share a column where their types agree or one grows to the other. Where they do not, the field
    of a later type has the name of its type behind its own, so that no column changes when a type is added.
    """
    made: dict[str, Wide] = {}
    for kind in kinds:
        for field, type_ in _fields(kind):
            source = (kind.column, field)
            name = field or kind.column
            there = made.get(name.lower())
            wider = _agreed(there.type, type_) if there else None
            if there is not None and wider is not None and all(column != kind.column for column, _ in there.sources):
                made[name.lower()] = Wide(there.name, wider, (*there.sources, source))
                continue
            used = {*made, taken.lower()}
            own = name if name.lower() not in used else free(f"{name}_{kind.column}", used)
            made[own.lower()] = Wide(own, type_, (source,))
    return tuple(made.values())


def _fields(kind: RecordType) -> Iterator[tuple[str, str]]:
    made = type_of(kind.type)
    if not isinstance(made, Struct):
        yield "", kind.type
        return
    for one in made.columns:
        yield one.name, type_ddl(one.type)


def _agreed(one: str, other: str) -> str | None:
    return one if one == other else WIDER.get(frozenset((one, other)))
