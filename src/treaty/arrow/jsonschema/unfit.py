"""Where a JSON document has a value that its column can't hold: looked for in documents that became no record."""

from collections.abc import Iterator
from typing import Any

from treaty.arrow.jsonschema.values import (
    JsonMembers,
    OversizedValueError,
    Scalars,
    WrongKindError,
    make_converter,
    replace_surrogates,
)
from treaty.core.state import columns as table
from treaty.core.state.columns import ColumnType, Scalar, Struct

SHOWN_PATH = 200
"""Characters of a path that a sentence has."""


def find_unfit(kind: ColumnType, value: Any, scalars: Scalars, *, without: str | None = None) -> str:
    """The first value that its column can't hold, as a sentence that begins with its JSON pointer; "" where there is none.

    Raises what a converter raises for a value that is none of its column's type, wherever it stands.
    """
    first_fault = ""
    for path, fault in _list_unfit(kind, value, "", scalars, without):
        first_fault = first_fault or f"{_cut_path(path)}: {fault}"
    return first_fault


def _list_unfit(
    kind: ColumnType, value: Any, path: str, scalars: Scalars, without: str | None = None
) -> Iterator[tuple[str, OversizedValueError]]:
    if value is None:
        return
    match kind:
        case Struct(columns) if type(value) is JsonMembers:
            types = {one.name: one.type for one in columns if one.name != without}
            for name, inside in value:
                if name in types:
                    yield from _list_unfit(types[name], inside, f"{path}/{_quote_step(name)}", scalars)
        case table.Map(_, inner) if type(value) is JsonMembers:
            for name, inside in value:
                yield from _list_unfit(inner, inside, f"{path}/{_quote_step(name)}", scalars)
        case table.List(element) if type(value) is list:
            for at, inside in enumerate(value):
                yield from _list_unfit(element, inside, f"{path}/{at}", scalars)
        case Scalar() | table.Decimal():
            try:
                make_converter(kind, scalars)(value)
            except OversizedValueError as error:
                yield path, error
        case _:
            raise WrongKindError


def _quote_step(name: str) -> str:
    return replace_surrogates(name).replace("~", "~0").replace("/", "~1")


def _cut_path(path: str) -> str:
    return (path if len(path) <= SHOWN_PATH else f"{path[:SHOWN_PATH]}…") or "/"
