"""Places of definitions in the text of a file, by the paths of findings; and whether a text looks like a file at all."""

import re
from collections.abc import Iterator

from treaty.formats.content import skip_comments

UNKNOWN = (0, 0)
"""The position of a finding without a place in the text."""
_WORDS = re.compile(r"(syntax|edition|package|import|option|message|enum|service|extend)\b|;")
_TOKEN = re.compile(
    r"//[^\n]*|/\*.*?\*/"
    r'|(?P<string>"[^"\\]*+(?:\\.[^"\\]*+)*+"|\'[^\'\\]*+(?:\\.[^\'\\]*+)*+\')'
    r"|(?P<word>[A-Za-z_0-9.]+)|(?P<mark>[{};=\[\]<>])",
    re.DOTALL,
)
_BLOCKS = frozenset({"message", "enum", "group", "extend", "service"})


def recognize(text: str) -> bool:
    """Whether a text, valid or not, begins as a file of Protobuf does."""
    return _WORDS.match(text, skip_comments(text)) is not None


def find_position(text: str, path: str) -> tuple[int, int]:
    """Line and column of a path: names of messages, then the number of a field or another name: ``#/Order/3``."""
    definition_path = path.removeprefix("#").strip("/")
    best, start = "", None
    for name, offset in _list_places(text):
        if (definition_path == name or definition_path.startswith(f"{name}/")) and len(name) > len(best):
            best, start = name, offset
    if start is None:
        return UNKNOWN
    return text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start)


def _list_places(text: str) -> Iterator[tuple[str, int]]:
    """Return the offsets of the statements of messages, enums, fields and constants, by path."""
    trail: list[str | None] = []  # a name for each open brace; None for a oneof, an option, a method
    words: list[str] = []
    start, number_is_next, depth = 0, False, 0
    for token in _TOKEN.finditer(text):
        word, mark = token["word"], token["mark"]
        if mark in {"[", "<"} or (depth and mark in {"]", ">"}):
            depth += 1 if mark in {"[", "<"} else -1
        elif mark == "{":
            name = words[1] if len(words) > 1 and words[0] in _BLOCKS else None
            trail.append(name)
            if name:
                yield "/".join(one for one in trail if one), start
            words, number_is_next = [], False
        elif mark in {"}", ";"}:
            words, number_is_next, depth = [], False, 0
            if mark == "}" and trail:
                trail.pop()
        elif mark == "=":
            number_is_next = not depth
        elif word and not depth:
            start = start if words else token.start()
            words.append(word)
            if number_is_next and word.isdecimal():
                yield "/".join([*(one for one in trail if one), word]), start
            number_is_next = False
