"""The immutable form of an Avro schema: types that refer to named types by name, so that recursion is a plain value."""

import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from treaty.formats.literal import Json

Props = tuple[tuple[str, Json], ...]
"""Members that Avro does not know, in the order of the text."""


class Absent(enum.Enum):
    """The default that a field does not have; ``None`` is the default null."""

    ABSENT = "absent"


ABSENT: Literal[Absent.ABSENT] = Absent.ABSENT


@dataclass(frozen=True, slots=True)
class Primitive:
    """One of the eight types without a structure; `kind` is its name."""

    kind: str
    props: Props = ()


@dataclass(frozen=True, slots=True)
class Array:
    """A list of `items`."""

    items: "Type"
    props: Props = ()
    kind: str = "array"


@dataclass(frozen=True, slots=True)
class Map:
    """`values` by string keys."""

    values: "Type"
    props: Props = ()
    kind: str = "map"


@dataclass(frozen=True, slots=True)
class Union:
    """One of several branches."""

    branches: tuple["Type", ...]
    kind: str = "union"


@dataclass(frozen=True, slots=True)
class Reference:
    """A use of a named type: its full name, to be looked up in `Schema.names`."""

    full: str


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a record; `order` is ``ascending``, ``descending`` or ``ignore``."""

    name: str
    type: "Type"
    doc: str | None = None
    default: Json | Absent = ABSENT
    order: str = "ascending"
    aliases: tuple[str, ...] = ()
    props: Props = ()


@dataclass(frozen=True, slots=True)
class Record:
    """Named fields in order; `kind` is ``record``, and `error` says that the text called it an error."""

    full: str
    fields: tuple[Field, ...]
    doc: str | None = None
    aliases: tuple[str, ...] = ()
    props: Props = ()
    error: bool = False
    kind: str = "record"


@dataclass(frozen=True, slots=True)
class Enum:
    """One of several symbols; `default` stands in for symbols that a reader does not know."""

    full: str
    symbols: tuple[str, ...]
    default: str | None = None
    doc: str | None = None
    aliases: tuple[str, ...] = ()
    props: Props = ()
    kind: str = "enum"


@dataclass(frozen=True, slots=True)
class Fixed:
    """Exactly `size` bytes."""

    full: str
    size: int
    doc: str | None = None
    aliases: tuple[str, ...] = ()
    props: Props = ()
    kind: str = "fixed"


Named = Record | Enum | Fixed
Resolved = Primitive | Array | Map | Union | Named
Type = Resolved | Reference

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

KINDS = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
PRIMITIVES: Mapping[str, Primitive] = {kind: Primitive(kind) for kind in KINDS}
"""The primitives without properties, one object each."""


@dataclass(frozen=True, slots=True)
class Schema:
    """A whole schema.

    `names` holds every named type that the text and its references define. `outside` are the full names of the
    references' own top-level types: the canonical text calls them by name only. `text` is what was read, for places;
    it is no part of what the schema is.
    """

    root: Type
    names: Mapping[str, Named]
    outside: frozenset[str] = frozenset()
    text: str = field(default="", compare=False, repr=False)

    def resolve(self, node: Type) -> Resolved:
        """Follow a reference to the definition; any other type is itself."""
        return self.names[node.full] if isinstance(node, Reference) else node


def space_of(full: str) -> str:
    """The namespace of a full name, "" where it has none."""
    return full.rpartition(".")[0]


def simple_of(full: str) -> str:
    """The last part of a full name."""
    return full.rpartition(".")[2]


def is_name(name: str) -> bool:
    """Tell whether `name` is legal as the Java library sees it: letters, digits and underscore of any script.

    A letter beyond the basic plane is not one there, because Java looks at halves of its surrogate pair.
    """
    if _PLAIN.fullmatch(name):
        return True
    if not name or name[0].isdecimal():
        return False
    return all((char.isalpha() or char.isdecimal() or char == "_") and char <= "\uffff" for char in name)


def full_name(name: str, space: str | None) -> str:
    """The full name of a type called `name` where `space` is the namespace in force; a dotted name has its own."""
    head, dot, last = name.rpartition(".")
    if not dot:
        return f"{space}.{name}" if space else name
    return name if head else last


def illegal_part(full: str) -> str | None:
    """The first part of a full name that is not legal, or None."""
    if "." not in full:
        return None if is_name(full) else full
    return next((part for part in full.split(".") if not is_name(part)), None)
