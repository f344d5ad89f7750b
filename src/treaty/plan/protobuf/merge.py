"""All versions of a Protobuf file as one: the newest, with what older ones had and it has no more.

Fields are identified by number, messages and enums by name. A whole number is as wide as the widest that a version has,
because a narrow reader takes the low bits of a wide number without a word. What is added from an older version knows
whether it is set, so that rows of newer writers have null there and not a default that was not written.
"""

from collections.abc import Iterable

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)

from treaty.plan.protobuf.widths import find_wider

_REPEATED = FieldDescriptorProto.LABEL_REPEATED
_MESSAGES = (FieldDescriptorProto.TYPE_MESSAGE, FieldDescriptorProto.TYPE_GROUP)


def merge_file(newest: FileDescriptorProto, older: FileDescriptorProto) -> None:
    """Put into `newest` what only `older` has. What clashes shows when the result is linked."""
    space = f".{newest.package}" if newest.package else ""
    for path in older.dependency:
        if path not in newest.dependency:
            newest.dependency.append(path)
    _enums(newest.enum_type, older.enum_type)
    by_name = {one.name: one for one in newest.message_type}
    for message in older.message_type:
        if message.name in by_name:
            _message(by_name[message.name], message, f"{space}.{message.name}", newest.syntax)
        else:
            newest.message_type.append(message)


def keep_lists(merged: FileDescriptorProto, base: FileDescriptorProto) -> None:
    """Let fields of numbers that are lists in `base` be lists: a list reads a number alone, and no number reads a list."""
    by_name = {one.name: one for one in merged.message_type}
    for message in base.message_type:
        if message.name in by_name:
            _keep_lists(by_name[message.name], message)


def _keep_lists(merged: DescriptorProto, base: DescriptorProto) -> None:
    lists = {one.number: one for one in base.field if one.label == _REPEATED and one.type not in _MESSAGES}
    for field in merged.field:
        older = lists.get(field.number)
        if older is not None and field.label != _REPEATED and field.type == older.type:
            field.label = _REPEATED
            _leave_choice(merged, field)
            field.options.CopyFrom(older.options)
    by_name = {one.name: one for one in merged.nested_type}
    for message in base.nested_type:
        if message.name in by_name and not message.options.map_entry:
            _keep_lists(by_name[message.name], message)


def _leave_choice(message: DescriptorProto, field: FieldDescriptorProto) -> None:
    """Take a field out of its oneof, which goes where nothing else is in it."""
    if not field.HasField("oneof_index"):
        return
    place = field.oneof_index
    field.ClearField("oneof_index")
    field.ClearField("proto3_optional")
    if any(one.HasField("oneof_index") and one.oneof_index == place for one in message.field):
        return
    del message.oneof_decl[place]
    for other in message.field:
        if other.HasField("oneof_index") and other.oneof_index > place:
            other.oneof_index -= 1


def _message(newest: DescriptorProto, older: DescriptorProto, full: str, syntax: str) -> None:
    newest.ClearField("reserved_range")
    newest.ClearField("reserved_name")
    numbers = {one.number: one for one in newest.field}
    entries: set[str] = set()
    for field in older.field:
        if field.number in numbers:
            _widen(numbers[field.number], field)
        elif not _is_extended(newest, field.number):
            entries.add(_add_field(newest, field, full, syntax))
    _enums(newest.enum_type, older.enum_type)
    by_name = {one.name: one for one in newest.nested_type}
    for message_type in older.nested_type:
        if message_type.options.map_entry and message_type.name not in entries:
            continue
        if message_type.name not in by_name:
            newest.nested_type.append(message_type)
        elif not message_type.options.map_entry:
            _message(by_name[message_type.name], message_type, f"{full}.{message_type.name}", syntax)


def _widen(newest: FieldDescriptorProto, older: FieldDescriptorProto) -> None:
    """Let a whole number hold the values of both versions."""
    if newest.type != older.type:
        newest.type = find_wider(newest, older)


def _is_extended(message: DescriptorProto, number: int) -> bool:
    return any(one.start <= number < one.end for one in message.extension_range)


def _add_field(message: DescriptorProto, field: FieldDescriptorProto, full: str, syntax: str) -> str:
    """Add a field that the newest version has no more; returns the name of its type inside the message, or nothing."""
    added = message.field.add()
    added.CopyFrom(field)
    used_names = {one.name for one in message.field[:-1]} | {one.name for one in message.oneof_decl}
    if added.name in used_names:
        added.name = f"{added.name}_{added.number}"
    added.ClearField("json_name")
    added.ClearField("oneof_index")
    added.ClearField("proto3_optional")
    if added.label != _REPEATED and added.type not in _MESSAGES and syntax == "proto3":
        added.proto3_optional = True
        added.oneof_index = len(message.oneof_decl)
        message.oneof_decl.add(name=f"_{added.name}")
    inside, _, last = added.type_name.rpartition(".")
    return last if inside == full else ""


def _enums(newest: Iterable[EnumDescriptorProto], older: Iterable[EnumDescriptorProto]) -> None:
    by_name = {one.name: one for one in newest}
    for enum in older:
        if enum.name not in by_name:
            newest.append(enum)  # type: ignore[attr-defined]  # a repeated field, which its stubs call differently
            continue
        newest_enum = by_name[enum.name]
        newest_enum.ClearField("reserved_range")
        newest_enum.ClearField("reserved_name")
        numbers, names = {v.number for v in newest_enum.value}, {v.name for v in newest_enum.value}
        for value in enum.value:
            if value.number not in numbers:
                name = f"{value.name}_{value.number}" if value.name in names else value.name
                newest_enum.value.add(name=name, number=value.number)
