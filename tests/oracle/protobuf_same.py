"""Whether two descriptors say the same, where the order of definitions does not count."""

from typing import Any

from google.protobuf.descriptor_pb2 import DescriptorProto, EnumDescriptorProto, FileDescriptorProto
from google.protobuf.message_factory import GetMessageClass

from treaty.formats.protobuf.model import ProtoSchema
from treaty.formats.protobuf.runtime import build_pool


def arranged(data: bytes, schema: ProtoSchema, *, renamed: bool = False) -> bytes:
    """A descriptor with its parts in one order; with `renamed` also what normal form changes is made alike.

    Custom options are those that `schema` sees: pieces of one message become one.
    """
    try:
        known: Any = build_pool(schema).FindMessageTypeByName("google.protobuf.FileDescriptorProto")
    except KeyError:
        known = FileDescriptorProto.DESCRIPTOR  # nobody can have custom options
    proto = FileDescriptorProto.FromString(
        GetMessageClass(known).FromString(data).SerializeToString(deterministic=True)
    )
    public = {proto.dependency[index] for index in proto.public_dependency}
    weak = {proto.dependency[index] for index in proto.weak_dependency}
    paths = [f"{path} {path in public} {path in weak}" for path in proto.dependency]
    for name in ("dependency", "public_dependency", "weak_dependency"):
        proto.ClearField(name)
    proto.dependency.extend(sorted(set(paths)))
    _sort(proto.option_dependency, str)
    _sort(proto.extension, lambda one: (one.extendee, one.number))
    _sort(proto.message_type, lambda one: one.name)
    for method in (one for service in proto.service for one in service.method):
        if not method.options.ByteSize():
            method.ClearField("options")  # protoc sets them for empty braces
    for message in proto.message_type:
        _message(message, renamed=renamed)
    for enum in proto.enum_type:
        _enum(enum, renamed=renamed)
    return proto.SerializeToString(deterministic=True)


def _message(message: DescriptorProto, *, renamed: bool) -> None:
    names = [one.name for one in message.oneof_decl]
    for field in message.field:
        if field.HasField("oneof_index"):
            field.json_name += f" in {names[field.oneof_index]}"
            field.ClearField("oneof_index")
    _sort(message.oneof_decl, lambda one: one.name)
    _sort(message.field, lambda one: one.number)
    _sort(message.nested_type, lambda one: one.name)
    _sort(message.extension, lambda one: (one.extendee, one.number))
    if renamed:
        _sort(message.reserved_name, str)
        _sort(message.reserved_range, lambda one: one.start)
        _sort(message.extension_range, lambda one: one.start)
    for inner in message.nested_type:
        _message(inner, renamed=renamed)
    for enum in message.enum_type:
        _enum(enum, renamed=renamed)


def _enum(enum: EnumDescriptorProto, *, renamed: bool) -> None:
    if renamed:
        _sort(enum.value, lambda one: (one.number, one.name))
        _sort(enum.reserved_name, str)
        _sort(enum.reserved_range, lambda one: one.start)


def _sort(items: Any, key: Any) -> None:
    kept = sorted(items, key=key)
    del items[:]
    items.extend(kept)
