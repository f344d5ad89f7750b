"""The outline of a message: a message with bare fields under the same numbers, which ptars reads as they stand.

An outline has no enums, no maps, no oneofs, no known messages and no circles: what those mean is the business of the
changes (see `changes`), so nothing hangs on what ptars makes of them. A field that knows that it is not set is
optional; a message whose fields are not read is the list of its bytes, because what comes twice belongs together.
"""

from dataclasses import dataclass, field

import pyarrow as pa
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto

from treaty.arrow.outlines import BYTES, MANY, ONE, add_field, add_message, add_message_field
from treaty.arrow.protobuf import changes
from treaty.arrow.protobuf.changes import Change, OneofGroup
from treaty.arrow.protobuf.values import KNOWN, WRAPPERS

_INT32, _INT64 = FieldDescriptorProto.TYPE_INT32, FieldDescriptorProto.TYPE_INT64
_GROUP = FieldDescriptorProto.TYPE_GROUP


class NoOutlineError(ValueError):
    """A message that has no outline; the sentence names what it has."""


@dataclass(slots=True)
class ColumnarDescriptor:
    """A file with outlines of messages, made by asking for them."""

    defaults: bool
    file: FileDescriptorProto = field(
        default_factory=lambda: FileDescriptorProto(
            name="treaty/outline.proto", package="treaty.outline", syntax="proto3"
        )
    )

    def message(self, descriptor: Descriptor, kind: pa.StructType) -> tuple[str, Change]:
        """Name of the outline of a message, and the change to the struct `kind`. Raises `NoOutlineError`."""
        if descriptor.GetOptions().message_set_wire_format:
            raise NoOutlineError(f"{descriptor.full_name} is a message set")
        outline_message = add_message(self.file)
        columns = [kind.field(place) for place in range(kind.num_fields)]
        parts, numbers = [], set()
        for column in columns:
            source = descriptor.fields_by_name[column.name]
            numbers.add(source.number)
            parts.append((f"f{source.number}", self._field(outline_message, source, column.type)))
        groups = []
        for oneof in descriptor.oneofs:
            if len(oneof.fields) < 2:
                continue
            for column in oneof.fields:
                if column.number not in numbers:
                    add_field(outline_message, column.number, BYTES, MANY)
            many = {one.name for one in outline_message.field if one.label == MANY}
            members = tuple(f"f{one.number}" for one in oneof.fields)
            groups.append(OneofGroup(members, frozenset(many.intersection(members))))
        return outline_message.name, changes.change_struct(parts, kind, groups)

    def _field(self, outline_message: DescriptorProto, source: FieldDescriptor, kind: pa.DataType) -> Change:
        if not source.is_repeated:
            inner = self._value(outline_message, source, kind, source.number, asks=source.has_presence)
            has_default = self.defaults and source.has_presence and source.message_type is None
            return changes.fill_default(inner, _default(source)) if has_default else inner
        inside = source.message_type
        if inside is None or not inside.GetOptions().map_entry:
            return changes.change_items(
                self._value(outline_message, source, kind.value_type, source.number, label=MANY), kind
            )
        entry = add_message(self.file)
        add_message_field(outline_message, source.number, entry.name, MANY)
        value = inside.fields_by_name["value"]
        key = self._value(entry, inside.fields_by_name["key"], kind.key_type, 1)
        change = self._value(entry, value, kind.item_type, 2, asks=value.enum_type is not None)
        if value.enum_type is not None:
            change = changes.fill_default(change, _default(value))
        return changes.change_entries(key, change, kind, message=value.message_type is not None)

    def _value(
        self,
        outline_message: DescriptorProto,
        source: FieldDescriptor,
        kind: pa.DataType,
        number: int,
        *,
        label: int = ONE,
        asks: bool = False,
    ) -> Change:
        """Put the field into the outline; the change of one value of it."""
        if source.type == _GROUP:
            raise NoOutlineError(f"{source.full_name} is a group")
        if source.enum_type is not None:
            add_field(outline_message, number, _INT32, label, asks=asks)
            return changes.name_symbols(source.enum_type)
        inner = source.message_type
        if inner is None:
            add_field(outline_message, number, source.type, label, asks=asks)
            return _scalar(source, kind)
        if inner.full_name in WRAPPERS:
            wrapper, value = add_message(self.file), inner.fields_by_name["value"]
            add_field(wrapper, value.number, value.type)
            add_message_field(outline_message, number, wrapper.name, label)
            return changes.unwrap_message(_scalar(value, kind))
        if pa.types.is_struct(kind):
            name, change = self.message(inner, kind)
            add_message_field(outline_message, number, name, label)
            return change
        if inner.full_name in changes.KNOWN:
            outline = add_message(self.file)
            for part in range(1, changes.PARTS[inner.full_name] + 1):
                add_field(outline, part, inner.fields_by_number[part].type)
            add_message_field(outline_message, number, outline.name, label)
            return changes.KNOWN[inner.full_name](kind)
        if inner.full_name not in KNOWN:
            raise NoOutlineError(f"{source.full_name} is kept as bytes")
        add_field(outline_message, number, BYTES, MANY)
        return changes.change_messages(inner, KNOWN[inner.full_name](source, kind), kind, in_lists=label == ONE)


def _scalar(field: FieldDescriptor, kind: pa.DataType) -> Change:
    unsigned = {field.TYPE_UINT32, field.TYPE_FIXED32, field.TYPE_UINT64, field.TYPE_FIXED64}
    return changes.widen_unsigned(kind) if field.type in unsigned else changes.keep_array


def _default(field: FieldDescriptor) -> pa.Scalar | str | float | bytes | bool:
    """What a field is that is not set, as its column has it."""
    if field.enum_type is not None:
        symbols = field.enum_type.values_by_number
        return str(symbols[field.default_value].name)
    return field.default_value
