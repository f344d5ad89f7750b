"""The words of SQL, each with its place: of column types, and of the statements of the metastore.

Strings, names in back quotes and comments end where Spark's own lexer ends them, so that a statement and the types inside it are split
in the same places by both: comments nest, ``--`` continues after a backslash at the end of a line, and ``r'…'`` knows no escapes.
"""

import re
from functools import partial
from typing import NamedTuple

_TOKEN = re.compile(
    r"""(?P<skip>(?:\s++|--(?:\\\r?\n|[^\r\n])*+)++)
    |(?P<comment>/\*(?!\+))
    |(?P<raw>[rR](?:'[^']*+'|"[^"]*+"))
    |(?P<number>(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][-+]?[0-9]++)?+(?:[lLsSyYdDfF]|[bB][dD])?+)(?!\w)
    |(?P<word>\w++)
    |(?P<text>'(?:[^'\\]++|\\.|'')*+'|"(?:[^"\\]++|\\.|"")*+")
    |(?P<quoted>`(?:[^`]++|``)*+`)
    |(?P<variable>\$++\{[A-Za-z0-9_]*+\})
    |(?P<sign>/\*\+|\*/|.)""",
    re.VERBOSE | re.DOTALL,
)
_COMMENT_ENDS = re.compile(r"/\*(?!\+)|\*/")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([01][0-7]{2})|(.))|''|\"\"", re.DOTALL)
_ESCAPED = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_"}
_PRINTED = str.maketrans({"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0"})
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*+")


class SqlToken(NamedTuple):
    """A word of `kind` word, number, text, raw, quoted, variable, sign, open or end, and its offsets in code points.

    An `open` one is a string, a name or a comment that does not end; it reaches to the end of the text.
    """

    kind: str
    text: str
    start: int
    end: int
    keyword: str = ""
    """A word without quotes with a-z as A-Z; the empty string for all else."""

    @property
    def label(self) -> str:
        """The token for an error message."""
        if self.kind == "end":
            return "the end"
        return self.text if len(self.text) <= 40 else f"{self.text[:40]}…"


_make_token = partial(tuple.__new__, SqlToken)
"""Makes a token of a tuple, without the calls of Python that a constructor takes: a text has one for each word."""


def split_tokens(text: str) -> list[SqlToken]:
    """Return the tokens of a text, without blanks and comments, and a token of kind `end`. Its time is linear."""
    tokens: list[SqlToken] = []
    at, length = 0, len(text)
    match = _TOKEN.match
    while at < length:
        token = match(text, at)
        assert token is not None
        kind, end = token.lastgroup or "", token.end()
        if kind == "comment":
            end = _comment_end(text, end)
            if end < 0:
                tokens.append(SqlToken("open", text[at:], at, length))
                break
        elif kind == "sign" and token[0] in "'\"`":
            tokens.append(SqlToken("open", text[at:], at, length))
            break
        elif kind == "word":
            word = token[0]
            tokens.append(_make_token((kind, word, at, end, word.upper() if word.isascii() else "")))
        elif kind != "skip":
            tokens.append(_make_token((kind, token[0], at, end, "")))
        at = end
    tokens.append(SqlToken("end", "", length, length))
    return tokens


def _comment_end(text: str, at: int) -> int:
    """The offset after a comment whose opening is read, or -1."""
    depth = 1
    for match in _COMMENT_ENDS.finditer(text, at):
        depth += 1 if match[0] == "/*" else -1
        if not depth:
            return match.end()
    return -1


def read_text(token: SqlToken) -> str:
    r"""Return the value of a string literal: ``''`` and ``\'`` are a quote, and escapes are those of Spark.

    Escapes of two halves of a surrogate pair are one character; a half alone is U+FFFD.
    """
    if token.kind == "raw":
        return token.text[2:-1]
    quote, inner = token.text[0], token.text[1:-1]
    if "\\" not in inner and quote not in inner:
        return inner
    value = _ESCAPE.sub(lambda match: _unescape(match, quote), inner)
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if "\\u" in inner.lower() else value


def _unescape(match: re.Match[str], quote: str) -> str:
    if not match[0].startswith("\\"):
        return quote if match[0][0] == quote else match[0]
    code = match[1] or match[2]
    if code:
        number = int(code, 16)
        return chr(number) if number <= 0x10FFFF else match[0]
    return chr(int(match[3], 8)) if match[3] else _ESCAPED.get(match[4], match[4])


def read_quoted(token: SqlToken) -> str:
    """Return the name between back quotes."""
    return token.text[1:-1].replace("``", "`")


def print_text(text: str) -> str:
    """Return a string literal that Spark and `read_text` read as this text."""
    return f"'{text.translate(_PRINTED)}'"


def print_name(name: str, reserved: frozenset[str] = frozenset()) -> str:
    """Return a name, between back quotes unless it is a plain word that is not reserved."""
    if _PLAIN_NAME.fullmatch(name) and name.upper() not in reserved:
        return name
    return f"`{name.replace('`', '``')}`"
