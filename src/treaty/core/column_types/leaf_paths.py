"""Leaf paths: names that lead from a column to a place without parts, such as ``order.lines.element.price``.

The items of an array are ``element``, keys and values of a map ``key`` and ``value``, as in Spark's ALTER TABLE, Delta
and Iceberg. A name that is no plain word stands between back quotes: ```the price`.net``. Names are the same where they
differ in case alone, as Spark has it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from treaty.core.column_types.tokens import print_name
from treaty.core.column_types.types import ColumnTypeError, SqlArray, SqlMap, SqlStruct, SqlType

LeafPath = tuple[str, ...]
"""The names of a path, without quotes."""
SqlColumns = Iterable[tuple[str, SqlType]]
"""Columns by name and type."""

ELEMENT, KEY, VALUE = "element", "key", "value"
"""Names of what has no name: items of an array, keys and values of a map."""

_PART = re.compile(r"`((?:[^`]|``)+)`|([^`.]+)")


def print_path(path: Sequence[str]) -> str:
    """Return the path as text."""
    return ".".join(map(print_name, path))


def parse_path(text: str) -> LeafPath:
    """Return the names of a path. Raises `ColumnTypeError` for a text that is none."""
    names: list[str] = []
    at = 0
    while match := _PART.match(text, at):
        names.append(match[1].replace("``", "`") if match[1] is not None else match[2])
        at = match.end()
        if at == len(text):
            return tuple(names)
        if text[at] != ".":
            break
        at += 1
    raise ColumnTypeError(
        "COLUMN_PATH",
        f"{text!r} is no path of a column: names with points between, in back quotes where they have other signs than letters, digits and _",
        hint="a.b, a.element.b, m.value.b or `a b`.c",
    )


def lower_path(path: Sequence[str]) -> LeafPath:
    """Return the path in small letters, by which paths are compared."""
    return tuple(name.lower() for name in path)


def is_touched(read: Sequence[str], changed: Sequence[str]) -> bool:
    """Return whether a change of one place concerns who reads the other: it is the same place, or one lies inside the other."""
    read_path, other = lower_path(read), lower_path(changed)
    return read_path[: len(other)] == other[: len(read_path)]


def list_leaves(columns: SqlColumns) -> Iterator[tuple[LeafPath, SqlType]]:
    """List every path to a place without parts, with its type; a user type and a struct without fields are such places."""
    for path, _, kind in _list_kinds(columns):
        yield path, kind


def find_lost_leaf(old: SqlColumns, new: SqlColumns, reads: Iterable[str]) -> LeafPath | None:
    """Return a leaf of the `old` columns that is read and that the `new` ones lack or have with another type; None without one.

    `reads` are paths: that of a place with parts reads all of them. Comments, NOT NULL and the order of columns don't count.
    An array does not become a map, or a struct, that has the same paths. Raises `ColumnTypeError` for a path that is none.
    """
    kinds_by_shape = {_shape(path, kinds): kind for path, kinds, kind in _list_kinds(new)}
    for path, kinds, kind in list_read_leaves(old, reads):
        if kinds_by_shape.get(_shape(path, kinds)) != kind:
            return path
    return None


def list_read_leaves(columns: SqlColumns, reads: Iterable[str]) -> Iterator[tuple[LeafPath, tuple[str, ...], SqlType]]:
    """List the leaves that are read, each with the kinds of what it is inside of (struct, array, map) and its type.

    `reads` are paths as in `find_lost_leaf`. Raises `ColumnTypeError` for a path that is none.
    """
    read_paths = [parse_path(read) for read in reads]
    return (leaf for leaf in _list_kinds(columns) if any(is_touched(read, leaf[0]) for read in read_paths))


def _list_kinds(columns: SqlColumns) -> Iterator[tuple[LeafPath, tuple[str, ...], SqlType]]:
    """List the leaves, each with the kinds of what it is inside of."""
    waiting: list[tuple[LeafPath, tuple[str, ...], SqlType]] = []
    waiting += (((name,), (), kind) for name, kind in reversed([*columns]))
    while waiting:
        path, kinds, kind = waiting.pop()
        match kind:
            case SqlStruct(fields) if fields:
                waiting += [((*path, field.name), (*kinds, "struct"), field.type) for field in reversed(fields)]
            case SqlArray(element):
                waiting.append(((*path, ELEMENT), (*kinds, "array"), element))
            case SqlMap(key, value):
                waiting.append(((*path, VALUE), (*kinds, "map"), value))
                waiting.append(((*path, KEY), (*kinds, "map"), key))
            case _:
                yield path, kinds, kind


def _shape(path: LeafPath, kinds: tuple[str, ...]) -> tuple[LeafPath, tuple[str, ...]]:
    return lower_path(path), kinds
