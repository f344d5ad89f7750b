"""Check a value in Avro's JSON encoding against a schema, as Java's ``JsonDecoder`` reads it."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from treaty.core.finding import Diagnostic
from treaty.core.limits import FAULTS, VALUE_BYTES
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
from treaty.formats.format import InvalidSchemaError
from treaty.formats.json_pointer import ValuePath, find_positions, format_pointer
from treaty.formats.json_text import Json, print_json, read_json

VALUE_RULES: Mapping[str, str] = {
    "VALUE_TYPE_MISMATCH": "A value has the JSON type that stands for its Avro type.",
    "VALUE_OUT_OF_RANGE": "A whole number fits into 32 or 64 bits.",
    "VALUE_NOT_BYTES": "Bytes are a string of the characters U+0000 to U+00FF, one for every byte.",
    "VALUE_SIZE_MISMATCH": "A fixed value has as many bytes as its type says.",
    "VALUE_SYMBOL_UNKNOWN": "A value of an enum is one of its symbols.",
    "VALUE_BRANCH_UNKNOWN": "A value of a union is null or an object with one member, called like the branch.",
    "VALUE_FIELD_MISSING": "A record has all its fields; defaults are for readers and not for values.",
    "VALUE_FIELD_UNKNOWN": "A record has no members beside its fields.",
}
"""What a value can break, by identifier. A text that is no JSON has the faults of one."""

_WORDS = frozenset({"NaN", "Infinity", "-Infinity"})
_BITS: Mapping[str, int] = {"int": 32, "long": 64}

Violation = tuple[str, str, str]
"""A rule, what stands there, and what was expected."""


def check_value(schema: AvroSchema, text: str) -> tuple[Diagnostic, ...]:
    """Faults of a value, at most `FAULTS` of them, each with its place; none if the value is one of the schema.

    Unions are ``{"branch": value}`` with the branch's full name, bytes are strings of ISO-8859-1 characters. Logical
    types do not count: the value is that of the base type.
    """
    try:
        value = read_json(text, VALUE_BYTES)
    except InvalidSchemaError as error:
        return error.faults
    faults: list[Diagnostic] = []
    for path, (rule, message, expected) in _find_violations(schema, value):
        faults.append(Diagnostic(rule, format_pointer(path), message, expected))
        if len(faults) == FAULTS:
            break
    places = find_positions(text, {one.path for one in faults}) if faults else {}
    return tuple(replace(one, line=places[one.path][0], column=places[one.path][1]) for one in faults)


def branch_name(node: ResolvedType) -> str:
    """What a branch of a union is called in the JSON encoding."""
    return node.full if isinstance(node, AvroRecord | AvroEnum | AvroFixed) else node.kind


def _find_violations(schema: AvroSchema, value: Json) -> Iterator[tuple[ValuePath, Violation]]:
    waiting: list[tuple[AvroType, Json, ValuePath]] = [(schema.root, value, None)]
    unions: dict[int, Mapping[str, ResolvedType]] = {}
    symbols: dict[int, frozenset[str]] = {}
    while waiting:
        node, part, path = waiting.pop()
        resolved = schema.resolve(node)
        inside: list[tuple[AvroType, Json, ValuePath]] = []
        match resolved:
            case AvroRecord() if isinstance(part, dict):
                yield from _check_members(resolved, part, path)
                inside = [
                    (field.type, part[field.name], (path, field.name))
                    for field in resolved.fields
                    if field.name in part
                ]
            case AvroArray(items) if isinstance(part, list):
                inside = [(items, item, (path, at)) for at, item in enumerate(part)]
            case AvroMap(values) if isinstance(part, dict):
                inside = [(values, member, (path, name)) for name, member in part.items()]
            case AvroUnion():
                if id(resolved) not in unions:
                    unions[id(resolved)] = {branch_name(one): one for one in map(schema.resolve, resolved.branches)}
                named = unions[id(resolved)]
                name, violation = _choose_branch(named, part)
                if violation:
                    yield path, violation
                elif name:
                    assert isinstance(part, dict)
                    inside = [(named[name], part[name], (path, name))]
            case AvroEnum() if isinstance(part, str):
                if id(resolved) not in symbols:
                    symbols[id(resolved)] = frozenset(resolved.symbols)
                if part not in symbols[id(resolved)]:
                    message = f"{_shorten(part)} is no symbol of {resolved.full}"
                    yield path, ("VALUE_SYMBOL_UNKNOWN", message, _join_words(list(resolved.symbols)))
            case _:
                if violation := _check_leaf(resolved, part):
                    yield path, violation
        waiting += reversed(inside)


def _check_members(node: AvroRecord, value: dict[str, Json], path: ValuePath) -> Iterator[tuple[ValuePath, Violation]]:
    for field in node.fields:
        if field.name not in value:
            message = f"the record {node.full} has no member {_shorten(field.name)}"
            yield path, ("VALUE_FIELD_MISSING", message, f"a member {_shorten(field.name)}")
    if not value.keys() <= (names := {field.name for field in node.fields}):
        for name in value:
            if name not in names:
                message = f"the record {node.full} has no field {_shorten(name)}"
                yield (path, name), ("VALUE_FIELD_UNKNOWN", message, _join_words([field.name for field in node.fields]))


def _choose_branch(named: Mapping[str, ResolvedType], value: Json) -> tuple[str, Violation | None]:
    """The branch that an object names, or what is wrong; neither for null where null is a branch."""
    if value is None and "null" in named:
        return "", None
    if isinstance(value, dict) and len(value) == 1:
        (name,) = value
        if name in named and name != "null":
            return name, None
    words = [name if name == "null" else f'{{"{name}": …}}' for name in named]
    return "", ("VALUE_BRANCH_UNKNOWN", f"{_shorten(value)} names no branch of the union", _join_words(words))


def _check_leaf(node: ResolvedType, value: Json) -> Violation | None:
    match node:
        case AvroFixed(full, size) if isinstance(value, str):
            if len(value) != size and not _has_wide_characters(value):
                return "VALUE_SIZE_MISMATCH", f"{len(value)} bytes for {full}", f"{size} bytes"
            return _bytes(value)
        case AvroPrimitive("bytes") if isinstance(value, str):
            return _bytes(value)
        case AvroPrimitive("int" | "long" as kind) if type(value) is int:
            bits = _BITS[kind]
            if -(1 << bits - 1) <= value < 1 << bits - 1:
                return None
            return "VALUE_OUT_OF_RANGE", f"{_shorten(value)} for {kind}", f"a whole number of {bits} bits"
    if _is_plain(node, value):
        return None
    word = branch_name(node)
    return "VALUE_TYPE_MISMATCH", f"{_shorten(value)} is not of the type {word}", _EXPECTED[node.kind]


def _is_plain(node: ResolvedType, value: Json) -> bool:
    match node.kind:
        case "null":
            return value is None
        case "boolean":
            return type(value) is bool
        case "float" | "double":
            return type(value) in (int, float) or (isinstance(value, str) and value in _WORDS)
        case "string":
            return isinstance(value, str)
    return False


_EXPECTED: Mapping[str, str] = {
    "null": "null",
    "boolean": "true or false",
    "int": "a whole number of 32 bits",
    "long": "a whole number of 64 bits",
    "float": 'a number, "NaN", "Infinity" or "-Infinity"',
    "double": 'a number, "NaN", "Infinity" or "-Infinity"',
    "bytes": "a string of bytes",
    "string": "a string",
    "enum": "a string, one of the symbols",
    "fixed": "a string of bytes",
    "array": "an array",
    "map": "an object",
    "record": "an object with the record's fields",
}


def _has_wide_characters(value: str) -> bool:
    return not value.isascii() and max(value) > "\xff"


def _bytes(value: str) -> Violation | None:
    if _has_wide_characters(value):
        return "VALUE_NOT_BYTES", f"{_shorten(value)} has characters beyond U+00FF", _EXPECTED["bytes"]
    return None


def _join_words(words: list[str]) -> str:
    return ", ".join([*words[:20], "…"] if len(words) > 20 else words) or "nothing: there are none"


def _shorten(value: Json) -> str:
    text = print_json(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
