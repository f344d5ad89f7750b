"""Logical types as frozen values with all names and short forms written out, and what can be wrong with a text of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from treaty.core.finding import Diagnostic
from treaty.core.limits import LOGICAL_DEPTH, LOGICAL_MEMBERS
from treaty.formats.format import InvalidSchemaError

EXPECTED: Mapping[str, str] = {
    "LOGICAL_SYNTAX": "STRUCT Name (member TYPE [NOT NULL] [DEFAULT value] [COMMENT 'text'], ...)",
    "LOGICAL_TYPE": "a type such as INT, STRING, DECIMAL(10, 2), ARRAY<INT>, MAP<STRING, INT>, ENUM or STRUCT",
    "LOGICAL_NUMBER": "a number in the range of the type",
    "LOGICAL_NAME_TWICE": "names that differ",
    "LOGICAL_NAME": "a name that the format allows",
    "LOGICAL_RECURSIVE": "types that do not contain themselves",
    "LOGICAL_DEFAULT": "a value of the member's type, or NULL where it may be null",
    "LOGICAL_UNSUPPORTED": "what both the format and logical types have",
    "LOGICAL_DEPTH": f"at most {LOGICAL_DEPTH} types inside each other",
    "LOGICAL_MEMBERS": f"at most {LOGICAL_MEMBERS} members, names written out",
}
"""By rule, what is expected."""


def logical_error(
    rule: str, path: str, message: str, expected: str = "", *, line: int = 0, column: int = 0
) -> InvalidSchemaError:
    """An error with one fault about a member, which `path` leads to by names with slashes."""
    return InvalidSchemaError((Diagnostic(rule, path, message, expected or EXPECTED[rule], line, column),))


LONGEST = 2_147_483_647
"""The length of a text or of bytes that means: any."""

SCALARS: Mapping[str, tuple[tuple[int, int, int | None], ...]] = {
    "BOOLEAN": (),
    "TINYINT": (),
    "SMALLINT": (),
    "INT": (),
    "BIGINT": (),
    "FLOAT": (),
    "DOUBLE": (),
    "STRING": (),
    "CHAR": ((1, LONGEST, 1),),
    "VARCHAR": ((1, LONGEST, 1),),
    "BYTES": (),
    "BINARY": ((1, LONGEST, 1),),
    "VARBINARY": ((1, LONGEST, 1),),
    "DECIMAL": ((1, 38, 10), (0, 38, 0)),
    "DATE": (),
    "TIME": ((0, 9, 0),),
    "TIMESTAMP": ((0, 9, 6),),
    "TIMESTAMP_LTZ": ((0, 9, 6),),
}
"""Names of types without parts, and for each number in parentheses: the least, the largest, and what none means."""

SHORT: Mapping[str, str] = {"INTEGER": "INT", "BOOL": "BOOLEAN", "NUMERIC": "DECIMAL", "DEC": "DECIMAL"}
"""Other names of them, as SQL has them."""


@dataclass(frozen=True, slots=True)
class LogicalScalar:
    """A type without parts: one of `SCALARS`, with all its numbers."""

    name: str
    numbers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class LogicalArray:
    """A list of elements of one type."""

    element: "LogicalType"
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class LogicalMap:
    """Values by keys, which are never null."""

    key: LogicalScalar
    value: "LogicalType"
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class LogicalEnum:
    """One of several words; `name` may be empty."""

    name: str
    symbols: tuple[str, ...]


DefaultLiteral = bool | int | Decimal | str | None


@dataclass(frozen=True, slots=True)
class DefaultValue:
    """What stands for a member that is missing; null is a value like others."""

    value: DefaultLiteral


@dataclass(frozen=True, slots=True)
class StructMember:
    """A named part of a struct. `comment` is a word on it."""

    name: str
    type: "LogicalType"
    nullable: bool = True
    default: DefaultValue | None = None
    comment: str = ""


@dataclass(frozen=True, slots=True)
class LogicalStruct:
    """Members in their order. `name` may be empty, and may have points where a format has packages or namespaces."""

    name: str
    members: tuple[StructMember, ...]


LogicalType = LogicalScalar | LogicalArray | LogicalMap | LogicalEnum | LogicalStruct
