"""The text of a schema as pages show it: laid out in lines, with colours, cut where it is long."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape
from pygments import highlight
from pygments.formatters.html import HtmlFormatter
from pygments.lexers.data import JsonLexer
from pygments.lexers.dsls import ProtoBufLexer
from pygments.lexers.special import TextLexer
from pygments.lexers.sql import SqlLexer

from treaty.core.schema import CODED

COLOURED_CHARACTERS = 100_000
"""Characters of a text up to which it gets colours."""
SHOWN_CHARACTERS = 200_000
"""Characters of a text that a page shows; the rest is behind a link to the raw text."""
LINE_CHARACTERS = 2_000
"""Characters of a line that a page shows."""
_LEXERS = {"AVRO": JsonLexer, "JSON": JsonLexer, "PROTOBUF": ProtoBufLexer, "SQL": SqlLexer}
_FORMATTER = HtmlFormatter(nowrap=True, classprefix="t-")


@dataclass(frozen=True, slots=True)
class ShownText:
    """A text as HTML, a line each; `cut` says how many characters are left out."""

    lines: Sequence[Markup]
    cut: int = 0
    is_coloured: bool = False


def lay_out(format_: str, text: str) -> str:
    """Return a schema's text in lines: JSON is indented, anything else is as it was written."""
    if format_ not in {"AVRO", "JSON"} or text.startswith(CODED):
        return text
    try:
        value = json.loads(text, parse_float=_Written, parse_int=_Written)
    except (ValueError, RecursionError):
        return text
    return _print(value, 0)


class _Written(str):
    """A number as it was written."""

    __slots__ = ()


SHORT = 72
"""Characters of an object or list that stays on one line."""


def _print(value: object, depth: int) -> str:
    """Print JSON: what is short and flat stays on one line."""
    if isinstance(value, _Written):
        return str(value)
    if not isinstance(value, dict | list) or not value:
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        parts = [f"{json.dumps(name, ensure_ascii=False)}: {_print(one, depth + 1)}" for name, one in value.items()]
        ends = "{}"
    else:
        parts, ends = [_print(one, depth + 1) for one in value], "[]"
    if depth and sum(map(len, parts)) + 2 * len(parts) < SHORT and not any("\n" in one for one in parts):
        return f"{ends[0]}{', '.join(parts)}{ends[1]}"
    inner = "  " * (depth + 1)
    return f"{ends[0]}\n" + ",\n".join(inner + one for one in parts) + "\n" + "  " * depth + ends[1]


def show_text(format_: str, text: str, mark: Callable[[str], Markup]) -> ShownText:
    """Return a text, laid out already, as HTML in lines. `mark` shows characters that are not visible."""
    cut = max(0, len(text) - SHOWN_CHARACTERS)
    shown_text = text[:SHOWN_CHARACTERS]
    if len(shown_text) > COLOURED_CHARACTERS or any(len(line) > LINE_CHARACTERS for line in shown_text.split("\n")):
        lines = [_show_line(line) for line in shown_text.split("\n")]
        return ShownText([mark(str(line)) for line in lines], cut)
    lexer = _LEXERS.get(format_, TextLexer)(stripnl=False, ensurenl=False)
    coloured = highlight(shown_text, lexer, _FORMATTER).removesuffix(
        "\n"
    )  # which the formatter puts after the last line
    return ShownText([mark(line) for line in coloured.split("\n")], cut, is_coloured=True)


def _show_line(line: str) -> Markup:
    if len(line) <= LINE_CHARACTERS:
        return escape(line)
    return escape(line[:LINE_CHARACTERS]) + Markup('<span class="quiet"> … {} more characters</span>').format(
        f"{len(line) - LINE_CHARACTERS:,}"
    )
