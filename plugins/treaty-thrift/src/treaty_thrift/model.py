"""The model of a Thrift document and of the documents that it includes, as frozen values."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from treaty.formats.budget import spend

NAME_STEPS = 2
"""Steps for following one name."""
Annotations = tuple[tuple[str, str | None], ...]
Requiredness = Literal["required", "optional", ""]
NUMBERS = {"byte": 8, "i8": 8, "i16": 16, "i32": 32, "i64": 64}
"""Bits of whole numbers."""


@dataclass(frozen=True, slots=True)
class Primitive:
    """A type without parts: ``bool``, ``i8`` (``byte`` is the same), ``i16``, ``i32``, ``i64``, ``double``, ``string``, ``binary``."""

    name: str
    annotations: Annotations = ()


@dataclass(frozen=True, slots=True)
class Named:
    """A type by its name, as it is written: ``Order``, or ``shared.Order`` of an included document."""

    name: str


@dataclass(frozen=True, slots=True)
class Container:
    """``list``, ``set`` or ``map`` of the parts: the element, or key and value."""

    kind: Literal["list", "set", "map"]
    parts: tuple["Type", ...]
    annotations: Annotations = ()


Type = Primitive | Named | Container


@dataclass(frozen=True, slots=True)
class Value:
    """A constant: ``int``, ``double``, ``bool``, ``text`` and ``name`` have one value, ``list`` items, ``map`` pairs."""

    kind: Literal["int", "double", "bool", "text", "name", "list", "map"]
    value: object


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a record, a parameter or an exception of a function."""

    id: int
    requiredness: Requiredness
    type: Type
    name: str
    default: Value | None = None
    annotations: Annotations = ()


@dataclass(frozen=True, slots=True)
class Record:
    """A struct, a union or an exception."""

    kind: Literal["struct", "union", "exception"]
    name: str
    fields: tuple[Field, ...]
    annotations: Annotations = ()


@dataclass(frozen=True, slots=True)
class Symbol:
    """A value of an enum."""

    name: str
    number: int
    annotations: Annotations = ()


@dataclass(frozen=True, slots=True)
class Enum:
    """An enum, a whole number of 32 bits in payloads."""

    name: str
    symbols: tuple[Symbol, ...]
    annotations: Annotations = ()


@dataclass(frozen=True, slots=True)
class Typedef:
    """Another name of a type."""

    name: str
    type: Type
    annotations: Annotations = ()


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant with a name."""

    name: str
    type: Type
    value: Value
    annotations: Annotations = ()


@dataclass(frozen=True, slots=True)
class Function:
    """A function of a service; `result` is None for ``void``."""

    name: str
    oneway: bool
    result: Type | None
    parameters: tuple[Field, ...]
    throws: tuple[Field, ...]
    annotations: Annotations = ()


@dataclass(frozen=True, slots=True)
class Service:
    """A service; payloads know nothing of it."""

    name: str
    extends: str
    functions: tuple[Function, ...]
    annotations: Annotations = ()


Definition = Record | Enum | Typedef | Constant | Service


@dataclass(frozen=True, slots=True)
class Document:
    """One text: `headers` are ``include``, ``cpp_include`` and ``namespace`` with scope and value, in their order."""

    headers: tuple[tuple[str, str, str], ...]
    definitions: tuple[Definition, ...]

    @property
    def includes(self) -> tuple[str, ...]:
        """Paths of included documents."""
        return tuple(value for kind, _, value in self.headers if kind == "include")


def prefix_of(path: str) -> str:
    """The name before the dot by which types of an included document are called."""
    return path.rpartition("/")[2].removesuffix(".thrift")


@dataclass(frozen=True, slots=True)
class ThriftSchema:
    """A document with those that it includes, by their prefix. Equal if text and references mean the same."""

    document: Document
    digest: bytes
    included: tuple[tuple[str, "ThriftSchema"], ...] = field(default=(), compare=False)
    definitions: dict[str, Definition] = field(default_factory=dict, compare=False, repr=False)
    prefixes: dict[str, "ThriftSchema"] = field(default_factory=dict, compare=False, repr=False)
    """The included documents by their prefix."""
    resolved: dict[str, "Resolved"] = field(default_factory=dict, compare=False, repr=False)
    """What names of types lead to, as far as somebody has asked: a chain of typedefs is followed once."""
    depths: dict[str, int] = field(default_factory=dict, compare=False, repr=False)
    """Containers inside each other in what a typedef leads to."""
    indexes: dict[str, "Members"] = field(default_factory=dict, compare=False, repr=False)
    """The members of records and enums of the own text, for those that somebody has asked for."""

    @property
    def root(self) -> Record | None:
        """The record that payloads hold: the last one of the text, because Thrift defines a type before it is used."""
        return next(
            (definition for definition in reversed(self.document.definitions) if isinstance(definition, Record)), None
        )

    def records(self) -> Iterator[Record]:
        """Structs, unions and exceptions of the own text."""
        return (definition for definition in self.document.definitions if isinstance(definition, Record))

    def members(self, definition: Record | Enum) -> "Members":
        """The members of a record or enum of the own text by their names, made once."""
        members = self.indexes.get(definition.name)
        if members is None:
            if isinstance(definition, Enum):
                numbers = {symbol.name: symbol.number for symbol in definition.symbols}
                names = {symbol.number: symbol.name for symbol in reversed(definition.symbols)}
                members = Members({}, numbers, names)
            else:
                members = Members({field.name: field.type for field in definition.fields}, {}, {})
            spend(len(members.types) + len(members.numbers))
            self.indexes[definition.name] = members
        return members

    def find(self, name: str) -> "tuple[ThriftSchema, Definition] | None":
        """What a name means, and in which document that stands."""
        own = self.definitions.get(name)
        if own is not None:
            return self, own
        prefix, mark, rest = name.partition(".")
        outer = self.prefixes.get(prefix) if mark else None
        return None if outer is None or rest not in outer.definitions else (outer, outer.definitions[rest])


@dataclass(frozen=True, slots=True)
class Members:
    """Types of a record's fields by name, or numbers of an enum's symbols by name and names by number."""

    types: dict[str, Type]
    numbers: dict[str, int]
    names: dict[int, str]


@dataclass(frozen=True, slots=True)
class Resolved:
    """A type without names for other types: a primitive, a container, a record or an enum, and where its parts are looked up."""

    schema: ThriftSchema
    type: Primitive | Container | Record | Enum


def resolve_type(schema: ThriftSchema, type_: Type) -> Resolved:
    """Follow names and typedefs; parsing has proven that they lead somewhere."""
    way: list[tuple[ThriftSchema, str]] = []
    result: Resolved | None = None
    while isinstance(type_, Named) and result is None:
        result = schema.resolved.get(type_.name)
        if result is None:
            spend(NAME_STEPS)
            way.append((schema, type_.name))
            entry = schema.find(type_.name)
            assert entry is not None, "a parsed schema has a definition for each name"
            schema, definition = entry
            if isinstance(definition, Record | Enum):
                result = Resolved(schema, definition)
            else:
                assert isinstance(definition, Typedef), "a parsed schema uses types as types"
                type_ = definition.type
    if result is None:
        assert not isinstance(type_, Named)
        result = Resolved(schema, type_)
    for home, name in way:
        home.resolved[name] = result
    return result
