"""Positions of findings in the text of a new schema, found by their paths."""

import json
from typing import Any

from treaty.formats.json_pointer import escape_step, find_positions, split_pointer
from treaty.formats.registry import find_formats

UNKNOWN = (0, 0)
"""The position of a finding without a place in the text."""


def find_position(format_name: str, path: str, new: str, old: str = "", *, reader: str = "new") -> tuple[int, int]:
    """Return line and column, from 1, in the new text; for a removed part those of its parent.

    `path` is a path in the reading schema; `reader` says which one that is: ``new``, ``old``, or "" if unknown.
    """
    form = find_formats().find(format_name)
    if form is not None and form.locate is not None:
        return form.locate(new, path)
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
