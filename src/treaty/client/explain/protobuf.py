"""Explains a Protobuf message: tags, lengths and values, with names from its descriptor."""

import struct
from collections.abc import Callable, Iterator, Mapping

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from treaty.client.explain.pieces import PieceReader, UnexpectedBytesError
from treaty.core.limits import SCHEMA_DEPTH

WIRE = {0: "varint", 1: "64 bits", 2: "length", 3: "group", 4: "end of group", 5: "32 bits"}
"""Wire types by number."""

Inside = tuple[Descriptor | None, int, str, int]
"""A nested message: its descriptor, its end (-1: the end of its group), its path, and the number of the group."""


def explain(descriptor: Descriptor, data: PieceReader) -> None:
    """Note every piece of a message. Raises `UnexpectedBytesError` at the first invalid byte."""
    waiting = [_message(data, (descriptor, len(data.data), "", 0))]
    while waiting:
        try:
            inside = next(waiting[-1])
        except StopIteration:
            waiting.pop()
        else:
            if len(waiting) > SCHEMA_DEPTH:
                raise UnexpectedBytesError(
                    data.at, inside[2], f"messages nest deeper than {SCHEMA_DEPTH} (limit SCHEMA_DEPTH)"
                )
            waiting.append(_message(data, inside))


def _message(data: PieceReader, message: Inside) -> Iterator[Inside]:
    descriptor, end, path, group = message
    while data.at < end or end < 0:
        start = data.at
        tag = data.varint(path, "tag")
        number, wire = tag >> 3, tag & 7
        if wire not in WIRE or not 0 < number < 1 << 29:
            raise UnexpectedBytesError(start, path, f"{tag} is not a valid tag: field {number}, wire type {wire}")
        if wire == 4:
            if number != group:
                raise UnexpectedBytesError(
                    start, path, f"the end of group {number}, in {f'group {group}' if group else 'no group'}"
                )
            data.note(start, path, f"end of group {number}")
            return
        field = descriptor.fields_by_number.get(number) if descriptor is not None else None
        name = field.name if field is not None else f"?{number}"
        data.note(start, f"{path}/{name}", f"tag {number}, {WIRE[wire]}", "" if field is not None else "unknown field")
        yield from _field(data, (field, wire, number), f"{path}/{name}", end)


def _field(data: PieceReader, tagged: tuple[FieldDescriptor | None, int, int], path: str, end: int) -> Iterator[Inside]:
    field, wire, number = tagged
    start = data.at
    if wire == 3:
        yield field.message_type if field is not None else None, -1, path, number
    elif wire == 0:
        value = data.varint(path, "varint")
        data.note(start, path, _word(field, "varint"), _varint(field, value))
    elif wire in {1, 5}:
        raw = data.take(8 if wire == 1 else 4, path, WIRE[wire])
        data.note(start, path, _word(field, WIRE[wire]), _read_fixed(field, raw))
    else:
        size = data.varint(path, "length")
        stop = data.at + size
        if stop > (end if end >= 0 else len(data.data)):
            raise UnexpectedBytesError(start, path, f"length {size} exceeds its message")
        if field is not None and field.message_type is not None:
            data.note(start, path, "length", f"{field.message_type.full_name}, {size} bytes")
            yield field.message_type, stop, path, 0
        elif field is not None and field.type in _SCALARS:
            data.note(start, path, "length", f"packed, {size} bytes")
            _note_packed(data, field, path, stop)
        else:
            data.note(start, path, "length", f"{size} bytes")
            _text(data, field, path, size)


def _text(data: PieceReader, field: FieldDescriptor | None, path: str, size: int) -> None:
    start = data.at
    raw = data.take(size, path, "value")
    if field is not None and field.type == FieldDescriptor.TYPE_STRING:
        try:
            data.note(start, path, "string", str(raw, "utf-8"))
        except UnicodeDecodeError as error:
            raise UnexpectedBytesError(start, path, "a string that is not UTF-8") from error
    else:
        data.note(start, path, _word(field, "bytes"), raw.hex())


def _note_packed(data: PieceReader, field: FieldDescriptor, path: str, stop: int) -> None:
    at = 0
    while data.at < stop:
        start = data.at
        if field.type in _FIXED:
            size = struct.calcsize(_FIXED[field.type])
            value: object = _read_fixed(field, data.take(size, path, "packed value"))
        else:
            value = _varint(field, data.varint(path, "packed value"))
        if data.at > stop:
            raise UnexpectedBytesError(start, path, "a packed value exceeds its length")
        data.note(start, f"{path}/{at}", _word(field, ""), value)
        at += 1


def _word(field: FieldDescriptor | None, else_: str) -> str:
    return _NAMES.get(field.type, else_) if field is not None else else_


def _varint(field: FieldDescriptor | None, value: int) -> object:
    if field is None:
        return value
    if field.enum_type is not None:
        enum_value = field.enum_type.values_by_number.get(_to_signed(value, 32))
        return enum_value.name if enum_value is not None else f"{value}, no value of {field.enum_type.full_name}"
    return _VARINTS.get(field.type, int)(value)


def _read_fixed(field: FieldDescriptor | None, raw: bytes) -> object:
    form = _FIXED.get(field.type) if field is not None else None
    if form is None or struct.calcsize(form) != len(raw):
        return int.from_bytes(raw, "little")
    return struct.unpack(form, raw)[0]


def _to_signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _zigzag(value: int) -> int:
    return (value >> 1) ^ -(value & 1)


_VARINTS: Mapping[int, Callable[[int], object]] = {
    FieldDescriptor.TYPE_INT32: lambda value: _to_signed(value, 32),
    FieldDescriptor.TYPE_INT64: lambda value: _to_signed(value, 64),
    FieldDescriptor.TYPE_SINT32: _zigzag,
    FieldDescriptor.TYPE_SINT64: _zigzag,
    FieldDescriptor.TYPE_UINT32: lambda value: value & 0xFFFFFFFF,
    FieldDescriptor.TYPE_UINT64: int,
    FieldDescriptor.TYPE_BOOL: lambda value: "true" if value else "false",
    FieldDescriptor.TYPE_ENUM: int,
}
_FIXED: Mapping[int, str] = {
    FieldDescriptor.TYPE_FIXED32: "<I",
    FieldDescriptor.TYPE_SFIXED32: "<i",
    FieldDescriptor.TYPE_FLOAT: "<f",
    FieldDescriptor.TYPE_FIXED64: "<Q",
    FieldDescriptor.TYPE_SFIXED64: "<q",
    FieldDescriptor.TYPE_DOUBLE: "<d",
}
_SCALARS = frozenset({*_VARINTS, *_FIXED})
_NAMES: Mapping[int, str] = {
    value: name.removeprefix("TYPE_").lower()
    for name, value in vars(FieldDescriptor).items()
    if name.startswith("TYPE_")
}
