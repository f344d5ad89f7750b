"""Protobuf in whole columns: rows are brought to the outline of a message, which ptars writes as it stands.

An outline has bare fields under the numbers of the message: no enums, no maps, no oneofs and no known messages. A field
that knows whether it is set is optional; a message that is made of a text or of bytes stands there as its bytes. What
comes out are the bytes that Protobuf's own runtime writes, and a value that it would refuse raises one of `REFUSED`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import pyarrow as pa
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto
from google.protobuf.message_factory import GetMessageClass

from treaty.arrow.decoded import list_frames
from treaty.arrow.encoding import changes
from treaty.arrow.encoding.changes import BITS, Change
from treaty.arrow.encoding.rows import find_descriptor
from treaty.arrow.outlines import BYTES, MANY, ONE, add_field, add_message, add_message_field
from treaty.formats.protobuf.columns import DECIMAL
from treaty.plan.encoding.value import EncodePlan

WriteBatch = Callable[[pa.Array], pa.Array]
"""From rows of which none is null to their payloads."""
_BARE = {
    FieldDescriptor.CPPTYPE_INT32: pa.int32(),
    FieldDescriptor.CPPTYPE_INT64: pa.int64(),
    FieldDescriptor.CPPTYPE_UINT32: pa.uint32(),
    FieldDescriptor.CPPTYPE_UINT64: pa.uint64(),
    FieldDescriptor.CPPTYPE_DOUBLE: pa.float64(),
    FieldDescriptor.CPPTYPE_FLOAT: pa.float32(),
    FieldDescriptor.CPPTYPE_BOOL: pa.bool_(),
    FieldDescriptor.CPPTYPE_ENUM: pa.int32(),
    FieldDescriptor.CPPTYPE_STRING: pa.string(),
}
"""By the kind of a field, what ptars takes for it; texts and bytes are one kind."""


class NoEncodeOutlineError(ValueError):
    """A message that has no outline; the sentence names what it has."""


def make_columnar_writer(plan: EncodePlan, kind: pa.DataType) -> WriteBatch | None:
    """What writes rows of a type as the message of a plan; None where there is no ptars, or no outline."""
    try:
        from ptars._lib import ProtoRegistry  # noqa: PLC0415 - a wheel that not every machine has
    except ImportError:
        return None
    outline, descriptor = _DescriptorBuilder(), find_descriptor(plan)
    try:
        name, change = outline.message(descriptor, kind)
    except NoEncodeOutlineError:
        return None
    registry = ProtoRegistry([outline.file.SerializeToString()])
    handler = registry.create_for_message(f"treaty.outline.{name}", None)
    expected, runtime = pa.struct(list(handler.schema())), GetMessageClass(descriptor)

    def write(rows: pa.Array) -> pa.Array:
        changed = change(rows)
        if not _is_alike(changed.type, expected):  # ptars leaves out columns of another type without a word
            raise NoEncodeOutlineError(f"{changed.type} is not {expected}")
        payloads = handler.record_batch_to_array(pa.RecordBatch.from_struct_array(changed))
        if not outline.again:
            return payloads
        read = [runtime.FromString(one) for one in list_frames(payloads) if one is not None]
        return pa.array([one.SerializeToString(deterministic=True) for one in read], pa.binary())

    return write


def _is_alike(left: pa.DataType, other: pa.DataType) -> bool:
    """Whether two types differ in nothing but names of items and what may be null."""
    if pa.types.is_struct(left) and pa.types.is_struct(other):
        names = [[kind.field(at).name for at in range(kind.num_fields)] for kind in (left, other)]
        pairs = zip(left, other, strict=False)
        return names[0] == names[1] and all(_is_alike(mine.type, its.type) for mine, its in pairs)
    if pa.types.is_list(left) and pa.types.is_list(other):
        return _is_alike(left.value_type, other.value_type)
    return bool(left == other)


@dataclass(slots=True)
class _DescriptorBuilder:
    """A file with outlines of messages, made by asking for them.

    `again`: the runtime writes the same in other bytes (maps in an order of its own, numbers that are not packed), so what
    ptars wrote is read and written by it once more.
    """

    file: FileDescriptorProto = field(
        default_factory=lambda: FileDescriptorProto(
            name="treaty/outline.proto", package="treaty.outline", syntax="proto3"
        )
    )
    again: bool = False

    def message(self, descriptor: Descriptor, kind: pa.DataType) -> tuple[str, Change]:
        """Name of the outline of a message, and the change of structs of a type to it. Raises `NoEncodeOutlineError`."""
        if descriptor.GetOptions().message_set_wire_format or not kind.num_fields:
            raise NoEncodeOutlineError(f"{descriptor.full_name} is a message set, or has no columns")
        outline = add_message(self.file)
        columns = [(descriptor.fields_by_name[kind.field(at).name], at) for at in range(kind.num_fields)]
        parts = []
        for source, at in sorted(columns, key=lambda one: one[0].number):
            parts.append((f"f{source.number}", at, self._field(outline, source, kind.field(at).type)))
        return outline.name, changes.change_struct(parts)

    def _field(self, outline: DescriptorProto, source: FieldDescriptor, kind: pa.DataType) -> Change:
        if not source.is_repeated:
            return self._value(outline, source, kind, source.number, asks=source.has_presence)
        inside = source.message_type
        if inside is None or not inside.GetOptions().map_entry:
            self.again |= inside is None and source.cpp_type != source.CPPTYPE_STRING and not source.is_packed
            return changes.change_items(self._value(outline, source, kind.value_type, source.number, label=MANY))
        self.again = True
        entry = add_message(self.file)
        add_message_field(outline, source.number, entry.name, MANY)
        key, value = inside.fields_by_name["key"], inside.fields_by_name["value"]
        first = self._value(entry, key, kind.key_type, 1, asks=True)
        return changes.change_entries(first, self._value(entry, value, kind.item_type, 2, asks=True))

    def _value(
        self,
        parent: DescriptorProto,
        source: FieldDescriptor,
        kind: pa.DataType,
        number: int,
        *,
        label: int = ONE,
        asks: bool = False,
    ) -> Change:
        """Put the field into the outline; the change of one value of it."""
        if source.type == source.TYPE_GROUP:
            raise NoEncodeOutlineError(f"{source.full_name} is a group")
        inner = source.message_type
        if inner is not None and pa.types.is_struct(kind):
            name, change = self.message(inner, kind)
            add_message_field(parent, number, name, label)
            return change
        if inner is not None and inner.full_name == DECIMAL and pa.types.is_decimal(kind):
            outline = add_message(self.file)
            parts = sorted(inner.fields, key=lambda part: part.number)
            for part in parts:
                add_field(outline, part.number, part.type)
            add_message_field(parent, number, outline.name, label)
            return changes.change_decimals(kind, {part.name: f"f{part.number}" for part in parts})
        if inner is not None:
            add_field(parent, number, BYTES, label, asks=True)
            return changes.change_messages(inner)
        bare = pa.binary() if source.type == source.TYPE_BYTES else _BARE[source.cpp_type]
        # ptars takes a negative zero for a zero, so it is told which zeros are left out.
        zeros = not asks and label == ONE and bare in BITS
        sent = FieldDescriptor.TYPE_INT32 if source.enum_type is not None else source.type
        add_field(parent, number, sent, label, asks=asks or zeros)
        if source.enum_type is not None:
            return changes.change_symbols({value.name: value.number for value in source.enum_type.values})
        if bare == pa.string():
            return changes.check_text
        return changes.drop_zeros(bare) if zeros else (lambda array: array.cast(bare))
