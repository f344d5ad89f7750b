"""Types of msgspec for schemas of draft 4: JSON that decodes as the type is valid, and needs no other check.

A type may refuse what the schema allows, so a refusal says nothing. It never takes what the schema forbids: a schema with a
keyword that a type can't check has none.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union

import msgspec

NOTES = frozenset({"title", "description", "default", "definitions", "$schema", "self", "$supersedes", "$supersededBy"})
"""Keywords that say nothing about a value; `definitions` matter only to a reference."""
_EXACT = 2**53
"""Bounds up to here are the same as whole numbers and as doubles."""
_HIGHEST = 2**63 - 1
_DAY = "[12][0-9]{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])"
_TIME = "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]{1,9})?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
_FORMATS: Mapping[str, str] = {
    "uuid": r"\A[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z",
    "ipv4": r"\A(?:(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])\.){3}(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])\Z",
    "date": rf"\A{_DAY}\Z",
    "date-time": rf"\A{_DAY}T{_TIME}\Z",
}
"""Texts that are of a format beyond doubt; others may be too."""


class NoStrictTypeError(ValueError):
    """A schema says something that a type can't check."""


@dataclass(frozen=True, slots=True)
class StrictType:
    """A type, and the most levels that its values nest; None where they may nest as deep as they like."""

    type: Any
    depth: int | None


def make_strict_type(schema: Any) -> StrictType | None:
    """The type of a schema without references; None where no type can check all that it says."""
    try:
        kind, depth = _type_of(schema)
        msgspec.json.Decoder(kind)  # which refuses what is no type
        return StrictType(kind, depth)
    except (NoStrictTypeError, TypeError, ValueError, OverflowError):
        return None


_Typed = tuple[Any, int | None]
"""A type, and how deep its values nest."""


def _type_of(schema: Any) -> _Typed:
    if not isinstance(schema, dict):
        raise NoStrictTypeError
    words = schema.keys() - NOTES
    if not words:
        return Any, None
    if "enum" in words:
        return _enumeration(schema, words), 0
    named = schema.get("type")
    names = [named] if isinstance(named, str) else list(named or ())
    if not names or words - _WORDS:
        raise NoStrictTypeError
    if "number" in names and "integer" in names:
        names.remove("integer")
    # msgspec 0.22 frees memory that is not its own with a decoder of a union of lists and texts with a pattern.
    if {"array", "string"} <= {*names} and "format" in words:
        raise NoStrictTypeError
    alternatives = [_KINDS[name](schema) for name in names]
    depths = [depth for _, depth in alternatives]
    return _any_of(kind for kind, _ in alternatives), None if None in depths else max(one or 0 for one in depths)


def _any_of(kinds: Iterator[Any]) -> Any:
    return Union[tuple(kinds)]  # noqa: UP007 (the members are values)


def _enumeration(schema: Mapping[str, Any], words: set[str]) -> Any:
    if words - {"enum", "type"}:
        raise NoStrictTypeError
    named = schema.get("type")
    names = {named} if isinstance(named, str) else None if named is None else {*named}
    values = []
    for value in schema["enum"]:
        if value is not None and not isinstance(value, str) and (isinstance(value, bool) or not isinstance(value, int)):
            raise NoStrictTypeError
        kind = {"null"} if value is None else {"string"} if isinstance(value, str) else {"integer", "number"}
        if names is None or kind & names:
            values.append(value)
    return Literal[tuple(values)]


def _string(schema: Mapping[str, Any]) -> _Typed:
    if schema.get("format") not in {None, *_FORMATS}:
        raise NoStrictTypeError
    bounds: dict[str, Any] = {"min_length": _size(schema, "minLength"), "max_length": _size(schema, "maxLength")}
    return Annotated[str, msgspec.Meta(**bounds, pattern=_FORMATS.get(schema.get("format", "")))], 0


def _size(schema: Mapping[str, Any], word: str) -> int | None:
    size = schema.get(word)
    if size is not None and (isinstance(size, bool) or not isinstance(size, int)):
        raise NoStrictTypeError
    return size


def _integer(schema: Mapping[str, Any]) -> _Typed:
    """Whole numbers of at most 64 bits."""
    low, high = -_HIGHEST - 1, _HIGHEST
    below, above = _bounds(schema)
    if below is not None:
        low = math.floor(below) + 1 if schema.get("exclusiveMinimum") else math.ceil(below)
    if above is not None:
        high = math.ceil(above) - 1 if schema.get("exclusiveMaximum") else math.floor(above)
    return Annotated[int, msgspec.Meta(ge=low, le=high)], 0


def _number(schema: Mapping[str, Any]) -> _Typed:
    below, above = _bounds(schema)
    bounds: dict[str, Any] = {
        "gt" if schema.get("exclusiveMinimum") else "ge": below,
        "lt" if schema.get("exclusiveMaximum") else "le": above,
    }
    integer, _ = _integer(schema)
    return _any_of(iter((integer, Annotated[float, msgspec.Meta(**bounds)]))), 0


def _bounds(schema: Mapping[str, Any]) -> tuple[float | None, float | None]:
    bounds = schema.get("minimum"), schema.get("maximum")
    if any(one is not None and abs(one) > _EXACT for one in bounds):
        raise NoStrictTypeError
    return bounds


def _array(schema: Mapping[str, Any]) -> _Typed:
    items = _type_of(schema.get("items", {}))
    bounds: dict[str, Any] = {"min_length": _size(schema, "minItems"), "max_length": _size(schema, "maxItems")}
    element: Any = list.__class_getitem__(items[0])
    return Annotated[element, msgspec.Meta(**bounds)], None if items[1] is None else items[1] + 1


def _object(schema: Mapping[str, Any]) -> _Typed:
    """An object whose members are all named: of others msgspec would not look whether they are JSON."""
    properties, required = schema.get("properties", {}), {*schema.get("required", ())}
    if schema.get("additionalProperties") is not False or required - properties.keys():
        raise NoStrictTypeError
    fields: list[Any] = []
    names, depths = {}, []
    for place, (name, inner) in enumerate(properties.items()):
        kind, depth = _type_of(inner)
        own = f"m{place}"
        fields.append(
            (own, kind) if name in required else (own, _any_of(iter((kind, msgspec.UnsetType))), msgspec.UNSET)
        )
        names[own] = name
        depths.append(depth)
    struct = msgspec.defstruct(
        "Value", fields, rename=names, forbid_unknown_fields=True, kw_only=True, gc=False, frozen=True
    )
    return struct, None if None in depths else 1 + max((one or 0 for one in depths), default=0)


_KINDS: Mapping[str, Callable[[Mapping[str, Any]], _Typed]] = {
    "string": _string,
    "integer": _integer,
    "number": _number,
    "boolean": lambda _: (bool, 0),
    "null": lambda _: (None, 0),
    "array": _array,
    "object": _object,
}
_WORDS = frozenset(
    {
        "type", "minLength", "maxLength", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
        "items", "minItems", "maxItems", "properties", "required", "additionalProperties",
    }
)  # fmt: skip
"""The keywords that types check; each one counts for its kind of value alone, so that it may stand beside any type."""
