"""A Protobuf text as tokens, with a cursor that has a place and reads comments as documentation."""

import re
from bisect import bisect_right

from treaty.core.finding import Diagnostic
from treaty.core.limits import FULL_NAME, NUMBER_DIGITS, SCHEMA_BYTES
from treaty.formats.budget import spend
from treaty.formats.format import InvalidSchemaError
from treaty.formats.protobuf.model import SourceLocation
from treaty.formats.protobuf.syntax.literals import LETTERS, QUOTES, InvalidLiteralError, parse_integer, parse_string

_COMMENT = re.compile(r"//[^\n]*+\n?|/\*.*?\*/", re.DOTALL)
_STAR = re.compile(r"^[ \t]*\*[ ]?", re.MULTILINE)


def get_comment(gap: str, *, first: bool) -> str:
    """The comment that ends directly above a definition, taken from what stands between two tokens.

    A comment on the line of the token before belongs to that one, unless the gap is the `first` of its text. A blank
    line ends a comment.
    """
    if "/" not in gap:
        return ""
    lines: list[str] = []
    end = len(gap)
    newline = -1 if first else gap.find("\n")
    for comment in reversed(list(_COMMENT.finditer(gap))):
        between = gap[comment.end() : end]
        line = comment[0].startswith("//")
        if between.count("\n") > (0 if line else 1) or (not first and not 0 <= newline < comment.start()):
            break
        if lines and not line:
            break
        lines.append(comment[0][2:].rstrip() if line else _block(comment[0]))
        end = comment.start()
        if not line:
            break
    return "\n".join(text.removeprefix(" ") for text in reversed(lines)).strip()


def _block(comment: str) -> str:
    return _STAR.sub("", comment[2:-2]).strip()


_TOKEN = re.compile(
    r"""(?:[ \t\n\r\v\f]++|//[^\n]*+|/\*[^*]*+\*++(?:[^/*][^*]*+\*++)*+/)*+
    (   [A-Za-z_][A-Za-z0-9_]*+
    |   0[xX][0-9A-Za-z_.]*+
    |   \.?[0-9](?:[eE][+-]|[0-9A-Za-z_.])*+
    |   "[^"\\\n\0]*+(?:\\[^\n\0][^"\\\n\0]*+)*+"
    |   '[^'\\\n\0]*+(?:\\[^\n\0][^'\\\n\0]*+)*+'
    |   /\*[\s\S]*+ # a comment that is not closed
    |   .|\n|\Z
    )""",
    re.VERBOSE,
)
_NEWLINE = re.compile("\n")
_SHOWN = 40
CONSTANT_DEPTH = 64
"""Messages inside messages in the value of an option."""
MESSAGE_DEPTH = 31
"""Messages inside messages: protoc stops there too."""
INT32 = 2**31 - 1


