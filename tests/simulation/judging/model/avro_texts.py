"""What an Avro schema is to Java's library and Confluent's registry: its JSON, with what has no order there in one order.

This is the model's own reading of a text; the nodes sort a parsed schema and print it again.
"""

import json
from functools import lru_cache
from typing import Any

from tests.simulation.texts import resolved_text
from treaty.core.schema_engine import ResolvedSchema

_TYPES = ("items", "values")
"""Members of a type that are types."""


@lru_cache(10_000)
def equal_form(meaning: ResolvedSchema) -> str:
    """A text that two schemas have in common exactly if they are equal."""
    return repr(_type(json.loads(resolved_text(meaning), parse_float=_Double)))


class _Double(str):
    """A number with a point, as it is written: 1.0 is another default than 1."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"double({self!s})"


def _type(node: Any) -> Any:
    if isinstance(node, list):
        return [_type(branch) for branch in node]
    if not isinstance(node, dict):
        return node
    return _members(node, lambda name, said: _type_member(name, said, node["type"]))


def _type_member(name: str, said: Any, kind: str) -> Any:
    if name == "type":
        return "record" if said == "error" else said
    if name == "fields" and kind in {"record", "error"}:
        return [_members(field, _field_member) for field in said]
    if name in _TYPES:
        return _type(said)
    return sorted(said) if name == "aliases" else _free(said)


def _field_member(name: str, said: Any) -> Any:
    if name == "type":
        return _type(said)
    return sorted(said) if name == "aliases" else _free(said)


def _free(said: Any) -> Any:
    """A default or a property: the order of a list counts, that of members does not."""
    if isinstance(said, list):
        return [_free(one) for one in said]
    return _members(said, lambda _, inner: _free(inner)) if isinstance(said, dict) else said


def _members(node: dict[str, Any], read: Any) -> list[tuple[str, Any]]:
    return sorted(((name, read(name, said)) for name, said in node.items()), key=lambda pair: pair[0])
