"""Columns of a schema as DDL, the words in which a plan keeps types; a variant is JSON text there."""

import re
from collections.abc import Iterable, Iterator, Mapping

from treaty.core.state.columns import Column, Columns, ColumnType, Decimal, List, Map, Scalar, Struct

WORDS: Mapping[str, str] = {
    "null": "VOID",
    "boolean": "BOOLEAN",
    "int32": "INT",
    "int64": "BIGINT",
    "float32": "FLOAT",
    "float64": "DOUBLE",
    "string": "STRING",
    "binary": "BINARY",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "timestamp_ntz": "TIMESTAMP_NTZ",
    "variant": "STRING",
}
"""By scalar of `treaty.core.state.columns.SCALARS`."""


def quote_name(name: str) -> str:
    """A column's name between back quotes."""
    return f"`{name.replace('`', '``')}`"


def type_ddl(kind: ColumnType) -> str:
    """The Spark type of a column type; nullability is left out."""
    match kind:
        case Scalar(name):
            return WORDS[name]
        case Decimal(precision, scale):
            return f"DECIMAL({precision}, {scale})"
        case List(element):
            return f"ARRAY<{type_ddl(element)}>"
        case Map(key, value):
            return f"MAP<{type_ddl(key)}, {type_ddl(value)}>"
    return struct_ddl(tuple((one.name, type_ddl(one.type)) for one in kind.columns))


def struct_ddl(columns: tuple[tuple[str, str], ...]) -> str:
    """The Spark type of a record with these columns (name, type)."""
    inside = ", ".join(f"{quote_name(name)}: {kind}" for name, kind in columns)
    return f"STRUCT<{inside}>"


def columns_ddl(derived: Columns) -> tuple[tuple[str, str], ...]:
    """Name and Spark type of each column."""
    return tuple((one.name, type_ddl(one.type)) for one in derived.columns)


def list_docs(columns: Iterable[Column], way: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """What is said of columns, by path: ``[]`` leads to the items of a list, ``{}`` to the values of a map."""
    for column in columns:
        path, kind = (*way, column.name), column.type
        if column.doc:
            yield path, column.doc
        while isinstance(kind, List | Map):
            path, kind = (*path, "[]" if isinstance(kind, List) else "{}"), _inner_type(kind)
        if isinstance(kind, Struct):
            yield from list_docs(kind.columns, path)


def _inner_type(kind: List | Map) -> ColumnType:
    return kind.element if isinstance(kind, List) else kind.value


_SCALARS = {word: name for name, word in WORDS.items() if name != "variant"} | {"VARIANT": "variant"}
_TOKEN = re.compile(r"\s*(`(?:[^`]|``)*`|[A-Z_]+|\d+|[<>(),:])")


def parse_type(text: str) -> ColumnType:
    """The column type that a plan's word for it means; everything in it may be null."""
    tokens = _TOKEN.findall(text)[::-1]
    column_type = _type(tokens)
    if tokens:
        message = f"{text!r} goes on after a type"
        raise ValueError(message)
    return column_type


def _type(tokens: list[str]) -> ColumnType:
    word = tokens.pop()
    if word == "ARRAY":
        (element,) = _parts(tokens, 1)
        return List(element, nullable=True)
    if word == "MAP":
        key, value = _parts(tokens, 2)
        return Map(key, value, nullable=True)
    if word == "DECIMAL":
        _, precision, _, scale, _ = (tokens.pop() for _ in range(5))
        return Decimal(int(precision), int(scale))
    if word != "STRUCT":
        return Scalar(_SCALARS[word])
    columns = []
    while tokens.pop() != ">":  # the bracket that opens, commas, the bracket that closes
        if tokens[-1] == ">":
            continue
        name = tokens.pop()[1:-1].replace("``", "`")
        tokens.pop()
        columns.append(Column(name, _type(tokens)))
    return Struct(tuple(columns))


def _parts(tokens: list[str], count: int) -> list[ColumnType]:
    parts = []
    for _ in range(count):
        tokens.pop()
        parts.append(_type(tokens))
    tokens.pop()
    return parts


def find_free_name(name: str, used_names: set[str]) -> str:
    """The name, longer where one of `used_names` (in lower case) is the same to Spark."""
    while name.lower() in used_names:
        name += "_"
    return name
