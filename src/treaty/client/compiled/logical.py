"""Values of logical types: fastavro's conversions, except for those that silently return a wrong value.

A time of day that is negative or past midnight is refused. A decimal with more digits than its precision is read with
all digits, as in Java. A time with microseconds is not written to a type in milliseconds.
"""

import datetime as dt
from collections.abc import Callable, Mapping
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from typing import Any

from fastavro.read import LOGICAL_READERS
from fastavro.write import LOGICAL_WRITERS

from treaty.formats.avro.model import AvroArray, AvroEnum, AvroFixed, AvroMap, AvroPrimitive, AvroRecord, ResolvedType
from treaty.formats.avro.normal_form import get_logical_type

EXACT = "treaty-exact-"
"""Prefix of a logical type in schemas for fastavro: a value that would lose digits is refused."""
_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)


def read_decimal(value: bytes, schema: Any) -> Decimal:
    """Return the decimal of bytes, with all digits."""
    return Decimal(int.from_bytes(value, "big", signed=True)).scaleb(-schema.get("scale", 0), _EXACT)


def _time_reader(name: str, day: int) -> Callable[[int, Any], Any]:
    read: Callable[..., Any] = LOGICAL_READERS[name]

    def read_time(value: int, schema: Any) -> Any:
        if not 0 <= value < day:
            raise ValueError(f"{value} is not a time of day; allowed are 0 to {day - 1}")
        return read(value, schema)

    return read_time


READERS: Mapping[str, Callable[..., Any]] = {
    **LOGICAL_READERS,
    "bytes-decimal": read_decimal,
    "fixed-decimal": read_decimal,
    "int-time-millis": _time_reader("int-time-millis", 86_400_000),
    "long-time-micros": _time_reader("long-time-micros", 86_400_000_000),
}
"""By key of a logical type, the function from a plain value and its schema to the logical value."""


def find_logical_key(node: ResolvedType) -> str:
    """Return fastavro's key of a type's logical type (``long-timestamp-micros``); "" without one, or where Avro ignores it."""
    if not isinstance(node, AvroPrimitive | AvroFixed | AvroArray | AvroMap):
        return ""
    logical = dict(node.props).get("logicalType")
    if not isinstance(logical, str):
        return ""
    key = f"{node.kind}-{logical}"
    if isinstance(node, AvroPrimitive | AvroFixed) and key in READERS and get_logical_type(node) is None:
        return ""
    return key


def name_branch(node: ResolvedType) -> str:
    """Return the name of a union branch: a full name, a primitive type, or the key of a logical type."""
    if isinstance(node, AvroRecord | AvroEnum | AvroFixed):
        return node.full
    return find_logical_key(node) or node.kind


class LossError(ValueError):
    """A value has more digits than its type."""


def _exact_writer(name: str) -> Callable[[Any, Any], Any]:
    write: Callable[..., Any] = LOGICAL_WRITERS[name]
    logical = name.partition("-")[2]

    def write_exact(value: Any, schema: Any) -> Any:
        if isinstance(value, dt.datetime | dt.time) and value.microsecond % 1000:
            raise LossError(f"{value.isoformat()} has microseconds, and {logical} counts milliseconds")
        return write(value, schema)

    return write_exact


WRITERS: Mapping[str, Callable[..., Any]] = {
    name: _exact_writer(name) for name in ("int-time-millis", "long-timestamp-millis", "long-local-timestamp-millis")
}
"""By key of a logical type for which fastavro truncates values, the function that refuses those."""
LOGICAL_WRITERS.update({name.replace("-", f"-{EXACT}", 1): write for name, write in WRITERS.items()})


def find_writer(key: str, *, lossy: bool) -> Callable[..., Any] | None:
    """Return the function from a value and its schema to a plain value; None for a logical type without one."""
    writer: Callable[..., Any] | None = LOGICAL_WRITERS.get(key)
    return writer if lossy else WRITERS.get(key, writer)


def mark_exact(schema: Any) -> Any:
    """Return a parsed schema for fastavro whose logical types refuse values that they would truncate."""
    if isinstance(schema, list):
        return [mark_exact(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    marked = {word: each if word == "default" else mark_exact(each) for word, each in schema.items()}
    if isinstance(schema.get("type"), str) and f"{schema['type']}-{schema.get('logicalType')}" in WRITERS:
        marked["logicalType"] = f"{EXACT}{schema['logicalType']}"
    return marked
