"""Names of types as fastavro's parsed schemas give them, and of the branches of a union."""

from collections.abc import Mapping
from typing import Any

NAMED = frozenset({"record", "error", "enum", "fixed"})


def kind_of(schema: Any) -> str:
    """The type's word; a full name where the schema only names a type."""
    if isinstance(schema, list):
        return "union"
    if isinstance(schema, str):
        return schema
    return str(schema["type"])


def logical_of(schema: Any) -> str:
    """The key of a logical type as codecs know it (``long-timestamp-micros``), or ""."""
    if isinstance(schema, dict) and isinstance(schema.get("logicalType"), str):
        return f"{kind_of(schema)}-{schema['logicalType']}"
    return ""


def branch_of(schema: Any) -> str:
    """What a branch of a union is called: a full name, a primitive type, or the key of a logical type."""
    kind = kind_of(schema)
    if isinstance(schema, dict) and kind in NAMED:
        return str(schema["name"])
    return logical_of(schema) or kind


def find_definition(schema: Any, named: Mapping[str, Any]) -> Any:
    """The definition where a schema only names a type."""
    return named.get(schema, schema) if isinstance(schema, str) else schema
