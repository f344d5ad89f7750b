"""Random Protobuf files, random messages of them, and random bytes that are nearly such messages."""

import random
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from treaty.formats.protobuf.encoding.wire import encode_varint

SCALARS = (
    "int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64", "sfixed32", "sfixed64",
    "float", "double", "bool", "string", "bytes",
)  # fmt: skip
KEYS = tuple(one for one in SCALARS if one not in {"float", "double", "bytes"})
KNOWN = (
    "google.protobuf.Timestamp", "google.protobuf.Int64Value", "google.protobuf.UInt64Value", "google.protobuf.StringValue",
    "google.type.Date", "google.protobuf.Struct",
)  # fmt: skip
IMPORTS = "".join(
    f'import "google/{one}.proto";'
    for one in ("protobuf/timestamp", "protobuf/wrappers", "protobuf/struct", "type/date")
)
WORDS = ("", "a", "ä€", "some words")


def proto(dice: random.Random, *, groups: bool = False) -> str:
    """A file of one to four messages, which may be inside one another, in proto2, proto3 or an edition."""
    syntax = dice.choice(('syntax = "proto3";', 'syntax = "proto2";', 'edition = "2023";'))
    messages = [f"M{place}" for place in range(dice.randrange(1, 5))]
    made = [f"message {name} {{ {_fields(dice, syntax, messages, groups=groups)} }}" for name in messages]
    low = "" if "proto3" in syntax else "LOW = -3; "
    return f"{syntax} package any; {IMPORTS} enum E {{ NONE = 0; {low}ONE = 1; TWO = 2; }} {' '.join(made)}"


def _fields(dice: random.Random, syntax: str, messages: Sequence[str], *, groups: bool) -> str:
    old, new = "proto2" in syntax, "proto3" in syntax
    numbers = dice.sample((1, 2, 3, 4, 5, 15, 16, 17, 1000, 2**29 - 1), dice.randrange(1, 8))
    parts, single = [], []
    for number in numbers:
        kind = dice.choice((*SCALARS, "E", "E", *messages, *messages, *dice.sample(KNOWN, 2)))
        label = dice.choice(("", "optional", "repeated", "repeated", "map", "oneof"))
        if label == "map":
            parts.append(f"map<{dice.choice(KEYS)}, {kind}> f{number} = {number};")
        elif label == "oneof":
            single.append(f"{kind} f{number} = {number};")
        elif groups and old and dice.random() < 0.2:
            parts.append(f"optional group G{number} = {number} {{ optional int32 x = 1; }}")
        else:
            word = label if label == "repeated" or not (new or old) else label or ("optional" if old else "")
            own = " [default = TWO]" if kind == "E" and not new and word != "repeated" and dice.random() < 0.5 else ""
            parts.append(f"{word if word != 'optional' or old or new else ''} {kind} f{number} = {number}{own};")
    return " ".join(parts) + (f" oneof pick {{ {' '.join(single)} }}" if single else "")


def filled(dice: random.Random, made: Any, depth: int = 3) -> Any:
    """A message in which about half of the fields are set, required ones always."""
    for field in made.DESCRIPTOR.fields:
        if dice.random() < 0.5 and not field.is_required:
            continue
        inner = field.message_type
        if inner is not None and inner.GetOptions().map_entry:
            _entries(dice, getattr(made, field.name), inner, depth)
        elif field.is_repeated:
            many = getattr(made, field.name)
            for _ in range(dice.randrange(4)):
                if inner is not None:
                    filled(dice, many.add(), depth - 1) if depth else None
                else:
                    many.append(scalar(dice, field))
        elif inner is not None:
            if depth:
                getattr(made, field.name).SetInParent()
                filled(dice, getattr(made, field.name), depth - 1)
        else:
            setattr(made, field.name, scalar(dice, field))
    return made


def _entries(dice: random.Random, there: Any, entry: Descriptor, depth: int) -> None:
    key, value = entry.fields_by_name["key"], entry.fields_by_name["value"]
    for _ in range(dice.randrange(3)):
        if value.message_type is None:
            there[scalar(dice, key)] = scalar(dice, value)
        elif depth:
            filled(dice, there[scalar(dice, key)], depth - 1)


