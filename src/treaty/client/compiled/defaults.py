"""Defaults of reader fields as the codec returns values: bytes, 32-bit floats, values of logical types."""

import copy
from collections.abc import Callable, Mapping
from struct import Struct
from typing import Any

from treaty.client.compiled.logical import READERS, find_logical_key
from treaty.formats.avro.model import (
    ABSENT,
    AvroArray,
    AvroEnum,
    AvroFixed,
    AvroMap,
    AvroRecord,
    AvroSchema,
    AvroType,
    AvroUnion,
    Field,
    ResolvedType,
)

_FLOAT = Struct("<f")
_KINDS: Mapping[str, tuple[type, ...]] = {
    "null": (type(None),),
    "boolean": (bool,),
    "int": (int,),
    "long": (int,),
    "float": (int, float, str),
    "double": (int, float, str),
    "bytes": (str,),
    "string": (str,),
    "enum": (str,),
    "fixed": (str,),
    "array": (list,),
    "map": (dict,),
    "record": (dict,),
}
"""Python types of a JSON default, by the kind of an Avro type."""
_WIDTHS = {"int": 31, "long": 63}


def round_to_float(value: float) -> float:
    """Return the nearest 32-bit float, ties to even: Java's cast from long."""
    if isinstance(value, int):
        excess = abs(value).bit_length() - 24
        if excess > 0:  # in one step: by way of a double it would be rounded twice
            quotient, rest = divmod(abs(value), 1 << excess)
            half = 1 << (excess - 1)
            quotient += rest > half or (rest == half and quotient & 1)
            value = (quotient << excess) * (1 if value > 0 else -1)
        return float(value)
    try:
        return float(_FLOAT.unpack(_FLOAT.pack(value))[0])
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def default_maker(field: Field, schema: AvroSchema) -> Callable[[], Any]:
    """Return a function that returns the default of a field; lists and dicts are new objects at each call. Raises `ValueError`
    for a default that is no value of the field's type.
    """
    if not is_default_of(field.type, field.default, schema):
        raise ValueError(f"{field.default!r:.80} does not fit it")
    value = default_of(field.type, field.default, schema)
    if isinstance(value, (list, dict)):
        return lambda: copy.deepcopy(value)
    return lambda: value


def default_of(node: AvroType, default: Any, schema: AvroSchema) -> Any:
    """Return a default as the codec returns values; for a union, as a value of the first matching branch."""
    resolved = schema.resolve(node)
    match resolved:
        case AvroUnion(branches):
            fitting = (branch for branch in branches if is_default_of(branch, default, schema))
            return default_of(next(fitting, branches[0]), default, schema)
        case AvroRecord():
            values = {field.name: default.get(field.name, field.default) for field in resolved.fields}
            return {field.name: default_of(field.type, values[field.name], schema) for field in resolved.fields}
        case AvroArray(items):
            return [default_of(items, item, schema) for item in default]
        case AvroMap(members):
            return {key: default_of(members, member, schema) for key, member in default.items()}
    match resolved.kind:
        case "float":
            return round_to_float(float(default))
        case "double":
            return float(default)
        case "bytes" | "fixed":
            default = default.encode("latin-1")
    make: Callable[..., Any] | None = READERS.get(find_logical_key(resolved))
    return default if make is None else make(default, dict(resolved.props))


def is_default_of(node: AvroType, default: Any, schema: AvroSchema) -> bool:
    """Return whether a JSON default is a value of a type."""
    resolved = schema.resolve(node)
    if isinstance(resolved, AvroUnion):
        return any(is_default_of(branch, default, schema) for branch in resolved.branches)
    right: bool = isinstance(default, _KINDS[resolved.kind]) and (
        resolved.kind == "boolean" or not isinstance(default, bool)
    )
    return right and _is_within(resolved, default, schema)


def _is_within(resolved: ResolvedType, default: Any, schema: AvroSchema) -> bool:
    """Return whether the parts of a default of the right kind are valid, or its number is in range."""
    match resolved:
        case AvroRecord():
            members = ((field, default.get(field.name, field.default)) for field in resolved.fields)
            return all(value is not ABSENT and is_default_of(field.type, value, schema) for field, value in members)
        case AvroArray(items):
            return all(is_default_of(items, item, schema) for item in default)
        case AvroMap(values):
            return all(is_default_of(values, member, schema) for member in default.values())
        case AvroFixed():
            return _is_latin(default) and len(default) == resolved.size
        case AvroEnum():
            return default in resolved.symbols
    match resolved.kind:
        case "int" | "long":
            return bool(-(1 << _WIDTHS[resolved.kind]) <= default < 1 << _WIDTHS[resolved.kind])
        case "float" | "double":
            return not isinstance(default, str) or default in {"NaN", "Infinity", "-Infinity"}
        case "bytes":
            return _is_latin(default)
    return True


def _is_latin(text: str) -> bool:
    return all(ord(char) < 256 for char in text)
