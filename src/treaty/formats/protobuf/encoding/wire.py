"""Writes values in Protobuf's binary encoding, as far as options need it."""

import struct
from math import isnan

from google.protobuf.descriptor_pb2 import UninterpretedOption
from google.protobuf.message import Message as RuntimeMessage

from treaty.formats.protobuf.linker.features import DEFAULTS, Features, get_features, inherit_features
from treaty.formats.protobuf.model import (
    AggregateValue,
    Constant,
    Enum,
    IdentifierValue,
    Message,
    ProtoOption,
    ProtoSymbol,
    SignedZero,
)
from treaty.formats.protobuf.syntax.constants import print_constant
from treaty.formats.protobuf.validation.constants import ADDRESSES, ConstantValidator, FieldSlot

_VARINT, _FIXED64, LENGTH, _START, _END, _FIXED32 = range(6)
"""How a field is encoded; `LENGTH` is for bytes with their length before them."""
_KINDS = {
    **dict.fromkeys(("double", "fixed64", "sfixed64"), _FIXED64),
    **dict.fromkeys(("float", "fixed32", "sfixed32"), _FIXED32),
    **dict.fromkeys(("string", "bytes"), LENGTH),
}
_FORMATS = {"double": "<d", "float": "<f", "fixed64": "<Q", "sfixed64": "<q", "fixed32": "<I", "sfixed32": "<i"}
_TRUE = frozenset(("true", "True", "t"))


def encode_varint(value: int) -> bytes:
    """A whole number of up to 64 bits, negative ones as their complement."""
    value &= 2**64 - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def encode_tagged(number: int, kind: int, body: bytes) -> bytes:
    """A field with its number: bytes with their length, everything else as it is."""
    head = encode_varint(number << 3 | kind)
    return head + encode_varint(len(body)) + body if kind == LENGTH else head + body


