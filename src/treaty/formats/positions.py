"""Positions of findings in the texts of two schemas: a path of the old text is followed in the new one, where members of arrays
may have moved.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from treaty.core.finding import TextPlace
from treaty.core.limits import SHOWN_CHARACTERS
from treaty.formats.format import Format
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
    if not is_json(new):
        return (1, 1)
    return _find_in_json(new, path, old, reader)


def is_json(text: str) -> bool:
    """Return whether a text is an object or an array of JSON."""
    return text.lstrip().startswith(("{", "["))


def _find_in_json(new: str, path: str, old: str, reader: str) -> tuple[int, int]:
    pointer = as_pointer(path)
    if reader != "new" and old and pointer:
        pointer = _translate(pointer, old, new, is_certain=reader == "old")
    return find_positions(new, {pointer})[pointer]


def as_pointer(path: str) -> str:
    """Return the path of a finding as a JSON pointer; the root for what is none."""
    pointer = path.removeprefix("#").rstrip("/")
    return pointer if pointer.startswith("/") else ""


def _translate(pointer: str, old: str, new: str, *, is_certain: bool) -> str:
    """Translate a JSON pointer of the old text into one of the new text; members of arrays are matched by name.

    If the pointer may belong to either text, only the steps that are the same in both are used.
    """
    try:
        before, after = json.loads(old), json.loads(new)
    except (ValueError, RecursionError):
        return ""
    return translate_pointer(pointer, before, after, is_certain=is_certain)


def translate_pointer(pointer: str, before: Any, after: Any, *, is_certain: bool = True) -> str:
    """Translate a JSON pointer into one value into a pointer into another one, as far as that has the same members."""
    translated = ""
    for step in split_pointer(pointer):
        before, other = _enter(before, step), step
        if isinstance(after, list) and isinstance(before, dict) and "name" in before:
            names = [one.get("name") if isinstance(one, dict) else None for one in after]
            other = str(names.index(before["name"])) if before["name"] in names else ""
        after = _enter(after, other)
        if after is None or (other != step and not is_certain):
            return translated
        translated = f"{translated}/{escape_step(other)}"
    return translated


def _enter(value: Any, step: str) -> Any:
    if isinstance(value, dict):
        return value.get(step)
    if isinstance(value, list) and step.isdecimal() and int(step) < len(value):
        return value[int(step)]
    return None


@dataclass(slots=True)
class PlaceFinder:
    """Finds places in one text of a format, all at once; `has_value` says whether `value` is the text as JSON."""

    form: Format[Any]
    text: str
    value: Any = None
    has_value: bool = False
    _starts: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Read the text, where paths are JSON pointers."""
        if self.form.locate is None and is_json(self.text):
            try:
                self.value, self.has_value = json.loads(self.text), True
            except (ValueError, RecursionError):
                self.has_value = False

    def find(self, paths: Sequence[str]) -> list[TextPlace | None]:
        """Return the places of paths into this text, in their order; None where there is none, or past eight times SHOWN_CHARACTERS of work."""
        if self.form.locate is not None:
            max_places = 8 * SHOWN_CHARACTERS // (2 * len(self.text) + 1)
            return [self._locate(path) if at < max_places else None for at, path in enumerate(paths)]
        if not self.has_value:
            return [self._place((1, 1), exact=True) for _ in paths]
        pointers = [self._find_pointer(as_pointer(path)) for path in paths]
        positions = find_positions(self.text, {one for one, _ in pointers})
        return [self._place(positions[one], exact=exact) for one, exact in pointers]

    def _locate(self, path: str) -> TextPlace | None:
        assert self.form.locate is not None
        position = self.form.locate(self.text, path)
        if position == UNKNOWN:
            return None
        outer = path.rstrip("/").rpartition("/")[0]
        return self._place(position, exact=not outer.strip("#") or self.form.locate(self.text, outer) != position)

    def _find_pointer(self, pointer: str) -> tuple[str, bool]:
        """Return the part of a pointer that the text has, and whether that is all of it. An item of an array of strings may be
        named by itself, as those of ``required`` are.
        """
        value, known_part = self.value, ""
        for step in split_pointer(pointer):
            named = str(value.index(step)) if isinstance(value, list) and step in value else step
            inside = _enter(value, named)
            if inside is None and not (isinstance(value, dict) and named in value):
                return known_part, False
            value, known_part = inside, f"{known_part}/{escape_step(named)}"
        return known_part, True

    def _place(self, position: tuple[int, int], *, exact: bool) -> TextPlace:
        line, column = position
        return TextPlace(line, column, self._line_start(line) + column - 1, exact)

    def _line_start(self, line: int) -> int:
        if not self._starts:
            self._starts.append(0)
            at = self.text.find("\n")
            while at >= 0:
                self._starts.append(at + 1)
                at = self.text.find("\n", at + 1)
        return self._starts[line - 1]
