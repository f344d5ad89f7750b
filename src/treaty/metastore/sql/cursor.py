"""A place in the tokens of a statement: what comes next is read, or what was expected instead is reported."""

from collections.abc import Sequence
from typing import NoReturn

from treaty.core.column_types import ColumnTypeError, SqlType
from treaty.core.column_types.parser import PLAIN_TYPES, TypeReader
from treaty.core.column_types.tokens import SqlToken, read_quoted, read_text
from treaty.core.limits import SCRIPT_DIAGNOSTICS
from treaty.metastore.sql.diagnostics import StatementError, nearest_word
from treaty.metastore.sql.foreign_words import COMMENT, find_hint
from treaty.metastore.sql.keywords import RESERVED_WORDS

_QUOTES_HINT = "a name with other letters than A-Z, a-z, 0-9 and _, or one of the words {}, stands between back quotes"
_AFTER_A_LIST = frozenset(("WITH", "AS"))
"""Words that follow a list in parentheses."""
_ENDS_OF_ENTRIES = frozenset((",", ")"))
_QUOTES = _QUOTES_HINT.format(", ".join(sorted(RESERVED_WORDS)))


def is_comment(token: SqlToken, following: SqlToken) -> bool:
    """Return whether a comment of other languages begins here: ``#`` or ``//``."""
    return token.kind == "sign" and (
        token.text == "#" or (token.text == following.text == "/" and token.end == following.start)
    )


