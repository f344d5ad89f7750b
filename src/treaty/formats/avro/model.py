"""The immutable form of an Avro schema: types that refer to named types by name, so that recursion is a plain value."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from treaty.formats.json_text import Json

Props = tuple[tuple[str, Json], ...]
"""Members that Avro does not know, in the order of the text."""


class AbsentDefault(enum.Enum):
    """The default that a field does not have; ``None`` is the default null."""

    ABSENT = "absent"


ABSENT: Literal[AbsentDefault.ABSENT] = AbsentDefault.ABSENT


@dataclass(frozen=True, slots=True)
class AvroPrimitive:
    """One of the eight types without a structure; `kind` is its name."""

    kind: str
    props: Props = ()


@dataclass(frozen=True, slots=True)
class AvroArray:
    """A list of `items`."""

    items: "AvroType"
    props: Props = ()
    kind: str = "array"


@dataclass(frozen=True, slots=True)
class AvroMap:
    """`values` by string keys."""

    values: "AvroType"
    props: Props = ()
    kind: str = "map"


@dataclass(frozen=True, slots=True)
class AvroUnion:
    """One of several branches."""

    branches: tuple["AvroType", ...]
    kind: str = "union"


@dataclass(frozen=True, slots=True)
class AvroReference:
    """A use of a named type: its full name, to be looked up in `Schema.names`."""

    full: str


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a record; `order` is ``ascending``, ``descending`` or ``ignore``."""

    name: str
    type: "AvroType"
    doc: str | None = None
    default: Json | AbsentDefault = ABSENT
    order: str = "ascending"
    aliases: tuple[str, ...] = ()
    props: Props = ()


@dataclass(frozen=True, slots=True)
class AvroRecord:
    """Named fields in order; `kind` is ``record``, and `error` says that the text called it an error."""

    full: str
    fields: tuple[Field, ...]
    doc: str | None = None
    aliases: tuple[str, ...] = ()
    props: Props = ()
    error: bool = False
    kind: str = "record"


@dataclass(frozen=True, slots=True)
class AvroEnum:
    """One of several symbols; `default` replaces symbols that a reader does not know."""

    full: str
    symbols: tuple[str, ...]
    default: str | None = None
    doc: str | None = None
    aliases: tuple[str, ...] = ()
    props: Props = ()
    kind: str = "enum"


@dataclass(frozen=True, slots=True)
class AvroFixed:
    """Exactly `size` bytes."""

    full: str
    size: int
    doc: str | None = None
    aliases: tuple[str, ...] = ()
    props: Props = ()
    kind: str = "fixed"


NamedType = AvroRecord | AvroEnum | AvroFixed
ResolvedType = AvroPrimitive | AvroArray | AvroMap | AvroUnion | NamedType
AvroType = ResolvedType | AvroReference

KINDS = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
PRIMITIVES: Mapping[str, AvroPrimitive] = {kind: AvroPrimitive(kind) for kind in KINDS}
"""The primitives without properties, one object each."""


@dataclass(frozen=True, slots=True)
class AvroSchema:
    """A whole schema.

    `names` holds every named type that the text and its references define. `outside` are the full names of the
    references' own top-level types: the canonical text calls them by name only. `text` is what was read, for places;
    it is no part of what the schema is.
    """

    root: AvroType
    names: Mapping[str, NamedType]
    outside: frozenset[str] = frozenset()
    text: str = field(default="", compare=False, repr=False)

    def resolve(self, node: AvroType) -> ResolvedType:
        """Follow a reference to the definition; any other type is itself."""
        return self.names[node.full] if isinstance(node, AvroReference) else node


def is_null(node: AvroType) -> bool:
    """Return whether this is the null type."""
    return isinstance(node, AvroPrimitive) and node.kind == "null"


def space_of(full: str) -> str:
    """The namespace of a full name, "" where it has none."""
    return full.rpartition(".")[0]


def simple_of(full: str) -> str:
    """The last part of a full name."""
    return full.rpartition(".")[2]


def is_name(name: str) -> bool:
    """Return whether `name` is legal as the Java library sees it: letters, digits and underscore of any script.

    A letter beyond the basic plane is not one there, because Java looks at halves of its surrogate pair.
    """
    if name.isascii():
        return name.isidentifier()
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
