"""A script parsed: each statement with its place and text, and all errors and warnings of the script."""

import gc
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from importlib import import_module
from itertools import pairwise
from typing import Any

from treaty.core.column_types.tokens import SqlToken, split_tokens
from treaty.core.limits import SCRIPT_BYTES, SCRIPT_DIAGNOSTICS, SCRIPT_STATEMENTS, STATEMENT_BYTES
from treaty.light_dataclass import dataclass
from treaty.metastore.sql.cursor import StatementCursor, is_comment
from treaty.metastore.sql.diagnostics import ERROR, WARNING, LineIndex, SqlDiagnostic, StatementError, nearest_word
from treaty.metastore.sql.foreign_words import COMMENT, FIRST
from treaty.metastore.sql.keywords import FIRST_WORDS
from treaty.metastore.sql.statements import (
    DefineStatement,
    SetStatement,
    SqlStatement,
    UndefineStatement,
    UnsetStatement,
)
from treaty.metastore.sql.variables import ReplacedText, replace_variables

LARGE_TEXT = 50_000
"""From so many characters on a text is parsed without looks for garbage: tokens are in no cycles, and each look goes through all of them."""
_REFUSED = re.compile("[\0\ufeff\ud800-\udfff]")
_READERS: Mapping[str, str] = {
    "CREATE": "create.read_create",
    "EXPLAIN": "questions.read_explain",
    "ALTER": "changes.read_alter",
    "DROP": "changes.read_drop",
    "UNDROP": "changes.read_undrop",
    "PAUSE": "changes.read_pause",
    "RESUME": "changes.read_resume",
    "ROLLBACK": "changes.read_rollback",
    "RESET": "changes.read_reset",
    "REFRESH": "changes.read_refresh",
    "SHOW": "listings.read_show",
    "LIST": "listings.read_show",
    "DESCRIBE": "listings.read_describe",
    "DESC": "listings.read_describe",
    "SELECT": "records.read_select",
    "PRINT": "questions.read_print",
    "ASSERT": "questions.read_assert",
    "INSERT": "records.read_insert",
    "UPDATE": "records.read_update",
    "DELETE": "records.read_delete",
    "DEFINE": "changes.read_define",
    "UNDEFINE": "changes.read_undefine",
    "SET": "changes.read_set",
    "UNSET": "changes.read_unset",
}
"""By first word: the module and the function that read the rest of a statement."""
_WITH_SETTINGS = frozenset({"CREATE", "EXPLAIN"})
"""First words of statements that settings give defaults to."""


@dataclass(frozen=True, slots=True)
class ParsedStatement:
    """A statement with its place: offsets of the text that was sent, in code points, without the semicolon.

    `text` is the statement with its variables replaced, and is ``head + body + tail``; without a query all of it is the head.
    `line` and `column` are those of the start, from 1.
    """

    value: SqlStatement
    start: int
    end: int
    head: str
    body: str = ""
    tail: str = ""
    line: int = 1
    column: int = 1

    @property
    def text(self) -> str:
        """The whole statement, with its variables replaced."""
        return self.head + self.body + self.tail


