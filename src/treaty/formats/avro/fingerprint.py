"""Parsing Canonical Form and the fingerprints of the Avro specification over it."""

import hashlib

from treaty.core.limits import SCHEMA_DEPTH
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
    """CRC-64-AVRO, eight bytes, least significant first."""
    return rabin(_bytes(schema)).to_bytes(8, "little")


def md5(schema: Schema) -> bytes:
    """MD5 of the Parsing Canonical Form."""
    return hashlib.md5(_bytes(schema), usedforsecurity=False).digest()


def sha256(schema: Schema) -> bytes:
    """SHA-256 of the Parsing Canonical Form."""
    return hashlib.sha256(_bytes(schema)).digest()


def _bytes(schema: Schema) -> bytes:
    return parsing_form(schema).encode()