class TokenCursor:
    """The tokens of one text, read from the first to the last; the last one is the empty string.

    `dialect` is the syntax or edition that the text has declared so far. Raises `InvalidSchemaError` when it is
    made with a text that is too long or no Unicode, and from every method that expects something else.
    """

    __slots__ = ("_depth", "_lines", "at", "dialect", "members", "starts", "text", "tokens")

    def __init__(self, text: str) -> None:
        """Split the text into tokens."""
        self.text = text.removeprefix("\ufeff")
        self.at = 0
        self.dialect = "proto2"
        self.members = 0  # of messages in options, all together
        self._depth = 0
        self._lines: list[int] = []
        if not text.isascii():
            try:
                size = len(text.encode())
            except UnicodeEncodeError as error:
                before = text[: error.start]
                place = (before.count("\n") + 1, error.start - before.rfind("\n"))
                half = Diagnostic("ENCODING", "", "half of a surrogate pair", "Unicode text", *place)
                raise InvalidSchemaError((half,)) from None
        else:
            size = len(text)
        if size > SCHEMA_BYTES:
            message = f"a text of {size} bytes, more than the limit SCHEMA_BYTES of {SCHEMA_BYTES}"
            raise InvalidSchemaError((Diagnostic("SCHEMA_TOO_LARGE", "", message, f"at most {SCHEMA_BYTES} bytes"),))
        self.tokens: list[str] = []
        self.starts: list[int] = []
        spend(len(self.text) >> 3)
        add_word, add_start = self.tokens.append, self.starts.append
        for token in _TOKEN.finditer(self.text):
            add_word(token[1])
            add_start(token.start(1))
        spend(2 * len(self.tokens))  # what reading, linking and judging takes for a token, before it begins

    @property
    def editions(self) -> bool:
        """Whether the text declares an edition."""
        return self.dialect[0] == "2"

    def place(self, at: int) -> SourceLocation:
        """Line and column of a token."""
        if not self._lines:
            self._lines = [0]
            self._lines += [found.end() for found in _NEWLINE.finditer(self.text)]
        start = self.starts[at]
        line = bisect_right(self._lines, start)
        return SourceLocation(line, start - self._lines[line - 1] + 1)

    def doc(self, at: int) -> str:
        """The comment that stands directly before a token, without its marks."""
        end = self.starts[at]
        begin = self.starts[at - 1] + len(self.tokens[at - 1]) if at else 0
        if end - begin < 3:
            return ""
        return get_comment(self.text[begin:end], first=at == 0)

    def fault(self, rule: str, message: str, expected: str, at: int | None = None) -> InvalidSchemaError:
        """A refusal at a token, the present one unless another is given."""
        place = self.place(self.at if at is None else at)
        return InvalidSchemaError((Diagnostic(rule, "", message, expected, place.line, place.column),))

    def unexpected_token(self, expected: str) -> InvalidSchemaError:
        """A refusal of the present token."""
        word = self.tokens[self.at]
        if not word:
            return self.fault("SYNTAX", "the text ends here", expected)
        if word in QUOTES or word[0] == "/":
            open_one = "a string that is not closed on its line" if word in QUOTES else "a comment that is not closed"
            return self.fault("SYNTAX", open_one, expected)
        excerpt = word if len(word) <= _SHOWN else f"{word[:_SHOWN]}…"
        return self.fault("SYNTAX", f"unexpected {excerpt!r}", expected)

    def accept(self, word: str) -> bool:
        """Step over a token if it is this one."""
        if self.tokens[self.at] == word:
            self.at += 1
            return True
        return False

    def expect(self, word: str) -> None:
        """Step over a token that has to be this one."""
        if self.tokens[self.at] != word:
            raise self.unexpected_token(f'"{word}"')
        self.at += 1

    def name(self, what: str) -> str:
        """Step over an identifier."""
        word = self.tokens[self.at]
        if word[:1] not in LETTERS:
            raise self.unexpected_token(what)
        if len(word) > FULL_NAME:
            message = f"a name of {len(word)} characters, more than the limit FULL_NAME of {FULL_NAME}"
            raise self.fault("NAME_TOO_LONG", message, f"at most {FULL_NAME} characters")
        self.at += 1
        return word

    def dotted_name(self, what: str) -> str:
        """Step over a name of several parts, with or without a leading point."""
        begin = self.at
        lead = "." if self.accept(".") else ""
        first = self.name(what)
        if self.tokens[self.at] != ".":
            return lead + first
        parts = [lead + first]
        while self.accept("."):
            parts.append(self.name(what))
        name = ".".join(parts)
        if len(name) > FULL_NAME:
            message = f"a name of {len(name)} characters, more than the limit FULL_NAME of {FULL_NAME}"
            raise self.fault("NAME_TOO_LONG", message, f"at most {FULL_NAME} characters", begin)
        return name

    def number(self, what: str, top: int = INT32) -> int:
        """Step over a whole number from 0 to `top`."""
        word = self.tokens[self.at]
        if not "0" <= word[:1] <= "9":
            raise self.unexpected_token(what)
        try:
            value = parse_integer(word)
        except InvalidLiteralError as error:
            raise self.fault("NUMBER_INVALID", str(error), error.expected) from None
        if value is None:
            raise self.unexpected_token(what)
        if value > top:
            excerpt = word if len(word) <= _SHOWN else f"{word[:_SHOWN]}…"
            raise self.fault("NUMBER_OUT_OF_RANGE", f"{excerpt} is too large", f"at most {top}")
        self.at += 1
        return value

    def signed_number(self, what: str) -> int:
        """Step over a whole number of 32 bits that may be negative."""
        if self.accept("-"):
            return -self.number(what, INT32 + 1)
        return self.number(what)

    def string(self, what: str) -> bytes:
        """Step over a string, or several that stand side by side and make one."""
        parts = []
        while self.tokens[self.at][:1] in QUOTES and len(self.tokens[self.at]) > 1:
            try:
                parts.append(parse_string(self.tokens[self.at]))
            except InvalidLiteralError as error:
                raise self.fault("STRING_INVALID", str(error), error.expected) from None
            self.at += 1
        if not parts:
            raise self.unexpected_token(what)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def descend(self, limit: int) -> None:
        """Go one level deeper; `ascend` leads back."""
        self._depth += 1
        if self._depth > limit:
            message = f"more than {limit} levels inside each other"
            raise self.fault("SCHEMA_TOO_DEEP", message, f"at most {limit} levels")

    def ascend(self) -> None:
        """Go one level up."""
        self._depth -= 1

    def digits(self) -> None:
        """Refuse a number that is too long to be read at all."""
        if len(self.tokens[self.at]) > NUMBER_DIGITS:
            message = f"a number of {len(self.tokens[self.at])} characters"
            raise self.fault("NUMBER_INVALID", message, f"at most {NUMBER_DIGITS} characters")