class StatementCursor:
    """Reads the tokens of one statement, of which the last has the kind `end`; `text` is what their offsets are of.

    `errors` and `warnings` are those after which the statement could be read further; `body` are the offsets of its query.
    """

    __slots__ = ("_tried", "_tried_at", "at", "body", "errors", "text", "tokens", "warnings")

    def __init__(self, text: str, tokens: Sequence[SqlToken]) -> None:
        self.text = text
        self.tokens = tokens
        self.at = 0
        self.body: tuple[int, int] | None = None
        self.errors: list[StatementError] = []
        self.warnings: list[StatementError] = []
        self._tried: dict[str, None] = {}
        self._tried_at = 0

    @property
    def token(self) -> SqlToken:
        """The token that is read next."""
        return self.tokens[self.at]

    @property
    def following(self) -> SqlToken:
        """The token after the next one; at the end the end."""
        token = self.tokens[self.at]
        return token if token.kind == "end" else self.tokens[self.at + 1]

    def _expect(self, what: str) -> None:
        if self._tried_at != self.at:
            self._tried, self._tried_at = {}, self.at
        self._tried[what] = None

    # ------------------------------------------------------------------------------------------------------- words

    def sees(self, *words: str) -> bool:
        """Say whether these keywords come next."""
        self._expect(words[0])
        if self.tokens[self.at].keyword != words[0]:
            return False
        ahead = self.tokens[self.at : self.at + len(words)]
        return len(words) == 1 or [token.keyword for token in ahead] == list(words)

    def take(self, *words: str) -> bool:
        """Read these keywords if all of them come next, and say whether they did."""
        if not self.sees(*words):
            return False
        self.at += len(words)
        return True

    def take_any(self, *words: str) -> str:
        """Read the keyword that comes next if it is one of these, and return it, else the empty string."""
        for word in words:
            if self.take(word):
                return word
        return ""

    def take_before_name(self, *words: str) -> str:
        """Read one of these words if a name follows it, and return it, else the empty string."""
        if self.is_name(self.following):
            return self.take_any(*words)
        for word in words:
            self.sees(word)
        return ""

    def need(self, *words: str) -> None:
        """Read these keywords, one after the other."""
        for word in words:
            if not self.take(word):
                self.fail()

    def need_any(self, *words: str) -> str:
        """Read one of these keywords and return it."""
        return self.take_any(*words) or self.fail()

    def take_sign(self, sign: str) -> bool:
        """Read this sign if it comes next, and say whether it did."""
        self._expect(f"'{sign}'")
        token = self.tokens[self.at]
        is_next = token.text == sign and token.kind == "sign"
        self.at += is_next
        return is_next

    def need_sign(self, sign: str) -> None:
        """Read this sign."""
        if not self.take_sign(sign):
            self.fail()

    def need_separator(self) -> None:
        """Check that a comma or the closing parenthesis of a list comes next, which is not read yet."""
        if self.ends_entry:
            return
        self._expect("','")
        self._expect("')'")
        token = self.token
        is_over = token.kind == "end" or token.keyword in _AFTER_A_LIST
        self.fail(hint=f"a ) is missing before {token.label}" if is_over else "")

    @property
    def ends_entry(self) -> bool:
        """Whether a comma or the closing parenthesis of a list comes next."""
        token = self.tokens[self.at]
        return token.text in _ENDS_OF_ENTRIES and token.kind == "sign"

    def next_entry(self) -> bool:
        """Read the comma before the next entry of a list, or the closing parenthesis of the list, and say whether it was a comma."""
        if not self.ends_entry:
            self._expect("')'")
            self._expect("','")
            self.fail()
        self.at += 1
        return self.tokens[self.at - 1].text == ","

    def need_end(self) -> None:
        """Nothing may follow."""
        if self.token.kind != "end":
            self._expect("the end of the statement")
            self.fail()

    # ------------------------------------------------------------------------------------------------------ values

    def is_name(self, token: SqlToken) -> bool:
        """Say whether a token can be a name."""
        if token.kind == "quoted":
            return len(token.text) > 2
        word = token.keyword
        return bool(word) and word not in RESERVED_WORDS

    def read_name(self, what: str = "a name") -> str:
        """Read a name, with or without back quotes."""
        token = self.token
        if not self.is_name(token):
            self._expect(what)
            if token.kind in {"word", "quoted", "text"}:
                self.fail("NAME_REFUSED", hint=_QUOTES)
            self.fail()
        self.at += 1
        return read_quoted(token) if token.kind == "quoted" else token.text

    def read_string(self, what: str = "a text in quotes") -> str:
        """Read a string literal and return its value."""
        token = self.token
        if token.kind not in {"text", "raw"}:
            self._expect(what)
            self.fail()
        self.at += 1
        return read_text(token)

    def read_integer(self, low: int, high: int) -> int:
        """Read a whole number of a range."""
        token = self.token
        number = int(token.text) if token.text.isascii() and token.text.isdigit() and len(token.text) < 20 else low - 1
        if not low <= number <= high:
            self._expect(f"a whole number of {low} to {high}")
            self.fail()
        self.at += 1
        return number

    def read_type(self) -> SqlType:
        """Read the type of a column."""
        token = self.tokens[self.at]
        if token.keyword in PLAIN_TYPES and self.tokens[self.at + 1].text != "(":
            self.at += 1
            return PLAIN_TYPES[token.keyword]
        reader = TypeReader(self.tokens, self.at)
        try:
            kind = reader.read_type()
        except ColumnTypeError as error:
            self.at = reader.at
            raise StatementError(
                error.code, error.message, error.start, error.end, expected=error.expected, hint=error.hint
            ) from None
        self.at = reader.at
        return kind

    # ------------------------------------------------------------------------------------------------------ errors

    def fail(
        self, code: str = "SYNTAX", message: str = "", *, hint: str = "", expected: tuple[str, ...] = ()
    ) -> NoReturn:
        """Raise an error at the next token; without a message it says what was expected there."""
        token = self.token
        if self._tried_at == self.at and not message:
            expected = expected or tuple(self._tried)
        if not message:
            listed = " or ".join(filter(None, [", ".join(expected[:-1]), expected[-1]])) if expected else "nothing"
            message = f"{token.label} stands where {listed} is expected"
            hint = hint or self._find_hint(token)
            near = nearest_word(token.keyword, expected) if token.keyword and not hint else ""
            hint = f"did you mean {near}?" if near else hint
        raise StatementError(code, message, token.start, token.end, expected=expected, hint=hint)

    def _find_hint(self, token: SqlToken) -> str:
        before = self.tokens[self.at - 1] if self.at else token
        if token.text == "-" and before.end == token.start and self.is_name(before):
            return "a name with - in it stands between back quotes"
        if is_comment(token, self.following):
            return COMMENT
        return find_hint(self.tokens[0].keyword, before.keyword or before.text, token.keyword, token.text)

    def refuse_foreign(self, *words: str) -> None:
        """Raise an error at one of these words of other systems, if a name follows it."""
        word = self.token.keyword
        if word in words and (self.is_name(self.following) or self.following.kind in {"text", "raw"}):
            hint = self._find_hint(self.token)
            self.fail("SYNTAX", f"there is no {self.tokens[0].keyword} {word} here", hint=hint)

    def report(
        self, code: str, message: str, token: SqlToken, *, hint: str = "", expected: tuple[str, ...] = (), end: int = 0
    ) -> None:
        """Note an error at a token, or from it to the offset `end`; the statement is read further."""
        self.note(StatementError(code, message, token.start, end or token.end, expected=expected, hint=hint))

    def note(self, error: StatementError) -> None:
        """Note an error, after which the statement is read further unless there are too many."""
        self.errors.append(error)
        if len(self.errors) >= SCRIPT_DIAGNOSTICS:
            message = f"the statement has as many errors as the limit SCRIPT_DIAGNOSTICS of {SCRIPT_DIAGNOSTICS}"
            self.fail("TOO_MANY_DIAGNOSTICS", message, hint="mend these")

    def warn(self, code: str, message: str, start: int, end: int, *, hint: str = "") -> None:
        """Note a warning."""
        self.warnings.append(StatementError(code, message, start, end, hint=hint))

    def continue_after(self, error: StatementError, start: int) -> None:
        """Note an error in an entry of a list that begins at `start`, and continue behind it; raise it where the list does not end."""
        self.skip_entry(start)
        if self.token.kind == "end":
            raise error
        self.note(error)

    def skip_entry(self, start: int) -> None:
        """Continue, after an error in an entry of a list that begins at `start`, at the comma or parenthesis that ends it."""
        inside = [token.text for token in self.tokens[start : self.at] if token.kind == "sign"]
        depth, angles = inside.count("(") - inside.count(")"), inside.count("<") - inside.count(">")
        self.at += self.token.text == "<"
        while (token := self.token).kind != "end":
            if token.kind == "sign":
                if not depth and (token.text == ")" or (token.text == "," and angles <= 0)):
                    return
                depth += (token.text == "(") - (token.text == ")")
                angles += (token.text == "<") - (token.text == ">")
            self.at += 1
