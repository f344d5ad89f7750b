"""A schema and the texts that it refers to as one text, which means the same and needs no other."""

from typing import Any

from treaty.formats.json_pointer import split_pointer
from treaty.formats.jsonschema.drafts import KEYWORDS, meta_schema
from treaty.formats.jsonschema.model import Json, JsonSchema, SchemaNode
from treaty.formats.jsonschema.references import find_resource, get_reference, list_subschemas, locate_schema
from treaty.formats.jsonschema.uri import NOWHERE, join_uri, split_uri


def build_bundle(document: JsonSchema) -> Json:
    """The own text with every other text that its references lead to as a definition of its own URI.

    References keep their words where these still lead to the same place. Meta-schemas stay outside: everybody has
    them. The own value itself if there is nothing to put in.
    """
    root = document.root
    if len(document.roots) == 1:
        return root.value
    nodes = list_nodes(document)
    texts = {node.text for node in nodes if node.text and not meta_schema(document.roots[node.text].base)}
    if not texts or not isinstance(root.value, dict):
        return root.value
    whole = _rewrite_references(document, root, nodes)
    if root.draft.number < 2019 and isinstance(whole.get("$ref"), str):
        whole = _wrap_reference(whole, root)
    keyword = root.draft.definitions
    held = whole.get(keyword)
    definitions: dict[str, Json] = dict(held) if isinstance(held, dict) else {}
    whole[keyword] = definitions
    for text in sorted(texts):
        other = document.roots[text]
        name = _name(document, other)
        while name in definitions:
            name += "_"
        definitions[name] = _identify_text(document, other, nodes)
    return whole


def split_texts(document: JsonSchema) -> tuple[Json, dict[str, Json]]:
    """The own text, and by their URIs all others that it leads to, with references that need no names."""
    nodes = list_nodes(document)
    texts = {node.text for node in nodes}
    own = _with_draft(document, document.root, nodes) if isinstance(document.root.value, dict) else document.root.value
    roots = [document.roots[text] for text in sorted(texts) if text]
    others = {root.base: _with_draft(document, root, nodes) for root in roots}
    if others and document.root.base != NOWHERE:
        others[document.root.base] = own
    return own, others


def _with_draft(document: JsonSchema, root: SchemaNode, nodes: list[SchemaNode]) -> Json:
    return _rewrite_references(document, root, nodes) | {"$schema": root.draft.uri}


def list_nodes(document: JsonSchema) -> list[SchemaNode]:
    """Every schema of the own text, of the texts that it leads to, and of those that these lead to."""
    found: dict[tuple[int, str], SchemaNode] = {}
    waiting = [document.root]
    while waiting:
        node = waiting.pop()
        if node.key in found:
            continue
        found[node.key] = node
        waiting += list_subschemas(node)
        to = get_reference(node)
        target = locate_schema(document, node, to) if to is not None else None
        if target is not None:
            waiting += (target, document.roots[target.text])
    return list(found.values())


def _name(document: JsonSchema, root: SchemaNode) -> str:
    """The URI of a text; relative where no text has an absolute one."""
    return root.base.removeprefix(NOWHERE) if document.root.base == NOWHERE else root.base


def _identify_text(document: JsonSchema, root: SchemaNode, nodes: list[SchemaNode]) -> Json:
    """A text as it can stand inside another one: with its URI, and with its draft where that can be said."""
    value = _rewrite_references(document, root, nodes)
    draft = root.draft
    if draft.number < 2019 and isinstance(value.get("$ref"), str):
        value = _wrap_reference(value, root)
    # Whether the outer or the inner draft says where the URI stands, readers do not agree.
    head: dict[str, Json] = dict.fromkeys((document.root.draft.identifier, draft.identifier), _name(document, root))
    if draft != document.root.draft:
        head["$schema"] = draft.uri
    return head | {word: held for word, held in value.items() if word not in ("$schema", *head)}


def _wrap_reference(value: dict[str, Json], root: SchemaNode) -> dict[str, Json]:
    """The same schema with its ``$ref`` inside a branch, because an older draft ignores what stands beside it.

    What was ignored is left out, or it would count now.
    """
    known = KEYWORDS[root.draft.number]
    keep = ("definitions", "$schema", "title", "description")
    kept = {word: held for word, held in value.items() if word in keep or word not in known}
    return kept | {"allOf": [{"$ref": value["$ref"]}]}


def _rewrite_references(document: JsonSchema, root: SchemaNode, nodes: list[SchemaNode]) -> dict[str, Json]:
    """A copy of a text in which every reference leads to the same place when all texts are one.

    References that lead nowhere and have no meaning, because they stand beside another one, are left out: validators
    look for their targets nevertheless.
    """
    value = _copy(root.value)
    if not isinstance(value, dict):
        return {} if value else {"not": {}}
    for node in nodes:
        to = get_reference(node) if node.text == root.text else None
        if to is None:
            continue
        if locate_schema(document, node, to) is None and to not in document.blocked:
            del _holder(value, node)["$ref"]
            continue
        found = find_resource(document, node, to)
        before, fragment = split_uri(to)
        if found is not None and not meta_schema(found.base) and join_uri(node.base, before) != found.base:
            _holder(value, node)["$ref"] = _name(document, found) + (f"#{fragment}" if fragment else "")
    return value


def _holder(value: Json, node: SchemaNode) -> dict[str, Json]:
    holder: Any = value
    for step in split_pointer(node.place):
        holder = holder[step if isinstance(holder, dict) else int(step)]
    assert isinstance(holder, dict)
    return holder


def _copy(value: Json) -> Json:
    if isinstance(value, dict):
        return {name: _copy(held) for name, held in value.items()}
    return [_copy(item) for item in value] if isinstance(value, list) else value
