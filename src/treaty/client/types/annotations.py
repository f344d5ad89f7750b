"""What `typing.Annotated` may say about a type or a field, for what Python's own types leave open."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class TypeName:
    """The name of a record, enum or fixed type, with or without a namespace: ``Annotated[Order, TypeName("shop.Order")]``.

    A class may name itself by an attribute ``__schema_name__ = "shop.Order"``.
    """

    name: str


@dataclass(frozen=True, slots=True)
class FieldName:
    """The name of a field in the schema, where it is not the attribute's."""

    name: str


@dataclass(frozen=True, slots=True)
class FieldAliases:
    """Names that a field had before; readers with this schema find it under them (Avro's aliases)."""

    names: tuple[str, ...]

    def __init__(self, *names: str) -> None:
        """Take the old names."""
        object.__setattr__(self, "names", names)


@dataclass(frozen=True, slots=True)
class FieldDoc:
    """What a field is about."""

    text: str


@dataclass(frozen=True, slots=True)
class DecimalDigits:
    """Of a `Decimal`: digits in all, and digits after the point."""

    precision: int
    scale: int = 0


@dataclass(frozen=True, slots=True)
class FixedSize:
    """Of `bytes`: always this many of them (Avro's fixed). The type's name is the field's unless `TypeName` gives another."""

    count: int


@dataclass(frozen=True, slots=True)
class StoredAs:
    """How Avro stores an `int` (``int``: 32 bits), a `float` (``float``: 32 bits) or a point in time.

    ``millis`` keeps thousandths of a second in place of millionths; ``local`` and ``local-millis`` take a `datetime`
    without a zone.
    """

    form: Literal["int", "long", "float", "double", "millis", "micros", "local", "local-millis"]


@dataclass(frozen=True, slots=True)
class OptionalField:
    """A field that may be missing from records: None stands for it, and None is not written (JSON)."""
