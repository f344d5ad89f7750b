"""From parsed JSON to the values that Arrow takes, along the types of a plan, as Spark's `from_json` has them."""

import datetime as dt
import json
import re
from collections.abc import Callable, Mapping
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

from treaty.core.state import columns as table
from treaty.core.state.columns import ColumnType, Scalar, Struct

ConvertValue = Callable[[Any], Any]
SHOWN = 40
"""Characters of a value that a sentence has."""
DIGITS_OF_64_BITS, BEYOND = 19, 2**64
"""Digits of the greatest number of 64 bits, and a number beyond it."""
DIGITS = Context(prec=1100, Emax=10**9, Emin=-(10**9))
"""Enough for every number of up to 1,000 signs, which is where Spark's parser stops."""


class JsonMembers(list[tuple[str, Any]]):
    """The members of an object in their order; a list of JSON is a plain `list`."""

    __slots__ = ()


class ExponentNumber(Decimal):
    """A number that is written with an exponent."""

    __slots__ = ()


def read_number(text: str) -> Decimal:
    """A number with a point or an exponent, and which of them it was."""
    return ExponentNumber(text) if "e" in text or "E" in text else Decimal(text)


class WrongKindError(ValueError):
    """A value that is not of its column's type."""


class OversizedValueError(ValueError):
    """A value of its column's type that the column can't hold; the sentence has the value, not the path."""


def make_converter(kind: ColumnType, scalars: "Scalars", *, without: str | None = None) -> ConvertValue:
    """What makes a value of parsed JSON into the value that Arrow takes. Raises `WrongKindError` and `OversizedValueError`.

    `scalars` are `SCALARS` or `PLAIN_SCALARS`. `without` names a column of the topmost struct that no member is read into; "" is the
    name of a member too.
    """
    match kind:
        case Scalar(name):
            return scalars[name]
        case table.Decimal(precision, scale):
            return _decimal(precision, scale)
        case table.List(element):
            return _list(make_converter(element, scalars))
        case table.Map(_, value):
            return _map(make_converter(value, scalars))
    return _struct(kind, scalars, without)


def _struct(kind: Struct, scalars: "Scalars", without: str | None) -> ConvertValue:
    parts = {one.name: make_converter(one.type, scalars) for one in kind.columns if one.name != without}
    nothing = dict.fromkeys(parts)

    def struct(value: Any) -> Any:
        if type(value) is not JsonMembers:
            raise WrongKindError
        members = dict(nothing)
        for name, inside in value:
            shape = parts.get(name)
            if shape is not None:
                members[name] = None if inside is None else shape(inside)
        return members

    return struct


def _list(item: ConvertValue) -> ConvertValue:
    def convert_list(value: Any) -> Any:
        if type(value) is not list:
            raise WrongKindError
        return [None if one is None else item(one) for one in value]

    return convert_list


def _map(item: ConvertValue) -> ConvertValue:
    def convert_map(value: Any) -> Any:
        if type(value) is not JsonMembers:
            raise WrongKindError
        return [(replace_surrogates(key), None if one is None else item(one)) for key, one in value]

    return convert_map


def _decimal(precision: int, scale: int) -> ConvertValue:
    unit, limit = Decimal(1).scaleb(-scale), Decimal(10) ** (precision - scale)

    def convert_decimal(value: Any) -> Decimal:
        if type(value) is str:
            value = _read_decimal(value)
        if not _is_number(value) or not Decimal(value).is_finite():
            raise WrongKindError
        if Decimal(value).copy_abs() < limit:  # `abs` would round it
            rounded = DIGITS.create_decimal(value).quantize(unit, ROUND_HALF_UP, DIGITS)
            if rounded.copy_abs() < limit:
                return rounded
        raise OversizedValueError(f"{_shorten_value(value)} has more digits than DECIMAL({precision}, {scale})")

    return convert_decimal


_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def _read_decimal(text: str) -> Decimal:
    """A text as Spark reads a decimal: Java's syntax, and commas are taken out."""
    digits = text.replace(",", "")
    if not _DECIMAL.fullmatch(digits):
        raise WrongKindError
    return Decimal(digits, DIGITS)


def _is_number(value: Any) -> bool:
    return type(value) is int or isinstance(value, Decimal)


def _integer(bits: int, *, plain: bool = False) -> ConvertValue:
    """Whole numbers of so many bits; `plain` ones are written without a point and without an exponent."""
    limit = 2 ** (bits - 1)

    def convert_integer(value: Any) -> int:
        if type(value) is int:
            number = value
        elif plain or not isinstance(value, Decimal):
            raise WrongKindError
        else:
            number = _round_exactly(value)
        if not -limit <= number < limit:
            raise OversizedValueError(f"{_shorten_value(value)} is beyond {bits} bits")
        return number

    return convert_integer


def _round_exactly(value: Decimal) -> int:
    """The whole number that a number with a point or an exponent is, such as 1.0; `BEYOND` for all beyond 64 bits. Raises `WrongKindError`."""
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int), "a finite number"
    if exponent < 0 and any(digits[max(0, len(digits) + exponent) :]):
        raise WrongKindError
    if value and value.adjusted() > DIGITS_OF_64_BITS:  # it may be written with an exponent of a billion
        return BEYOND
    return int(value)


