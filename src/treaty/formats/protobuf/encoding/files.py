"""The model of a linked Protobuf file becomes a `FileDescriptorProto`."""

from collections.abc import Iterable
from typing import Protocol

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    Edition,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
    MethodDescriptorProto,
    ServiceDescriptorProto,
    SymbolVisibility,
)
from google.protobuf.internal.containers import RepeatedCompositeFieldContainer
from google.protobuf.message import Message as RuntimeMessage

from treaty.formats.protobuf.descriptors.classes import get_file_class, get_set_class
from treaty.formats.protobuf.descriptors.defaults import print_default
from treaty.formats.protobuf.descriptors.names import get_entry_name, get_json_name, get_synthetic_name
from treaty.formats.protobuf.encoding.wire import LENGTH, OptionEncoder, encode_tagged, keep_uninterpreted
from treaty.formats.protobuf.linker.diagnostics import EXPECTED, DiagnosticList
from treaty.formats.protobuf.model import (
    Enum,
    ExtendStatement,
    Field,
    Message,
    ProtoOption,
    ProtoSchema,
    RpcMethod,
    RpcService,
    find_symbol,
)
from treaty.formats.protobuf.syntax.messages import SCALARS
from treaty.formats.protobuf.validation.options import OptionResolver, is_unknown

DEFAULT_NAME = "default"
"""The name of a file that is stored under no path."""
_VISIBILITY = {"export": SymbolVisibility.VISIBILITY_EXPORT, "local": SymbolVisibility.VISIBILITY_LOCAL}
_OPTIONAL = FieldDescriptorProto.LABEL_OPTIONAL
_REPEATED = FieldDescriptorProto.LABEL_REPEATED
_REQUIRED = FieldDescriptorProto.LABEL_REQUIRED
_DEFAULT = FieldDescriptorProto.DEFAULT_VALUE_FIELD_NUMBER
_JSON_NAME = FieldDescriptorProto.JSON_NAME_FIELD_NUMBER
_LABELS = {"": _OPTIONAL, "optional": _OPTIONAL, "repeated": _REPEATED, "required": _REQUIRED}


class _Placed(Protocol):
    """A definition with options."""

    @property
    def options(self) -> RuntimeMessage: ...


def build_descriptor(schema: ProtoSchema, name: str = "") -> FileDescriptorProto:
    """The descriptor of a file, without places and comments; `name` is used for a schema without a path."""
    return _DescriptorWriter(schema).file(schema.path or name or DEFAULT_NAME)


def serialize_descriptor(schema: ProtoSchema) -> bytes:
    """The bytes of a file's descriptor, the same for the same schema."""
    return build_descriptor(schema).SerializeToString(deterministic=True)


def build_descriptor_set(schema: ProtoSchema) -> FileDescriptorSet:
    """The descriptors of a file and of all that it needs, each after those that it imports."""
    files = get_set_class()()
    written: set[str] = set()
    waiting = [(schema, False)]
    while waiting:
        current, ready = waiting.pop()
        if current.path in written:
            continue
        if ready:
            written.add(current.path)
            files.file.append(build_descriptor(current))
        else:
            waiting.append((current, True))
            waiting += [(inner, False) for _, inner in sorted(current.imports.items(), reverse=True)]
    return files


