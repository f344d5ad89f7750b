"""Where references lead: resources, anchors and JSON pointers of a text and of those that it refers to."""

from collections.abc import Iterator, Mapping
from typing import Protocol

from treaty.formats.budget import spend
from treaty.formats.json_pointer import escape_step
from treaty.formats.jsonschema.drafts import HOLDING, find_draft
from treaty.formats.jsonschema.model import Json, JsonSchema, JsonSchemaDraft, SchemaNode
from treaty.formats.jsonschema.uri import join_uri, parse_pointer, split_uri

REFERRING = ("$ref", "$recursiveRef", "$dynamicRef")
"""The keywords that lead to other schemas."""


_KEPT = ("definitions", "$defs")


class ReferenceScope(Protocol):
    """What a reference is looked up in: a document, or the library that one is built with."""

    @property
    def resources(self) -> Mapping[str, SchemaNode]:
        """Schemas by absolute URI."""

    @property
    def text_resources(self) -> Mapping[tuple[int, str], SchemaNode]:
        """Schemas by their text and their own absolute URI, also with an anchor."""

    @property
    def names(self) -> Mapping[str, int]:
        """Texts by the names of references."""

    @property
    def roots(self) -> "tuple[SchemaNode, ...] | list[SchemaNode]":
        """The roots of the texts."""


def own_uri(value: Json, draft: JsonSchemaDraft) -> str:
    """The URI reference by which a schema names itself as a resource, or ""."""
    if not isinstance(value, dict):
        return ""
    named = value.get(draft.identifier)
    if not isinstance(named, str) or named[:1] == "#" or (draft.number < 2019 and "$ref" in value):
        return ""
    return named


def enter_schema(value: Json, place: str, outer: SchemaNode) -> SchemaNode:
    """The node of a value inside `outer`: base and draft change where it is a resource of its own."""
    draft = outer.draft
    named = own_uri(value, draft)
    if not named:
        return SchemaNode(value, outer.base, place, draft, outer.text_number)
    assert isinstance(value, dict)
    return SchemaNode(
        value, join_uri(outer.base, named), place, find_draft(value.get("$schema")) or draft, outer.text_number
    )


def get_child(node: SchemaNode, *steps: str | int) -> SchemaNode:
    """The node at the end of these keys and indexes; raises `KeyError` or `IndexError` where there is none."""
    for step in steps:
        value = node.value
        if isinstance(value, dict):
            inner = value[str(step)]
        elif isinstance(value, list):
            inner = value[int(step)]
        else:
            raise KeyError(step)
        node = enter_schema(inner, f"{node.place}/{escape_step(str(step))}", node)
    return node


def list_subschemas(node: SchemaNode, *, only_kept: bool = False) -> Iterator[SchemaNode]:
    """The schemas that stand directly inside a schema, in the order of the text.

    With `only_kept` those alone that are kept for references to lead to.
    """
    value = node.value
    if not isinstance(value, dict):
        return
    holding = HOLDING[node.draft.number]
    for word, held in value.items():
        row = holding.get(word)
        if row is None or (only_kept and word not in _KEPT):
            continue
        inside = f"{node.place}/{word}"
        if isinstance(held, list):
            if row.holds in ("schemas", "items"):
                for at, schema in enumerate(held):
                    yield enter_schema(schema, f"{inside}/{at}", node)
        elif row.holds in ("schema", "items"):
            if isinstance(held, dict | bool):
                yield enter_schema(held, inside, node)
        elif row.holds in ("map", "dependencies") and isinstance(held, dict):
            for name, schema in held.items():
                if isinstance(schema, dict | bool):
                    yield enter_schema(schema, f"{inside}/{escape_step(name)}", node)


def get_reference(node: SchemaNode, keyword: str = "$ref") -> str | None:
    """What stands under a referring keyword of a schema, if its draft knows that keyword."""
    if not isinstance(node.value, dict):
        return None
    to = node.value.get(keyword)
    if not isinstance(to, str):
        return None
    needs = {"$recursiveRef": 2019, "$dynamicRef": 2020}.get(keyword, node.draft.number)
    return to if needs == node.draft.number else None


def find_resource(places: ReferenceScope, node: SchemaNode, to: str) -> SchemaNode | None:
    """The resource that a reference written in `node` leads into; None if there is none.

    A fragment alone stays in the text of `node`. A URI is resolved against the base, and means a schema of the same text
    before those of others; a text that is bound under the very words of the reference comes last.
    """
    before = split_uri(to)[0]
    if not before and node.base == places.roots[node.text_number].base:
        return places.roots[node.text_number]
    uri = join_uri(node.base, before)
    root = places.text_resources.get((node.text_number, uri)) or places.resources.get(uri)
    if root is None and before:
        text_number = places.names.get(to, places.names.get(before))
        root = places.roots[text_number] if text_number is not None else None
    return root


def locate_schema(places: ReferenceScope, node: SchemaNode, to: str) -> SchemaNode | None:
    """The schema that a reference written in `node` leads to; None if there is none."""
    root = find_resource(places, node, to)
    if root is None:
        return None
    fragment = split_uri(to)[1]
    steps = parse_pointer(fragment)
    if steps is None:
        return places.text_resources.get((root.text_number, f"{root.base}#{fragment}"))
    return _follow_steps(root, steps)


def _follow_steps(root: SchemaNode, steps: list[str]) -> SchemaNode | None:
    try:
        for step in steps:
            if isinstance(root.value, list) and not (step.isdecimal() and step.isascii() and str(int(step)) == step):
                return None
            root = get_child(root, step)
    except (KeyError, IndexError, ValueError):
        return None
    return root if isinstance(root.value, dict | bool) else None


def follow_reference(document: JsonSchema, node: SchemaNode, keyword: str = "") -> SchemaNode | None:
    """Where the ``$ref`` of a schema leads, or with no such keyword its ``$recursiveRef`` or ``$dynamicRef``.

    One step only. None if the schema has none of them, or if it leads nowhere. Of dynamic references this is the place
    that they name; `is_ambiguous` says whether an evaluation might end elsewhere.
    """
    for word in (keyword,) if keyword else REFERRING:
        to = get_reference(node, word)
        if to is not None:
            return locate_schema(document, node, to)
    return None


def is_ambiguous(document: JsonSchema, node: SchemaNode) -> bool:
    """Whether the place that a dynamic reference means depends on the way by which an evaluation came to it."""
    return bool(
        (get_reference(node, "$recursiveRef") is not None and _has_several_targets(document, node, "$recursiveRef"))
        or (get_reference(node, "$dynamicRef") is not None and _has_several_targets(document, node, "$dynamicRef"))
    )


def _has_several_targets(document: JsonSchema, node: SchemaNode, keyword: str) -> bool:
    target = follow_reference(document, node, keyword)
    spend(1 + (len(document.dynamic) >> 3))
    if target is None or not isinstance(target.value, dict):
        return False
    if keyword == "$recursiveRef":
        if target.value.get("$recursiveAnchor") is not True:
            return False
        return sum(uri[-1] == "#" for _, uri in document.dynamic) > 1
    name = split_uri(get_reference(node, keyword) or "")[1]
    if not name or target.value.get("$dynamicAnchor") != name:
        return False
    return sum(uri.endswith(f"#{name}") for _, uri in document.dynamic) > 1


def ignores_siblings(node: SchemaNode) -> bool:
    """Whether the schema has a ``$ref`` that disables every other keyword, as it does before 2019-09."""
    return node.draft.number < 2019 and get_reference(node) is not None
