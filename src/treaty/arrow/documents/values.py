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


def make_converter(kind: ColumnType, *, without: str = "") -> ConvertValue:
    """What makes a value of parsed JSON into the value that Arrow takes. Raises `WrongKindError`.

    `without` names a column of the topmost struct that no member is read into.
    """
    match kind:
        case Scalar(name):
            return SCALARS[name]
        case table.Decimal(precision, scale):
            return _decimal(precision, scale)
        case table.List(element):
            return _list(make_converter(element))
        case table.Map(_, value):
            return _map(make_converter(value))
    return _struct(kind, without)


def _struct(kind: Struct, without: str) -> ConvertValue:
    parts = {one.name: make_converter(one.type) for one in kind.columns if one.name != without}
    nothing = dict.fromkeys(parts)

    def struct(value: Any) -> Any:
        if type(value) is not JsonMembers:
            raise WrongKindError
        made = dict(nothing)
        for name, inside in value:
            shape = parts.get(name)
            if shape is not None:
                made[name] = None if inside is None else shape(inside)
        return made

    return struct


def _list(item: ConvertValue) -> ConvertValue:
    def made(value: Any) -> Any:
        if type(value) is not list:
            raise WrongKindError
        return [None if one is None else item(one) for one in value]

    return made


def _map(item: ConvertValue) -> ConvertValue:
    def made(value: Any) -> Any:
        if type(value) is not JsonMembers:
            raise WrongKindError
        return [(replace_surrogates(key), None if one is None else item(one)) for key, one in value]

    return made


def _decimal(precision: int, scale: int) -> ConvertValue:
    unit, limit = Decimal(1).scaleb(-scale), Decimal(10) ** (precision - scale)

    def made(value: Any) -> Decimal:
        if type(value) is str:
            value = Decimal(value.strip(), DIGITS)
        if not _is_number(value) or not Decimal(value).is_finite() or abs(value) >= limit:
            raise WrongKindError
        found = DIGITS.create_decimal(value).quantize(unit, ROUND_HALF_UP, DIGITS)
        if abs(found) >= limit:
            raise WrongKindError
        return found

    return made


def _is_number(value: Any) -> bool:
    return type(value) is int or isinstance(value, Decimal)


def _whole(bits: int) -> ConvertValue:
    limit = 2 ** (bits - 1)

    def made(value: Any) -> int:
        if type(value) is not int or not -limit <= value < limit:
            raise WrongKindError
        return value

    return made


def _real(value: Any) -> float:
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
    made = json.dumps(text, ensure_ascii=False)
    return _LOWER.sub(lambda found: "\\u" + found[0][2:].upper(), made) if "\\u00" in made else made


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


_DAY = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T].*)?)?)?", re.DOTALL | re.ASCII)
"""A day as Spark reads it: the first of a month or year where there is no more, and without the time behind it."""
_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)?", re.IGNORECASE | re.ASCII
)
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def _date(value: Any) -> dt.date:
    found = _DAY.fullmatch(value.strip()) if type(value) is str else None
    if found is None:
        raise WrongKindError
    return dt.date(*(int(one or 1) for one in found.groups()))


def _timestamp(value: Any) -> int:
    """Microseconds; a number counts seconds, and a time without a zone is one in UTC."""
    if type(value) is int and -(2**63) <= value * 1_000_000 < 2**63:
        return value * 1_000_000
    found = _TIME.fullmatch(value) if type(value) is str else None
    if found is None:
        raise WrongKindError
    *numbers, part, zone = found.groups()
    made = dt.datetime(*map(int, numbers), tzinfo=dt.UTC) - _EPOCH  # type: ignore[arg-type, misc]  # six numbers
    micros = (made.days * 86_400 + made.seconds) * 1_000_000 + int((part or "0").ljust(9, "0")[:6])
    return micros - _offset(zone) * 1_000_000


def _offset(zone: str | None) -> int:
    """Seconds east of UTC."""
    if zone is None or zone in "zZ":
        return 0
    hours, minutes = int(zone[1:3]), int(zone[4:6])
    if hours > 18 or minutes > 59 or (hours == 18 and minutes):
        raise WrongKindError
    return (hours * 60 + minutes) * (-60 if zone[0] == "-" else 60)


SCALARS: Mapping[str, ConvertValue] = {
    "null": lambda _: None,
    "boolean": _boolean,
    "int32": _whole(32),
    "int64": _whole(64),
    "float32": _real,
    "float64": _real,
    "string": _text,
    "date": _date,
    "timestamp": _timestamp,
    "timestamp_ntz": _timestamp,
    "variant": _text,
}
"""By scalar of `treaty.core.state.columns.SCALARS`; JSON has no bytes."""