def _shorten_value(value: object) -> str:
    text = str(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _float(value: Any) -> float:
    if not _is_number(value):
        raise WrongKindError
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _boolean(value: Any) -> bool:
    if type(value) is not bool:
        raise WrongKindError
    return value


def _text(value: Any) -> str:
    """A string as it is, and every other value as JSON text without spaces."""
    return replace_surrogates(value if type(value) is str else "".join(print_json(value)))


def replace_surrogates(text: str) -> str:
    """The text with a question mark for half a surrogate pair, which UTF-8 has no bytes for."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def print_json(value: Any) -> list[str]:
    """JSON text as Spark's parser writes it, in pieces; numbers with a point are written as doubles."""
    if type(value) is JsonMembers:
        inside = (f"{quote_text(key)}:{''.join(print_json(one))}" for key, one in value)
        return ["{", ",".join(inside), "}"]
    if type(value) is list:
        return ["[", ",".join("".join(print_json(one)) for one in value), "]"]
    if isinstance(value, Decimal):
        return [print_double(float(value))]
    return [quote_text(value) if type(value) is str else json.dumps(value)]


_LOWER = re.compile(r"\\u00[01][0-9a-f]")


def quote_text(text: str) -> str:
    """A string of JSON, with capital digits in its escapes."""
    quoted = json.dumps(text, ensure_ascii=False)
    return _LOWER.sub(lambda found: "\\u" + found[0][2:].upper(), quoted) if "\\u00" in quoted else quoted


def print_double(value: float) -> str:
    """A double as Java writes it."""
    if value in {float("inf"), float("-inf")}:
        return '"Infinity"' if value > 0 else '"-Infinity"'
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    assert isinstance(exponent, int), "a finite number"
    text = "".join(map(str, digits)).rstrip("0") or "0"
    point = exponent + len(digits)
    front = "-" if sign else ""
    if value == 0:
        return f"{front}0.0"
    if -3 < point <= 7:
        padded = "0" * max(0, 1 - point) + text.ljust(max(point, 0), "0")
        cut = max(point, 1)
        return f"{front}{padded[:cut]}.{padded[cut:] or '0'}"
    return f"{front}{text[0]}.{text[1:] or '0'}E{point - 1}"


_DAY = re.compile(r"([+-]?\d{4,7})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T].*)?)?)?", re.DOTALL | re.ASCII)
"""A day as Spark reads it: the first of a month or year where there is no more, and without the time behind it."""
_TIME = re.compile(
    r"(-?\d{4}|[+-]\d{5,9})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)?",
    re.IGNORECASE | re.ASCII,
)
_TRIMMED = "".join(map(chr, (*range(33), 127)))
"""What Spark takes off both ends of a day: spaces and control characters of ASCII."""
_CYCLE = 400
"""Years after which the calendar repeats itself."""
_CYCLE_DAYS = 146_097
_FIRST_DAY = dt.date(1970, 1, 1).toordinal()


def _count_days(year: int, month: int, day: int) -> int:
    """Days since 1970 of a day of any year, in the calendar of today before its time too; year 0 is the one before 1. Raises
    ValueError for what is no day.
    """
    cycles, inside = divmod(year, _CYCLE)
    return dt.date(inside + _CYCLE, month, day).toordinal() - _FIRST_DAY + (cycles - 1) * _CYCLE_DAYS


def _date(value: Any) -> int:
    """Days since 1970; years are of four to seven digits, with a sign or none."""
    match = _DAY.fullmatch(value.strip(_TRIMMED)) if type(value) is str else None
    if match is None:
        raise WrongKindError
    days = _count_days(*(int(one or 1) for one in match.groups()))
    if not -(2**31) <= days < 2**31:
        raise OversizedValueError(f"{_shorten_value(value)} is a day beyond 32 bits of days from 1970")
    return days


def _timestamp(value: Any) -> int:
    """Microseconds; a number counts seconds, and a time without a zone is one in UTC.

    A year has four digits; one of more has a sign, as ISO 8601 has it, and there is no year -0.
    """
    if type(value) is int:
        return _require_micros(value, 0, value)
    match = _TIME.fullmatch(value) if type(value) is str else None
    if match is None or match[1] == "-0000":
        raise WrongKindError
    *numbers, part, zone = match.groups()
    year, month, day, hour, minute, second = map(int, numbers)
    if hour > 23 or minute > 59 or second > 59:
        raise WrongKindError
    seconds = _count_days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second - _offset(zone)
    return _require_micros(seconds, int((part or "0").ljust(9, "0")[:6]), value)


def _require_micros(seconds: int, micros: int, value: object) -> int:
    """Microseconds, where 64 bits hold those of the seconds too. Raises `OversizedValueError`."""
    if not -(2**63) <= seconds * 1_000_000 <= 2**63 - 1 - micros:
        raise OversizedValueError(f"{_shorten_value(value)} is a time beyond 64 bits of microseconds from 1970")
    return seconds * 1_000_000 + micros


def _offset(zone: str | None) -> int:
    """Seconds east of UTC."""
    if zone is None or zone in "zZ":
        return 0
    hours, minutes = int(zone[1:3]), int(zone[4:6])
    if hours > 18 or minutes > 59 or (hours == 18 and minutes):
        raise WrongKindError
    return (hours * 60 + minutes) * (-60 if zone[0] == "-" else 60)


Scalars = Mapping[str, ConvertValue]
"""What makes values of the scalars, by their names."""
SCALARS: Scalars = {
    "null": lambda _: None,
    "boolean": _boolean,
    "int32": _integer(32),
    "int64": _integer(64),
    "float32": _float,
    "float64": _float,
    "string": _text,
    "date": _date,
    "timestamp": _timestamp,
    "timestamp_ntz": _timestamp,
    "variant": _text,
}
"""By scalar of `treaty.core.state.columns.SCALARS`; JSON has no bytes."""
PLAIN_SCALARS: Scalars = {**SCALARS, "int32": _integer(32, plain=True), "int64": _integer(64, plain=True)}
"""The same for schemas of draft 4, to which 1.0 is no integer; it is one since draft 6 (JSON Schema Validation, 6.1.1)."""
