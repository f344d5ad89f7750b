"""Encodes JSON values as Avro payloads: values in Avro's JSON encoding, or in plain JSON.

A value of a union is ``{"branch": value}`` or bare: the first branch that accepts it is used, for integers the first
integer branch. Bytes are strings of the characters U+0000 to U+00FF. Values of logical types are numbers or bytes as in
Avro, or strings: dates and times in ISO 8601, decimals as digits, UUIDs. Missing fields get their defaults.
"""

import json
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from treaty.client.records.logical import LogicalParser, find_parser
from treaty.client.serializers.errors import BadValueError
from treaty.core.limits import SCHEMA_DEPTH
from treaty.formats.avro.data.value import branch_name
from treaty.formats.avro.model import (
    ABSENT,
    AvroArray,
    AvroEnum,
    AvroFixed,
    AvroMap,
    AvroPrimitive,
    AvroRecord,
    AvroSchema,
    AvroType,
    AvroUnion,
    ResolvedType,
)
from treaty.formats.json_pointer import ValuePath, format_pointer

_BITS = {"int": 32, "long": 64}
_WORDS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}
_PACK: Mapping[str, Callable[[float], bytes]] = {
    "float": lambda value: struct.pack("<f", value),
    "double": lambda value: struct.pack("<d", value),
}


class UnfitValueError(BadValueError):
    """A value does not fit its type; the message has the path, the value and what is expected."""

    def __init__(self, path: ValuePath, value: Any, expected: str, *, limit: bool = False) -> None:
        """Keep the path; a `limit` applies to all branches of a union."""
        super().__init__(f"at {format_pointer(path) or '/'}: {_describe_value(value)} is not {expected}")
        self.depth = _depth(path)
        self.limit = limit


def encode(schema: AvroSchema, value: Any) -> bytes:
    """Return the payload of a JSON value. Raises `UnfitValueError` with the path of the first mismatch."""
    root = schema.resolve(schema.root)
    if (
        isinstance(root, AvroPrimitive)
        and root.kind == "bytes"
        and find_parser(root) is None
        and isinstance(value, str)
    ):
        return _latin_bytes(value, None)  # what is only bytes has no length in front
    out = bytearray()
    _Encoder(schema).put(schema.root, value, None, out)
    return bytes(out)


def encode_long(value: int) -> bytes:
    """Return an integer as a zig-zag varint."""
    rest = (value << 1) ^ (value >> 63)
    out = bytearray()
    while rest > 0x7F:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    out.append(rest)
    return bytes(out)


@dataclass(slots=True)
class _Encoder:
    schema: AvroSchema
    depth: int = 0

    def put(self, node: AvroType, value: Any, path: ValuePath, out: bytearray) -> None:
        resolved = self.schema.resolve(node)
        self.depth += 1
        if self.depth > SCHEMA_DEPTH:
            raise UnfitValueError(path, value, f"nested less deep than {SCHEMA_DEPTH} (limit SCHEMA_DEPTH)", limit=True)
        match resolved:
            case AvroRecord() if isinstance(value, dict):
                self._record(resolved, value, path, out)
            case AvroUnion():
                self._union(resolved, value, path, out)
            case AvroArray(items) if isinstance(value, list):
                self._block(len(value), out)
                for at, item in enumerate(value):
                    self.put(items, item, (path, at), out)
                out += b"\0" if value else b""
            case AvroMap(values) if isinstance(value, dict):
                self._block(len(value), out)
                for name, member in value.items():
                    out += _long_bytes(name.encode("utf-8", "surrogatepass"))
                    self.put(values, member, (path, name), out)
                out += b"\0" if value else b""
            case _:
                out += _leaf(resolved, value, path)
        self.depth -= 1

    @staticmethod
    def _block(count: int, out: bytearray) -> None:
        out += encode_long(count)

    def _record(self, node: AvroRecord, value: dict[str, Any], path: ValuePath, out: bytearray) -> None:
        names = {field.name for field in node.fields}
        if unknown := next((name for name in value if name not in names), None):
            listed = ", ".join(sorted(names)) or "none"
            raise UnfitValueError((path, unknown), value[unknown], f"a field of {node.full}; its fields are {listed}")
        for field in node.fields:
            if field.name in value:
                self.put(field.type, value[field.name], (path, field.name), out)
            elif field.default is not ABSENT:
                self.put(field.type, field.default, (path, field.name), out)
            else:
                raise UnfitValueError(
                    path, value, f"a whole {node.full}: the field {field.name} is missing and has no default"
                )

    def _union(self, node: AvroUnion, value: Any, path: ValuePath, out: bytearray) -> None:
        branches = [self.schema.resolve(one) for one in node.branches]
        if isinstance(value, dict) and len(value) == 1:
            (name,) = value
            named = next((at for at, one in enumerate(branches) if branch_name(one) == name), None)
            if named is not None and self._try_branch((named, branches[named]), value[name], (path, name), out) is None:
                return
        order = sorted(enumerate(branches), key=lambda one: _is_unlikely(one[1], value))
        whys = []
        for candidate in order:
            why = self._try_branch(candidate, value, path, out)
            if why is None:
                return
            whys.append(why)
        closest = max(whys, key=lambda one: one.depth, default=None)
        if closest is not None and closest.depth > _depth(path):
            raise closest  # a branch took the value and stopped inside it
        raise UnfitValueError(path, value, f"of a branch of the union: {', '.join(map(branch_name, branches))}")

    def _try_branch(
        self, candidate: tuple[int, ResolvedType], value: Any, path: ValuePath, out: bytearray
    ) -> "UnfitValueError | None":
        """Append a value under a branch; if that fails, append nothing and return the error."""
        start, depth = len(out), self.depth
        out += encode_long(candidate[0])
        try:
            self.put(candidate[1], value, path, out)
        except UnfitValueError as why:
            if why.limit:
                raise
            del out[start:]
            self.depth = depth
            return why
        return None


