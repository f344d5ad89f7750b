"""Outlines: messages with numbers for names, by which columns are read and written whatever a schema calls its fields."""

from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto

ONE, MANY = FieldDescriptorProto.LABEL_OPTIONAL, FieldDescriptorProto.LABEL_REPEATED
MESSAGE, BYTES = FieldDescriptorProto.TYPE_MESSAGE, FieldDescriptorProto.TYPE_BYTES


def add_message(file: FileDescriptorProto) -> DescriptorProto:
    """Put one more message into a file of outlines."""
    return file.message_type.add(name=f"M{len(file.message_type)}")


def add_field(message: DescriptorProto, number: int, kind: int, label: int = ONE, *, asks: bool = False) -> None:
    """Give a message a field; `asks`: a missing one is distinguished from zero."""
    field = message.field.add(name=f"f{number}", number=number, type=kind, label=label)
    if asks and label == ONE:
        field.proto3_optional = True
        field.oneof_index = len(message.oneof_decl)
        message.oneof_decl.add(name=f"_f{number}")


def add_message_field(message: DescriptorProto, number: int, name: str, label: int) -> None:
    """Give a message a field that is a message of the same file."""
    add_field(message, number, MESSAGE, label)
    message.field[-1].type_name = f".treaty.outline.{name}"
