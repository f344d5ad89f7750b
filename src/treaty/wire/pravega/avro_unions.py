"""Avro unions as Pravega's clients send them: the branch of one type as a schema of its own.

A branch may use named types that other branches define. They are defined inside it where it first uses them, so that it
stands alone; the other branches are left out.
"""

import json
from collections.abc import Iterator
from typing import Any

from treaty.core.limits import SCHEMA_DEPTH

NAMED = frozenset({"record", "error", "enum", "fixed"})
PRIMITIVES = frozenset({"null", "boolean", "int", "long", "float", "double", "bytes", "string"})


def narrow_union(text: str, type_name: str) -> str:
    """Return the text of a union's branch that is called `type_name`; the text itself where it is no union with one.

    Whether the text is a schema at all is the registry's question: what can't be read here is returned as it is.
    """
    if not type_name or not text.lstrip(" \t\r\n").startswith("["):
        return text
    try:
        union = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if not isinstance(union, list):
        return text
    branch = next(
        (member for member in union if isinstance(member, dict) and _full_name(member, "") == type_name), None
    )
    if branch is None:
        return text
    defined: dict[str, dict[str, Any]] = {}
    try:
        for member in union:
            for full, node in _definitions(member, "", 0):
                defined.setdefault(full, node)
        narrowed = _expand(branch, "", defined, set(), 0)
    except RecursionError:
        return text
    return json.dumps(narrowed, ensure_ascii=False, separators=(",", ":"))


def _full_name(node: dict[str, Any], namespace: str) -> str:
    """Return the full name of a named type, or an empty string."""
    name = node.get("name")
    if node.get("type") not in NAMED or not isinstance(name, str):
        return ""
    if "." in name:
        return name
    own = node.get("namespace", namespace)
    return f"{own}.{name}" if isinstance(own, str) and own else name


def _definitions(node: Any, namespace: str, depth: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Find the named types inside a schema, in the order of the text."""
    _refuse_deep(depth)
    if isinstance(node, list):
        for inner_node in node:
            yield from _definitions(inner_node, namespace, depth + 1)
        return
    if not isinstance(node, dict):
        return
    full = _full_name(node, namespace)
    if full:
        yield full, node
        namespace = full.rpartition(".")[0]
    for inner_node in _list_inner(node):
        yield from _definitions(inner_node, namespace, depth + 1)


def _list_inner(node: dict[str, Any]) -> Iterator[Any]:
    """Return the schemas directly inside a schema."""
    fields = node.get("fields")
    for field in fields if isinstance(fields, list) else ():
        if isinstance(field, dict):
            yield field.get("type")
    yield from (node[member] for member in ("items", "values") if member in node)
    if isinstance(node.get("type"), dict | list):
        yield node["type"]


def _expand(node: Any, namespace: str, defined: dict[str, dict[str, Any]], expanded_names: set[str], depth: int) -> Any:
    """Return a schema in which every named type is defined at its first use."""
    _refuse_deep(depth)
    if isinstance(node, str):
        return _expand_name(node, namespace, defined, expanded_names, depth)
    if isinstance(node, list):
        return [_expand(one, namespace, defined, expanded_names, depth + 1) for one in node]
    if not isinstance(node, dict):
        return node
    full = _full_name(node, namespace)
    if full:
        if full in expanded_names:
            return full
        expanded_names.add(full)
        namespace = full.rpartition(".")[0]
    expanded = dict(node)
    if isinstance(node.get("fields"), list):
        expanded["fields"] = [
            {**field, "type": _expand(field["type"], namespace, defined, expanded_names, depth + 1)}
            if isinstance(field, dict) and "type" in field
            else field
            for field in node["fields"]
        ]
    for member in ("items", "values"):
        if member in node:
            expanded[member] = _expand(node[member], namespace, defined, expanded_names, depth + 1)
    if not full and isinstance(node.get("type"), dict | list):
        expanded["type"] = _expand(node["type"], namespace, defined, expanded_names, depth + 1)
    return expanded


def _expand_name(
    name: str, namespace: str, defined: dict[str, dict[str, Any]], expanded_names: set[str], depth: int
) -> Any:
    """Return a name, or the definition of its type where that is not there yet."""
    if name in PRIMITIVES:
        return name
    full = name if "." in name or not namespace else f"{namespace}.{name}"
    if full not in defined and name in defined:
        full = name  # readers of Avro look for a bare name without a namespace too
    if full in expanded_names or full not in defined:
        return name
    home, _, bare = full.rpartition(".")
    placed = {**defined[full], "name": bare, "namespace": home}
    return _expand(placed, home, defined, expanded_names, depth + 1)


def _refuse_deep(depth: int) -> None:
    if depth > SCHEMA_DEPTH:
        raise RecursionError