class OptionEncoder:
    """Encodes constants that fit their fields."""

    def __init__(self, validator: ConstantValidator) -> None:
        """Look up types with this validator."""
        self.validator = validator
        self._numbers: dict[int, dict[str, int]] = {}
        """Numbers of an enum's values by name, by the identity of the enum."""

    def setting(self, way: tuple[FieldSlot, ...], value: Constant) -> bytes:
        """An option: its value inside the messages that lead to it."""
        if isinstance(value, float) and isnan(value):
            value = abs(value)  # as protoc, which keeps the sign inside messages alone
        if isinstance(value, SignedZero):
            value = 0
        out = self.field(way[-1], value)
        for slot in reversed(way[:-1]):
            out = self.message(slot, out)
        return out

    def message(self, slot: FieldSlot, body: bytes) -> bytes:
        """A field that holds a message which is encoded already."""
        number = slot.field.number
        if slot.field.group is not None or self._features(slot)["message_encoding"] == "DELIMITED":
            return encode_tagged(number, _START, body) + encode_tagged(number, _END, b"")
        return encode_tagged(number, LENGTH, body)

    def field(self, slot: FieldSlot, value: Constant) -> bytes:
        """A field with one value."""
        return self._frame_value(slot, *self._value(slot, value))

    def _frame_value(self, slot: FieldSlot, kind: int, body: bytes) -> bytes:
        return self.message(slot, body) if kind == _START else encode_tagged(slot.field.number, kind, body)

    def _value(self, slot: FieldSlot, value: Constant) -> tuple[int, bytes]:
        """How a value is encoded, and what it is then; `_START` for a message."""
        type_ = slot.field.type if not slot.field.key else "message"
        if type_ in ("string", "bytes") and isinstance(value, bytes):
            return LENGTH, value
        if type_ in _FORMATS:
            return _KINDS[type_], _encode_fixed(type_, value)
        if type_ in ("sint32", "sint64") and isinstance(value, int):
            return _VARINT, encode_varint(value << 1 ^ (-1 if value < 0 else 0))
        if isinstance(value, AggregateValue):
            target = slot.type
            assert target is not None
            return _START, self.aggregate(target, value)
        if isinstance(value, IdentifierValue) and type_ != "bool":
            return _VARINT, encode_varint(self._number(slot.type, value.text))
        if isinstance(value, IdentifierValue):
            return _VARINT, encode_varint(value.text in _TRUE)
        assert isinstance(value, int)
        return _VARINT, encode_varint(value)

    def _number(self, target: ProtoSymbol | None, name: str) -> int:
        """The number of an enum's value; of two of one name the first counts."""
        node = target.node if target is not None else None
        assert isinstance(node, Enum)
        if id(node) not in self._numbers:
            self._numbers[id(node)] = {one.name: one.number for one in reversed(node.values)}
        return self._numbers[id(node)][name]

    def aggregate(self, target: ProtoSymbol, value: AggregateValue) -> bytes:
        """A message, its fields in the order of their numbers."""
        slots: dict[int, FieldSlot] = {}
        values: dict[int, list[Constant]] = {}
        for name, member in value.members:
            if target.full == "google.protobuf.Any" and "/" in name:
                return self._any(name[1:-1], member)
            slot = self.validator.member(target, name)
            slots[slot.field.number] = slot
            values.setdefault(slot.field.number, []).extend(member if isinstance(member, tuple) else (member,))
        parts = {number: self._member(slots[number], values[number]) for number in slots}
        if _is_entry(target.node):
            for number in (1, 2):  # an entry of a map is written with both of its fields
                parts.setdefault(number, self._zero(self.validator.member(target, ("key", "value")[number - 1])))
        return b"".join(parts[number] for number in sorted(parts))

    def _zero(self, slot: FieldSlot) -> bytes:
        """A field with its type's zero."""
        kind = _KINDS.get(slot.field.type)
        if kind is None and slot.type is not None and slot.type.kind == "message":
            return self.message(slot, b"")
        zeros = {_FIXED64: bytes(8), _FIXED32: bytes(4), LENGTH: b""}
        return encode_tagged(slot.field.number, kind or _VARINT, zeros.get(kind or _VARINT, b"\0"))

    def _member(self, slot: FieldSlot, values: list[Constant]) -> bytes:
        if not slot.repeated:
            out = self.field(slot, values[0])
            return b"" if self._is_implicit(slot) and not any(self._value(slot, values[0])[1]) else out
        kinds = [self._value(slot, one) for one in values]
        if kinds and kinds[0][0] not in (LENGTH, _START) and self._is_packed(slot):
            return encode_tagged(slot.field.number, LENGTH, b"".join(body for _, body in kinds))
        return b"".join(self._frame_value(slot, kind, body) for kind, body in kinds)

    def _any(self, address: str, member: Constant) -> bytes:
        prefix = next(one for one in ADDRESSES if address.startswith(one))
        target = self.validator.schema.offered[address[len(prefix) :]]
        assert isinstance(member, AggregateValue)
        body = self.aggregate(target, member)
        return encode_tagged(1, LENGTH, address.encode()) + (encode_tagged(2, LENGTH, body) if body else b"")

    def _features(self, slot: FieldSlot) -> Features:
        if not slot.home.file.edition:
            return DEFAULTS[slot.home.file.dialect]
        return inherit_features(get_features(slot.home, slot.full.rpartition(".")[0]), slot.field.options)

    def _is_packed(self, slot: FieldSlot) -> bool:
        for option in slot.field.options:
            if option.name == ("packed",):
                return option.value == IdentifierValue("true")
        return self._features(slot)["repeated_field_encoding"] == "PACKED"

    def _is_implicit(self, slot: FieldSlot) -> bool:
        """Whether a field that has its type's zero is left out."""
        scope = slot.full.rpartition(".")[0]
        node = slot.home.symbols[scope].node if scope in slot.home.symbols else None
        alone = not isinstance(node, Message) or any(one is slot.field for one in node.fields)
        symbol = slot.home.symbols.get(slot.full)
        extension = symbol is not None and symbol.kind == "extension"
        implicit = self._features(slot)["field_presence"] == "IMPLICIT"
        kind = slot.type.kind if slot.type is not None else ""
        return (
            implicit and alone and not extension and not _is_entry(node) and kind != "message" and not slot.field.label
        )


def _is_entry(node: object) -> bool:
    return isinstance(node, Message) and any(one.name == ("map_entry",) for one in node.options)


def _encode_fixed(type_: str, value: Constant) -> bytes:
    number = float(value.text) if isinstance(value, IdentifierValue) else value
    assert isinstance(number, int | float)
    if isinstance(number, SignedZero) and type_ in ("double", "float"):
        number = -0.0
    if type_ == "double":
        return struct.pack("<d", number)
    if type_ == "float":
        try:
            return struct.pack("<f", number)
        except OverflowError:
            return struct.pack("<f", float("inf") if number > 0 else float("-inf"))
    return struct.pack(_FORMATS[type_], number)


def keep_uninterpreted(option: ProtoOption, holder: type[RuntimeMessage]) -> RuntimeMessage:
    """Options of the class `holder` that hold one option, its name in parts and its value by its kind."""
    uninterpreted = UninterpretedOption()
    for part in option.name:
        extension = part.startswith("(")
        uninterpreted.name.add(name_part=part[1:-1] if extension else part, is_extension=extension)
    _put(uninterpreted, option.value)
    options = holder()
    options.uninterpreted_option.add().MergeFromString(uninterpreted.SerializeToString())  # type: ignore[attr-defined]
    return options


def _put(uninterpreted: UninterpretedOption, value: Constant) -> None:
    match value:
        case IdentifierValue():
            uninterpreted.identifier_value = value.text
        case bytes():
            uninterpreted.string_value = value
        case AggregateValue():
            uninterpreted.aggregate_value = print_constant(value, "").removeprefix("{").removesuffix("}").strip()
        case float():
            uninterpreted.double_value = value
        case int() if value < 0:
            uninterpreted.negative_int_value = value
        case int():
            uninterpreted.positive_int_value = value
