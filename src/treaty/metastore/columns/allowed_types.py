"""Types that a format has no place for, each with what is allowed instead: they are refused before a schema is made of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from treaty.core.column_types.leaf_paths import ELEMENT, KEY, VALUE, LeafPath, print_path
from treaty.core.limits import DECIMAL_DIGITS
from treaty.core.refusals import Invalid
from treaty.core.state.columns import Column, ColumnType, Decimal, List, Map, Scalar, Struct
from treaty.metastore.columns.sql_types import print_bare_type

STRING_KEYS = frozenset({"string"})
MAP_KEYS: Mapping[str, frozenset[str]] = {
    "AVRO": STRING_KEYS,
    "JSON": STRING_KEYS,
    "PROTOBUF": frozenset({"boolean", "int32", "int64", "string"}),
}
"""By format, the scalars that keys of its maps may be."""
ABSENT_SCALARS: Mapping[str, Mapping[str, str]] = {
    "JSON": {"timestamp_ntz": "TIMESTAMP, or STRING"},
    "PROTOBUF": {"timestamp_ntz": "TIMESTAMP, or STRING"},
}
"""By format, the scalars that it has no type for, and what may stand there."""
ABSENT_EVERYWHERE: Mapping[str, str] = {
    "variant": "STRING, which has the JSON text",
    "null": "the type that the values have",
}
"""Scalars that a column of a source can't be declared as."""


@dataclass(frozen=True, slots=True)
class AbsentType:
    """A place whose type a format does not have: its path, its type, why, and what is allowed there."""

    path: LeafPath
    type: str
    why: str
    allowed: str


def refuse_absent_types(columns: Sequence[Column], format_: str) -> None:
    """Raise `Invalid` for the first column that the format has no type for."""
    absent = next(list_absent_types(columns, format_), None)
    if absent is None:
        return
    path = print_path(absent.path)
    raise Invalid.of(
        "COLUMN_TYPE",
        f"the column {path} is {absent.type}, and {absent.why}: declare it as {absent.allowed}",
        path=path,
        new=absent.type,
        allowed=absent.allowed,
    )


def list_absent_types(columns: Sequence[Column], format_: str) -> Iterator[AbsentType]:
    """Every place whose type the format does not have."""
    absent = {*ABSENT_EVERYWHERE, *ABSENT_SCALARS.get(format_, ())}
    for column in columns:
        if not isinstance(column.type, Scalar) or column.type.name in absent:
            yield from _list_inside(column.type, format_, (column.name,))


def _list_inside(kind: ColumnType, format_: str, path: LeafPath) -> Iterator[AbsentType]:
    match kind:
        case Scalar(name):
            if name in ABSENT_EVERYWHERE:
                yield AbsentType(path, name.upper(), "no format has that type", ABSENT_EVERYWHERE[name])
            elif allowed := ABSENT_SCALARS.get(format_, {}).get(name):
                yield AbsentType(path, print_bare_type(kind), f"{format_} has no such type", allowed)
        case Decimal(precision, scale):
            if not (1 <= precision <= DECIMAL_DIGITS and 0 <= scale <= precision):
                why = f"decimals have 1 to {DECIMAL_DIGITS} digits, none to all of them after the point"
                yield AbsentType(
                    path, print_bare_type(kind), why, f"at most DECIMAL({DECIMAL_DIGITS}, {DECIMAL_DIGITS})"
                )
        case Struct(columns):
            for column in columns:
                yield from _list_inside(column.type, format_, (*path, column.name))
        case List(element):
            yield from _list_nested(kind, element, format_, path)
            yield from _list_inside(element, format_, (*path, ELEMENT))
        case Map(key, value):
            keys = MAP_KEYS.get(format_)
            if keys is not None and not (isinstance(key, Scalar) and key.name in keys):
                allowed = " or ".join(sorted(print_bare_type(Scalar(one)) for one in keys))
                yield AbsentType((*path, KEY), print_bare_type(key), f"that is no key of a map in {format_}", allowed)
            yield from _list_nested(kind, value, format_, path)
            yield from _list_inside(value, format_, (*path, VALUE))


def _list_nested(kind: List | Map, inner: ColumnType, format_: str, path: LeafPath) -> Iterator[AbsentType]:
    """Protobuf has no lists of lists or maps, and no maps of them (Language Guide, proto3: Maps)."""
    if format_ == "PROTOBUF" and isinstance(inner, List | Map):
        word = "array" if isinstance(kind, List) else "map"
        why = f"PROTOBUF has no {word} whose items are arrays or maps"
        wrapped = f"STRUCT<`items`: {print_bare_type(inner)}>"
        allowed = f"ARRAY<{wrapped}>" if isinstance(kind, List) else f"MAP<{print_bare_type(kind.key)}, {wrapped}>"
        yield AbsentType(path, print_bare_type(kind), why, allowed)
