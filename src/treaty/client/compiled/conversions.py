"""Conversions of values between writer and reader types and logical types (Avro 1.12, "Schema Resolution").

The reader's logical type determines the result; the writer's, if there is one, the unit of the stored number. A value
that cannot be converted exactly is refused: nanoseconds are never read as microseconds.
"""

from collections.abc import Callable, Mapping
from typing import Any

from treaty.client.compiled.defaults import round_to_float
from treaty.client.compiled.logical import READERS, LossError, find_logical_key
from treaty.formats.avro.model import AvroFixed, AvroPrimitive, AvroRecord, AvroSchema
from treaty.formats.avro.resolution import is_named_alike

Leaf = AvroPrimitive | AvroFixed
Convert = tuple[Callable[..., Any], tuple[Any, ...]]
"""A function from a plain value of the writer to a value of the reader, with its further argument. Raises `ValueError`."""

FLOATS = frozenset({"float", "double"})
PROMOTED: Mapping[tuple[str, str], Callable[[Any], Any]] = {
    ("int", "float"): round_to_float,
    ("long", "float"): round_to_float,
    ("int", "double"): float,
    ("long", "double"): float,
    ("string", "bytes"): str.encode,
    ("bytes", "string"): bytes.decode,
}
"""Promotions that change the value."""
INSTANTS = {"long-timestamp-millis": 10**6, "long-timestamp-micros": 10**3, "long-timestamp-nanos": 1}
WALLS = {f"long-local-{word.removeprefix('long-')}": nanos for word, nanos in INSTANTS.items()}
TIMES = {"int-time-millis": 10**6, "long-time-micros": 10**3}
FAMILIES = (INSTANTS, WALLS, TIMES)
"""Logical types of the same kind in different units, with the unit in nanoseconds."""
KNOWN = frozenset({*READERS, *INSTANTS, *WALLS, "bytes-big-decimal", "fixed-duration", "fixed-uuid"})
"""Known logical types; all others are ignored, as Avro requires."""
PLAIN = frozenset({"bytes-big-decimal", "fixed-duration", "fixed-uuid"})
"""Logical types that the codec returns as bytes; they do not change values of a writer without a logical type."""


class UnmatchedError(ValueError):
    """The writer's type does not match the reader's."""


def check_roots(writer: AvroSchema, reader: AvroSchema) -> None:
    """Compare the names of two schemas that are records. Raises `UnmatchedError`.

    Inside them a record is read by its fields, as Java reads it; but a whole payload of another record, whose fields the
    reader lacks, would be read as nothing but defaults.
    """
    old, new = writer.resolve(writer.root), reader.resolve(reader.root)
    if isinstance(old, AvroRecord) and isinstance(new, AvroRecord) and not is_named_alike(old, new):
        raise UnmatchedError(f"the writer's record {old.full} is not readable as the reader's record {new.full}")


def conversion_of(writer: Leaf, reader: Leaf) -> Convert | None:
    """Return the conversion of a plain value from the writer's type to the reader's; None if there is none.

    Both types match and are scalar. Raises `UnmatchedError` for incompatible logical types.
    """
    promote, logical = PROMOTED.get((writer.kind, reader.kind)), _logical(writer, reader)
    if promote is None:
        return logical
    if logical is None:
        return promote, ()
    make, more = logical
    return (lambda value: make(promote(value), *more)), ()


def _logical(writer: Leaf, reader: Leaf) -> Convert | None:
    old, new = (key if key in KNOWN else "" for key in map(find_logical_key, (writer, reader)))
    if not new or new in PLAIN:
        if old and new and old != new:
            raise UnmatchedError(f"{old} is not {new}")
        return None
    if old in PLAIN:
        raise UnmatchedError(f"{old} is not {new}")
    if old and old != new:
        family = next((each for each in FAMILIES if old in each and new in each), None)
        if family is None:
            raise UnmatchedError(f"{old} is not {new}")
        if "nanos" in old or "nanos" in new:
            return _in_units(family[old], family[new], reader)
    make: Callable[..., Any] | None = READERS.get(old or new)
    return None if make is None else (make, (dict((writer if old else reader).props),))


def _in_units(old: int, new: int, reader: Leaf) -> Convert:
    """Convert between units if one side has nanoseconds, which the codec represents as integers."""
    make: Callable[..., Any] | None = READERS.get(find_logical_key(reader))

    def convert(value: int) -> Any:
        quotient, rest = divmod(value * old, new)
        if rest or not -(1 << 63) <= quotient < 1 << 63:
            raise LossError(f"{value} does not fit {find_logical_key(reader)} without a loss")
        return quotient if make is None else make(quotient, dict(reader.props))

    return convert, ()
