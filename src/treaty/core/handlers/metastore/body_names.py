"""Names of sources in the text of a query: where the text says them, and the same text with other ones.

A text is not parsed here: it is split into the words that Spark's lexer splits it into, and a word is replaced alone where it can be nothing
but the name of a source. All that stands between the words stays byte for byte.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from treaty.core.column_types.tokens import SqlToken, print_name, read_quoted, read_text, split_tokens
from treaty.core.handlers.metastore.definitions import PSEUDO_COLUMNS
from treaty.core.state.metastore.keys import key_of_name

_CALLS = frozenset((".", "(", "->", "=>", "-", "="))
_HEAD_WORDS = frozenset(("STREAM", "TABLE", "VIEW", "EXISTS"))
_MADE_COLUMNS = frozenset(("col", "key", "pos", "session_window", "value", "window"))
"""Columns that functions of Spark make without an alias: a word before a dot may be one of these."""
_MADE_NUMBERED = re.compile(r"col\d+")
_NAMING = frozenset(("from_csv", "from_json", "from_xml", "named_struct"))
"""Functions that name fields by texts, which are columns where a row is spread."""
_UNQUOTED = re.compile(r"[A-Za-z][A-Za-z0-9]*+(?:_[A-Za-z0-9]++)*+")
_SQL = """all and anti any array as asc at between bigint binary boolean both by case cast check collate column create cross cube current date
    decimal delete desc distinct double drop else end escape except exists explode false filter first float following for foreign from full
    function global grant group grouping having if in inner insert int integer intersect interval into is join last lateral leading left
    like limit local map merge minus natural no not null nulls of offset on only or order out outer over overlaps partition pivot position
    preceding primary qualify range recursive references replace right rlike rollup row rows sample select semi session set sets some sort
    start stream string struct substring table tablesample then time timestamp to trailing trim true truncate unbounded union unique unknown
    unnest unpivot update user using values view watermark when where window with within"""
_WORDS_OF_SQL = frozenset(_SQL.split())
"""Words that stand between back quotes where a source is called so."""


class UnclearNameError(Exception):
    """A word of a text may be the name of a source or something else; the message says which one, and why."""


@dataclass(frozen=True, slots=True)
class _Word:
    """A word that names a source, and what is written in its place."""

    token: SqlToken
    name: str


def rename_in_body(body: str, names: Mapping[str, str], columns: Collection[str]) -> str:
    """Return a body in which sources have other names: `names` has the new one by the key of each source that is renamed.

    `columns` are names of columns and fields that the body may read. Raises `UnclearNameError` where a word may be something else than the
    source, where a source is named by none, and where the text has a new name for something else.
    """
    tokens = split_tokens(body)
    words = [*_list_words(tokens, names, {*map(str.lower, columns)})]
    missing = names.keys() - {key_of_name(_name_of(word.token)) for word in words}
    if missing:
        raise UnclearNameError(f"no word of it is the source {min(missing)}")
    return _replace(body, words)


def rename_in_state(text: str, names: Mapping[str, str]) -> str:
    """Return a text about the state of a query, which is for people, with the new names before the columns of sources."""
    tokens = split_tokens(text)
    words = [
        _Word(token, names[key])
        for at, token in enumerate(tokens[:-1])
        if (key := key_of_name(_name_of(token))) in names and tokens[at + 1].text == "." and not _is_part(tokens, at)
    ]
    return _replace(text, words, frozenset())


def rename_in_statement(statement: str, own: Mapping[str, str], bodies: tuple[str, str]) -> str:
    """Return the text of a CREATE with another name in its head, and with another body; it stays where the text does not have these.

    `own` has the new name by the key of the source that the statement creates, and may be empty; `bodies` are the body and the new one.
    """
    body, new = bodies
    place = statement.rfind(body) if body else len(statement)
    head, rest = (statement, "") if place < 0 else (statement[:place], new + statement[place + len(body) :])
    tokens = split_tokens(head)
    named = (
        _Word(token, own[key])
        for at, token in enumerate(tokens)
        if at
        and tokens[at - 1].keyword in _HEAD_WORDS
        and (key := key_of_name(_name_of(token))) in own
        and not _is_condition(tokens, at)
    )
    return _replace(head, [*named][:1]) + rest


def _is_condition(tokens: Sequence[SqlToken], at: int) -> bool:
    """Whether IF NOT EXISTS begins there, which is no source that is called `if`."""
    return [token.keyword for token in tokens[at : at + 3]] == ["IF", "NOT", "EXISTS"]


def _list_words(tokens: Sequence[SqlToken], names: Mapping[str, str], columns: Collection[str]) -> Iterator[_Word]:
    """Yield the words that name sources. Raises `UnclearNameError`."""
    old = {key.lower() for key in names}
    new_names = {name.lower() for name in names.values()} - old
    declared = {*columns, *_MADE_COLUMNS, *_list_made_names(tokens)}
    depth = 0  # of parentheses in a hint, 1 outside of them
    for at, token in enumerate(tokens):
        if token.kind == "sign":
            depth = _depth_in_hint(depth, token.text)
        name = _name_of(token)
        lower = name.lower()
        if not name or _is_part(tokens, at) or depth == 1:
            continue
        if token.keyword == "IDENTIFIER" and tokens[at + 1].text == "(":
            raise UnclearNameError("IDENTIFIER makes names of texts")
        if lower in new_names:
            raise UnclearNameError(f"it has a word {token.text} already, which would be the source then")
        if lower not in old:
            continue
        key = key_of_name(name)
        if key not in names:
            raise UnclearNameError(f"{token.text} has other letters than the source")
        if _is_alias(tokens, at):
            continue
        is_column = lower in declared or _MADE_NUMBERED.fullmatch(lower) is not None
        if not depth:
            _refuse_unclear(tokens, at, is_column=is_column)
        if names[key].lower() in PSEUDO_COLUMNS:
            raise UnclearNameError(f"{names[key]} is a column of every record")
        if tokens[at + 1].text == "." and names[key].lower() in declared:
            raise UnclearNameError(f"{names[key]} may be a column where the text says {token.text}.")
        yield _Word(token, names[key])


def _refuse_unclear(tokens: Sequence[SqlToken], at: int, *, is_column: bool) -> None:
    """Raise `UnclearNameError` for a word that stands neither before a dot nor where a query says what it reads.

    Before a dot, and behind FROM, which functions have too, it may be a column or an alias where there is one of the name.
    """
    word, after = tokens[at], tokens[at + 1].text
    in_parentheses = at > 1 and tokens[at - 1].text == "(" and after == ")"
    first = at - (2 if in_parentheses else 1)
    before, outer = (
        (_keyword_at(tokens, place) or tokens[place].text) if place >= 0 else "" for place in (first, first - 1)
    )
    if (before == "STREAM" and outer in {"FROM", "JOIN"}) or (before == "TABLE" and outer in {"", "(", "FROM", "JOIN"}):
        return
    if before == "JOIN" and not in_parentheses and after not in _CALLS:
        return
    if after != "." and (before != "FROM" or in_parentheses or after in _CALLS):
        raise UnclearNameError(f"{word.text} stands where no source is named: as a column, an alias or a function")
    if is_column:
        raise UnclearNameError(f"{word.text} may be a column, or an alias of the query")


def _list_made_names(tokens: Sequence[SqlToken]) -> Iterator[str]:
    """Yield the names that a text itself gives, in small letters: those behind AS, and the words of texts that name fields."""
    yield from (_name_of(token).lower() for at, token in enumerate(tokens) if _is_alias(tokens, at))
    if any(token.text.lower() in _NAMING for token in tokens):
        texts = (read_text(token) for token in tokens if token.kind in {"text", "raw"})
        yield from (_name_of(word).lower() for text in texts for word in split_tokens(text))


def _depth_in_hint(depth: int, sign: str) -> int:
    """Return how deep a hint is in its parentheses after a sign: 1 where its own name stands, and 0 outside of hints."""
    if sign in {"/*+", "*/"}:
        return int(sign == "/*+")
    return depth + (sign == "(") - (sign == ")") if depth else 0


def _keyword_at(tokens: Sequence[SqlToken], at: int) -> str:
    """Return a word in capitals that may be one of the language: not a column behind a dot, which may be called from or join."""
    return "" if _is_part(tokens, at) else tokens[at].keyword


def _is_alias(tokens: Sequence[SqlToken], at: int) -> bool:
    """Whether a word stands after AS: the name that the query itself gives to a column, or to what it reads."""
    return at > 0 and tokens[at - 1].keyword == "AS"


def _is_part(tokens: Sequence[SqlToken], at: int) -> bool:
    """Whether a word stands after a dot: a column or a field of what is before it."""
    return at > 0 and tokens[at - 1].text == "."


def _replace(text: str, words: Sequence[_Word], reserved: Collection[str] = _WORDS_OF_SQL) -> str:
    """Return a text with words in the place of others: between back quotes unless they are plain, and not reserved."""
    parts, end = [], 0
    for token, name in ((word.token, word.name) for word in words):
        is_plain = _UNQUOTED.fullmatch(name) is not None and name.lower() not in reserved
        parts += [text[end : token.start], name if is_plain else print_name(name, frozenset((name.upper(),)))]
        end = token.end
    return "".join((*parts, text[end:]))


def _name_of(token: SqlToken) -> str:
    return read_quoted(token) if token.kind == "quoted" else token.text if token.kind == "word" else ""
