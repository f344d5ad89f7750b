"""Types of values without parts, with their words in Avro and JSON Schema."""

import base64
import datetime as dt
import re
import uuid
from collections.abc import Callable, Mapping
from decimal import Context, Decimal, Inexact, InvalidOperation
from functools import lru_cache
from typing import Any

from treaty.client.types.errors import MisfitError
from treaty.client.types.shapes import ScalarShape

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MICRO = dt.timedelta(microseconds=1)
_LENGTH = re.compile(r"(-?)P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d{1,6}))?S)?)?")


def _no_nul(value: str) -> str:
    return value


def _require_zone(value: dt.datetime) -> dt.datetime:
    if value.tzinfo is None:
        raise MisfitError("a datetime without a zone; give it one, or mark the field StoredAs('local')")
    return value


def _refuse_zone(value: dt.datetime) -> dt.datetime:
    if value.tzinfo is not None:
        raise MisfitError("a datetime with a zone, where the field is marked as local")
    return value


def _day(value: dt.date) -> dt.date:
    if isinstance(value, dt.datetime):
        raise MisfitError("a datetime, where the field is a date")
    return value


def _clock(value: dt.time) -> dt.time:
    if value.tzinfo is not None:
        raise MisfitError("a time with a zone; the schema has no place for it")
    return value


