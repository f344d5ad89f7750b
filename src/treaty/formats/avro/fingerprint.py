"""Fingerprints: those of the Avro specification over Parsing Canonical Form, and Pravega's over the printed schema."""

import hashlib

from treaty.core.limits import SCHEMA_DEPTH
from treaty.formats.avro.canonical import print_schema
from treaty.formats.avro.model import (
    AvroArray,
    AvroEnum,
    AvroFixed,
    AvroMap,
    AvroPrimitive,
    AvroRecord,
    AvroSchema,
    AvroType,
    AvroUnion,
)
from treaty.formats.avro.rules import EXPECTED
from treaty.formats.json_text import text_error

_EMPTY = 0xC15D213AA4D7A795
"""The fingerprint of nothing, which is also the polynomial."""


def print_parsing_form(schema: AvroSchema) -> str:
    """The schema reduced to what reading data needs, in one spelling (specification, "Parsing Canonical Form").

    References are inlined. Raises `InvalidSchemaError` if types nest deeper than the limit then.
    """
    parts: list[str] = []
    _build(schema, schema.root, set(), parts, 1)
    return "".join(parts)


def _build(schema: AvroSchema, node: AvroType, written_names: set[str], parts: list[str], depth: int) -> None:
    if depth > SCHEMA_DEPTH + 1:  # what is inside the last bracket has none of its own
        message = f"the schema nests deeper than the limit SCHEMA_DEPTH of {SCHEMA_DEPTH} once names are resolved"
        raise text_error("SCHEMA_TOO_DEEP", message, EXPECTED["SCHEMA_TOO_DEEP"])
    match schema.resolve(node):
        case AvroPrimitive(kind):
            parts.append(f'"{kind}"')
        case AvroUnion(branches):
            parts.append("[")
            for at, branch in enumerate(branches):
                parts.append("," if at else "")
                _build(schema, branch, written_names, parts, depth + 1)
            parts.append("]")
        case AvroArray(items):
            parts.append('{"type":"array","items":')
            _build(schema, items, written_names, parts, depth + 1)
            parts.append("}")
        case AvroMap(values):
            parts.append('{"type":"map","values":')
            _build(schema, values, written_names, parts, depth + 1)
            parts.append("}")
        case AvroRecord() | AvroEnum() | AvroFixed() as named if named.full in written_names:
            parts.append(f'"{named.full}"')
        case AvroFixed(full, size):
            written_names.add(full)
            parts.append(f'{{"name":"{full}","type":"fixed","size":{size}}}')
        case AvroEnum(full, symbols):
            written_names.add(full)
            words = ",".join(f'"{symbol}"' for symbol in symbols)
            parts.append(f'{{"name":"{full}","type":"enum","symbols":[{words}]}}')
        case AvroRecord(full, fields):
            written_names.add(full)
            parts.append(f'{{"name":"{full}","type":"record","fields":[')
            for at, field in enumerate(fields):
                parts.append(f'{"," if at else ""}{{"name":"{field.name}","type":')
                _build(schema, field.type, written_names, parts, depth + 1)
                parts.append("}")
            parts.append("]}")


def _table() -> tuple[int, ...]:
    table = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = (value >> 1) ^ (_EMPTY if value & 1 else 0)
        table.append(value)
    return tuple(table)


_TABLE = _table()


def rabin(data: bytes) -> int:
    """The 64-bit Rabin fingerprint of the specification, unsigned."""
    value = _EMPTY
    for byte in data:
        value = (value >> 8) ^ _TABLE[(value ^ byte) & 0xFF]
    return value


def crc64(schema: AvroSchema) -> bytes:
    """CRC-64-AVRO, eight bytes, the least significant first: the order in which single-object encoding has them.

    Java's `SchemaNormalization.fingerprint` and both Python libraries give the same order; the specification's own test
    vectors are signed numbers, and tools that print such a number in hexadecimal show the bytes the other way round.
    """
    return rabin(_bytes(schema)).to_bytes(8, "little")


def md5(schema: AvroSchema) -> bytes:
    """MD5 of the Parsing Canonical Form."""
    return hashlib.md5(_bytes(schema), usedforsecurity=False).digest()


def sha256(schema: AvroSchema) -> bytes:
    """SHA-256 of the Parsing Canonical Form."""
    return hashlib.sha256(_bytes(schema)).digest()


def pravega(schema: AvroSchema, type_name: str = "") -> bytes:
    """SHA-256 of the schema as Pravega's registry normalises it: printed again, a union narrowed to one branch.

    `type_name` is the full name of a type: the branch of a root that is a union, or the root itself. Without one the
    root stays as it is. Raises `InvalidSchemaError` for a name that is neither.
    """
    return hashlib.sha256(print_schema(_narrow_to_branch(schema, type_name)).encode()).digest()


def _narrow_to_branch(schema: AvroSchema, type_name: str) -> AvroSchema:
    if not type_name:
        return schema
    root = schema.resolve(schema.root)
    branches = tuple(map(schema.resolve, root.branches)) if isinstance(root, AvroUnion) else (root,)
    names = {one.full if isinstance(one, AvroRecord | AvroEnum | AvroFixed) else one.kind: one for one in branches}
    if type_name not in names:
        allowed = ", ".join(names) or "none: there are no branches"
        raise text_error("TYPE_UNKNOWN", f"the schema has no type called {type_name!r} at its root", allowed)
    return AvroSchema(names[type_name], schema.names)


def _bytes(schema: AvroSchema) -> bytes:
    return print_parsing_form(schema).encode()
