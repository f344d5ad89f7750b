"""Bytes written with one Protobuf schema and read with another, by Google's runtime: what arrives of what was set."""

import struct
from collections.abc import Iterator
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from treaty.formats.protobuf.encoding.files import DEFAULT_NAME, serialize_descriptor
from treaty.formats.protobuf.model import ProtoSchema
from treaty.formats.seeded_random import SeededRandom

DEPTH = 3
"""Messages inside messages that are filled."""

_WIDTHS = {
    FieldDescriptor.TYPE_INT32: (32, True),
    FieldDescriptor.TYPE_SINT32: (32, True),
    FieldDescriptor.TYPE_SFIXED32: (32, True),
    FieldDescriptor.TYPE_UINT32: (32, False),
    FieldDescriptor.TYPE_FIXED32: (32, False),
    FieldDescriptor.TYPE_INT64: (64, True),
    FieldDescriptor.TYPE_SINT64: (64, True),
    FieldDescriptor.TYPE_SFIXED64: (64, True),
    FieldDescriptor.TYPE_UINT64: (64, False),
    FieldDescriptor.TYPE_FIXED64: (64, False),
}
_GONE = object()


class Wrong(AssertionError):
    """Bytes that were refused, or a field that arrived as something else."""


class Files:
    """The messages of one schema, as the runtime knows them."""

    def __init__(self, schema: ProtoSchema) -> None:
        self.pool = DescriptorPool()
        for one in schema.files.values():
            self.pool.AddSerializedFile(serialize_descriptor(one))
        self.file = self.pool.FindFileByName(DEFAULT_NAME)
        self.package = schema.file.package

    def messages(self) -> Iterator[tuple[str, Any]]:
        """The messages of the file by their names without package, but for entries of maps."""
        waiting = list(self.file.message_types_by_name.values())
        while waiting:
            one = waiting.pop()
            if not one.GetOptions().map_entry:
                yield one.full_name[len(self.package) + 1 :] if self.package else one.full_name, one
                waiting += one.nested_types

    def fields(self, descriptor: Any) -> dict[int, Any]:
        """Fields and extensions by number."""
        extensions = self.pool.FindAllExtensions(descriptor)
        return {one.number: one for one in (*descriptor.fields, *extensions)}


def is_map(field: Any) -> bool:
    """Whether a field is a map."""
    return bool(field.message_type and field.message_type.GetOptions().map_entry)


def filled(files: Files, descriptor: Any, draw: SeededRandom, depth: int = 0) -> Any:
    """A message with required fields and some others set."""
    made: Any = GetMessageClass(descriptor)()
    for field in files.fields(descriptor).values():
        if not field.is_required and draw.chance(25 + 20 * depth):
            continue
        if field.message_type is not None and depth >= DEPTH + 2 * field.is_required:
            continue
        _set(files, made, field, draw, depth)
    return made


def _set(files: Files, made: Any, field: Any, draw: SeededRandom, depth: int) -> None:
    holder: Any = made.Extensions[field] if field.is_extension and field.is_repeated else None
    if is_map(field):
        entry = field.message_type.fields_by_name
        target = getattr(made, field.name)
        for _ in range(1 + draw.below(2)):
            key = _scalar(entry["key"], draw)
            if entry["value"].message_type is not None:
                target[key].CopyFrom(filled(files, entry["value"].message_type, draw, depth + 1))
            else:
                target[key] = _scalar(entry["value"], draw)
        return
    if field.is_repeated:
        target = holder if holder is not None else getattr(made, field.name)
        for _ in range(1 + draw.below(3)):
            if field.message_type is not None:
                target.add().CopyFrom(filled(files, field.message_type, draw, depth + 1))
            else:
                target.append(_scalar(field, draw))
    elif field.message_type is not None:
        inner = filled(files, field.message_type, draw, depth + 1)
        (made.Extensions[field] if field.is_extension else getattr(made, field.name)).CopyFrom(inner)
        if not inner.ListFields():
            (made.Extensions[field] if field.is_extension else getattr(made, field.name)).SetInParent()
    elif field.is_extension:
        made.Extensions[field] = _scalar(field, draw)
    else:
        setattr(made, field.name, _scalar(field, draw))


def _scalar(field: Any, draw: SeededRandom) -> Any:
    if field.type == FieldDescriptor.TYPE_BOOL:
        return draw.chance(50)
    if field.type == FieldDescriptor.TYPE_ENUM:
        return draw.pick(field.enum_type.values).number
    if field.type in (FieldDescriptor.TYPE_FLOAT, FieldDescriptor.TYPE_DOUBLE):
        return draw.pick((0.0, 1.5, -2.25, 1e30))
    if field.type == FieldDescriptor.TYPE_STRING:
        return draw.pick(("", "a", "é", "long " * 5))
    if field.type == FieldDescriptor.TYPE_BYTES:
        return draw.pick((b"", b"abc", b"\xff\xfe", "é".encode()))
    bits, signed = _WIDTHS[field.type]
    top = 2 ** (bits - signed) - 1
    return draw.pick((0, 1, 2, 7, 300, top, top - 5, *((-1, -top - 1, -300) if signed else ())))


