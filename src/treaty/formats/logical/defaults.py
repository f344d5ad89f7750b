"""Which values a member of a logical type may have as its default."""

from collections.abc import Mapping
from decimal import Decimal

from treaty.formats.logical.model import DefaultLiteral, DefaultValue, LogicalEnum, LogicalScalar, LogicalType

BITS: Mapping[str, int] = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
"""By type of whole numbers, its size."""
_TEXTS = frozenset(("STRING", "CHAR", "VARCHAR"))
_LARGEST = Decimal("1e300")


def is_valid_default(kind: LogicalType, *, nullable: bool, value: DefaultLiteral) -> bool:
    """Whether a value may stand for a missing member: null, truth, a number, a text or a symbol."""
    if value is None:
        return nullable
    if isinstance(kind, LogicalEnum):
        return value in kind.symbols
    if not isinstance(kind, LogicalScalar):
        return False
    if isinstance(value, bool):
        return kind.name == "BOOLEAN"
    if isinstance(value, str):
        return kind.name in _TEXTS and all(len(value) <= one for one in kind.numbers)
    if isinstance(value, int) and kind.name in BITS:
        half = 1 << (BITS[kind.name] - 1)
        return -half <= value < half
    return kind.name in ("FLOAT", "DOUBLE") and -_LARGEST < value < _LARGEST


def make_default(kind: LogicalType, *, nullable: bool, value: object) -> DefaultValue | None:
    """The default that a value from JSON is; None for one that logical types can't write."""
    if isinstance(value, float):
        value = Decimal(repr(value))
    if value is not None and not isinstance(value, bool | int | Decimal | str):
        return None
    if (isinstance(value, Decimal) and not value.is_finite()) or not is_valid_default(
        kind, nullable=nullable, value=value
    ):
        return None
    if isinstance(kind, LogicalScalar) and kind.name in ("FLOAT", "DOUBLE") and isinstance(value, int | Decimal):
        value = Decimal(repr(float(value)))  # as every format keeps it
    return DefaultValue(value)


def to_json(value: DefaultLiteral, kind: LogicalType) -> bool | int | float | str | None:
    """The value as JSON has it."""
    if isinstance(kind, LogicalScalar) and kind.name in ("FLOAT", "DOUBLE") and isinstance(value, int | Decimal):
        return float(value)
    assert not isinstance(value, Decimal)
    return value
