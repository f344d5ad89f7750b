"""Columns from words such as ``a int32!, b [string!], c (x int64, y decimal(5, 2)), d {string: float64}``: ``!`` is never null."""

import re

from treaty.core.state.columns import Column, ColumnType, Decimal, List, Map, Scalar, Struct

TOKEN = re.compile(r"\s*(`[^`]*`|[^\s\[\](){},:!]+|[\[\](){},:!])")


def read_columns(text: str) -> tuple[Column, ...]:
    """Columns as `texts.show_column` writes them, without docs; a name with other signs stands in back quotes."""
    return _read_members(TOKEN.findall(text)[::-1], "")


def _read_members(tokens: list[str], end: str) -> tuple[Column, ...]:
    columns = []
    while tokens and tokens[-1] != end:
        name = tokens.pop().strip("`")
        kind = _read_type(tokens)
        columns.append(Column(name, kind, not _take(tokens, "!")))
        _take(tokens, ",")
    _take(tokens, end)
    return tuple(columns)


def _read_type(tokens: list[str]) -> ColumnType:
    word = tokens.pop()
    if word == "[":
        element = _read_type(tokens)
        nullable = not _take(tokens, "!")
        tokens.pop()
        return List(element, nullable)
    if word == "{":
        key = _read_type(tokens)
        tokens.pop()
        value = _read_type(tokens)
        nullable = not _take(tokens, "!")
        tokens.pop()
        return Map(key, value, nullable)
    if word == "(":
        return Struct(_read_members(tokens, ")"))
    if word == "decimal":
        _, precision, _, scale, _ = (tokens.pop() for _ in range(5))
        return Decimal(int(precision), int(scale))
    return Scalar(word)


def _take(tokens: list[str], word: str) -> bool:
    if not tokens or tokens[-1] != word:
        return False
    tokens.pop()
    return True
