"""The model of a Protobuf file: what was written, without comments, and the names that it can see.

Names of types stand as they were written; `Schema.resolve` says what they mean. Places count from 1.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, order=True)
class SourceLocation:
    """Line and column in the text. Places of one file are ordered as its definitions are.

    In a model made from a descriptor the line is 0 and the column counts the definitions.
    """

    line: int = 0
    column: int = 0


NOWHERE = SourceLocation()


@dataclass(frozen=True, slots=True)
class IdentifierValue:
    """An identifier as a constant: an enum's value, ``true``, ``inf`` and so on."""

    text: str


class MinusZero(int):
    """The whole number ``-0``: zero, with a sign for floats, and nothing that an unsigned field takes."""


class RadixInteger(int):
    """A whole number in octal or hexadecimal digits, which no float inside a message takes."""


class RadixMinusZero(int):
    """Zero with a sign, in octal or hexadecimal digits."""


SignedZero = MinusZero | RadixMinusZero
"""Zero with a sign, however it is written."""


@dataclass(frozen=True, slots=True)
class AggregateValue:
    """A message as a constant, in text format: names (``[full.name]`` for extensions) and values, in their order."""

    members: tuple[tuple[str, "Constant"], ...]


Constant = IdentifierValue | int | float | bytes | AggregateValue | tuple["Constant", ...]
"""The value of an option: strings are bytes, since Protobuf's literals are; a tuple is a list inside an aggregate."""


