"""Fingerprints: those of the Avro specification over Parsing Canonical Form, and Pravega's over the printed schema."""

import hashlib

from treaty.core.limits import SCHEMA_DEPTH
from treaty.formats.avro.canonical import print_schema
from treaty.formats.avro.model import Array, Enum, Fixed, Map, Primitive, Record, Schema, Type, Union
from treaty.formats.avro.rules import EXPECTED
from treaty.formats.text import fault

_EMPTY = 0xC15D213AA4D7A795
"""The fingerprint of nothing, which is also the polynomial."""


def parsing_form(schema: Schema) -> str:
    """The schema reduced to what reading data needs, in one spelling (specification, "Parsing Canonical Form").

    References are inlined. Raises `InvalidSchemaError` if types nest deeper than the limit then.
    """
    parts: list[str] = []
    _build(schema, schema.root, set(), parts, 1)
    return "".join(parts)


def _build(schema: Schema, node: Type, known: set[str], parts: list[str], depth: int) -> None:
    if depth > SCHEMA_DEPTH + 1:  # what is inside the last bracket has none of its own
        message = f"the schema nests deeper than the limit SCHEMA_DEPTH of {SCHEMA_DEPTH} once names are resolved"
        raise fault("SCHEMA_TOO_DEEP", message, EXPECTED["SCHEMA_TOO_DEEP"])
    match schema.resolve(node):
        case Primitive(kind):
            parts.append(f'"{kind}"')
        case Union(branches):
            parts.append("[")
            for at, branch in enumerate(branches):
                parts.append("," if at else "")
                _build(schema, branch, known, parts, depth + 1)
            parts.append("]")
        case Array(items):
            parts.append('{"type":"array","items":')
            _build(schema, items, known, parts, depth + 1)
            parts.append("}")
        case Map(values):
            parts.append('{"type":"map","values":')
            _build(schema, values, known, parts, depth + 1)
            parts.append("}")
        case Record() | Enum() | Fixed() as named if named.full in known:
            parts.append(f'"{named.full}"')
        case Fixed(full, size):
            known.add(full)
            parts.append(f'{{"name":"{full}","type":"fixed","size":{size}}}')
        case Enum(full, symbols):
            known.add(full)
            words = ",".join(f'"{symbol}"' for symbol in symbols)
            parts.append(f'{{"name":"{full}","type":"enum","symbols":[{words}]}}')
        case Record(full, fields):
            known.add(full)
            parts.append(f'{{"name":"{full}","type":"record","fields":[')
            for at, field in enumerate(fields):
                parts.append(f'{"," if at else ""}{{"name":"{field.name}","type":')
                _build(schema, field.type, known, parts, depth + 1)
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


def crc64(schema: Schema) -> bytes:
    """CRC-64-AVRO, eight bytes, the least significant first: the order in which single-object encoding has them.

    Java's `SchemaNormalization.fingerprint` and both Python libraries give the same order; the specification's own test
    vectors are signed numbers, and tools that print such a number in hexadecimal show the bytes the other way round.
    """
    return rabin(_bytes(schema)).to_bytes(8, "little")


def md5(schema: Schema) -> bytes:
    """MD5 of the Parsing Canonical Form."""
    return hashlib.md5(_bytes(schema), usedforsecurity=False).digest()


def sha256(schema: Schema) -> bytes:
    """SHA-256 of the Parsing Canonical Form."""
    return hashlib.sha256(_bytes(schema)).digest()


def pravega(schema: Schema, type_name: str = "") -> bytes:
    """SHA-256 of the schema as Pravega's registry normalises it: printed anew, a union narrowed to one branch.

    `type_name` is the full name of a type: the branch of a root that is a union, or the root itself. Without one the
    root stays as it is. Raises `InvalidSchemaError` for a name that is neither.
    """
    return hashlib.sha256(print_schema(_narrowed(schema, type_name)).encode()).digest()


def _narrowed(schema: Schema, type_name: str) -> Schema:
    if not type_name:
        return schema
    root = schema.resolve(schema.root)
    branches = tuple(map(schema.resolve, root.branches)) if isinstance(root, Union) else (root,)
    names = {one.full if isinstance(one, Record | Enum | Fixed) else one.kind: one for one in branches}
    if type_name not in names:
        known = ", ".join(names) or "none: there are no branches"
        raise fault("TYPE_UNKNOWN", f"the schema has no type called {type_name!r} at its root", known)
    return Schema(names[type_name], schema.names)


def _bytes(schema: Schema) -> bytes:
    return parsing_form(schema).encode()
