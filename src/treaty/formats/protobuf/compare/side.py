"""One of the two schemas of a comparison: the kind of each field, whether it counts as required, delimited, checked as UTF-8 or closed, also by
features of editions (`get_label`), and which scalar types are alike on the wire, so that one may replace another (`GROUPS`).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from treaty.formats.protobuf.linker.features import Features, get_features, inherit_features, is_closed
from treaty.formats.protobuf.model import Enum, Field, IdentifierValue, Message, ProtoSchema, ProtoSymbol

GROUPS: Mapping[str, str] = {
    **dict.fromkeys(("int32", "int64", "uint32", "uint64", "bool"), "number"),
    **dict.fromkeys(("sint32", "sint64"), "signed"),
    **dict.fromkeys(("string", "bytes"), "text"),
    **dict.fromkeys(("fixed32", "sfixed32"), "fixed32"),
    **dict.fromkeys(("fixed64", "sfixed64"), "fixed64"),
    "float": "float",
    "double": "double",
}
"""Scalar types by name, and the group of those that may take each other's place; enums are numbers."""


@dataclass(frozen=True, slots=True)
class FieldType:
    """The kind of a type: SCALAR with its group of `GROUPS` (and symbol, if an enum), MESSAGE with its symbol, or MAP with the types of its parts.

    `type_name` is the type as findings show it.
    """

    kind: str
    type_name: str
    scalar_group: str = ""
    symbol: ProtoSymbol | None = None
    parts: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class MessageBody:
    """A message, its full name and the file in which it is defined."""

    home: ProtoSchema
    full: str
    node: Message

    @property
    def local(self) -> str:
        """The full name without its package."""
        return get_local_name(self.full, self.home)


def get_local_name(full: str, home: ProtoSchema) -> str:
    """A full name without the package of its file."""
    package = home.file.package
    return full[len(package) + 1 :] if package else full


def has_option(node: Message, option: str) -> bool:
    """Whether an option of a message is switched on."""
    return any(one.name == (option,) and one.value == IdentifierValue("true") for one in node.options)


_SCALARS = {name: FieldType("SCALAR", name, group) for name, group in GROUPS.items()}


class SchemaSide:
    """One schema, with what was found out about it."""

    __slots__ = ("_features", "_walked", "schema")

    def __init__(self, schema: ProtoSchema) -> None:
        """Keep the schema; its features and messages are looked up when they are asked for."""
        self.schema = schema
        self._features: dict[tuple[int, str], Features] = {}
        self._walked: set[int] = set()

    def is_walked(self, node: Message) -> bool:
        """Whether a message of the file itself is one of its messages or nested in one; messages that groups define are not."""
        if not self._walked:
            waiting = list(self.schema.file.messages)
            while waiting:
                message = waiting.pop()
                self._walked.add(id(message))
                waiting += message.messages
        return id(node) in self._walked

    def home(self, symbol: ProtoSymbol) -> ProtoSchema:
        """The file that defines a name."""
        return self.schema.files.get(symbol.path, self.schema)

    def get_type(self, body: MessageBody, field: Field) -> FieldType:
        """Return the kind of a field's type; of a repeated field that of its items."""
        if field.key:
            return FieldType("MAP", f"map<{field.key}, {field.type}>", parts=(field.key, field.type))
        return self.resolve_type(body, field.type)

    def resolve_type(self, body: MessageBody, written: str) -> FieldType:
        """Return the kind of a type that is named so inside a message."""
        scalar = _SCALARS.get(written)
        if scalar is not None:
            return scalar
        symbol = body.home.resolve(body.full, written)
        if symbol is None:
            return FieldType("MESSAGE", written)
        if isinstance(symbol.node, Enum):
            return FieldType("SCALAR", f"enum {symbol.full}", "number", symbol)
        if isinstance(symbol.node, Message) and has_option(symbol.node, "map_entry"):
            by_name = {one.name: one.type for one in symbol.node.fields}
            parts = (by_name.get("key", "string"), by_name.get("value", "string"))
            return FieldType("MAP", f"map<{', '.join(parts)}>", parts=parts)
        return FieldType("MESSAGE", symbol.full, symbol=symbol)

    def list_closed_numbers(self, field_type: FieldType) -> frozenset[int] | None:
        """The numbers that a closed enum has; None for every other type."""
        symbol = field_type.symbol
        if symbol is None or not isinstance(symbol.node, Enum) or not is_closed(self.schema, symbol):
            return None
        return frozenset(one.number for one in symbol.node.values)

    def get_label(self, body: MessageBody, field: Field) -> str:
        """The label that was written, or that features put in its place; a oneof's fields have none."""
        if field.label or not body.home.file.edition:
            return field.label
        return "required" if self._get_features(body, field)["field_presence"] == "LEGACY_REQUIRED" else ""

    def is_delimited(self, body: MessageBody, field: Field) -> bool:
        """Whether a message field is encoded between a start tag and an end tag, as groups are, and not behind its length."""
        if field.group is not None or not body.home.file.edition:
            return field.group is not None
        return self._get_features(body, field)["message_encoding"] == "DELIMITED"

    def is_utf8_checked(self, body: MessageBody, field: Field) -> bool:
        """Whether a string field refuses what is no UTF-8."""
        return self._get_features(body, field)["utf8_validation"] == "VERIFY"

    def _get_features(self, body: MessageBody, field: Field) -> Features:
        key = (id(body.home), body.full)
        if key not in self._features:
            self._features[key] = get_features(body.home, body.full)
        return inherit_features(self._features[key], field.options)
