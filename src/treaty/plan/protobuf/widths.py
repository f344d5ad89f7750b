"""Whole numbers that are one thing on the wire: which type holds two of them, and where a reader would cut a writer's."""

from collections.abc import Iterator

from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto

_F = FieldDescriptorProto
_WIDER = (
    ({_F.TYPE_UINT32, _F.TYPE_UINT64}, _F.TYPE_UINT64),
    ({_F.TYPE_INT32, _F.TYPE_UINT32, _F.TYPE_INT64}, _F.TYPE_INT64),
    ({_F.TYPE_SINT32, _F.TYPE_SINT64}, _F.TYPE_SINT64),
)
"""Types of one encoding, and the type that holds the values of them all."""


def find_wider(first: FieldDescriptorProto, other: FieldDescriptorProto) -> FieldDescriptorProto.Type.ValueType:
    """The type that holds the values of both fields; that of the first where there is none."""
    return next((wide for kinds, wide in _WIDER if {first.type, other.type} <= kinds), first.type)


def list_cut_fields(reader: FileDescriptorProto, writer: FileDescriptorProto) -> Iterator[tuple[str, str, str]]:
    """Fields whose values the reader would cut: the path of each, the reader's type and the writer's.

    A path begins with the message as the file has it (``Order/Line/count``).
    """
    theirs = {one.name: one for one in writer.message_type}
    for message in reader.message_type:
        if message.name in theirs:
            yield from _list_cut_fields(message, theirs[message.name], message.name)


def _list_cut_fields(reader: DescriptorProto, writer: DescriptorProto, path: str) -> Iterator[tuple[str, str, str]]:
    numbers = {one.number: one for one in writer.field}
    for field in reader.field:
        other = numbers.get(field.number)
        if other is not None and other.type != field.type and find_wider(field, other) != field.type:
            yield f"{path}/{field.name}", _word(field), _word(other)
    theirs = {one.name: one for one in writer.nested_type}
    for message in reader.nested_type:
        if message.name in theirs:
            yield from _list_cut_fields(message, theirs[message.name], f"{path}/{message.name}")


def _word(field: FieldDescriptorProto) -> str:
    return FieldDescriptorProto.Type.Name(field.type).removeprefix("TYPE_").lower()
