"""Options as a descriptor holds them: one spelling for all texts that mean the same value."""

from collections.abc import Iterable
from functools import cached_property

from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

from treaty.formats.budget import spend
from treaty.formats.format import InvalidSchemaError
from treaty.formats.protobuf.descriptors.classes import build_file_class
from treaty.formats.protobuf.descriptors.defaults import parse_default, print_default
from treaty.formats.protobuf.descriptors.options import read_options
from treaty.formats.protobuf.encoding.files import build_descriptor_set
from treaty.formats.protobuf.encoding.wire import LENGTH, OptionEncoder, encode_tagged
from treaty.formats.protobuf.linker.diagnostics import EXPECTED, DiagnosticList
from treaty.formats.protobuf.model import IdentifierValue, ProtoOption, ProtoSchema
from treaty.formats.protobuf.syntax.messages import SCALARS
from treaty.formats.protobuf.validation.constants import ADDRESSES
from treaty.formats.protobuf.validation.options import HOLDERS, OptionResolver, is_unknown

_ELSEWHERE = (("default",), ("json_name",))
"""Options of a field that a descriptor keeps at other places."""
_DEFINITION_STEPS, _FILE_STEPS = 50, 500
"""Steps for the options of one definition, and for a file whose options become known."""


class InterpretedOptions:
    """Options of one schema, each encoded and read again."""

    def __init__(self, schema: ProtoSchema) -> None:
        """Nothing is built before an option needs it: most options have one spelling."""
        self._schema = schema

    def interpret(self, options: tuple[ProtoOption, ...], kind: str, full: str) -> tuple[ProtoOption, ...]:
        """The options of the definition `full`, of the given kind, with the values that its descriptor has.

        They come in the order of their numbers, those that no imported file defines last. Options of a stored text that are
        not valid stay as they are, since no descriptor has them.
        """
        if all(map(_has_one_spelling, options)):
            return options
        placed_elsewhere = [one for one in options if one.name in _ELSEWHERE and kind == "field"]
        unknown = [one for one in options if is_unknown(self._schema, one, full)]
        try:
            read = self._read(options, kind, full)
        except (InvalidSchemaError, DecodeError, TypeError, UnicodeDecodeError):
            return options
        return options if read is None else (*placed_elsewhere, *read, *unknown)

    def _read(self, options: Iterable[ProtoOption], kind: str, full: str) -> tuple[ProtoOption, ...] | None:
        spend(_DEFINITION_STEPS)
        resolver = self._resolver
        resolver.faults = DiagnosticList(EXPECTED)
        settings = resolver.resolve_all(options, kind, full)
        if resolver.faults.found:
            return None
        data = b"".join(self._encoder.setting(one.way, one.value) for one in settings)
        return read_options(self._holder(kind).FromString(data), self._unpack)

    @cached_property
    def _resolver(self) -> OptionResolver:
        return OptionResolver(self._schema, DiagnosticList(EXPECTED))

    @cached_property
    def _encoder(self) -> OptionEncoder:
        return OptionEncoder(self._resolver.validator)

    @cached_property
    def _file_class(self) -> type[FileDescriptorProto]:
        spend(_FILE_STEPS * len(self._schema.files))
        return build_file_class(build_descriptor_set(self._schema).file)

    def _holder(self, kind: str) -> type[Message]:
        descriptor = self._file_class.DESCRIPTOR.file.message_types_by_name[HOLDERS[kind]]
        return GetMessageClass(descriptor)

    def _unpack(self, message: Message) -> tuple[str, Message] | None:
        """What an ``Any`` holds, if its type may be named here and its bytes are those that the type's text would have."""
        address: str = message.type_url  # type: ignore[attr-defined]  # every Any has it
        data: bytes = message.value  # type: ignore[attr-defined]
        prefix = next((one for one in ADDRESSES if address.startswith(one)), "")
        symbol = self._schema.offered.get(address[len(prefix) :]) if prefix else None
        if symbol is None or symbol.kind != "message":
            return None
        descriptor = self._file_class.DESCRIPTOR.file.pool.FindMessageTypeByName(symbol.full)
        try:
            inside = GetMessageClass(descriptor).FromString(data)
        except DecodeError:
            return None
        return (address, inside) if inside.SerializeToString(deterministic=True) == data else None


def _has_one_spelling(option: ProtoOption) -> bool:
    """Whether every text that sets the option to this value writes it so: one of Protobuf's own, with a word or a string."""
    first, *rest = option.name
    if option.name in _ELSEWHERE:
        return True
    if first[0] == "(" or not isinstance(option.value, IdentifierValue | bytes):
        return False
    return not rest or (first == "features" and len(rest) == 1 and rest[0][0] != "(")


def normalize_default(kind: str, option: ProtoOption) -> ProtoOption:
    """The default of a field whose type is written as `kind`, with the value that its descriptor has."""
    if kind not in SCALARS:
        return option
    field = FieldDescriptorProto(type=FieldDescriptorProto.Type.Value(f"TYPE_{kind.upper()}"))
    number = FieldDescriptorProto.DEFAULT_VALUE_FIELD_NUMBER
    field.MergeFromString(encode_tagged(number, LENGTH, print_default(kind, option.value)))
    return ProtoOption(option.name, parse_default(field), option.place)
