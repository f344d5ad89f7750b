"""Variables of a script: ``${name}`` replaced, and offsets of the replaced text found in the text that was sent."""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence

from treaty.core.column_types.tokens import SqlToken, split_tokens
from treaty.core.limits import SCRIPT_DIAGNOSTICS, STATEMENT_BYTES
from treaty.light_dataclass import dataclass
from treaty.metastore.sql.diagnostics import StatementError, nearest_word

_VARIABLE = re.compile(r"(\$++)\{(?:([A-Za-z_][A-Za-z0-9_]*+)(\}))?+")
_DOLLARS = re.compile(r"\$++(?=\{)")
_HINTS = 20
"""Errors of one statement that name the nearest variable; further ones do not look for it."""
VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*+")


@dataclass(frozen=True, slots=True)
class ReplacedText:
    """A statement with its variables replaced. `starts` and `sent` are offsets where both texts run in step again.

    Between such places, inside of a value, an offset is that of its variable: `ends` is where the variable ends.
    """

    text: str
    starts: tuple[int, ...]
    sent: tuple[int, ...]
    ends: tuple[int, ...]

    def find(self, start: int, end: int) -> tuple[int, int]:
        """Return the part of the sent text that a part of this text is from."""
        first = bisect_right(self.starts, start) - 1
        last = bisect_right(self.starts, max(start, end - 1)) - 1
        low = self.sent[first] if self.ends[first] else self.sent[first] + start - self.starts[first]
        high = self.ends[last] or self.sent[last] + end - self.starts[last]
        return low, max(low, high)


def replace_variables(
    text: str, tokens: Sequence[SqlToken], start: int, end: int, variables: Mapping[str, str]
) -> tuple[ReplacedText, list[StatementError]]:
    """Return the part of the text from `start` to `end` with its variables replaced, and errors for unknown ones.

    Variables are replaced in strings, names and code, and not in comments. ``$${`` stands for ``${``.
    """
    parts: list[str] = []
    starts, sent, ends = [0], [start], [0]
    errors: list[StatementError] = []
    at, length = start, 0
    for token in tokens:
        if "$" not in token.text:
            continue
        for match in _VARIABLE.finditer(token.text):
            first, last = token.start + match.start(), token.start + match.end()
            value = _value(match, first, last, variables, errors)
            parts += (text[at:first], value)
            length += first - at
            starts += (length, length + len(value))
            length += len(value)
            sent += (first, last)
            ends += (last, 0)
            at = last
            if length > STATEMENT_BYTES or len(errors) > SCRIPT_DIAGNOSTICS:
                message = f"with its variables replaced the statement is larger than the limit STATEMENT_BYTES of {STATEMENT_BYTES}"
                errors += (
                    [StatementError("STATEMENT_TOO_LARGE", message, first, last)] if length > STATEMENT_BYTES else []
                )
                return ReplacedText("", (0,), (start,), (0,)), errors
    parts.append(text[at:end])
    return ReplacedText("".join(parts), tuple(starts), tuple(sent), tuple(ends)), errors


def _value(
    match: re.Match[str], first: int, last: int, variables: Mapping[str, str], errors: list[StatementError]
) -> str:
    if len(match[1]) > 1:
        return match[0][1:]
    name = match[2] or ""
    if name in variables:
        return variables[name]
    names = {word.upper(): word for word in variables} if len(errors) < _HINTS else {}
    near = names.get(nearest_word(name, tuple(names)), "") if len(errors) < _HINTS else ""
    hint = f"${{{near}}}, or " if near else "DEFINE it, or "
    message = f"the variable {name} is not defined" if name else "${ begins a variable, ${name}"
    errors.append(
        StatementError("VARIABLE_UNKNOWN", message, first, last, hint=f"{hint}$${{ for these signs themselves")
    )
    return match[0]


def escape_variables(text: str) -> str:
    """Return a text in which `replace_variables` replaces nothing and of which it makes this one again."""
    if "${" not in text:
        return text
    parts: list[str] = []
    at = 0
    for token in split_tokens(text):
        if "${" in token.text:
            parts += (text[at : token.start], _DOLLARS.sub(lambda found: f"${found[0]}", token.text))
            at = token.end
    return "".join([*parts, text[at:]])
