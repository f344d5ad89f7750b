"""The outline of a message: a message with bare fields under the same numbers, which ptars reads as they stand.

An outline has no enums, no maps, no oneofs, no known messages and no circles: what those mean is the business of the
changes (see `changes`), so nothing hangs on what ptars makes of them. A field that knows that it is not set is
optional; a message whose fields nobody looks at is the list of its bytes, because what comes twice belongs together.
"""

from dataclasses import dataclass, field

import pyarrow as pa
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto

from treaty.arrow.messages import changes
from treaty.arrow.messages.changes import Change, Group
from treaty.arrow.messages.values import KNOWN, WRAPPERS
from treaty.arrow.outlines import BYTES, MANY, ONE, added, named, put

_INT32, _INT64 = FieldDescriptorProto.TYPE_INT32, FieldDescriptorProto.TYPE_INT64
_GROUP = FieldDescriptorProto.TYPE_GROUP


class UnfitError(ValueError):
    """A message that has no outline; the sentence names what it has."""


@dataclass(slots=True)
class Outline:
    """A file with outlines of messages, made by asking for them."""

    defaults: bool
    file: FileDescriptorProto = field(
        default_factory=lambda: FileDescriptorProto(
            name="treaty/outline.proto", package="treaty.outline", syntax="proto3"
        )
    )

    def message(self, descriptor: Descriptor, kind: pa.StructType) -> tuple[str, Change]:
        """Name of the outline of a message, and the change to the struct `kind`. Raises `UnfitError`."""
        if descriptor.GetOptions().message_set_wire_format:
            raise UnfitError(f"{descriptor.full_name} is a message set")
        made = added(self.file)
        columns = [kind.field(place) for place in range(kind.num_fields)]
        parts, there = [], set()
        for one in columns:
            source = descriptor.fields_by_name[one.name]
            there.add(source.number)
            parts.append((f"f{source.number}", self._field(made, source, one.type)))
        groups = []
        for oneof in descriptor.oneofs:
            if len(oneof.fields) < 2:
                continue
            for one in oneof.fields:
                if one.number not in there:
                    put(made, one.number, BYTES, MANY)
            many = {one.name for one in made.field if one.label == MANY}
            members = tuple(f"f{one.number}" for one in oneof.fields)
            groups.append(Group(members, frozenset(many.intersection(members))))
        return made.name, changes.struct(parts, kind, groups)

    def _field(self, made: DescriptorProto, one: FieldDescriptor, kind: pa.DataType) -> Change:
        if not one.is_repeated:
            inner = self._value(made, one, kind, one.number, asks=one.has_presence)
            known = self.defaults and one.has_presence and one.message_type is None
            return changes.filled(inner, _default(one)) if known else inner
        inside = one.message_type
        if inside is None or not inside.GetOptions().map_entry:
            return changes.items(self._value(made, one, kind.value_type, one.number, label=MANY), kind)
        entry = added(self.file)
        named(made, one.number, entry.name, MANY)
        value = inside.fields_by_name["value"]
        key = self._value(entry, inside.fields_by_name["key"], kind.key_type, 1)
        change = self._value(entry, value, kind.item_type, 2, asks=value.enum_type is not None)
        if value.enum_type is not None:
            change = changes.filled(change, _default(value))
        return changes.entries(key, change, kind, message=value.message_type is not None)

    def _value(
        self,
        made: DescriptorProto,
        one: FieldDescriptor,
        kind: pa.DataType,
        number: int,
        *,
        label: int = ONE,
        asks: bool = False,
    ) -> Change:
        """Put the field into the outline; the change of one value of it."""
        if one.type == _GROUP:
            raise UnfitError(f"{one.full_name} is a group")
        if one.enum_type is not None:
            put(made, number, _INT32, label, asks=asks)
            return changes.symbols(one.enum_type)
        inner = one.message_type
        if inner is None:
            put(made, number, one.type, label, asks=asks)
            return _scalar(one, kind)
        if inner.full_name in WRAPPERS:
            wrapper, value = added(self.file), inner.fields_by_name["value"]
            put(wrapper, value.number, value.type)
            named(made, number, wrapper.name, label)
            return changes.wrapped(_scalar(value, kind))
        if pa.types.is_struct(kind):
            name, change = self.message(inner, kind)
            named(made, number, name, label)
            return change
        if inner.full_name in changes.KNOWN:
            outline = added(self.file)
            for part in range(1, changes.PARTS[inner.full_name] + 1):
                put(outline, part, inner.fields_by_number[part].type)
            named(made, number, outline.name, label)
            return changes.KNOWN[inner.full_name](kind)
        if inner.full_name not in KNOWN:
            raise UnfitError(f"{one.full_name} is kept as bytes")
        put(made, number, BYTES, MANY)
        return changes.told(inner, KNOWN[inner.full_name](one, kind), kind, parts=label == ONE)


def _scalar(one: FieldDescriptor, kind: pa.DataType) -> Change:
    unsigned = {one.TYPE_UINT32, one.TYPE_FIXED32, one.TYPE_UINT64, one.TYPE_FIXED64}
    return changes.cast(kind) if one.type in unsigned else changes.same


def _default(one: FieldDescriptor) -> pa.Scalar | str | float | bytes | bool:
    """What a field is that is not set, as its column has it."""
    if one.enum_type is not None:
        found = one.enum_type.values_by_number
        return str(found[one.default_value].name)
    return one.default_value