def scalar(dice: random.Random, field: FieldDescriptor) -> Any:
    """A value that a field may have; small numbers where the field is one of a date."""
    if field.enum_type is not None:
        found = list(field.enum_type.values_by_number)
        return dice.choice(found if field.enum_type.is_closed else [*found, 77, -1])
    if field.containing_type is not None and field.containing_type.full_name == "google.type.Date":
        return dice.choice((0, 1, 2, 12, 13, 28, 29, 30, 31, 1900, 2000, 2023, 2024, 9999, 10_000))
    kind = field.cpp_type
    if kind == FieldDescriptor.CPPTYPE_BOOL:
        return dice.random() < 0.5
    if kind == FieldDescriptor.CPPTYPE_STRING:
        return dice.choice(WORDS) if field.type == FieldDescriptor.TYPE_STRING else dice.randbytes(dice.randrange(4))
    if kind in {FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT}:
        return dice.choice((0.0, -0.0, 1.5, -(2.0**100), float("inf")))
    unsigned = kind in {FieldDescriptor.CPPTYPE_UINT32, FieldDescriptor.CPPTYPE_UINT64}
    bits = 32 if kind in {FieldDescriptor.CPPTYPE_INT32, FieldDescriptor.CPPTYPE_UINT32} else 64
    low, high = (0, 2**bits - 1) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return dice.choice((low, high, 0, 1, 7, 300))


def strange(dice: random.Random, descriptor: Descriptor, depth: int = 3) -> bytes:
    """Fields in any order and any number of times, some under a wire type that is not theirs or under no known number."""
    made = b""
    entry = descriptor.GetOptions().map_entry  # nothing twice in one: it would have an unknown field, if it is a symbol
    fields = list(descriptor.fields)
    for field in dice.sample(fields, dice.randrange(3)) if entry else dice.choices(fields, k=dice.randrange(6)):
        inner = field.message_type
        if inner is not None and field.type == FieldDescriptor.TYPE_GROUP:
            made += (
                encode_varint(field.number << 3 | 3) + strange(dice, inner, 0) + encode_varint(field.number << 3 | 4)
            )
        elif dice.random() < 0.1 and not entry:  # an entry with more than key and value is none to Protobuf's runtime
            made += _other(dice, dice.choice((field.number, 77)))
        elif inner is not None:
            body = strange(dice, inner, depth - 1) if depth else b""
            made += encode_varint(field.number << 3 | 2) + encode_varint(len(body)) + body
        else:
            made += _value(dice, field)
    return made


def _value(dice: random.Random, field: FieldDescriptor) -> bytes:
    tag = field.number << 3
    number = dice.choice((0, 1, 2, 7, 127, 128, 300, 2**31, 2**32 + 1, 2**63, 2**64 - 1))
    if field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
        body = dice.choice((*(word.encode() for word in WORDS), b"\xff", b"\xc3"))
        return encode_varint(tag | 2) + encode_varint(len(body)) + body
    wide = {FieldDescriptor.TYPE_DOUBLE, FieldDescriptor.TYPE_FIXED64, FieldDescriptor.TYPE_SFIXED64}
    narrow = {FieldDescriptor.TYPE_FLOAT, FieldDescriptor.TYPE_FIXED32, FieldDescriptor.TYPE_SFIXED32}
    if field.type in wide:
        wire, body = 1, number.to_bytes(8, "little")
    elif field.type in narrow:
        wire, body = 5, (number % 2**32).to_bytes(4, "little")
    else:
        wire, body = 0, encode_varint(number)
    if field.is_repeated and dice.random() < 0.5:
        body *= dice.randrange(3)
        return encode_varint(tag | 2) + encode_varint(len(body)) + body
    return encode_varint(tag | wire) + body


def _other(dice: random.Random, number: int) -> bytes:
    tag = number << 3
    return dice.choice((
        encode_varint(tag) + encode_varint(5), encode_varint(tag | 1) + bytes(8), encode_varint(tag | 2) + b"\2ab", encode_varint(tag | 5) + bytes(4),
        encode_varint(tag | 3) + encode_varint(8) + b"\1" + encode_varint(tag | 4), encode_varint(tag | 2) + b"\0",
    ))  # fmt: skip


def spoilt(dice: random.Random, payload: bytes) -> bytes:
    """The payload cut short, or with bytes behind it."""
    if dice.random() < 0.5:
        return payload[: dice.randrange(len(payload) + 1)]
    return payload + dice.randbytes(dice.randrange(1, 6))


def with_names(value: Any, kind: pa.DataType) -> Any:
    """A value with a dictionary for each tuple of a record's fields."""
    if value is None:
        return None
    if pa.types.is_struct(kind):
        values = value.values() if isinstance(value, dict) else value
        return {one.name: with_names(inner, one.type) for one, inner in zip(kind, values, strict=True)}
    if pa.types.is_map(kind):
        return [(with_names(key, kind.key_type), with_names(item, kind.item_type)) for key, item in value]
    if pa.types.is_list(kind):
        return [with_names(one, kind.value_type) for one in value]
    return value
