"""Logical types in JSON: strings to the numbers and bytes that Avro encodes. A value of the base type is used
unchanged.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Context, Decimal
from typing import Any
from uuid import UUID

from treaty.formats.avro.model import AvroFixed, AvroPrimitive, ResolvedType

DIGITS = Context(prec=1_000)
"""Digits of a decimal; Python's own context rounds to 28."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
UNITS: Mapping[str, int] = {"millis": 1_000, "micros": 1_000_000, "nanos": 1_000_000_000}


@dataclass(frozen=True, slots=True)
class LogicalParser:
    """A logical type: the name of its values, and the function from a string to the encoded value (raises `ValueError`)."""

    name: str
    read: Callable[[Any], Any]


def find_parser(node: ResolvedType) -> LogicalParser | None:
    """Return the logical type of a leaf; None if it has none with a string form."""
    if not isinstance(node, AvroPrimitive | AvroFixed):
        return None
    members, base = dict(node.props), node.kind
    name = members.get("logicalType")
    unit = UNITS.get(name.rpartition("-")[2]) if isinstance(name, str) else None
    match name:
        case "decimal" if base in {"bytes", "fixed"}:
            scale = members.get("scale", 0)
            size = node.size if isinstance(node, AvroFixed) else 0
            if type(scale) is int:
                return LogicalParser("a decimal", lambda value: _decimal(value, scale, size))
        case "uuid" if base == "fixed":
            return LogicalParser("a UUID", _uuid)
        case "date" if base == "int":
            return LogicalParser("a date", _date)
        case "time-millis" | "time-micros" | "time-nanos" if base in {"int", "long"}:
            return LogicalParser("a time of day", lambda value: _time(value, unit or 1))
        case str() if base == "long" and unit and name.startswith("timestamp-"):
            return LogicalParser("a timestamp", lambda value: _stamp(value, unit, local=False))
        case str() if base == "long" and unit and name.startswith("local-timestamp-"):
            return LogicalParser("a local timestamp", lambda value: _stamp(value, unit, local=True))
    return None


def _decimal(value: Any, scale: int, size: int) -> Any:
    """Convert digits to a big-endian number; a string that is not a number is bytes."""
    if isinstance(value, str):
        try:
            value = Decimal(value)
        except ArithmeticError:
            return value
    elif type(value) in (int, float):
        value = Decimal(str(value))
    else:
        return value
    if not value.is_finite():
        raise ValueError("it is not finite")
    scaled = value.scaleb(scale, DIGITS)
    unscaled = int(scaled)
    if unscaled != scaled:
        raise ValueError(f"more than {scale} digits after the point")
    length = size or (unscaled + (unscaled < 0)).bit_length() // 8 + 1
    try:
        return unscaled.to_bytes(length, "big", signed=True)
    except OverflowError:
        raise ValueError(f"too large for {length} bytes") from None


def _uuid(value: Any) -> Any:
    return UUID(value).bytes if isinstance(value, str) and len(value) != 16 else value


def _date(value: Any) -> Any:
    return (date.fromisoformat(value) - EPOCH.date()).days if isinstance(value, str) else value


def _time(value: Any, unit: int) -> Any:
    if not isinstance(value, str):
        return value
    bare, nanos = _split(value)
    parsed = time.fromisoformat(bare)
    if parsed.tzinfo is not None:
        raise ValueError("a time of day has no zone")
    return ((parsed.hour * 60 + parsed.minute) * 60 + parsed.second) * unit + _scale_exactly(nanos, unit)


def _stamp(value: Any, unit: int, *, local: bool) -> Any:
    if not isinstance(value, str):
        return value
    bare, nanos = _split(value)
    parsed = datetime.fromisoformat(bare)
    if (parsed.tzinfo is None) != local:
        raise ValueError("it has a zone, and is a local one" if local else "without a zone, such as Z at its end")
    gap: timedelta = parsed.replace(tzinfo=UTC) - EPOCH if local else parsed - EPOCH
    return (gap.days * 86_400 + gap.seconds) * unit + _scale_exactly(nanos, unit)


def _split(value: str) -> tuple[str, int]:
    """Return a time without the fraction of its seconds, and the fraction in nanoseconds."""
    head, point, tail = value.partition(".")
    if not point:
        return value, 0
    digits = tail[: len(tail) - len(tail.lstrip("0123456789"))]
    if not 1 <= len(digits) <= 9:
        raise ValueError("a fraction of one to nine digits")
    return head + tail[len(digits) :], int(digits.ljust(9, "0"))


def _scale_exactly(nanos: int, unit: int) -> int:
    quotient, rest = divmod(nanos * unit, UNITS["nanos"])
    if rest:
        raise ValueError(f"finer than its type, which has {len(str(unit)) - 1} digits after the point")
    return quotient
