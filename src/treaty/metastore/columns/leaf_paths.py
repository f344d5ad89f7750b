"""Leaf paths: names that lead from a column to a place without parts, such as ``order.lines.element.price``.

The items of an array are ``element``, keys and values of a map ``key`` and ``value``, as in Spark's ALTER TABLE, Delta
and Iceberg. A name that is no plain word stands between back quotes: ```the price`.net``. As Spark's names do, paths
differ in more than upper and lower case.
"""

import re
from collections.abc import Iterator, Sequence

from treaty.core.refusals import Invalid
from treaty.core.state.columns import Column, ColumnType, List, Map, Struct
from treaty.plan.ddl import quote_name

LeafPath = tuple[str, ...]
"""The names of a path, without quotes."""

ELEMENT, KEY, VALUE = "element", "key", "value"
"""Names of what has no name: items of an array, keys and values of a map."""

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PART = re.compile(r"`((?:[^`]|``)+)`|([^`.]+)")


def print_path(path: Sequence[str]) -> str:
    """The path as text."""
    return ".".join(name if _PLAIN.fullmatch(name) else quote_name(name) for name in path)


def parse_path(text: str) -> LeafPath:
    """The names of a path. Raises `Invalid` for a text that is none."""
    names: list[str] = []
    at = 0
    while found := _PART.match(text, at):
        names.append(found[1].replace("``", "`") if found[1] is not None else found[2])
        at = found.end()
        if at == len(text):
            return tuple(names)
        if text[at] != ".":
            break
        at += 1
    raise Invalid.of(
        "COLUMN_PATH",
        f"{text!r} is no path of a column: names with points between, in back quotes where they have other signs than letters, digits and _",
        new=text,
        allowed="a.b, a.element.b, m.value.b or `a b`.c",
    )


def list_leaves(columns: Sequence[Column]) -> Iterator[tuple[LeafPath, ColumnType]]:
    """Every path to a place without parts, with its type; a struct without columns is such a place."""
    for one in columns:
        yield from _list_inside(one.type, (one.name,))


def _list_inside(kind: ColumnType, path: LeafPath) -> Iterator[tuple[LeafPath, ColumnType]]:
    match kind:
        case Struct(columns) if columns:
            for one in columns:
                yield from _list_inside(one.type, (*path, one.name))
        case List(element):
            yield from _list_inside(element, (*path, ELEMENT))
        case Map(key, value):
            yield from _list_inside(key, (*path, KEY))
            yield from _list_inside(value, (*path, VALUE))
        case _:
            yield path, kind


def lower_path(path: Sequence[str]) -> LeafPath:
    """The path with small letters, by which paths are compared."""
    return tuple(name.lower() for name in path)


def is_touched(read: Sequence[str], changed: Sequence[str]) -> bool:
    """Whether a change of one place concerns who reads the other: it is the same place, or one lies inside the other."""
    one, other = lower_path(read), lower_path(changed)
    return one[: len(other)] == other[: len(one)]
