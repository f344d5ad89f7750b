"""Errors and warnings about statements as data: a code, a place in the text that was sent, and the remedy."""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from treaty.core.refusals import Reason, TypeNotFound
from treaty.light_dataclass import dataclass

ERROR, WARNING = "error", "warning"
_LINE_END = re.compile(r"\r\n?+|\n")

STATEMENT_CODES: Mapping[str, str] = {
    "SYNTAX": "a word stands where another is expected",
    "TEXT_OPEN": "a string, a name in back quotes or a comment does not end",
    "CHARACTER_REFUSED": "a statement has no NUL, no byte order mark inside and no half of a surrogate pair",
    "STATEMENT_UNKNOWN": "the first word begins no statement",
    "STATEMENT_TOO_LARGE": "a statement, or all with their variables replaced, is larger than its limit",
    "SCRIPT_TOO_LONG": "a script has more statements than its limit",
    "TOO_MANY_DIAGNOSTICS": "a script has more errors than are listed",
    "NAME_REFUSED": "a name is empty, or needs back quotes",
    "COLUMN_TWICE": "a column is there twice",
    "TOO_MANY_COLUMNS": "a head has more columns than its limit",
    "KEY_WORD_MISMATCH": "a key of a stream is KEY, that of a table PRIMARY KEY",
    "TYPE_SYNTAX": "a text is no type of a column",
    "TYPE_UNKNOWN": "a type does not exist",
    "TYPE_NUMBER": "a number of a type is out of its range",
    "TYPE_LENGTH": "a type has a length or a number of digits, which no format checks",
    "TYPE_FIELD_TWICE": "a struct has a field twice",
    "TYPE_DEPTH": "a type nests deeper than its limit",
    "TYPE_SIZE": "a type is larger than its limit",
    "TYPE_RECURSIVE": "a user type is inside itself",
    "TYPE_NAME_TAKEN": "a user type has the name of a type of SQL",
    "PROPERTY_UNKNOWN": "a property does not exist",
    "PROPERTY_TWICE": "a property is there twice, or together with one that includes it",
    "PROPERTY_VALUE": "a property has a value that it does not take",
    "PROPERTY_MISPLACED": "a property has no meaning in this statement",
    "TOO_MANY_PROPERTIES": "a statement has more properties than its limit",
    "BODY_EXPECTED": "what follows AS is no query",
    "KSQL_WINDOW": "WINDOW TUMBLING, HOPPING and SESSION of ksqlDB are functions in Spark",
    "KSQL_PARTITION_BY": "PARTITION BY of ksqlDB is a key column in Spark",
    "KSQL_WITHIN": "WITHIN of ksqlDB is a condition of the join in Spark",
    "KSQL_EMIT": "EMIT stands at the end of a statement",
    "KSQL_SOURCE": "CREATE SOURCE of ksqlDB is a permission here",
    "WATERMARK_AFTER_ALIAS": "a watermark stands before the alias",
    "INSERT_SELECT": "INSERT INTO … SELECT is a body with UNION ALL",
    "TERMINATE": "a query ends by DROP or PAUSE",
    "SELECT_REFUSED": "SELECT reads the system tables alone",
    "VALUE_REFUSED": "a value is no literal, or rows differ in length",
    "VALUES_TOO_DEEP": "a value nests deeper than its limit",
    "CONDITION_REFUSED": "a condition is none of those that a statement takes",
    "VARIABLE_UNKNOWN": "a variable is not defined",
    "VARIABLE_SPLITS": "the value of a variable ends the statement",
    "SETTING_UNKNOWN": "SET takes defaults of a few properties alone",
    "EMIT_CHANGES_CUT": "EMIT CHANGES is cut off: changes are what a query emits",
}
"""Codes of diagnostics and what they say."""

WORD_LENGTH = 40
"""Characters of a word for which the nearest known one is looked for; longer ones get none."""


@dataclass(frozen=True, slots=True)
class SqlDiagnostic:
    """An error or warning. `code` is one of `STATEMENT_CODES`; `start` and `end` are offsets in code points of the text
    that was sent, `line` and `column` those of the start, from 1. `expected` says what is allowed there, `hint` the remedy.
    """

    code: str
    message: str
    start: int
    end: int
    line: int
    column: int
    expected: tuple[str, ...] = ()
    hint: str = ""
    severity: str = ERROR

    def __str__(self) -> str:
        remedy = f"; {self.hint}" if self.hint else ""
        return f"line {self.line}, column {self.column}: {self.message}{remedy}"


class StatementError(Exception):
    """The end of a statement that can't be read further; offsets are those of the text being parsed."""

    def __init__(
        self, code: str, message: str, start: int, end: int, *, expected: tuple[str, ...] = (), hint: str = ""
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.start = start
        self.end = end
        self.expected = expected
        self.hint = hint


class MissingTypesError(TypeNotFound):
    """Types of columns that are not there: the refusals of all of them, and their places in the text of the statement."""

    def __init__(
        self, reason: Reason, missing: Sequence[TypeNotFound] = (), diagnostics: Sequence[SqlDiagnostic] = ()
    ) -> None:
        """Set the reason, the refusals and the places."""
        super().__init__(reason)
        self.missing = tuple(missing)
        self.diagnostics = tuple(diagnostics)

    @classmethod
    def by(cls, missing: Sequence[TypeNotFound]) -> "MissingTypesError":
        """Return the error of types that are missing; its reason is that of the first one."""
        return cls(missing[0].reason, missing)


class LineIndex:
    """Finds the line and column of an offset; lines end with a line feed, a carriage return, or both."""

    __slots__ = ("_starts", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts: list[int] = []

    def find(self, offset: int) -> tuple[int, int]:
        """Return line and column, both from 1, of an offset in code points. The lines are looked for at the first call."""
        if not self._starts:
            self._starts = [0, *(found.end() for found in _LINE_END.finditer(self._text))]
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1


def nearest_word(word: str, words: "tuple[str, ...]") -> str:
    """Return the known word that is most like this one, or the empty string."""
    if len(word) > WORD_LENGTH:
        return ""
    return next(iter(get_close_matches(word.upper(), words, 1, 0.6)), "")