def _whole_millis(check: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def check_millis(value: Any) -> Any:
        if value.microsecond % 1000:
            raise MisfitError(f"{value.isoformat()} has parts of a millisecond, the field keeps none")
        return check(value)

    return check_millis


def _parse(read: Callable[[str], Any], what: str) -> Callable[[Any], Any]:
    def parse_text(text: Any) -> Any:
        try:
            return read(text)
        except (ArithmeticError, AttributeError, TypeError, ValueError) as error:
            raise MisfitError(f"{text!r:.60} is no {what}") from error

    return parse_text


def _length_text(value: dt.timedelta) -> str:
    """ISO 8601: days, seconds and millionths."""
    sign, size = ("-", -value) if value < dt.timedelta() else ("", value)
    return f"{sign}P{size.days}DT{size.seconds}.{size.microseconds:06}S"


def _length(text: str) -> dt.timedelta:
    match = _LENGTH.fullmatch(text)
    if match is None:
        raise ValueError(text)
    sign, days, hours, minutes, seconds, parts = match.groups(default="0")
    size = dt.timedelta(int(days), int(seconds), int(parts.ljust(6, "0")), 0, int(minutes), int(hours))
    return -size if sign == "-" else size


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


def _float(value: Any) -> float:
    return float(value) if type(value) is int else value


_FROM_DATETIME = _parse(dt.datetime.fromisoformat, "date and time")
NULL = ScalarShape(type(None), "null", {"type": "null"})
_DATETIME_JSON = {"type": "string", "format": "date-time"}


def point(form: str) -> ScalarShape:
    """A `datetime`: ``micros``, ``millis``, ``local`` or ``local-millis``."""
    local, millis = form.startswith("local"), form.endswith("millis")
    name = f"{'local-' if local else ''}timestamp-{'millis' if millis else 'micros'}"
    check: Callable[[Any], Any] = _refuse_zone if local else _require_zone
    check = _whole_millis(check) if millis else check
    return ScalarShape(
        dt.datetime,
        {"type": "long", "logicalType": name},
        {"type": "string"} if local else _DATETIME_JSON,
        takes_avro=check,
        takes_json=lambda value: check(value).isoformat(),
        makes_json=_FROM_DATETIME,
    )


def clock(form: str) -> ScalarShape:
    """A `time`: ``micros`` or ``millis``."""
    millis = form == "millis"
    check = _whole_millis(_clock) if millis else _clock
    return ScalarShape(
        dt.time,
        {"type": "int", "logicalType": "time-millis"} if millis else {"type": "long", "logicalType": "time-micros"},
        {"type": "string"},
        takes_avro=check,
        takes_json=lambda value: check(value).isoformat(),
        makes_json=_parse(dt.time.fromisoformat, "time"),
    )


@lru_cache(256)
def decimal(precision: int, scale: int) -> ScalarShape:
    """A `Decimal` with so many digits, `scale` of them after the point."""
    unit = Decimal(1).scaleb(-scale)
    within = Context(prec=precision, traps=[Inexact, InvalidOperation])

    def quantize(value: Decimal) -> Decimal:
        try:
            if value.is_finite():
                return value.quantize(unit, context=within)
        except (Inexact, InvalidOperation):
            pass
        raise MisfitError(f"{value} does not fit {precision} digits with {scale} of them after the point")

    digits = precision - scale
    pattern = rf"^-?\d{{1,{max(digits, 1)}}}" + (rf"(\.\d{{1,{scale}}})?$" if scale else "$")
    return ScalarShape(
        Decimal,
        {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale},
        {"type": "string", "pattern": pattern},
        takes_avro=quantize,
        takes_json=lambda value: f"{quantize(value):f}",
        makes_json=_parse(Decimal, "decimal number"),
    )


DECIMAL_TEXT = ScalarShape(
    Decimal, None, {"type": "string"}, takes_json=str, makes_json=_parse(Decimal, "decimal number")
)
"""A `Decimal` without a number of digits: JSON can, Avro can't."""

STORED: Mapping[tuple[type, str], ScalarShape] = {
    (int, "int"): ScalarShape(int, "int", {"type": "integer", "minimum": -(2**31), "maximum": 2**31 - 1}, key=int),
    (int, "long"): ScalarShape(int, "long", {"type": "integer"}, key=int),
    (float, "float"): ScalarShape(float, "float", {"type": "number"}, _float, None, _float, _float),
    (float, "double"): ScalarShape(float, "double", {"type": "number"}, _float, None, _float, _float),
    **{(dt.datetime, form): point(form) for form in ("micros", "millis", "local", "local-millis")},
    **{(dt.time, form): clock(form) for form in ("micros", "millis")},
}
"""Types that Avro can store in more than one way."""

SCALARS: Mapping[Any, ScalarShape] = {
    type(None): NULL,
    None: NULL,
    bool: ScalarShape(bool, "boolean", {"type": "boolean"}),
    int: STORED[int, "long"],
    float: STORED[float, "double"],
    str: ScalarShape(str, "string", {"type": "string"}, key=_no_nul),
    bytes: ScalarShape(
        bytes,
        "bytes",
        {"type": "string", "contentEncoding": "base64"},
        takes_json=lambda value: base64.b64encode(value).decode(),
        makes_json=_parse(_bytes, "base64"),
    ),
    dt.datetime: STORED[dt.datetime, "micros"],
    dt.date: ScalarShape(
        dt.date,
        {"type": "int", "logicalType": "date"},
        {"type": "string", "format": "date"},
        takes_avro=_day,
        takes_json=lambda value: _day(value).isoformat(),
        makes_json=_parse(dt.date.fromisoformat, "date"),
    ),
    dt.time: STORED[dt.time, "micros"],
    dt.timedelta: ScalarShape(
        dt.timedelta,
        {"type": "long", "logicalType": "timedelta-micros"},
        {"type": "string", "format": "duration"},
        takes_avro=lambda value: value // _MICRO,
        makes_avro=lambda value: dt.timedelta(microseconds=value),
        takes_json=_length_text,
        makes_json=_parse(_length, "length of time"),
    ),
    uuid.UUID: ScalarShape(
        uuid.UUID,
        {"type": "string", "logicalType": "uuid"},
        {"type": "string", "format": "uuid"},
        takes_json=str,
        makes_json=_parse(uuid.UUID, "UUID"),
        key=_parse(uuid.UUID, "UUID"),
    ),
}
"""By the class of the annotation."""
STAND_INS: Mapping[str, ScalarShape] = {
    **dict.fromkeys(
        ("pydantic.types.AwareDatetime", "pydantic.types.PastDatetime", "pydantic.types.FutureDatetime"),
        STORED[dt.datetime, "micros"],
    ),
    "pydantic.types.NaiveDatetime": STORED[dt.datetime, "local"],
    "pydantic.types.PastDate": SCALARS[dt.date],
    "pydantic.types.FutureDate": SCALARS[dt.date],
    "pydantic.networks.EmailStr": SCALARS[str],
}
"""Annotations of pydantic's whose values are of another type."""
