"""Whether a message can be read in whole columns: all its fields that have columns are plain on the wire."""

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from treaty.core.state.columns import Columns, ColumnType, List, Map, Scalar, Struct


def has_bare_fields(descriptor: Descriptor, made: Columns) -> bool:
    """Whether nothing in the columns of a message is a group, a message set or the bytes of a message."""
    return _message(descriptor, Struct(made.columns))


def _message(descriptor: Descriptor, kind: Struct) -> bool:
    if descriptor.GetOptions().message_set_wire_format:
        return False
    return all(_field(descriptor.fields_by_name[one.name], one.type) for one in kind.columns)


def _field(field: FieldDescriptor, kind: ColumnType) -> bool:
    if field.type == FieldDescriptor.TYPE_GROUP:
        return False
    if field.message_type is None:
        return True
    if isinstance(kind, Map):
        return _field(field.message_type.fields_by_name["value"], kind.value)
    inner = kind.element if isinstance(kind, List) else kind
    if isinstance(inner, Struct):
        return _message(field.message_type, inner)
    plain = field.message_type.full_name == "google.protobuf.BytesValue"
    return plain or inner != Scalar("binary")
