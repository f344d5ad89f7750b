"""Outlines: messages with numbers for names, by which columns are read and written whatever a schema calls its fields."""

from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto

ONE, MANY = FieldDescriptorProto.LABEL_OPTIONAL, FieldDescriptorProto.LABEL_REPEATED
MESSAGE, BYTES = FieldDescriptorProto.TYPE_MESSAGE, FieldDescriptorProto.TYPE_BYTES


def add_message(file: FileDescriptorProto) -> DescriptorProto:
    """Put one more message into a file of outlines."""
    return file.message_type.add(name=f"M{len(file.message_type)}")


def add_field(made: DescriptorProto, number: int, kind: int, label: int = ONE, *, asks: bool = False) -> None:
    """Give a message a field; `asks`: a missing one is distinguished from zero."""
    one = made.field.add(name=f"f{number}", number=number, type=kind, label=label)
    if asks and label == ONE:
        one.proto3_optional = True
        one.oneof_index = len(made.oneof_decl)
        made.oneof_decl.add(name=f"_f{number}")


def add_message_field(made: DescriptorProto, number: int, name: str, label: int) -> None:
    """Give a message a field that is a message of the same file."""
    add_field(made, number, MESSAGE, label)
    made.field[-1].type_name = f".treaty.outline.{name}"
