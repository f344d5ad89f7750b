"""Members of a document that have no column, as the JSON texts that Spark's VARIANT makes of them."""

import json
from collections.abc import Set as AbstractSet
from decimal import Decimal
from typing import Any

from treaty.arrow.jsonschema.values import ExponentNumber, JsonMembers, print_double, quote_text, replace_surrogates
from treaty.core.limits import DECIMAL_DIGITS

_LOWEST, _HIGHEST = -(2**63), 2**63 - 1


def find_rest(document: JsonMembers, columns: AbstractSet[str]) -> list[tuple[str, str]] | None:
    """Names and texts of the members that have no column, in the order of names; None where a name comes twice.

    A VARIANT has no object in which a name comes twice, and its members are in the order of their names.
    """
    try:
        texts = [(name, _print_value(value)) for name, value in _read_members(document)]
    except _TwiceError:
        return None
    return [(replace_surrogates(name), text) for name, text in texts if name not in columns]


class _TwiceError(ValueError):
    """A name comes twice in one object."""


def _read_members(members: JsonMembers) -> list[tuple[str, Any]]:
    by_name = dict(members)
    if len(by_name) < len(members):
        raise _TwiceError
    return sorted(by_name.items(), key=lambda one: one[0].encode("utf-16-be", "surrogatepass"))


def _print_value(value: Any) -> str:
    if type(value) is JsonMembers:
        return "{" + ",".join(f"{quote_text(name)}:{_print_value(one)}" for name, one in _read_members(value)) + "}"
    if type(value) is list:
        return "[" + ",".join(map(_print_value, value)) + "]"
    if type(value) is str:
        return quote_text(value)
    if type(value) is int and not _LOWEST <= value <= _HIGHEST:
        return str(value) if len(str(abs(value))) <= DECIMAL_DIGITS else print_double(float(value))
    if isinstance(value, ExponentNumber):
        return print_double(float(value))
    if isinstance(value, Decimal):
        return _print_number(value)
    return json.dumps(value)


def _print_number(value: Decimal) -> str:
    """A number with a point: exact where 38 digits hold it, else a double."""
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int), "a finite number"
    if max(len(digits), -exponent) > DECIMAL_DIGITS:
        return print_double(float(value))
    return f"{value.normalize():f}" if value else "0"