class _DescriptorWriter:
    """Writes the descriptor of one file."""

    def __init__(self, schema: ProtoSchema) -> None:
        self.schema = schema
        self.dialect = schema.file.dialect
        self.understood = OptionResolver(schema, DiagnosticList(EXPECTED))
        self.encoder = OptionEncoder(self.understood.validator)

    def file(self, name: str) -> FileDescriptorProto:
        """The whole file."""
        file = self.schema.file
        proto = get_file_class()(name=name)
        if file.package:
            proto.package = file.package
        if file.edition:
            proto.syntax = "editions"
            proto.edition = Edition.Value(f"EDITION_{file.edition}")
        elif file.syntax == "proto3":
            proto.syntax = "proto3"
        for statement in file.imports:
            if statement.kind == "option":
                proto.option_dependency.append(statement.path)
                continue
            if statement.kind:
                (proto.public_dependency if statement.kind == "public" else proto.weak_dependency).append(
                    len(proto.dependency)
                )
            proto.dependency.append(statement.path)
        self.messages(proto.message_type, file.messages, (), file.extends, file.package)
        for enum in file.enums:
            self.enum(proto.enum_type.add(), enum, file.package)
        self.extends(proto.extension, file.extends, file.package)
        for service in file.services:
            self.service(proto.service.add(), service, file.package)
        self.options(proto, file.options, "file", "")
        return proto

    def options(self, proto: _Placed, options: tuple[ProtoOption, ...], kind: str, full: str) -> None:
        """Set the options of a definition."""
        if options:
            settings = self.understood.resolve_all(options, kind, full)
            if settings or kind != "field":
                proto.options.MergeFromString(b"".join(self.encoder.setting(one.way, one.value) for one in settings))
            for option in options:
                if is_unknown(self.schema, option, full):
                    proto.options.MergeFrom(keep_uninterpreted(option, type(proto.options)))

    def messages(
        self,
        out: RepeatedCompositeFieldContainer[DescriptorProto],
        nested: Iterable[Message],
        fields: Iterable[Field],
        extends: Iterable[ExtendStatement],
        scope: str,
    ) -> None:
        """Messages of one scope: written ones, groups and entries of maps, in the order of the text."""
        definitions: list[Message | Field] = [*nested]
        definitions += (one for one in fields if one.group is not None or one.key)
        definitions += (one for extend in extends for one in extend.fields if one.group is not None)
        for definition in sorted(definitions, key=lambda one: one.place):
            if isinstance(definition, Message):
                self.message(out.add(), definition, scope)
            elif definition.group is not None:
                self.message(out.add(), definition.group, scope)
            else:
                self.entry(out.add(), definition, scope)

    def entry(self, proto: DescriptorProto, field: Field, scope: str) -> None:
        """The message that stands for an entry of a map."""
        proto.name = get_entry_name(field.name)
        features = tuple(one for one in field.options if one.name[0] == "features")
        for number, (name, type_) in enumerate((("key", field.key), ("value", field.type)), 1):
            part = Field(name, number, type_, "optional", options=features)
            self.field(proto.field.add(), part, f"{scope}.{field.name}", entry=True)
        proto.options.map_entry = True

    def message(self, proto: DescriptorProto, message: Message, scope: str) -> None:
        """A message."""
        full = f"{scope}.{message.name}" if scope else message.name
        proto.name = message.name
        if message.visibility:
            proto.visibility = _VISIBILITY[message.visibility]
        self.messages(proto.nested_type, message.messages, message.all_fields, message.extends, full)
        for enum in message.enums:
            self.enum(proto.enum_type.add(), enum, full)
        self.fields(proto, message, full)
        self.extends(proto.extension, message.extends, full)
        for statement in message.extensions:
            for span in statement.ranges:
                extension_range = proto.extension_range.add(start=span.start, end=span.end + 1)
                self.options(extension_range, statement.options, "extension range", full)
        for reserved in message.reserved:
            for span in reserved.ranges:
                proto.reserved_range.add(start=span.start, end=span.end + 1)
            proto.reserved_name.extend(reserved.names)
        self.options(proto, message.options, "message", full)

    def fields(self, proto: DescriptorProto, message: Message, full: str) -> None:
        """Fields in the order of the text, and oneofs, with those that stand for a label."""
        oneofs = {id(field): index for index, one in enumerate(message.oneofs) for field in one.fields}
        for oneof in message.oneofs:
            path = f"{full}.{oneof.name}"
            self.options(proto.oneof_decl.add(name=oneof.name), oneof.options, "oneof", path)
        ordered = sorted(message.all_fields, key=lambda one: one.place)
        names = {one.name for one in ordered} | {one.name for one in message.oneofs}
        for field in ordered:
            descriptor = proto.field.add()
            self.field(descriptor, field, f"{full}.{field.name}")
            if id(field) in oneofs:
                descriptor.oneof_index = oneofs[id(field)]
            elif field.label == "optional" and self.dialect == "proto3":
                descriptor.proto3_optional = True
                descriptor.oneof_index = len(proto.oneof_decl)
                name = get_synthetic_name(field.name, names)
                names.add(name)
                proto.oneof_decl.add(name=name)

    def field(self, proto: FieldDescriptorProto, field: Field, full: str, *, entry: bool = False) -> None:
        """A field with its type, default and options."""
        proto.name = field.name
        proto.number = field.number
        scope = full.rpartition(".")[0]
        proto.json_name = get_json_name(field.name)
        if field.key:
            proto.label = _REPEATED
            proto.type = FieldDescriptorProto.TYPE_MESSAGE
            proto.type_name = f".{scope}.{get_entry_name(field.name)}"
        else:
            proto.label = _LABELS[field.label]
            self.type(proto, field, scope)
        if not field.options:
            return
        for option in field.options:
            if option.name == ("default",):
                proto.MergeFromString(encode_tagged(_DEFAULT, LENGTH, print_default(field.type, option.value)))
            elif option.name == ("json_name",) and isinstance(option.value, bytes):
                proto.MergeFromString(encode_tagged(_JSON_NAME, LENGTH, option.value))
        self.options(proto, field.options, "field", full)

    def type(self, proto: FieldDescriptorProto, field: Field, scope: str) -> None:
        """The type of a field that is no map."""
        if field.type in SCALARS:
            proto.type = FieldDescriptorProto.Type.Value(f"TYPE_{field.type.upper()}")
        elif field.group is not None:
            proto.type = FieldDescriptorProto.TYPE_GROUP
            proto.type_name = f".{scope}.{field.type}" if scope else f".{field.type}"
        else:
            symbol = self.schema.resolve(scope, field.type)
            if symbol is None:
                proto.type_name = field.type
                return
            enum = symbol.kind == "enum"
            proto.type = FieldDescriptorProto.TYPE_ENUM if enum else FieldDescriptorProto.TYPE_MESSAGE
            proto.type_name = f".{symbol.full}"

    def extends(
        self, out: RepeatedCompositeFieldContainer[FieldDescriptorProto], extends: Iterable[ExtendStatement], scope: str
    ) -> None:
        """Extensions of one scope."""
        for extend in extends:
            extended = find_symbol(self.schema.visible, scope, extend.extendee)
            for field in extend.fields:
                descriptor = out.add()
                descriptor.extendee = extend.extendee if extended is None else f".{extended.full}"
                self.field(descriptor, field, f"{scope}.{field.name}" if scope else field.name)
                if field.label == "optional" and self.dialect == "proto3":
                    descriptor.proto3_optional = True

    def enum(self, proto: EnumDescriptorProto, enum: Enum, scope: str) -> None:
        """An enum."""
        prefix = f"{scope}." if scope else ""
        proto.name = enum.name
        if enum.visibility:
            proto.visibility = _VISIBILITY[enum.visibility]
        for value in enum.values:
            descriptor = proto.value.add(name=value.name, number=value.number)
            self.options(descriptor, value.options, "enum entry", prefix + value.name)
        for reserved in enum.reserved:
            for span in reserved.ranges:
                proto.reserved_range.add(start=span.start, end=span.end)
            proto.reserved_name.extend(reserved.names)
        self.options(proto, enum.options, "enum", prefix + enum.name)

    def service(self, proto: ServiceDescriptorProto, service: RpcService, scope: str) -> None:
        """A service."""
        full = f"{scope}.{service.name}" if scope else service.name
        proto.name = service.name
        for method in service.methods:
            self.method(proto.method.add(), method, full)
        self.options(proto, service.options, "service", full)

    def method(self, proto: MethodDescriptorProto, method: RpcMethod, scope: str) -> None:
        """A method."""
        proto.name = method.name
        proto.input_type = self.full_name(method.takes, scope)
        proto.output_type = self.full_name(method.returns, scope)
        if method.client_streams:
            proto.client_streaming = True
        if method.server_streams:
            proto.server_streaming = True
        self.options(proto, method.options, "method", f"{scope}.{method.name}")

    def full_name(self, written: str, scope: str) -> str:
        """The full name of a message, as a descriptor has it."""
        symbol = find_symbol(self.schema.visible, scope, written)
        return written if symbol is None else f".{symbol.full}"
