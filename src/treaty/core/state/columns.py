"""Columns: what a schema becomes in a table, as small frozen values that need neither Spark nor Arrow.

The types are those that Spark and Arrow share. What a schema says and a table can't hold is reported as a `ColumnLoss`.
"""

from collections.abc import Iterator, Mapping

from treaty.light_dataclass import dataclass

SCALARS: Mapping[str, str] = {
    "null": "nothing at all",
    "boolean": "true or false",
    "int32": "whole numbers of 32 bits",
    "int64": "whole numbers of 64 bits",
    "float32": "binary floating point of 32 bits",
    "float64": "binary floating point of 64 bits",
    "string": "Unicode text",
    "binary": "bytes",
    "date": "days since 1970-01-01",
    "timestamp": "instants in microseconds since 1970-01-01 UTC",
    "timestamp_ntz": "microseconds since 1970-01-01 on a local clock",
    "variant": "any JSON value; text where an engine has no such type",
}
"""Names of scalar types and what they hold."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """A type without parts; `name` is one of `SCALARS`."""

    name: str


@dataclass(frozen=True, slots=True)
class Decimal:
    """A decimal of `precision` digits, up to DECIMAL_DIGITS, `scale` of them after the point."""

    precision: int
    scale: int


@dataclass(frozen=True, slots=True)
class List:
    """A list of elements of one type."""

    element: "ColumnType"
    nullable: bool = False


@dataclass(frozen=True, slots=True)
class Map:
    """Keys and values; keys are never null."""

    key: "ColumnType"
    value: "ColumnType"
    nullable: bool = False


@dataclass(frozen=True, slots=True)
class Struct:
    """Named columns in their order."""

    columns: tuple["Column", ...]


ColumnType = Scalar | Decimal | List | Map | Struct


@dataclass(frozen=True, slots=True)
class Column:
    """A named column; `doc` is the schema's word on it."""

    name: str
    type: ColumnType
    nullable: bool = True
    doc: str = ""


LOSSES: Mapping[str, str] = {
    "ANY_AS_VARIANT": "a place that takes any value becomes a variant",
    "BRANCHES_MERGED": "branches of a choice share one struct; which of them it was is not kept",
    "CONTENT_OPEN": "members that the schema does not name are not in a column",
    "DATE_PARTIAL": "a date that lacks its year, month or day becomes null",
    "DECIMAL_TOO_WIDE": "a decimal of more than 38 digits stays bytes",
    "DURATION_AS_BINARY": "a duration stays its twelve bytes",
    "ENUM_AS_STRING": "an enum becomes text; its set of symbols is not kept",
    "INTEGER_BEYOND_64": "whole numbers without bounds become 64 bits; larger ones are not held",
    "LOGICAL_UNKNOWN": "a logical type without a column type keeps its base type",
    "NANOS_CUT": "nanoseconds are kept as whole numbers of 64 bits, or cut to microseconds",
    "NUMBER_AS_DOUBLE": "decimal numbers become binary floating point of 64 bits",
    "PRESENCE_LOST": "a field that is not set and one set to its default look alike",
    "RECURSION_CUT": "a type inside itself is cut at a stated depth",
    "TIME_AS_INTEGER": "a time of day keeps its whole number",
    "TUPLE_AS_VARIANT": "an array with a type per place becomes a variant",
    "TYPE_ASSUMED": "a place without a type is taken to be of the type that its keywords are about",
    "UNION_AS_STRUCT": "a union becomes a struct with one column for every branch",
    "UNKNOWN_FIELDS": "fields that the schema does not know are dropped",
    "UNSIGNED_AS_DECIMAL": "an unsigned 64-bit number becomes a decimal of 20 digits",
    "UUID_AS_STRING": "a UUID becomes its text",
}
"""Everything that can be lost between a schema and a table."""


@dataclass(frozen=True, slots=True)
class ColumnLoss:
    """Something that the columns do not keep: one of `LOSSES`, and the dotted way to the column where it happens."""

    rule: str
    column: str
    detail: str = ""

    @property
    def sentence(self) -> str:
        """What is lost, in words."""
        return LOSSES[self.rule]


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a schema. `whole`: the top-level type has no fields and is the one column ``value``."""

    columns: tuple[Column, ...]
    losses: tuple[ColumnLoss, ...] = ()
    whole: bool = False

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)
