"""Defaults as Avro's reader for Java makes them, where that is not what they mean, and as the bytes of what they mean. The
schemas of such fields are rewritten in `spark.engines.wrapped_fields`.
"""

import struct
from collections.abc import Mapping
from typing import Any

from treaty.formats.avro.model import AbsentDefault, AvroArray, AvroEnum, AvroMap, AvroRecord, AvroType, AvroUnion
from treaty.formats.avro.resolution import AvroSide
from treaty.plan.avro.defaults import UncarriedError, choose_branch

TEXT, NUMBER = (str,), (int, float)
TAKEN: Mapping[str, tuple[type, ...]] = {
    "null": (type(None),),
    "boolean": (bool,),
    "int": NUMBER,
    "long": NUMBER,
    "float": NUMBER,
    "double": NUMBER,
    "string": TEXT,
    "bytes": TEXT,
    "fixed": TEXT,
}
"""The values of JSON that are a default of each kind of a union's types to Avro's reader for Java; a record, an enum, an
array and a map take any value (``ResolvingGrammarGenerator.isCompatible``).
"""


def is_made_alike(value: Any, side: AvroSide) -> bool:
    """Whether Avro's reader for Java makes a default of the same types of unions as it is meant."""
    try:
        return _is_made(value, side)
    except UncarriedError:
        return False


def _is_made(value: Any, side: AvroSide) -> bool:
    match side.resolved:
        case AvroUnion() as union:
            part = choose_branch(side, value)
            return find_java_choice(side, union, value) == part and _is_made(value, side.at(part))
        case AvroRecord() as record:
            pairs = ((value.get(one.name, one.default), one.type) for one in record.fields)
            return all(not isinstance(one, AbsentDefault) and _is_made(one, side.at(kind)) for one, kind in pairs)
        case AvroArray(items=items):
            return all(_is_made(one, side.at(items)) for one in value)
        case AvroMap(values=values):
            return all(_is_made(one, side.at(values)) for one in value.values())
    return True


def find_java_choice(side: AvroSide, union: AvroUnion, value: Any) -> AvroType | None:
    """The type of a union that Avro's reader for Java makes a default of."""
    for part in union.branches:
        kind = side.schema.resolve(part).kind
        # A truth value of JSON is a number in Python, and not in Java.
        if kind not in TAKEN or (isinstance(value, TAKEN[kind]) and (kind == "boolean") == isinstance(value, bool)):
            return part
    return None


def encode_default(value: Any, side: AvroSide) -> bytes:
    """The bytes of a value that a default means, in Avro's binary encoding (Avro 1.12, Binary Encoding)."""
    resolved = side.resolved
    match resolved:
        case AvroUnion():
            part = choose_branch(side, value)
            return _encode_number(resolved.branches.index(part)) + encode_default(value, side.at(part))
        case AvroRecord():
            return b"".join(
                encode_default(value.get(field.name, field.default), side.at(field.type)) for field in resolved.fields
            )
        case AvroArray():
            return _encode_block([encode_default(item, side.at(resolved.items)) for item in value])
        case AvroMap():
            return _encode_block(
                [
                    _encode_bytes(key.encode()) + encode_default(entry, side.at(resolved.values))
                    for key, entry in value.items()
                ]
            )
        case AvroEnum():
            return _encode_number(resolved.symbols.index(value))
    return _encode_leaf(value, resolved.kind)


def _encode_leaf(value: Any, kind: str) -> bytes:
    match kind:
        case "null":
            return b""
        case "boolean":
            return bytes([value])
        case "int" | "long":
            return _encode_number(value)
        case "float" | "double":
            return struct.pack("<f" if kind == "float" else "<d", value)
        case "string":
            return _encode_bytes(value.encode("utf-8", "replace"))
    raw: bytes = value.encode("latin-1")
    return raw if kind == "fixed" else _encode_bytes(raw)


def _encode_number(number: int) -> bytes:
    rest, out = (number << 1) ^ (number >> 63), bytearray()
    while rest > 0x7F:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    out.append(rest)
    return bytes(out)


def _encode_bytes(raw: bytes) -> bytes:
    return _encode_number(len(raw)) + raw


def _encode_block(items: list[bytes]) -> bytes:
    """An array's or a map's items: their number, themselves, and the number of no more."""
    return (_encode_number(len(items)) + b"".join(items) if items else b"") + _encode_number(0)
