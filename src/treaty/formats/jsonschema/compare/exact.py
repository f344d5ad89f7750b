"""JSON values compared as JSON Schema does: numbers by their value, booleans apart from numbers, objects in any order."""

from collections.abc import Hashable
from decimal import Decimal
from fractions import Fraction

from treaty.formats.budget import spend
from treaty.formats.jsonschema.model import Json

_EXPONENT = 1_000
"""A number with more zeros than this is not divided: that would take memory, and no schema means it."""
_SHOWN = 120
"""Characters of a value that a finding shows."""
_ENOUGH = 4 * _SHOWN
"""Pieces of a text that are more than a finding shows, since every other one has a character at least."""


def freeze(value: Json) -> Hashable:
    """Something hashable that is equal for equal values and for no others."""
    if isinstance(value, dict):
        spend(2 + len(value))
        members = []
        for (
            name,
            member,
        ) in value.items():  # loops, because every frame of a comprehension counts where values nest deep
            members.append((name, freeze(member)))
        return (dict, frozenset(members))
    if isinstance(value, list):
        spend(2 + (len(value) >> 1))
        items = []
        for item in value:
            items.append(freeze(item))
        return (list, tuple(items))
    return (bool, value) if isinstance(value, bool) else value


def is_equal(first: Json, other: Json) -> bool:
    """Whether two values are equal."""
    if isinstance(first, dict | list | bool) or isinstance(other, bool):
        return freeze(first) == freeze(other)
    return first == other


def divides(divisor: Json, number: Json) -> bool | None:
    """Whether `number` is a whole multiple of `divisor`, exactly; None where the numbers are too large to decide."""
    if not _number(divisor) or not _number(number) or not divisor:
        return None
    for operand in (divisor, number):
        if isinstance(operand, Decimal) and operand and abs(operand.adjusted()) > _EXPONENT:
            return None
    spend(4 + _digits(divisor) + _digits(number))
    return Fraction(number) % Fraction(divisor) == 0  # type: ignore[arg-type]


def _digits(value: Json) -> int:
    """About how many digits a number has, which is what dividing it costs."""
    if isinstance(value, int):
        return value.bit_length() >> 2
    assert isinstance(value, Decimal)
    return abs(value.adjusted()) + len(value.as_tuple().digits)


def _number(value: Json) -> bool:
    return isinstance(value, int | Decimal) and not isinstance(value, bool)


def get_json_types(value: Json) -> frozenset[str]:
    """The JSON type of a value, numbers by three names: ``integer`` as written, ``whole`` (1.0) and ``number`` (1.5)."""
    if isinstance(value, bool):
        return _BOOLEAN
    if isinstance(value, int | Decimal):
        # 1 and 1.0 are equal, so a schema that allows one of them allows both.
        return _WHOLE if isinstance(value, int) or value == value.to_integral_value() else _PARTIAL
    return _TYPES[type(value)]


_BOOLEAN = frozenset({"boolean"})
_WHOLE = frozenset({"integer", "whole"})
_PARTIAL = frozenset({"number"})
_TYPES = {
    type(None): frozenset({"null"}),
    str: frozenset({"string"}),
    list: frozenset({"array"}),
    dict: frozenset({"object"}),
}


def print_short(value: Json) -> str:
    """A value as JSON text for a finding, cut where it is long."""
    parts: list[str] = []
    _write(value, parts)
    text = "".join(parts)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _write(value: Json, parts: list[str]) -> None:
    """Append the text of a value; once there is more than anybody sees, only brackets."""
    full = len(parts) > _SHOWN
    if isinstance(value, dict):
        parts.append("{")
        for at, (name, member) in enumerate(() if full else value.items()):
            parts.append(f'{", " if at else ""}"{name}": ')
            _write(member, parts)
            if len(parts) > _ENOUGH:
                break
        parts.append("}")
    elif isinstance(value, list):
        parts.append("[")
        for at, item in enumerate(() if full else value):
            parts.append(", " if at else "")
            _write(item, parts)
            if len(parts) > _ENOUGH:
                break
        parts.append("]")
    elif isinstance(value, str):
        parts.append(f'"{value[:_SHOWN]}"')
    else:
        parts.append({"None": "null", "True": "true", "False": "false"}.get(str(value), str(value)))
