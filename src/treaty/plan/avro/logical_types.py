"""Logical types of a writer and a reader: alike, convertible, or a silent error that must be refused.

Avro resolves base types only. A long of milliseconds read as a long of microseconds, or a decimal of scale 2 read
with scale 3, would come out wrong without a word, so the planner compares what Avro does not.
"""

import math
from dataclasses import dataclass

from treaty.core.limits import DECIMAL_DIGITS
from treaty.formats.avro.model import AvroFixed, AvroPrimitive

INSTANTS = {"timestamp-millis": 3, "timestamp-micros": 6, "timestamp-nanos": 9}
WALLS = {"local-timestamp-millis": 3, "local-timestamp-micros": 6, "local-timestamp-nanos": 9}
TIMES = {"time-millis": 3, "time-micros": 6}
BASES = {
    **dict.fromkeys(("timestamp-millis", "timestamp-micros", "timestamp-nanos", *WALLS, "time-micros"), "long"),
    **dict.fromkeys(("date", "time-millis"), "int"),
}

PLAIN = "treatyPlain"
"""A property of a reader's leaf that is a plain number in its column, and whose logical type only says what a number means."""

Leaf = AvroPrimitive | AvroFixed


@dataclass(frozen=True, slots=True)
class AvroLogicalType:
    """A logical type that changes what a number means; precision and scale count for decimals only."""

    name: str
    precision: int = 0
    scale: int = 0

    def __str__(self) -> str:
        return f"decimal({self.precision},{self.scale})" if self.name == "decimal" else self.name


def find_logical(leaf: Leaf) -> AvroLogicalType | None:
    """The logical type that both engines will honour, or None: an invalid or unknown one is ignored, as Avro does."""
    props = dict(leaf.props)
    name = props.get("logicalType")
    if name == "decimal" and (isinstance(leaf, AvroFixed) or leaf.kind == "bytes"):
        precision, scale = props.get("precision"), props.get("scale", 0)
        if type(precision) is int and type(scale) is int and 0 <= scale <= precision and 0 < precision <= _digits(leaf):
            return AvroLogicalType("decimal", precision, scale)
    if isinstance(name, str) and BASES.get(name) == leaf.kind:
        return AvroLogicalType(name)
    return None


def _digits(leaf: Leaf) -> float:
    """The digits that every number of this many bytes has room for; a longer decimal on a fixed is no decimal to Avro."""
    return math.floor(math.log10(2) * (8 * leaf.size - 1)) if isinstance(leaf, AvroFixed) else math.inf


def find_column_logical(leaf: Leaf) -> AvroLogicalType | None:
    """The logical type that has a column type: a decimal of more than 38 digits stays bytes, and a number of a choice of two
    sizes a plain number.
    """
    logical = find_logical(leaf)
    return None if logical and (logical.precision > DECIMAL_DIGITS or PLAIN in dict(leaf.props)) else logical


@dataclass(frozen=True, slots=True)
class LogicalResolution:
    """How a writer's leaf is read: as it is, through a hidden field by the conversion `how`, or not (`wrong`)."""

    how: str = ""
    wrong: str = ""


SAME = LogicalResolution()


def resolve_logical(writer: Leaf, reader: Leaf) -> LogicalResolution:
    """Compare two leaves that Avro itself would resolve."""
    old, new = find_logical(writer), find_logical(reader)
    if old is None or new is None or old == new:
        return SAME
    if old.name == new.name == "decimal":
        return _resolve_decimals(old, new)
    for family in (INSTANTS, WALLS, TIMES):
        if old.name in family and new.name in family:
            return LogicalResolution(how=f"{old.name}:{new.name}")
    return LogicalResolution(wrong=f"the writer's {old} is not the reader's {new}, and no exact conversion exists")


def _resolve_decimals(old: AvroLogicalType, new: AvroLogicalType) -> LogicalResolution:
    if new.precision - new.scale < old.precision - old.scale or new.scale < old.scale:
        return LogicalResolution(wrong=f"the writer's {old} does not fit into the reader's {new}")
    if old.scale == new.scale:
        return SAME
    if max(old.precision, new.precision) > DECIMAL_DIGITS:
        return LogicalResolution(wrong=f"{old} and {new} stay bytes, and those mean another number in each")
    return LogicalResolution(how="decimal:decimal")


def unite_logical(left: Leaf, right: Leaf) -> AvroLogicalType | str | None:
    """The logical type that holds both, None for none, or the sentence that says why there is none."""
    old, new = find_logical(left), find_logical(right)
    if old == new or new is None:
        return old
    if old is None:
        return f"{new} is not a plain {left.kind}"
    if old.name == new.name == "decimal":
        scale = max(old.scale, new.scale)
        digits = max(old.precision - old.scale, new.precision - new.scale) + scale
        return (
            AvroLogicalType("decimal", digits, scale)
            if digits <= DECIMAL_DIGITS
            else f"{digits} digits are more than {DECIMAL_DIGITS}"
        )
    for family in (INSTANTS, WALLS, TIMES):
        # Nanoseconds are plain numbers to Spark, so they can't share a column with the other units.
        if old.name in family and new.name in family and 9 not in {family[old.name], family[new.name]}:
            return max(old, new, key=lambda one: family[one.name])
    return f"{new} is not {old}"
