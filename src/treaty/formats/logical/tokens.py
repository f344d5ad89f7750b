"""Splits a text of logical types into words, each with its place."""

import re
from dataclasses import dataclass

from treaty.formats.logical.model import logical_error

_WORD = re.compile(
    r"""(?P<skip>(?:\s++|--[^\r\n]*+|/\*(?:[^*]++|\*(?!/))*+\*/)++)
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*+)
    |`(?P<quoted>(?:[^`]++|``)++)`
    |'(?P<text>(?:[^']++|'')*+)'
    |(?P<number>[-+]?[0-9]++(?:\.[0-9]++)?+(?:[eE][-+]?[0-9]{1,3}+)?+)(?![A-Za-z0-9_.])
    |(?P<sign>[()<>,.;])""",
    re.VERBOSE,
)
_START = re.compile(r"(?:\s++|--[^\r\n]*+|/\*(?:[^*]++|\*(?!/))*+\*/)*+STRUCT(?![A-Za-z0-9_])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LogicalToken:
    """A word of `kind` name, quoted, text, number, sign or end; the place counts from 1."""

    kind: str
    text: str
    line: int
    column: int


def is_logical(text: str) -> bool:
    """Whether a text is one of logical types: it begins with STRUCT, as no schema of another kind does."""
    return _START.match(text) is not None


def tokenize(text: str) -> list[LogicalToken]:
    """The words of a text, the end last. Raises `InvalidSchemaError` for what is none."""
    tokens: list[LogicalToken] = []
    at, line, start = 0, 1, 0
    while at < len(text):
        match = _WORD.match(text, at)
        if match is None:
            message = f"{text[at : at + 20]!r} is no word of logical types"
            raise logical_error("LOGICAL_SYNTAX", "", message, line=line, column=at - start + 1)
        kind = match.lastgroup or ""
        if kind != "skip":
            tokens.append(LogicalToken(kind, _unquote(kind, match[kind]), line, at - start + 1))
        breaks = match[0].count("\n")
        if breaks:
            line += breaks
            start = at + match[0].rindex("\n") + 1
        at = match.end()
    tokens.append(LogicalToken("end", "", line, at - start + 1))
    return tokens


def _unquote(kind: str, text: str) -> str:
    if kind == "quoted":
        return text.replace("``", "`")
    return text.replace("''", "'") if kind == "text" else text
