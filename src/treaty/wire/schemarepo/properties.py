"""Properties in the text form of Java: what schema-repo answers for the configuration of a subject, and keeps in its files."""

from collections.abc import Iterable, Iterator, Mapping

_ESCAPED = {
    "\t": "\\t",
    "\n": "\\n",
    "\r": "\\r",
    "\f": "\\f",
    "\\": "\\\\",
    "=": "\\=",
    ":": "\\:",
    "#": "\\#",
    "!": "\\!",
}
_UNESCAPED = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_BLANK = " \t\f"


def print_properties(properties: Iterable[tuple[str, str]], comment: str) -> str:
    """Print properties in their order, after a line with a comment."""
    lines = [f"# {comment}", *(f"{_escape(name, name=True)}={_escape(value)}" for name, value in properties)]
    return "".join(f"{line}\n" for line in lines)


def _escape(text: str, *, name: bool = False) -> str:
    """Escape what ends a name or a line; of the spaces in a value only those at its beginning."""
    blanks = len(text) if name else len(text) - len(text.lstrip(" "))
    return "".join("\\ " if char == " " and place < blanks else _escape_char(char) for place, char in enumerate(text))


def _escape_char(char: str) -> str:
    return _ESCAPED.get(char) or (f"\\u{ord(char):04X}" if char < " " or "\x7f" <= char < "\xa0" else char)


def read_properties(text: str) -> Mapping[str, str]:
    """Read properties; of a name that comes twice the last value counts."""
    return dict(_split_pair(line) for line in _logical_lines(text))


def _logical_lines(text: str) -> Iterator[str]:
    """Return lines without comments, joined where one ends with an odd number of backslashes."""
    joined = ""
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        part = line.lstrip(_BLANK)
        if not joined and (not part or part[0] in "#!"):
            continue
        joined += part
        if (len(joined) - len(joined.rstrip("\\"))) % 2:
            joined = joined[:-1]
            continue
        yield joined
        joined = ""
    if joined:
        yield joined


def _split_pair(line: str) -> tuple[str, str]:
    """Take a line apart at the first ``=``, ``:`` or blank that is not escaped."""
    at = 0
    while at < len(line) and line[at] not in f"=:{_BLANK}":
        at += 2 if line[at] == "\\" else 1
    value = line[at:].lstrip(_BLANK)
    if value[:1] in {"=", ":"}:
        value = value[1:].lstrip(_BLANK)
    return _unescape(line[:at]), _unescape(value)


def _unescape(text: str) -> str:
    parts, at = [], 0
    while at < len(text):
        char = text[at]
        at += 1
        if char != "\\" or at >= len(text):
            parts.append(char)
            continue
        code, at = text[at], at + 1
        digits = text[at : at + 4]
        if code == "u" and len(digits) == 4 and all(one in "0123456789abcdefABCDEF" for one in digits):
            parts.append(chr(int(digits, 16)))
            at += 4
        else:
            parts.append(_UNESCAPED.get(code, code))
    return "".join(parts)
