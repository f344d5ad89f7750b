"""Rules of constants: whether the value of an option or default fits the field that it is for."""

from typing import NamedTuple

from treaty.formats.protobuf.descriptors.names import get_entry_name
from treaty.formats.protobuf.linker.features import get_features, inherit_features, read_features
from treaty.formats.protobuf.model import (
    AggregateValue,
    Constant,
    Enum,
    Field,
    IdentifierValue,
    Message,
    MinusZero,
    ProtoSchema,
    ProtoSymbol,
    RadixInteger,
    RadixMinusZero,
    SignedZero,
    find_symbol,
)
from treaty.formats.protobuf.syntax.options import INFINITE, WORDS

LIMITS = {
    **dict.fromkeys(("int32", "sint32", "sfixed32"), (-(2**31), 2**31 - 1)),
    **dict.fromkeys(("int64", "sint64", "sfixed64"), (-(2**63), 2**63 - 1)),
    **dict.fromkeys(("uint32", "fixed32"), (0, 2**32 - 1)),
    **dict.fromkeys(("uint64", "fixed64"), (0, 2**64 - 1)),
}
"""The smallest and largest whole number by type."""
FLOATS = frozenset(("float", "double"))
_TRUTH = frozenset(("true", "True", "t", "false", "False", "f"))
ADDRESSES = ("type.googleapis.com/", "type.googleprod.com/")
"""What may stand before the name of a message that is packed into an ``Any``."""


class FieldSlot(NamedTuple):
    """A field with its full name and the file that defines it, in whose scope its type is written."""

    field: Field
    full: str
    home: ProtoSchema

    @property
    def repeated(self) -> bool:
        """Whether it takes several values."""
        return self.field.label == "repeated" or bool(self.field.key)

    @property
    def type(self) -> ProtoSymbol | None:
        """The message or enum that it holds; the entry for a map; None for scalars."""
        scope = self.full.rpartition(".")[0]
        if self.field.key:
            return self.home.symbols.get(f"{scope}.{get_entry_name(self.field.name)}")
        return self.home.resolve(scope, self.field.type)


class InvalidConstantError(ValueError):
    """A constant that its field does not take; `expected` says what it does."""

    def __init__(self, message: str, expected: str) -> None:
        """Keep the message and what was expected."""
        super().__init__(message)
        self.expected = expected


def describe_constant(value: Constant) -> str:
    """A constant in a few words, for people."""
    match value:
        case IdentifierValue():
            return repr(value.text[:40])
        case bytes():
            return f"the string {value[:40].decode('utf-8', 'replace')!r}"
        case AggregateValue():
            return "a message"
        case tuple():
            return "a list"
        case MinusZero() | RadixMinusZero():
            return "-0"
        case _:
            return str(value)[:40]


