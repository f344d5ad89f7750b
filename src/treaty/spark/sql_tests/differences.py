"""What differs between the rows that are expected and those that came, by row and column."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from treaty.core.finding import shorten_text

Row = tuple[Any, ...]
VALUE_CHARACTERS = 200
"""Characters of a value that a message shows; of two long ones those around their first difference."""
AROUND = 40
"""Characters that are shown before the first difference."""
SHOWN = 20
"""Differences that a message names; the others are counted."""


def list_differences(
    columns: Sequence[str], expected: Sequence[Row], came: Sequence[Row], *, ordered: bool = False
) -> list[str]:
    """Return a sentence for each row that differs; none where the rows are the same, in any order unless `ordered`."""
    differences = [*(_compare_places(columns, expected, came) if ordered else _compare_sets(columns, expected, came))]
    return (
        differences
        if len(differences) <= SHOWN
        else [*differences[:SHOWN], f"and {len(differences) - SHOWN} more differences"]
    )


def _compare_places(columns: Sequence[str], expected: Sequence[Row], came: Sequence[Row]) -> Iterator[str]:
    for place in range(max(len(expected), len(came))):
        expected_row = expected[place] if place < len(expected) else None
        actual_row = came[place] if place < len(came) else None
        if _freeze(expected_row) != _freeze(actual_row):
            yield _describe(columns, expected_row, actual_row, f"row {place + 1}: ")


def _compare_sets(columns: Sequence[str], expected: Sequence[Row], came: Sequence[Row]) -> Iterator[str]:
    expected_counts = Counter(map(_freeze, expected))
    actual_counts = Counter(map(_freeze, came))
    missing, more = _take(expected_counts - actual_counts, expected), _take(actual_counts - expected_counts, came)
    for row in missing:
        nearest = max(
            more, key=lambda one: sum(_freeze(a) == _freeze(b) for a, b in zip(row, one, strict=True)), default=None
        )
        if nearest is not None and any(_freeze(a) == _freeze(b) for a, b in zip(row, nearest, strict=True)):
            more.remove(nearest)
            yield _describe(columns, row, nearest)
        else:
            yield _describe(columns, row, None)
    for row in more:
        yield _describe(columns, None, row)


def _take(left: Counter[Any], rows: Sequence[Row]) -> list[Row]:
    """The rows that are left, as often as they are."""
    picked = []
    for row in rows:
        key = _freeze(row)
        if left[key] > 0:
            left[key] -= 1
            picked.append(row)
    return picked


def _freeze(value: Any) -> Any:
    """A value that can be counted."""
    if isinstance(value, dict):
        return ("map", *sorted((repr(name), _freeze(one)) for name, one in value.items()))
    if isinstance(value, list | tuple):
        return tuple(map(_freeze, value))
    if isinstance(value, bytearray):
        return bytes(value)
    if isinstance(value, float) and math.isnan(value):
        return "NaN"  # which is equal to itself here, as it is in SQL
    return value


def _describe(columns: Sequence[str], expected: Row | None, actual: Row | None, place: str = "") -> str:
    if actual is None:
        return f"{place}missing {_show(columns, expected or ())}"
    if expected is None:
        return f"{place}unexpected {_show(columns, actual)}"
    same, changed = [], []
    for name, want, came in zip(columns, expected, actual, strict=True):
        if _freeze(want) == _freeze(came):
            same.append(f"{name} {_print_value(want)}")
        else:
            came_text, wanted_text = _print_pair(repr(came), repr(want))
            changed.append(f"{name} is {came_text}, expected {wanted_text}")
    return f"{place}{', '.join(same)}: {'; '.join(changed)}" if same else f"{place}{'; '.join(changed)}"


def _show(columns: Sequence[str], row: Row) -> str:
    return ", ".join(f"{name} {_print_value(value)}" for name, value in zip(columns, row, strict=True))


def _print_value(value: Any) -> str:
    return shorten_text(repr(value), VALUE_CHARACTERS)


def _print_pair(came: str, expected: str) -> tuple[str, str]:
    """Two texts that differ, from shortly before their first difference on where they are long."""
    if max(len(came), len(expected)) <= VALUE_CHARACTERS:
        return came, expected
    first = next((at for at, pair in enumerate(zip(came, expected, strict=False)) if pair[0] != pair[1]), 0)
    start = max(0, first - AROUND)
    cut = "…" if start else ""
    return cut + shorten_text(came[start:], VALUE_CHARACTERS), cut + shorten_text(expected[start:], VALUE_CHARACTERS)
