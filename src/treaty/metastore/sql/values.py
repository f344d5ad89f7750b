"""What statements of the metastore consist of, as frozen values: columns of heads, literals (times, arrays, maps, structs) and
conditions.
"""

from datetime import UTC, datetime
from decimal import Decimal

from treaty.core.column_types import SqlType
from treaty.light_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class HeadColumn:
    """A column of a head. `role` is value, key, headers (all of a record's) or header (the one that `header` names)."""

    name: str
    type: SqlType
    role: str = "value"
    header: str = ""
    nullable: bool = True
    comment: str = ""


@dataclass(frozen=True, slots=True)
class TimeLiteral:
    """A literal with the word of its type before it: DATE, TIME, TIMESTAMP or TIMESTAMP_NTZ. The text is not checked."""

    type: str
    text: str


@dataclass(frozen=True, slots=True)
class ArrayLiteral:
    """``ARRAY(1, 2)`` or ``ARRAY[1, 2]``."""

    items: tuple["SqlLiteral", ...] = ()


@dataclass(frozen=True, slots=True)
class MapLiteral:
    """``MAP('a', 1)`` or ``MAP('a' := 1)``: keys with their values."""

    entries: tuple[tuple["SqlLiteral", "SqlLiteral"], ...] = ()


@dataclass(frozen=True, slots=True)
class StructLiteral:
    """``STRUCT(a := 1)`` or ``NAMED_STRUCT('a', 1)``: names with their values."""

    fields: tuple[tuple[str, "SqlLiteral"], ...] = ()


SqlLiteral = None | bool | int | float | Decimal | str | bytes | TimeLiteral | ArrayLiteral | MapLiteral | StructLiteral
"""A value as written: a number with an exponent is a float, one with a point a Decimal."""


@dataclass(frozen=True, slots=True)
class ColumnCondition:
    """``column = value`` or ``column LIKE pattern``; conditions of a statement are joined by AND."""

    column: str
    operator: str
    value: SqlLiteral


@dataclass(frozen=True, slots=True)
class OrderTerm:
    """A column by which rows are ordered."""

    column: str
    descending: bool = False


EARLIEST, LATEST = "earliest", "latest"


@dataclass(frozen=True, slots=True)
class ComparedRange:
    """``FROM … TO …`` of a comparison: ``earliest`` or a time in ISO 8601, which belongs to the range, and ``latest`` or a time, which does not."""

    start: str = EARLIEST
    end: str = LATEST


def format_time(milliseconds: int) -> str:
    """Return a time in ms since the epoch in ISO 8601; one that no calendar has as ``@`` and the number."""
    seconds, rest = divmod(milliseconds, 1_000)
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest:03}Z"
    except (ValueError, OverflowError, OSError):
        return f"@{milliseconds}"
