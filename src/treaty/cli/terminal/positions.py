"""Positions of findings in the text of a new schema, found by their paths."""

import json
import re
from collections.abc import Iterator
from typing import Any

from treaty.formats.json_pointer import escape_step, find_positions, split_pointer

UNKNOWN = (0, 0)
"""The position of a finding without a place in the text."""

_TOKEN = re.compile(
    r"//[^\n]*|/\*.*?\*/"
    r'|(?P<string>"[^"\\]*+(?:\\.[^"\\]*+)*+"|\'[^\'\\]*+(?:\\.[^\'\\]*+)*+\')'
    r"|(?P<word>[A-Za-z_0-9.]+)|(?P<mark>[{};=\[\]<>])",
    re.DOTALL,
)
_BLOCKS = frozenset({"message", "enum", "group", "extend", "service"})


def find_position(format_name: str, path: str, new: str, old: str = "", *, reader: str = "new") -> tuple[int, int]:
    """Return line and column, from 1, in the new text; for a removed part those of its parent.

    `path` is a path in the reading schema; `reader` says which one that is: ``new``, ``old``, or "" if unknown.
    """
    if format_name == "PROTOBUF":
        return _find_in_protobuf(new, path)
    if not new.lstrip().startswith(("{", "[")):
        return (1, 1)
    return _find_in_json(new, path, old, reader)


def _find_in_json(new: str, path: str, old: str, reader: str) -> tuple[int, int]:
    pointer = path.removeprefix("#").rstrip("/")
    if pointer and not pointer.startswith("/"):
        pointer = ""
    if reader != "new" and old and pointer:
        pointer = _translate(pointer, old, new, is_certain=reader == "old")
    return find_positions(new, {pointer})[pointer]


def _translate(pointer: str, old: str, new: str, *, is_certain: bool) -> str:
    """Translate a JSON pointer of the old text into one of the new text; members of arrays are matched by name.

    If the pointer may belong to either text, only the steps that are the same in both are used.
    """
    try:
        before, after = json.loads(old), json.loads(new)
    except (ValueError, RecursionError):
        return ""
    found = ""
    for step in split_pointer(pointer):
        before, other = _enter(before, step), step
        if isinstance(after, list) and isinstance(before, dict) and "name" in before:
            names = [one.get("name") if isinstance(one, dict) else None for one in after]
            other = str(names.index(before["name"])) if before["name"] in names else ""
        after = _enter(after, other)
        if after is None or (other != step and not is_certain):
            return found
        found = f"{found}/{escape_step(other)}"
    return found


def _enter(value: Any, step: str) -> Any:
    if isinstance(value, dict):
        return value.get(step)
    if isinstance(value, list) and step.isdecimal() and int(step) < len(value):
        return value[int(step)]
    return None


def _find_in_protobuf(text: str, path: str) -> tuple[int, int]:
    """A Protobuf path: names of messages, then the number of a field or another name: ``#/Order/3``."""
    wanted = path.removeprefix("#").strip("/")
    best, start = "", None
    for name, offset in _protobuf_places(text):
        if (wanted == name or wanted.startswith(f"{name}/")) and len(name) > len(best):
            best, start = name, offset
    if start is None:
        return UNKNOWN
    return text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start)


def _protobuf_places(text: str) -> Iterator[tuple[str, int]]:
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
