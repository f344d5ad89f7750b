"""Logical types as frozen values: what a text says once its names and its shorter spellings are written out."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

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
class Scalar:
    """A type without parts: one of `SCALARS`, with all its numbers."""

    name: str
    numbers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Array:
    """A list of elements of one type."""

    element: "Type"
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class Map:
    """Values by keys, which are never null."""

    key: Scalar
    value: "Type"
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class Enum:
    """One of several words; `name` may be empty."""

    name: str
    symbols: tuple[str, ...]


Literal = bool | int | Decimal | str | None


@dataclass(frozen=True, slots=True)
class Default:
    """What stands for a member that is missing; null is a value like others."""

    value: Literal


@dataclass(frozen=True, slots=True)
class Member:
    """A named part of a struct. `comment` is a word on it."""

    name: str
    type: "Type"
    nullable: bool = True
    default: Default | None = None
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Struct:
    """Members in their order. `name` may be empty, and may have points where a format has packages or namespaces."""

    name: str
    members: tuple[Member, ...]


Type = Scalar | Array | Map | Enum | Struct