def read(writer: Any, files: Files, descriptor: Any, origin: Files) -> None:
    """Read a message's bytes with another schema; raises `Wrong` where that fails or changes what was said."""
    made: Any = GetMessageClass(descriptor)()
    data = writer.SerializeToString()
    try:
        made.MergeFromString(data)
    except DecodeError as wrong:
        raise Wrong(f"{descriptor.full_name}: {wrong}") from None
    if not made.IsInitialized():
        raise Wrong(f"{descriptor.full_name}: something required is missing")  # asking what crashes the runtime 7.36.2
    compare(writer, made, origin, files)


def compare(writer: Any, reader: Any, origin: Files, files: Files) -> None:
    """Compare every field that both sides know."""
    mine = files.fields(reader.DESCRIPTOR)
    theirs = origin.fields(writer.DESCRIPTOR)
    sent = {field.number: value for field, value in writer.ListFields()}
    got = {field.number: value for field, value in reader.ListFields()}
    for number in got.keys() - sent.keys():
        raise Wrong(f"{mine[number].full_name}: nobody set it")
    for number, value in sent.items():
        if number in mine:
            _field(theirs[number], value, mine[number], got.get(number, _GONE), origin, files)


def _field(old: Any, sent: Any, new: Any, got: Any, origin: Files, files: Files) -> None:
    if is_map(old) != is_map(new) or _family(old) != _family(new):
        raise Wrong(f"{new.full_name}: read as something else than {old.full_name}")
    if is_map(old):
        _map(old, sent, new, {} if got is _GONE else got, origin, files)
        return
    before = list(sent) if old.is_repeated else [sent]
    after = [] if got is _GONE else list(got) if new.is_repeated else [got]
    if old.message_type is not None or new.message_type is not None:
        if new.is_repeated or len(before) == 1:  # else the runtime merges a list into one message, a named exception
            _same(new, len(after), len(before))
            for one, other in zip(before, after, strict=True):
                compare(one, other, origin, files)
        return
    wanted = [one for value in before if (one := carried(value, old, new)) is not _GONE]
    if not new.is_repeated:
        wanted = wanted[-1:]  # the last one of a list, a named exception
        if not new.has_presence and not after:
            after = [new.default_value]
            wanted = wanted or after
    _same(new, after, wanted)


def _family(field: Any) -> str:
    """Fields of one family can be compared at all."""
    if field.message_type is not None:
        return "message"
    if field.type in (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES):
        return "text"
    if field.type in (FieldDescriptor.TYPE_FLOAT, FieldDescriptor.TYPE_DOUBLE):
        return "fraction"
    return "number"


def _map(old: Any, sent: Any, new: Any, got: Any, origin: Files, files: Files) -> None:
    one, other = old.message_type.fields_by_name, new.message_type.fields_by_name
    if any(_family(one[name]) != _family(other[name]) for name in ("key", "value")):
        raise Wrong(f"{new.full_name}: read as something else than {old.full_name}")
    keys = {key: carried(key, one["key"], other["key"]) for key in sent}
    if len(set(keys.values())) < len(keys):
        return  # different keys became one, a named exception
    for key, arrived in keys.items():
        value = sent[key]
        if one["value"].message_type is not None:
            _same(new, arrived in got, True)
            compare(value, got[arrived], origin, files)
        else:
            wanted = carried(value, one["value"], other["value"])
            if wanted is not _GONE:  # an entry whose value a closed enum does not have is kept as it was written
                _same(new, got.get(arrived, _GONE), wanted)


def _same(field: Any, got: Any, wanted: Any) -> None:
    if got != wanted:
        raise Wrong(f"{field.full_name}: {got!r}, expected {wanted!r}")


def carried(value: Any, old: Any, new: Any) -> Any:
    """What a value becomes in another type of its group: the named exceptions are those that change it."""
    number = FieldDescriptor.TYPE_BOOL, FieldDescriptor.TYPE_ENUM
    if new.type == FieldDescriptor.TYPE_ENUM:
        value = _cut(int(value), 32, signed=True)
        closed = new.enum_type.is_closed
        return _GONE if closed and value not in new.enum_type.values_by_number else value
    if new.type == FieldDescriptor.TYPE_BOOL:
        return bool(value)
    if new.type in _WIDTHS:
        bits, signed = _WIDTHS[new.type]
        if new.type == FieldDescriptor.TYPE_SINT32:  # the low bits of the number as it is written: sign last
            low = ((value << 1) ^ (value >> 63)) & 2**32 - 1
            return (low >> 1) ^ -(low & 1)
        return _cut(int(value) if old.type in number else value, bits, signed=signed)
    if new.type == FieldDescriptor.TYPE_STRING and isinstance(value, bytes):
        return value.decode("utf-8", "strict") if _is_text(value) else value
    if new.type == FieldDescriptor.TYPE_BYTES and isinstance(value, str):
        return value.encode()
    if new.type == FieldDescriptor.TYPE_FLOAT:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    return value


def _cut(value: int, bits: int, *, signed: bool) -> int:
    value &= 2**bits - 1
    return value - 2**bits if signed and value >> (bits - 1) else value


def _is_text(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def try_all(writer: Files, reader: Files, draw: SeededRandom, samples: int) -> int:
    """Write and read every message that both sides have so many times; the number of readings."""
    mine = dict(reader.messages())
    done = 0
    for name, descriptor in writer.messages():
        if name in mine:
            for _ in range(samples):
                message = filled(writer, descriptor, draw)
                if message.IsInitialized():
                    read(message, reader, mine[name], writer)
                    done += 1
    return done