class ConstantValidator:
    """Checks constants inside the scope of one schema, in which extensions and types are looked up."""

    def __init__(self, schema: ProtoSchema, descriptor: ProtoSchema) -> None:
        """Check for this schema; `descriptor` is the file that defines what options there are."""
        self.schema = schema
        self.descriptor = descriptor
        self._enums: dict[int, tuple[frozenset[str], frozenset[int]]] = {}
        self._messages: dict[int, tuple[dict[str, str], tuple[Field, ...]]] = {}

    def check(self, slot: FieldSlot, value: Constant, *, inside: bool = False) -> None:
        """Raise `InvalidConstantError` unless a field takes a value; text format is wider `inside` a message."""
        kind = slot.field.type if not slot.field.key else "message"
        bounds = LIMITS.get(kind)
        if bounds is not None:
            if not isinstance(value, int):
                raise InvalidConstantError(f"{describe_constant(value)} for {slot.full}", f"a whole number for {kind}")
            if not bounds[0] <= value <= bounds[1] or (not bounds[0] and isinstance(value, SignedZero)):
                raise InvalidConstantError(
                    f"{describe_constant(value)} for {slot.full}", f"a number from {bounds[0]} to {bounds[1]}"
                )
        elif kind in FLOATS:
            if not _is_float(value, inside=inside):
                number = "a decimal number, inf or nan" if inside else "a number, inf or nan in lower case"
                raise InvalidConstantError(f"{describe_constant(value)} for {slot.full}", number)
        elif kind == "bool":
            truth = isinstance(value, IdentifierValue) and value.text in (_TRUTH if inside else ("true", "false"))
            digit = isinstance(value, int) and value in (0, 1) and not isinstance(value, SignedZero)
            if not truth and not (inside and digit):
                raise InvalidConstantError(f"{describe_constant(value)} for {slot.full}", "true or false")
        elif kind in ("string", "bytes"):
            if not isinstance(value, bytes):
                raise InvalidConstantError(f"{describe_constant(value)} for {slot.full}", "a string in quotes")
            if kind == "string" and not _is_utf8(value) and _validates_utf8(slot):
                raise InvalidConstantError(f"bytes that are no UTF-8 for {slot.full}", "UTF-8, or a field of bytes")
        else:
            self._check_named(slot, value, inside=inside)

    def _check_named(self, slot: FieldSlot, value: Constant, *, inside: bool) -> None:
        target = slot.type
        if target is None:
            raise InvalidConstantError(f"{slot.full} has no type", "an option whose type is defined")
        if isinstance(target.node, Enum):
            names, numbers = self._values(target.node)
            word = isinstance(value, IdentifierValue) and value.text in names
            if not word and not (inside and isinstance(value, int) and value in numbers):
                listed = ", ".join(sorted(names)[:10])
                raise InvalidConstantError(f"{describe_constant(value)} for {slot.full}", f"one of {listed}")
        elif not isinstance(value, AggregateValue):
            raise InvalidConstantError(f"{describe_constant(value)} for {slot.full}", "a message in braces")
        else:
            self._message(target, value)

    def _message(self, target: ProtoSymbol, value: AggregateValue) -> None:
        """The members of a message against its fields."""
        node = target.node
        assert isinstance(node, Message)
        choices, required = self._shape(node)
        set_already: set[str] = set()
        for name, member in value.members:
            if target.full == "google.protobuf.Any" and "/" in name:
                self._any(name, member, alone=len(value.members) == 1)
                continue
            slot = self.member(target, name)
            if isinstance(member, tuple) and not slot.repeated:
                raise InvalidConstantError(f"a list for {slot.full}", "one value")
            if not slot.repeated:
                choice = choices.get(slot.field.name, slot.full)
                if slot.full in set_already or choice in set_already:
                    raise InvalidConstantError(f"{slot.full} is set twice, or another field of its oneof", "one value")
                set_already.update((slot.full, choice))
            for item in member if isinstance(member, tuple) else (member,):
                self.check(slot, item, inside=True)
        names = {one for one, _ in value.members}
        for field in required:
            if field.name not in names and (not field.group or field.type not in names):
                raise InvalidConstantError(f"no value for {target.full}.{field.name}", "one, since it is required")

    def _any(self, name: str, member: Constant, *, alone: bool) -> None:
        address = name[1:-1]
        prefix = next((one for one in ADDRESSES if address.startswith(one)), None)
        packed = self.schema.offered.get(address[len(prefix) :]) if prefix else None
        if packed is None or packed.kind != "message" or not isinstance(member, AggregateValue) or not alone:
            raise InvalidConstantError(f"{name} in an Any", f"{ADDRESSES[0]} and the full name of a message, alone")
        self._message(packed, member)

    def member(self, target: ProtoSymbol, name: str) -> FieldSlot:
        """The field of a message that a member of a constant is named after."""
        home = self.home(target)
        if name.startswith("["):
            extension = self.extension(target, name[1:-1], target.scope)
            if extension is not None:
                return extension
        else:
            if target.full not in home.symbols:
                raise InvalidConstantError(f"{target.full} is not known here", "an imported type")
            for candidate in (name, name.lower()):
                symbol = home.symbols.get(f"{target.full}.{candidate}")
                field = symbol.node if symbol is not None and symbol.kind == "field" else None
                if isinstance(field, Field) and (candidate == name or (field.group is not None and field.type == name)):
                    return FieldSlot(field, f"{target.full}.{candidate}", home)
            node = target.node
            if isinstance(node, Message) and name in ("key", "value") and len(node.fields) == 2:
                return FieldSlot(node.fields[name == "value"], f"{target.full}.{name}", home)
        raise InvalidConstantError(f"{name} is not a field of {target.full}", f"a field of {target.full}")

    def extension(self, target: ProtoSymbol, written: str, scope: str) -> FieldSlot | None:
        """The extension of a message that a name means inside `scope`, or None."""
        symbol = find_symbol(self.schema.offered, scope, written)
        if symbol is None or symbol.kind != "extension" or not isinstance(symbol.node, Field):
            return None
        home = self.home(symbol)
        extended = find_symbol(home.visible, symbol.scope, symbol.extendee)
        if extended is None or extended.full != target.full:
            return None
        return FieldSlot(symbol.node, symbol.full, home)

    def home(self, symbol: ProtoSymbol) -> ProtoSchema:
        """The file that defines a symbol."""
        return self.schema.files.get(symbol.path, self.descriptor)

    def _values(self, node: Enum) -> tuple[frozenset[str], frozenset[int]]:
        """Names and numbers of an enum, counted once."""
        names_and_numbers = self._enums.get(id(node))
        if names_and_numbers is None:
            names_and_numbers = frozenset(one.name for one in node.values), frozenset(one.number for one in node.values)
            self._enums[id(node)] = names_and_numbers
        return names_and_numbers

    def _shape(self, node: Message) -> tuple[dict[str, str], tuple[Field, ...]]:
        """Oneofs of a message by the names of their fields, and its required fields, looked for once."""
        shape = self._messages.get(id(node))
        if shape is None:
            choices = {field.name: f"oneof {one.name}" for one in node.oneofs for field in one.fields}
            shape = choices, tuple(one for one in node.fields if _is_required(one))
            self._messages[id(node)] = shape
        return shape


def _is_float(value: Constant, *, inside: bool) -> bool:
    """Whether a float takes a value; inside a message it takes words in any case, and decimal digits alone."""
    if isinstance(value, IdentifierValue):
        return value.text.lower() in INFINITE if inside else value.text in WORDS
    return isinstance(value, int | float) and not (inside and isinstance(value, RadixInteger | RadixMinusZero))


def _is_utf8(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def _validates_utf8(slot: FieldSlot) -> bool:
    """Whether readers of a field of strings refuse bytes that are no UTF-8."""
    features = inherit_features(get_features(slot.home, slot.full.rpartition(".")[0]), slot.field.options)
    return features["utf8_validation"] == "VERIFY"


def _is_required(field: Field) -> bool:
    """Whether a message must have a field."""
    if field.label == "required":
        return True
    return bool(field.options) and read_features(field.options).get("field_presence") == "LEGACY_REQUIRED"
