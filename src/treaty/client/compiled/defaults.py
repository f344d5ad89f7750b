"""Defaults of reader fields as the codec returns values: bytes, 32-bit floats, values of logical types."""

import copy
from collections.abc import Callable, Mapping
from struct import Struct
from typing import Any

from treaty.client.compiled.logical import READERS
from treaty.client.compiled.names import find_definition, kind_of, logical_of

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
    "error": (dict,),
}
"""Python types of a JSON default, by Avro type."""
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


def default_maker(field: Any, named: Mapping[str, Any]) -> Callable[[], Any]:
    """Return a function that returns the default of a field; lists and dicts are new objects at each call. Raises `ValueError`
    for a default that is no value of the field's type.
    """
    if not is_default_of(field["type"], field["default"], named):
        raise ValueError(f"{field['default']!r:.80} does not fit it")
    value = default_of(field["type"], field["default"], named)
    if isinstance(value, (list, dict)):
        return lambda: copy.deepcopy(value)
    return lambda: value


def default_of(schema: Any, default: Any, named: Mapping[str, Any]) -> Any:
    """Return a default as the codec returns values; for a union, as a value of the first matching branch."""
    schema = find_definition(schema, named)
    if isinstance(schema, list):
        fitting = (branch for branch in schema if is_default_of(branch, default, named))
        return default_of(next(fitting, schema[0]), default, named)
    match kind_of(schema):
        case "record" | "error":
            values = {field["name"]: default.get(field["name"], field.get("default")) for field in schema["fields"]}
            return {
                field["name"]: default_of(field["type"], values[field["name"]], named) for field in schema["fields"]
            }
        case "array":
            return [default_of(schema["items"], each, named) for each in default]
        case "map":
            return {key: default_of(schema["values"], each, named) for key, each in default.items()}
        case "float":
            return round_to_float(float(default))
        case "double":
            return float(default)
        case "bytes" | "fixed":
            default = default.encode("latin-1")
    make: Callable[..., Any] | None = READERS.get(logical_of(schema))
    return default if make is None else make(default, schema)


def is_default_of(schema: Any, default: Any, named: Mapping[str, Any]) -> bool:
    """Return whether a JSON default is a value of a type."""
    schema = find_definition(schema, named)
    if isinstance(schema, list):
        return any(is_default_of(branch, default, named) for branch in schema)
    kind = kind_of(schema)
    right: bool = isinstance(default, _KINDS[kind]) and (kind == "boolean" or not isinstance(default, bool))
    return right and _is_within(schema, kind, default, named)


def _is_within(schema: Any, kind: str, default: Any, named: Mapping[str, Any]) -> bool:
    """Return whether the parts of a default of the right kind are valid, or its number is in range."""
    match kind:
        case "record" | "error":
            return all(
                is_default_of(field["type"], default[field["name"]], named)
                if field["name"] in default
                else "default" in field and is_default_of(field["type"], field["default"], named)
                for field in schema["fields"]
            )
        case "array":
            return all(is_default_of(schema["items"], each, named) for each in default)
        case "map":
            return all(is_default_of(schema["values"], each, named) for each in default.values())
        case "int" | "long":
            return bool(-(1 << _WIDTHS[kind]) <= default < 1 << _WIDTHS[kind])
        case "float" | "double":
            return not isinstance(default, str) or default in {"NaN", "Infinity", "-Infinity"}
        case "bytes":
            return _is_latin(default)
        case "fixed":
            return _is_latin(default) and len(default) == int(schema["size"])
        case "enum":
            return bool(default in schema["symbols"])
    return True


def _is_latin(text: str) -> bool:
    return all(ord(char) < 256 for char in text)
