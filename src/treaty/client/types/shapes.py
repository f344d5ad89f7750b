"""`Shape`: what an annotation says about values, before any format's words for it."""

import enum
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

ABSENT: Any = enum.Enum("Absent", "ABSENT").ABSENT  # type: ignore[attr-defined]  # its own type, so that no value equals it
"""In place of a value that is not there."""

Convert = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class ScalarShape:
    """A type of values without parts: its class, its words in both formats, and the ways between value and format.

    `avro` and `json` are schemas; `takes` goes from the class's value to what the codec writes, `makes` back. None: as
    it is.
    """

    kind: type
    avro: Any
    json: Any
    takes_avro: Convert | None = None
    makes_avro: Convert | None = None
    takes_json: Convert | None = None
    makes_json: Convert | None = None
    key: Callable[[str], Any] | None = None
    """From the text of a map's key, where values of this type may be keys."""


@dataclass(frozen=True, slots=True)
class SequenceShape:
    """A sequence or set of items; `make` builds it from a list."""

    item: "Shape"
    make: type


@dataclass(frozen=True, slots=True)
class TupleShape:
    """A tuple with a type for each place."""

    items: tuple["Shape", ...]


@dataclass(frozen=True, slots=True)
class MapShape:
    """A dictionary; `key` makes its keys from texts, `text` texts from them."""

    key: Callable[[str], Any]
    text: Callable[[Any], str]
    value: "Shape"


@dataclass(frozen=True, slots=True)
class UnionShape:
    """A union, in the order of the annotation."""

    branches: tuple["Shape", ...]


@dataclass(frozen=True, slots=True)
class EnumShape:
    """An enum: its members by the symbols that stand for them."""

    kind: type[enum.Enum]
    name: str
    doc: str
    members: tuple[tuple[str, enum.Enum], ...]


@dataclass(frozen=True, slots=True)
class FixedShape:
    """Bytes of one length, with a name."""

    name: str
    size: int


@dataclass(frozen=True, slots=True)
class LiteralShape:
    """The values of one type that a `Literal` allows."""

    values: tuple[Any, ...]
    scalar: ScalarShape


@dataclass(frozen=True, slots=True)
class AnyShape:
    """No restriction."""


@dataclass(frozen=True, slots=True)
class RecordUse:
    """A record, by its full name."""

    name: str


Shape = (
    ScalarShape
    | SequenceShape
    | TupleShape
    | MapShape
    | UnionShape
    | EnumShape
    | FixedShape
    | LiteralShape
    | AnyShape
    | RecordUse
)


@dataclass(frozen=True, slots=True)
class FieldShape:
    """A field: its name in the schema, its attribute and its argument in the class, and what it is when it is missing."""

    name: str
    attribute: str
    argument: str
    shape: Shape
    default: Any = ABSENT
    optional: bool = False
    """May be missing from the value itself (`NotRequired`)."""
    defaulted: bool = False
    """The class has a default, even where the schema can't (it differs each time)."""
    doc: str = ""
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordShape:
    """A class with fields. `get` reads an attribute (ABSENT where it is not there), `make` builds from arguments."""

    kind: Any
    name: str
    doc: str
    parts: tuple[FieldShape, ...]
    get: Callable[[Any, str], Any]
    make: Callable[[dict[str, Any]], Any]
    of: Callable[[Any], bool]
    tag: tuple[str, str] | None = None
    """A property in JSON that distinguishes this class from others (msgspec's tags)."""


@dataclass(frozen=True, slots=True)
class DerivedType:
    """A type's shape, with the records that it uses."""

    shape: Shape
    records: Mapping[str, RecordShape] = field(default_factory=dict)


def list_distinct(shapes: Iterable[Shape]) -> tuple[Shape, ...]:
    """Each shape once, in order."""
    distinct_shapes: list[Shape] = []
    for shape in shapes:
        if shape not in distinct_shapes:
            distinct_shapes.append(shape)
    return tuple(distinct_shapes)