def _is_unlikely(node: ResolvedType, value: Any) -> bool:
    """Return whether a branch is tried after the others."""
    return type(value) is int and node.kind in _PACK


def _describe_value(value: Any) -> str:
    """Describe a value for a message; an object or array only by its kind."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "an array"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _depth(path: ValuePath) -> int:
    depth = 0
    while path is not None:
        path, depth = path[0], depth + 1
    return depth


def _leaf(node: ResolvedType, value: Any, path: ValuePath) -> bytes:
    parser = find_parser(node)
    if parser is not None:
        value = _read_logical(parser, value, path)
    match node:
        case AvroFixed(full, size) if isinstance(value, bytes | str):
            data = value if isinstance(value, bytes) else _latin_bytes(value, path)
            if len(data) != size:
                raise UnfitValueError(path, value, f"{size} bytes long, as {full} is; it has {len(data)}")
            return data
        case AvroEnum(full, symbols) if isinstance(value, str):
            if value not in symbols:
                raise UnfitValueError(path, value, f"a symbol of {full}: {', '.join(symbols)}")
            return encode_long(symbols.index(value))
        case AvroPrimitive("null") if value is None:
            return b""
        case AvroPrimitive("boolean") if isinstance(value, bool):
            return b"\x01" if value else b"\0"
        case AvroPrimitive("string") if isinstance(value, str):
            return _text(value, path)
        case AvroPrimitive("bytes") if isinstance(value, bytes | str):
            return _long_bytes(value if isinstance(value, bytes) else _latin_bytes(value, path))
        case AvroPrimitive("int" | "long" | "float" | "double" as kind) if (
            number := _number(kind, value, path)
        ) is not None:
            return number
    raise UnfitValueError(path, value, _describe_type(node, parser))


def _number(kind: str, value: Any, path: ValuePath) -> bytes | None:
    bits = _BITS.get(kind)
    if bits is None:
        if isinstance(value, str) and value in _WORDS:
            return _PACK[kind](_WORDS[value])
        return _pack_float(kind, value, path) if type(value) in (int, float) else None
    if type(value) is not int:
        return None
    if not -(1 << bits - 1) <= value < 1 << bits - 1:
        raise UnfitValueError(path, value, f"a whole number of {bits} bits")
    return encode_long(value)


def _read_logical(parser: LogicalParser, value: Any, path: ValuePath) -> Any:
    try:
        return parser.read(value)
    except (ValueError, ArithmeticError) as why:
        raise UnfitValueError(path, value, f"{parser.name} ({why})") from None


def _pack_float(kind: str, value: float, path: ValuePath) -> bytes:
    try:
        return _PACK[kind](value)
    except OverflowError:
        raise UnfitValueError(path, value, f"a number that fits a {kind}") from None


def _text(value: str, path: ValuePath) -> bytes:
    try:
        return _long_bytes(value.encode())
    except UnicodeEncodeError:
        raise UnfitValueError(path, value, "a string that has a UTF-8 form") from None


def _latin_bytes(value: str, path: ValuePath) -> bytes:
    try:
        return value.encode("latin-1")
    except UnicodeEncodeError:
        raise UnfitValueError(path, value, "bytes: a string of the characters U+0000 to U+00FF") from None


def _long_bytes(data: bytes) -> bytes:
    return encode_long(len(data)) + data


def _describe_type(node: ResolvedType, parser: LogicalParser | None) -> str:
    name = branch_name(node)
    article = "an" if name[:1] in "aeiou" else "a"
    return f"{article} {name}" + (f" ({parser.name})" if parser else "")
