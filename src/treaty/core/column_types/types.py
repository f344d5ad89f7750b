"""The types of columns in SQL as a tree of frozen values."""

from collections.abc import Mapping

from treaty.light_dataclass import dataclass

SQL_SCALARS: Mapping[str, str] = {
    "BOOLEAN": "true or false",
    "TINYINT": "whole numbers of 8 bits",
    "SMALLINT": "whole numbers of 16 bits",
    "INT": "whole numbers of 32 bits",
    "BIGINT": "whole numbers of 64 bits",
    "FLOAT": "binary floating point of 32 bits",
    "DOUBLE": "binary floating point of 64 bits",
    "STRING": "Unicode text",
    "BINARY": "bytes",
    "DATE": "days since 1970-01-01",
    "TIMESTAMP": "instants in microseconds since 1970-01-01 UTC",
    "TIMESTAMP_NTZ": "microseconds since 1970-01-01 on a local clock",
    "VARIANT": "any JSON value; Spark has it, most formats have not",
    "VOID": "nothing but null",
}
"""Names of SQL types without parts and what they hold."""

SQL_SYNONYMS: Mapping[str, str] = {
    "BOOL": "BOOLEAN",
    "BYTE": "TINYINT",
    "SHORT": "SMALLINT",
    "INTEGER": "INT",
    "LONG": "BIGINT",
    "REAL": "FLOAT",
    "VARCHAR": "STRING",
    "BYTES": "BINARY",
    "TIMESTAMP_LTZ": "TIMESTAMP",
    "DEC": "DECIMAL",
    "NUMERIC": "DECIMAL",
}
"""Other words for a type, of Spark or of ksqlDB."""

SQL_TYPE_WORDS = frozenset(
    [*SQL_SCALARS, *SQL_SYNONYMS, "DECIMAL", "TIME", "ARRAY", "MAP", "STRUCT", "CHAR", "CHARACTER", "INTERVAL"]
)
"""All words that begin a type; a type that a user names has none of these names."""

TIME_DIGITS = 6
"""Digits after the second that a time of day has at most, and without a number."""


@dataclass(frozen=True, slots=True)
class SqlScalar:
    """A type without parts; `name` is one of `SQL_SCALARS`."""

    name: str


@dataclass(frozen=True, slots=True)
class SqlDecimal:
    """A decimal of `precision` digits (1 to 38), `scale` of them after the point."""

    precision: int
    scale: int


@dataclass(frozen=True, slots=True)
class SqlTime:
    """A time of day, with `precision` digits after the second (0 to 6)."""

    precision: int = TIME_DIGITS


@dataclass(frozen=True, slots=True)
class SqlArray:
    """A list of elements of one type; elements may be null."""

    element: "SqlType"


@dataclass(frozen=True, slots=True)
class SqlMap:
    """Keys and values; keys are never null."""

    key: "SqlType"
    value: "SqlType"


@dataclass(frozen=True, slots=True)
class SqlField:
    """A named part of a struct; `comment` is empty without one."""

    name: str
    type: "SqlType"
    nullable: bool = True
    comment: str = ""


@dataclass(frozen=True, slots=True)
class SqlStruct:
    """Named fields in their order."""

    fields: tuple[SqlField, ...]


@dataclass(frozen=True, slots=True)
class UserType:
    """A type that a CREATE TYPE names; the spelling is that of the use."""

    name: str

    @property
    def key(self) -> str:
        """The name by which the type is found: A-Z as a-z."""
        return lower_name(self.name)


SqlType = SqlScalar | SqlDecimal | SqlTime | SqlArray | SqlMap | SqlStruct | UserType


def lower_name(name: str) -> str:
    """Return a name with A-Z as a-z and all else as it is: the key of sources and types."""
    return (
        name.lower() if name.isascii() else "".join(letter.lower() if letter.isascii() else letter for letter in name)
    )


class ColumnTypeError(ValueError):
    """A text, or an expansion, that is no column type.

    `code` is one of TYPE_SYNTAX, TYPE_UNKNOWN, TYPE_NUMBER, TYPE_LENGTH, TYPE_FIELD_TWICE, TYPE_DEPTH, TYPE_SIZE,
    TYPE_RECURSIVE and, of a path, COLUMN_PATH. `start` and `end` are offsets in code points of the text, both 0 for an expansion; `expected` says what is
    allowed at this place.
    """

    def __init__(
        self, code: str, message: str, start: int = 0, end: int = 0, *, expected: tuple[str, ...] = (), hint: str = ""
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.start = start
        self.end = end
        self.expected = expected
        self.hint = hint
