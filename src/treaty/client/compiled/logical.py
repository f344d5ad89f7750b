"""What plain values mean by their logical types: fastavro's readers, but for those that give a wrong value without a word.

A time of day that is none (negative, or past midnight) is refused, and a decimal of more digits than its precision keeps them, as in
Java.
"""

from collections.abc import Callable, Mapping
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from typing import Any

from fastavro.read import LOGICAL_READERS

_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)


def read_decimal(value: bytes, schema: Any) -> Decimal:
    """Return the number that bytes mean, all of its digits."""
    return Decimal(int.from_bytes(value, "big", signed=True)).scaleb(-schema.get("scale", 0), _EXACT)


def _time_reader(name: str, day: int) -> Callable[[int, Any], Any]:
    read: Callable[..., Any] = LOGICAL_READERS[name]

    def read_time(value: int, schema: Any) -> Any:
        if not 0 <= value < day:
            raise ValueError(f"{value} is no time of day; 0 to {day - 1} are")
        return read(value, schema)

    return read_time


READERS: Mapping[str, Callable[..., Any]] = {
    **LOGICAL_READERS,
    "bytes-decimal": read_decimal,
    "fixed-decimal": read_decimal,
    "int-time-millis": _time_reader("int-time-millis", 86_400_000),
    "long-time-micros": _time_reader("long-time-micros", 86_400_000_000),
}
"""By the key of a logical type, the function from a plain value and its schema to what it means."""
