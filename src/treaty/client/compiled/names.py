"""Says the names of types in schemas parsed by fastavro, and of union branches."""

from collections.abc import Mapping
from typing import Any

NAMED = frozenset({"record", "error", "enum", "fixed"})


def kind_of(schema: Any) -> str:
    """Return the type, or the full name of a type given by name."""
    if isinstance(schema, list):
        return "union"
    if isinstance(schema, str):
        return schema
    return str(schema["type"])


def logical_of(schema: Any) -> str:
    """Return fastavro's key of a logical type (``long-timestamp-micros``), or ""."""
    if isinstance(schema, dict) and isinstance(schema.get("logicalType"), str):
        return f"{kind_of(schema)}-{schema['logicalType']}"
    return ""


def branch_of(schema: Any) -> str:
    """Return the name of a union branch: a full name, a primitive type, or the key of a logical type."""
    kind = kind_of(schema)
    if isinstance(schema, dict) and kind in NAMED:
        return str(schema["name"])
    return logical_of(schema) or kind


def find_definition(schema: Any, named: Mapping[str, Any]) -> Any:
    """Return the definition of a type given by name."""
    return named.get(schema, schema) if isinstance(schema, str) else schema
