"""Types as SQL text, read in a way of the judge's own: enough for the texts that clients of a life send."""

import re
from typing import Any, NamedTuple

from tests.simulation.judging.model.metastore.names import BUILT_IN
from tests.simulation.judging.model.metastore.state import key_of, types
from tests.simulation.judging.model.past import Past
from tests.simulation.judging.model.refusing import No
from treaty.core import limits
from treaty.core.refusals import InvalidSource, TooLarge, TypeNotFound

TOKEN = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*|`[^`]+`|[<>,:()]|[0-9]+)")


class SqlType(NamedTuple):
    """A type: a word, and the types inside it with the names of its fields."""

    word: str
    inside: tuple["SqlType", ...] = ()
    fields: tuple[str, ...] = ()


def parse(text: str, rule: str) -> SqlType:
    """Read a type; refuse what is none."""
    tokens, at = [], 0
    while text[at:].strip():
        match = TOKEN.match(text, at)
        if match is None:
            raise No(InvalidSource, rule)
        tokens.append(match[1])
        at = match.end()
    try:
        read, rest = _read(tokens)
    except (IndexError, ValueError):
        raise No(InvalidSource, rule) from None
    if rest:
        raise No(InvalidSource, rule)
    return read


def _read(tokens: list[str]) -> tuple[SqlType, list[str]]:
    word, rest = tokens[0], tokens[1:]
    if not re.match(r"[A-Za-z_`]", word):
        raise ValueError(word)
    low = word.lower()
    if low not in {"array", "map", "struct"}:
        return SqlType(word), rest
    if rest[0] != "<":
        raise ValueError(word)
    inside, fields, rest = list[SqlType](), list[str](), rest[1:]
    while True:
        if low == "struct":
            fields.append(rest[0])
            rest = rest[2:] if rest[1] == ":" else rest[1:]
        part, rest = _read(rest)
        inside.append(part)
        if rest[0] == ">":
            break
        if rest[0] != ",":
            raise ValueError(rest[0])
        rest = rest[1:]
    if len(inside) != {"array": 1, "map": 2}.get(low, len(inside)):
        raise ValueError(word)
    return SqlType(word, tuple(inside), tuple(fields)), rest[1:]


def named_in(read: SqlType) -> set[str]:
    """Keys of the named types in a type."""
    own = {key_of(read.word.strip("`"))} - BUILT_IN
    return own.union(*(named_in(part) for part in read.inside))


def canonical(read: SqlType) -> str:
    """The text that is kept of a type."""
    if not read.inside:
        known = key_of(read.word) in BUILT_IN
        return read.word.upper() if known else read.word
    parts = [canonical(part) for part in read.inside]
    if read.fields:
        parts = [f"{name}: {part}" for name, part in zip(read.fields, parts, strict=True)]
    return f"{read.word.upper()}<{', '.join(parts)}>"


def expanded(past: Past, read: SqlType) -> SqlType:
    """A type with the definitions of its named types in their places."""
    if read.inside:
        return read._replace(inside=tuple(expanded(past, part) for part in read.inside))
    named = types(past).get(key_of(read.word.strip("`")))
    return read if named is None else expanded(past, parse(named.definition, "TYPE_TEXT"))


def depth(read: SqlType) -> int:
    return 1 + max(map(depth, read.inside), default=0)


def refuse_missing(past: Past, keys: set[str]) -> None:
    """Refuse a type that nobody has named."""
    if keys - set(types(past)):
        raise No(TypeNotFound, "TYPE_NOT_FOUND")


def refuse_deep(past: Past, read: SqlType) -> None:
    if depth(expanded(past, read)) > limits.TYPE_DEPTH:
        raise No(TooLarge, "TYPE_DEPTH")


def column_types(columns: Any) -> list[SqlType]:
    """The types of columns."""
    return [parse(column.type, "COLUMN_TYPE") for column in columns]
