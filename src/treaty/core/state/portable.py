"""The published JSON Schemas of row values, made from the classes themselves."""

import types
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, Union, get_args, get_origin, get_type_hints

from treaty.core.state.rows import ROW_FORMAT
from treaty.core.state.state_tables import TABLES

_SCALARS = {str: "string", int: "integer", bool: "boolean", float: "number"}
_PAIRS = tuple[tuple[str, str], ...]


def row_schemas() -> dict[str, Any]:
    """Return a JSON Schema (2020-12) with one definition per state table: its key, and its value.

    Values may have further members, which are kept; members at their default are left out.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Rows of Treaty's state tables",
        "$defs": {
            name: {
                "type": "object",
                "properties": {
                    "key": {
                        "type": "array",
                        "prefixItems": [{"title": part, "type": _SCALARS[kind]} for part, kind in table.parts],
                        "minItems": len(table.parts),
                        "maxItems": len(table.parts),
                    },
                    "value": {"anyOf": [{"type": "null"}, _value(table.value)]},
                },
                "required": ["key", "value"],
            }
            for name, table in sorted(TABLES.items())
        },
    }


def _value(kind: type) -> dict[str, Any]:
    members = _members(kind)
    members["properties"]["v"] = {"title": "row format", "const": ROW_FORMAT}
    return members


def _members(kind: type[Any]) -> dict[str, Any]:
    hints = get_type_hints(kind)
    members = [member for member in fields(kind) if member.name != "extra"]
    return {
        "type": "object",
        "properties": {member.name: _hint(hints[member.name]) for member in members},
        "required": [
            member.name for member in members if member.default is MISSING and member.default_factory is MISSING
        ],
    }


def _hint(hint: Any) -> dict[str, Any]:
    if hint in _SCALARS:
        return {"type": _SCALARS[hint]}
    if hint is bytes:
        return {"type": "string", "contentEncoding": "base64"}
    if hint == _PAIRS:
        return {"type": "object", "additionalProperties": {"type": "string"}}
    if get_origin(hint) in {Union, types.UnionType}:
        return {"anyOf": [_hint(kind) if kind is not type(None) else {"type": "null"} for kind in get_args(hint)]}
    if get_origin(hint) is tuple:
        items = get_args(hint)
        if len(items) == 2 and items[1] is Ellipsis:
            return {"type": "array", "items": _hint(items[0])}
        return {"type": "array", "prefixItems": [_hint(item) for item in items], "maxItems": len(items)}
    assert is_dataclass(hint), hint
    assert isinstance(hint, type)
    return _members(hint)
