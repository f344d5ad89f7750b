"""What `typing.Annotated` may say about a type or a field, for what Python's own types leave open."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Named:
    """The name of a record, enum or fixed type, with or without a namespace: ``Annotated[Order, Named("shop.Order")]``.

    A class may name itself by an attribute ``__schema_name__ = "shop.Order"``.
    """

    name: str


@dataclass(frozen=True, slots=True)
class Called:
    """The name of a field in the schema, where it is not the attribute's."""

    name: str


@dataclass(frozen=True, slots=True)
class Formerly:
    """Names that a field had before; readers with this schema find it under them (Avro's aliases)."""

    names: tuple[str, ...]

    def __init__(self, *names: str) -> None:
        """Take the old names."""
        object.__setattr__(self, "names", names)


@dataclass(frozen=True, slots=True)
class Doc:
    """What a field is about."""

    text: str


@dataclass(frozen=True, slots=True)
class Digits:
    """Of a `Decimal`: digits in all, and digits after the point."""

    precision: int
    scale: int = 0


@dataclass(frozen=True, slots=True)
class Size:
    """Of `bytes`: always this many of them (Avro's fixed). The type's name is the field's unless `Named` says another."""

    count: int


@dataclass(frozen=True, slots=True)
class Stored:
    """How Avro stores an `int` (``int``: 32 bits), a `float` (``float``: 32 bits) or a point in time.

    ``millis`` keeps thousandths of a second in place of millionths; ``local`` and ``local-millis`` take a `datetime`
    without a zone.
    """

    form: Literal["int", "long", "float", "double", "millis", "micros", "local", "local-millis"]


@dataclass(frozen=True, slots=True)
class Optional:
    """A field that may be missing from records: None stands for it, and None is not written (JSON)."""