@dataclass(frozen=True, slots=True)
class StatementScript:
    """What a text holds. `diagnostics` are errors; statements with errors are not in `statements`. `settings` and `variables`
    are what SET and DEFINE have left at its end.
    """

    statements: tuple[ParsedStatement, ...]
    diagnostics: tuple[SqlDiagnostic, ...] = ()
    warnings: tuple[SqlDiagnostic, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    settings: tuple[tuple[str, str], ...] = ()


def parse_script(text: str, variables: Mapping[str, str] | None = None) -> StatementScript:
    """Parse statements with semicolons between them. Errors are returned, and never raised; the time is linear.

    Limits are STATEMENT_BYTES for each statement, SCRIPT_BYTES for all with their variables replaced, SCRIPT_STATEMENTS, and
    SCRIPT_DIAGNOSTICS, after which the rest is not read.
    """
    if len(text) < LARGE_TEXT:
        return _ScriptParser(text, variables or {}).parse()
    with _collecting_later():
        return _ScriptParser(text, variables or {}).parse()


@contextmanager
def _collecting_later() -> Iterator[None]:
    """Pause the collector of garbage, unless something else has; what has no cycles goes without it."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class _ScriptParser:
    """Goes through the statements of a text; `_variables` and `_settings` are those at the present statement."""

    def __init__(self, text: str, variables: Mapping[str, str]) -> None:
        # A byte order mark at the beginning, which editors write, is a blank.
        self._text = " " + text[1:] if text.startswith("\ufeff") else text
        self._lines = LineIndex(text)
        self._variables = dict(variables)
        self._settings: dict[str, str] = {}
        self._statements: list[ParsedStatement] = []
        self._errors: list[SqlDiagnostic] = []
        self._warnings: list[SqlDiagnostic] = []
        self._size = 0

    def parse(self) -> StatementScript:
        self._parse_all(split_tokens(self._text))
        return StatementScript(
            tuple(self._statements),
            tuple(self._errors),
            tuple(self._warnings),
            tuple(self._variables.items()),
            tuple(self._settings.items()),
        )

    def _has_characters(self, text: str, start: int, end: int, replaced: ReplacedText | None = None) -> bool:
        """Say whether all characters of a part of the text are allowed, and note the first that is not."""
        refused = _REFUSED.search(text, start, end)
        if refused:
            message = f"the character U+{ord(refused[0]):04X} is in no statement"
            error = StatementError("CHARACTER_REFUSED", message, refused.start(), refused.end(), hint="remove it")
            self._note(error, replaced)
        return refused is None

    def _parse_all(self, tokens: Sequence[SqlToken]) -> None:
        count, first, begin = 0, 0, 0
        for at, token in enumerate(tokens):
            if token.kind != "end" and (token.kind != "sign" or token.text != ";"):
                continue
            if at > first:
                count += 1
                if count > SCRIPT_STATEMENTS:
                    message = f"the script has more statements than the limit SCRIPT_STATEMENTS of {SCRIPT_STATEMENTS}"
                    place = tokens[first]
                    self._note(
                        StatementError("SCRIPT_TOO_LONG", message, place.start, place.end, hint="several scripts")
                    )
                    return
                self._parse_statement(tokens[first:at], begin, token.start)
                if len(self._errors) >= SCRIPT_DIAGNOSTICS:
                    self._stop(token)
                    return
            first, begin = at + 1, token.end

    def _stop(self, token: SqlToken) -> None:
        is_cut = len(self._errors) > SCRIPT_DIAGNOSTICS
        del self._errors[SCRIPT_DIAGNOSTICS:]
        if is_cut or token.kind != "end":
            message = f"the script has more errors than the limit SCRIPT_DIAGNOSTICS of {SCRIPT_DIAGNOSTICS}; the rest is not read"
            self._note(StatementError("TOO_MANY_DIAGNOSTICS", message, token.start, token.end, hint="mend these"))

    # -------------------------------------------------------------------------------------------------- one statement

    def _parse_statement(self, tokens: Sequence[SqlToken], begin: int, limit: int) -> None:
        """Parse the statement between two offsets, blanks around it cut off."""
        raw = self._text[begin:limit]
        start = begin + len(raw) - len(raw.lstrip())
        end = max(start, begin + len(raw.rstrip()))
        if not self._has_characters(self._text, start, end):
            return
        replaced: ReplacedText | None = None
        if "${" in raw and any("${" in token.text for token in tokens):
            replaced, errors = replace_variables(self._text, tokens, start, end, self._variables)
            for error in errors:
                self._note(error)
            if errors:
                return
        text = replaced.text if replaced else self._text[start:end]
        if replaced and not self._has_characters(text, 0, len(text), replaced):
            return
        if not self._fits(text, start, end):
            return
        if replaced is None:
            self._read(StatementCursor(self._text, [*tokens, SqlToken("end", "", end, end)]), None, start, end)
            return
        shifted = split_tokens(text)
        semicolon = next((one for one in shifted if (one.kind, one.text) == ("sign", ";")), None)
        if semicolon is None:
            self._read(StatementCursor(text, shifted), replaced, start, end)
        else:
            message = "the value of a variable ends the statement"
            error = StatementError(
                "VARIABLE_SPLITS", message, semicolon.start, semicolon.end, hint="a statement of its own"
            )
            self._note(error, replaced)

    def _fits(self, text: str, start: int, end: int) -> bool:
        size = len(text.encode())
        self._size += size
        if size <= STATEMENT_BYTES and self._size <= SCRIPT_BYTES:
            return True
        limit, number = (
            ("STATEMENT_BYTES", STATEMENT_BYTES) if size > STATEMENT_BYTES else ("SCRIPT_BYTES", SCRIPT_BYTES)
        )
        message = f"statements with their variables replaced have more bytes than the limit {limit} of {number}"
        self._note(StatementError("STATEMENT_TOO_LARGE", message, start, end, hint="smaller ones"))
        return False

    def _read(self, cursor: StatementCursor, replaced: ReplacedText | None, start: int, end: int) -> None:
        value: SqlStatement | None = None
        try:
            if cursor.tokens[-2].kind == "open":
                raise _open_error(cursor.tokens)
            value = self._dispatch(cursor)
        except StatementError as error:
            cursor.errors.append(error)
        for noted in cursor.errors:
            self._note(noted, replaced)
        for warning in cursor.warnings:
            self._note(warning, replaced, WARNING)
        if value is None or cursor.errors:
            return
        text = cursor.text if replaced else self._text[start:end]
        line, column = self._lines.find(start)
        self._statements.append(replace(_split(value, text, start, end, cursor), line=line, column=column))
        self._apply(value)

    def _dispatch(self, cursor: StatementCursor) -> SqlStatement:
        word = cursor.token.keyword
        if word not in FIRST_WORDS:
            _refuse_word(cursor)
        cursor.at += 1
        statement: SqlStatement
        if word in _WITH_SETTINGS:
            statement = _reader_of(word)(cursor, tuple(self._settings.items()))
        else:
            statement = _reader_of(word)(cursor)
        return statement

    def _apply(self, value: SqlStatement) -> None:
        """What a statement changes for those after it."""
        match value:
            case DefineStatement(name, text):
                self._variables[name] = text
            case UndefineStatement(name):
                self._variables.pop(name, None)
            case SetStatement(name, text):
                self._settings[name] = text
            case UnsetStatement(name):
                self._settings.pop(name, None)

    def _note(self, error: StatementError, replaced: ReplacedText | None = None, severity: str = ERROR) -> None:
        notes = self._errors if severity == ERROR else self._warnings
        if len(notes) > SCRIPT_DIAGNOSTICS:
            return
        start, end = replaced.find(error.start, error.end) if replaced else (error.start, error.end)
        line, column = self._lines.find(start)
        message = error.message if len(error.message) < 500 else f"{error.message[:500]}…"
        notes.append(SqlDiagnostic(error.code, message, start, end, line, column, error.expected, error.hint, severity))


@cache
def _reader_of(word: str) -> Callable[..., Any]:
    """Return what reads statements of a first word; its module is loaded for the first of them."""
    module, name = _READERS[word].split(".")
    reader: Callable[..., Any] = getattr(import_module(f"treaty.metastore.sql.{module}"), name)
    return reader


def _split(value: SqlStatement, text: str, start: int, end: int, cursor: StatementCursor) -> ParsedStatement:
    """The statement with its head, body and tail."""
    if cursor.body is None:
        return ParsedStatement(value, start, end, text)
    offset = 0 if cursor.text is text else start
    first, last = (place - offset for place in cursor.body)
    return ParsedStatement(value, start, end, text[:first], text[first:last], text[last:])


def _open_error(tokens: Sequence[SqlToken]) -> StatementError:
    """The error of a text, a name or a comment that does not end, at the one that was most likely left open."""
    token = tokens[-2]
    comment = next((before for before, after in pairwise(tokens) if is_comment(before, after)), None)
    if comment is not None:
        message = f"{comment.text if comment.text == '#' else '//'} begins no comment"
        return StatementError("SYNTAX", message, comment.start, comment.end, hint=COMMENT)
    early = _find_early_end(tokens)
    if early is not None:
        message = "the text that begins here ends at the next quote, and a later one does not end"
        hint = f"{early.text[0]} where it ends; {early.text[0] * 2} for a quote inside of it"
        return StatementError("TEXT_OPEN", message, early.start, early.end, expected=(early.text[0],), hint=hint)
    words = {"'": "the text", '"': "the text", "`": "the name", "/": "the comment"}
    what = words[token.text[0]]
    close = "*/" if token.text[0] == "/" else token.text[0]
    message = f"{what} that begins here does not end"
    return StatementError(
        "TEXT_OPEN", message, token.start, token.end, expected=(close,), hint=f"{close} where it ends"
    )


def _find_early_end(tokens: Sequence[SqlToken]) -> SqlToken | None:
    """The first text that a word follows without a blank, before one with the same quotes that does not end."""
    quote = tokens[-2].text[0]
    return next((one for one, after in pairwise(tokens) if _runs_on(one, after) and one.text[0] == quote), None)


def _runs_on(token: SqlToken, after: SqlToken) -> bool:
    return token.kind == "text" and token.end == after.start and after.kind in {"word", "number"}


def _refuse_word(cursor: StatementCursor) -> None:
    token, word = cursor.token, cursor.token.keyword
    if word == "TERMINATE":
        hint = "DROP ends a query with its source, PAUSE stops it and keeps its state"
        cursor.fail(
            "TERMINATE", "there is no TERMINATE: a query belongs to its source", hint=hint, expected=("DROP", "PAUSE")
        )
    if word in {"FROM", "WITH"} or token.text == "(":
        hint = "CREATE STREAM … AS with this query, or SELECT … FROM treaty.sources"
        cursor.fail("SELECT_REFUSED", "a query alone is no statement", hint=hint, expected=FIRST_WORDS)
    if is_comment(token, cursor.following):
        cursor.fail("STATEMENT_UNKNOWN", f"{token.label} begins no statement", hint=COMMENT, expected=FIRST_WORDS)
    if token.text.startswith("\\"):
        hint = "short commands with a backslash are those of `treaty sql` on a terminal"
        cursor.fail("STATEMENT_UNKNOWN", f"{token.label} begins no statement", hint=hint, expected=FIRST_WORDS)
    near = "" if word in FIRST else nearest_word(word, FIRST_WORDS)
    hint = FIRST.get(word) or (
        f"did you mean {near}?"
        if near
        else "the words of statements are CREATE, ALTER, DROP, SHOW, DESCRIBE and others"
    )
    cursor.fail(
        "STATEMENT_UNKNOWN", f"{token.label} begins no statement", hint=hint, expected=(near,) if near else FIRST_WORDS
    )