@dataclass(frozen=True, slots=True)
class ProtoOption:
    """An option: the parts of its name, extensions in parentheses (``("(acme.rule)", "max")``), and its value."""

    name: tuple[str, ...]
    value: Constant
    place: SourceLocation = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class NumberRange:
    """Numbers from `start` to `end`, both included; ``max`` is already a number."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Field:
    """A field. `label` is ``optional``, ``required``, ``repeated`` or empty where none was written.

    A map has `key`, and its values' type in `type`. A group has `group`, and `type` is its name. `default` and
    `json_name` stand among the options, as they were written. `doc` is the comment before it.
    """

    name: str
    number: int
    type: str
    label: str = ""
    key: str = ""
    options: tuple[ProtoOption, ...] = ()
    group: "Message | None" = None
    doc: str = field(default="", compare=False)
    place: SourceLocation = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class OneOf:
    """A oneof with its fields."""

    name: str
    fields: tuple[Field, ...]
    options: tuple[ProtoOption, ...] = ()
    doc: str = field(default="", compare=False)
    place: SourceLocation = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class ExtensionsStatement:
    """Numbers that other files may define fields for."""

    ranges: tuple[NumberRange, ...]
    options: tuple[ProtoOption, ...] = ()
    place: SourceLocation = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class ReservedStatement:
    """One ``reserved`` statement: ranges of numbers, or names."""

    ranges: tuple[NumberRange, ...] = ()
    names: tuple[str, ...] = ()
    place: SourceLocation = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class EnumValue:
    """A constant of an enum."""

    name: str
    number: int
    options: tuple[ProtoOption, ...] = ()
    doc: str = field(default="", compare=False)
    place: SourceLocation = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Enum:
    """An enum. `visibility` is ``export``, ``local`` or empty (edition 2024)."""

    name: str
    values: tuple[EnumValue, ...]
    options: tuple[ProtoOption, ...] = ()
    reserved: tuple[ReservedStatement, ...] = ()
    visibility: str = ""
    doc: str = field(default="", compare=False)
    place: SourceLocation = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class ExtendStatement:
    """Fields added to a message that is defined elsewhere."""

    extendee: str
    fields: tuple[Field, ...]
    place: SourceLocation = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Message:
    """A message. `fields` are those outside every oneof; groups stand where they are declared, not in `messages`."""

    name: str
    fields: tuple[Field, ...] = ()
    oneofs: tuple[OneOf, ...] = ()
    messages: tuple["Message", ...] = ()
    enums: tuple[Enum, ...] = ()
    extends: tuple[ExtendStatement, ...] = ()
    extensions: tuple[ExtensionsStatement, ...] = ()
    reserved: tuple[ReservedStatement, ...] = ()
    options: tuple[ProtoOption, ...] = ()
    visibility: str = ""
    doc: str = field(default="", compare=False)
    place: SourceLocation = field(default=NOWHERE, compare=False)

    @property
    def all_fields(self) -> tuple[Field, ...]:
        """Fields inside and outside of oneofs: those of the oneofs come last."""
        return self.fields + tuple(one for oneof in self.oneofs for one in oneof.fields)


@dataclass(frozen=True, slots=True)
class RpcMethod:
    """A method of a service; the two flags say whether a side streams."""

    name: str
    takes: str
    returns: str
    client_streams: bool = False
    server_streams: bool = False
    options: tuple[ProtoOption, ...] = ()
    doc: str = field(default="", compare=False)
    place: SourceLocation = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class RpcService:
    """A service."""

    name: str
    methods: tuple[RpcMethod, ...]
    options: tuple[ProtoOption, ...] = ()
    doc: str = field(default="", compare=False)
    place: SourceLocation = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class ImportStatement:
    """An import; `kind` is ``public``, ``weak``, ``option`` (edition 2024) or empty."""

    path: str
    kind: str = ""
    place: SourceLocation = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class ProtoFile:
    """One file. `syntax` is ``proto2``, ``proto3``, or empty where none was written; `edition` e.g. ``2023``."""

    syntax: str = ""
    edition: str = ""
    package: str = ""
    imports: tuple[ImportStatement, ...] = ()
    options: tuple[ProtoOption, ...] = ()
    messages: tuple[Message, ...] = ()
    enums: tuple[Enum, ...] = ()
    extends: tuple[ExtendStatement, ...] = ()
    services: tuple[RpcService, ...] = ()

    @property
    def dialect(self) -> str:
        """What decides defaults: the edition, or the syntax, which is proto2 where none was written."""
        return self.edition or self.syntax or "proto2"


@dataclass(frozen=True, slots=True)
class ProtoSymbol:
    """A name that was defined somewhere: `full` without a leading point, `path` of the file that defines it.

    The entry of a map is a message with a `node` that no text holds. A value's `full` has the scope of its enum.
    `extendee` is the message that an extension extends, as it was written.
    """

    full: str
    kind: str
    """message, enum, service, extension, field, value, method, oneof or package."""
    path: str
    node: Message | Enum | RpcService | Field | EnumValue | RpcMethod | OneOf | None = None
    extendee: str = ""

    @property
    def scope(self) -> str:
        """The name of its parent; empty for the file without a package."""
        return self.full.rpartition(".")[0]


_SCOPES = frozenset(("message", "enum", "service", "package"))
_TYPES = frozenset(("message", "enum"))


@dataclass(frozen=True, slots=True, eq=False)
class ProtoSchema:
    """A linked file: every name in it leads somewhere.

    `path` is the file's own name (``""`` for the schema itself), `imports` are the linked files of its import
    statements by path, known ones (``google/protobuf/…``) included. `symbols` are the names of this file; `visible`
    are those and what its imports let it see, by full name; `offered` is what an option may be named after, which
    includes what ``import option`` brings.
    """

    file: ProtoFile
    path: str = ""
    imports: Mapping[str, "ProtoSchema"] = field(default_factory=dict)
    symbols: Mapping[str, ProtoSymbol] = field(default_factory=dict)
    visible: Mapping[str, ProtoSymbol] = field(default_factory=dict)
    offered: Mapping[str, ProtoSymbol] = field(default_factory=dict)
    files: Mapping[str, "ProtoSchema"] = field(default_factory=dict)
    """Every linked file that this one needs, itself included, by path."""
    own: Mapping[str, str] = field(default_factory=dict)
    """Further facts of the linker by name, for instance ``subject`` and ``version`` of the reference it came from."""

    def resolve(self, scope: str, written: str) -> ProtoSymbol | None:
        """The message or enum that a name means which is `written` inside `scope`, the full name of a message.

        The innermost scope in which the first part of the name is known decides; a leading point means the whole
        file. For methods `scope` is the full name of the service, for extensions where they stand.
        """
        symbol = find_symbol(self.visible, scope, written, types=True)
        return symbol if symbol is not None and symbol.kind in _TYPES else None


def find_symbol(
    visible: Mapping[str, ProtoSymbol], scope: str, written: str, *, types: bool = False
) -> ProtoSymbol | None:
    """What a name means inside `scope`; with `types`, a name of one part passes over everything but types."""
    if written.startswith("."):
        return visible.get(written[1:])
    first, _, rest = written.partition(".")
    while scope:
        candidate = visible.get(f"{scope}.{first}")
        if candidate is not None:
            if rest:
                if candidate.kind in _SCOPES:
                    return visible.get(f"{scope}.{written}")
            elif not types or candidate.kind in _TYPES:
                return candidate
        scope = scope.rpartition(".")[0]
    return visible.get(written)
