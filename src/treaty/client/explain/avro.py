"""Explains an Avro payload byte by byte with its writer's schema, for `treaty explain`."""

import struct
from collections.abc import Callable, Iterator, Mapping

from treaty.client.explain.pieces import PieceReader, UnexpectedBytesError
from treaty.core.limits import SCHEMA_DEPTH
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
    ResolvedType,
)

Walk = Iterator[tuple[AvroType, str]]
"""Reads one value: yields its parts, with their paths, in the order of the bytes."""


def explain(schema: AvroSchema, data: PieceReader) -> None:
    """Note every piece of a payload. Raises `UnexpectedBytesError` at the first byte that does not fit the schema."""
    waiting = [_value(schema, data, schema.root, "")]
    while waiting:
        try:
            node, path = next(waiting[-1])
        except StopIteration:
            waiting.pop()
        else:
            if len(waiting) > SCHEMA_DEPTH:
                raise UnexpectedBytesError(
                    data.at, path, f"values nest deeper than {SCHEMA_DEPTH} (limit SCHEMA_DEPTH)"
                )
            waiting.append(_value(schema, data, node, path))


def _value(schema: AvroSchema, data: PieceReader, node: AvroType, path: str) -> Walk:
    resolved = schema.resolve(node)
    match resolved:
        case AvroPrimitive():
            _primitive(resolved, data, path)
        case AvroRecord():
            for field in resolved.fields:
                yield field.type, f"{path}/{field.name}"
        case AvroEnum():
            _one_of(data, path, resolved.symbols, f"enum {resolved.full}")
        case AvroFixed():
            start = data.at
            value = data.take(resolved.size, path, f"fixed {resolved.full}")
            data.note(start, path, f"fixed {resolved.full}{_logical(resolved)}", value.hex())
        case AvroUnion():
            at = _one_of(data, path, [_name_of(one) for one in resolved.branches], "union")
            yield resolved.branches[at], path
        case AvroArray():
            yield from _blocks(data, path, lambda at: iter([(resolved.items, f"{path}/{at}")]))
        case AvroMap():
            yield from _blocks(data, path, lambda at: _entry(resolved, data, path))


def _name_of(node: AvroType) -> str:
    if isinstance(node, AvroPrimitive):
        return node.kind
    return node.full if hasattr(node, "full") else node.kind


def _one_of(data: PieceReader, path: str, names: list[str] | tuple[str, ...], what: str) -> int:
    start = data.at
    at = data.zigzag(path, what)
    if not 0 <= at < len(names):
        raise UnexpectedBytesError(start, path, f"{what} has {len(names)} choices, this is number {at}")
    data.note(start, path, f"{what}, choice {at}", names[at])
    return at


def _blocks(data: PieceReader, path: str, item: Callable[[int], Walk]) -> Walk:
    at = 0
    while True:
        start = data.at
        count = data.zigzag(path, "count of a block")
        if count < 0:
            size = data.varint(path, "size of a block")
            data.note(start, path, "block", f"{-count} items in {size >> 1} bytes")
            count = -count
        else:
            data.note(start, path, "block" if count else "end of blocks", f"{count} items" if count else "")
        if not count:
            return
        for _ in range(count):
            yield from item(at)
            at += 1


def _entry(resolved: AvroMap, data: PieceReader, path: str) -> Walk:
    key = _text(data, path, "key")
    yield resolved.values, f"{path}/{key}"


def _text(data: PieceReader, path: str, what: str) -> str:
    start = data.at
    raw = data.take(data.zigzag(path, f"length of {what}"), path, what)
    try:
        text = str(raw, "utf-8")
    except UnicodeDecodeError as error:
        raise UnexpectedBytesError(start, path, f"{what} is not UTF-8") from error
    data.note(start, path, f"{what}, {len(raw)} bytes", text)
    return text


def _logical(node: ResolvedType) -> str:
    name = dict(getattr(node, "props", ())).get("logicalType")
    return f" ({name})" if isinstance(name, str) else ""


def _primitive(node: AvroPrimitive, data: PieceReader, path: str) -> None:
    start, what = data.at, f"{node.kind}{_logical(node)}"
    match node.kind:
        case "null":
            data.note(start, path, what, "null, no bytes")
        case "boolean":
            value = data.take(1, path, what)[0]
            if value > 1:
                raise UnexpectedBytesError(start, path, f"a boolean is 00 or 01, this is {value:02x}")
            data.note(start, path, what, "true" if value else "false")
        case "string":
            _text(data, path, what)
        case "bytes":
            raw = data.take(data.zigzag(path, f"length of {what}"), path, what)
            data.note(start, path, f"{what}, {len(raw)} bytes", raw.hex())
        case "int" | "long":
            value = data.zigzag(path, what)
            if not -(1 << _BITS[node.kind]) <= value < 1 << _BITS[node.kind]:
                raise UnexpectedBytesError(start, path, f"{value} is not a valid {node.kind}")
            data.note(start, path, what, value)
        case _:
            size, form = _FLOATS[node.kind]
            number = struct.unpack(form, data.take(size, path, what))[0]
            data.note(start, path, what, number)


_BITS: Mapping[str, int] = {"int": 31, "long": 63}
_FLOATS: Mapping[str, tuple[int, str]] = {"float": (4, "<f"), "double": (8, "<d")}
