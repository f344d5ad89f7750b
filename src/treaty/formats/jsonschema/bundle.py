"""A schema and the texts that it refers to as one text, which means the same and needs no other."""

from collections.abc import Mapping
from typing import Any

from treaty.formats.json_pointer import split_pointer
from treaty.formats.jsonschema.drafts import KEYWORDS, meta_schema
from treaty.formats.jsonschema.model import Json, JsonSchema, SchemaNode
from treaty.formats.jsonschema.references import (
    REFERRING,
    find_resource,
    get_reference,
    list_subschemas,
    locate_schema,
    own_uri,
)
from treaty.formats.jsonschema.uri import NOWHERE, join_uri, number_uri, split_uri

ResourceUris = Mapping[int, Mapping[str, str]]
"""By text and URI of a resource, the URI that no resource of another text has."""


def build_bundle(document: JsonSchema) -> Json:
    """The own text with every other text that its references lead to as a definition of its own URI.

    References keep their words where these still lead to the same place. Meta-schemas stay outside: everybody has
    them. The own value itself if there is nothing to put in.
    """
    root = document.root
    if len(document.roots) == 1:
        return root.value
    nodes = list_nodes(document)
    text_numbers = {node.text_number for node in nodes} - {0}
    other_texts = [number for number in sorted(text_numbers) if not meta_schema(document.roots[number].base)]
    if not other_texts or not isinstance(root.value, dict):
        return root.value
    uris = _name_resources(document, nodes)
    bundle = _rewrite_references(document, root, nodes, uris)
    if root.draft.number < 2019 and isinstance(bundle.get("$ref"), str):
        bundle = _wrap_reference(bundle, root)
    keyword = root.draft.definitions
    held = bundle.get(keyword)
    definitions: dict[str, Json] = dict(held) if isinstance(held, dict) else {}
    bundle[keyword] = definitions
    for number in other_texts:
        other = document.roots[number]
        name = _shorten(document, uris[number][other.base])
        while name in definitions:
            name += "_"
        definitions[name] = _identify_text(document, other, nodes, uris)
    return bundle


def split_texts(document: JsonSchema) -> tuple[Json, dict[str, Json]]:
    """The own text, and by their URIs all others that it leads to, with references that need no names."""
    nodes = list_nodes(document)
    uris = _name_resources(document, nodes)
    texts = {node.text_number for node in nodes}
    own = (
        _complete(document, document.root, nodes, uris)
        if isinstance(document.root.value, dict)
        else document.root.value
    )
    roots = [document.roots[text] for text in sorted(texts) if text]
    by_uri = {uris[root.text_number][root.base]: _complete(document, root, nodes, uris) for root in roots}
    if by_uri:
        by_uri[document.root.base] = own
    return own, by_uri


def _complete(document: JsonSchema, root: SchemaNode, nodes: list[SchemaNode], uris: ResourceUris) -> Json:
    """A text that says its draft, and its URI where that was changed."""
    head: dict[str, Json] = {"$schema": root.draft.uri}
    uri = uris[root.text_number][root.base]
    if uri != root.base:
        fragment = split_uri(own_uri(root.value, root.draft))[1]
        head[root.draft.identifier] = uri + (f"#{fragment}" if fragment else "")
    return _rewrite_references(document, root, nodes, uris) | head


def list_nodes(document: JsonSchema) -> list[SchemaNode]:
    """Every schema of the own text, of the texts that it leads to, and of those that these lead to."""
    by_key: dict[tuple[int, str], SchemaNode] = {}
    waiting = [document.root]
    while waiting:
        node = waiting.pop()
        if node.key in by_key:
            continue
        by_key[node.key] = node
        waiting += list_subschemas(node)
        for word in REFERRING:
            to = get_reference(node, word)
            if to is None:
                continue
            resource, target = find_resource(document, node, to), locate_schema(document, node, to)
            if resource is not None and target is not None:
                waiting += (target, resource, document.roots[target.text_number])
    return list(by_key.values())


def _name_resources(document: JsonSchema, nodes: list[SchemaNode]) -> ResourceUris:
    """The URIs of all texts and of the resources inside them. Of those that have the same one, the first keeps it."""
    uris: dict[int, dict[str, str]] = {root.text_number: {} for root in document.roots}
    uses: dict[str, int] = {}
    for node in (*document.roots, *sorted(nodes, key=lambda node: node.text_number)):
        if node.base in uris[node.text_number]:
            continue
        uri = node.base
        while uri in uses:
            uses[node.base] += 1
            uri = number_uri(node.base, uses[node.base])
        uses[uri] = 0
        uris[node.text_number][node.base] = uri
    return uris


def _shorten(document: JsonSchema, uri: str, base: str = NOWHERE) -> str:
    """A URI as it is written where `base` holds; relative where the own text has no absolute one, if that is possible."""
    if document.root.base == NOWHERE and uri.startswith(NOWHERE):
        way = uri.removeprefix(NOWHERE)
        short = "../" * base.removeprefix(NOWHERE).count("/") + way
        if way and join_uri(base, short) == uri:
            return short
    return uri


def _identify_text(document: JsonSchema, root: SchemaNode, nodes: list[SchemaNode], uris: ResourceUris) -> Json:
    """A text as it can stand inside another one: with its URI, and with its draft where that can be said."""
    value = _rewrite_references(document, root, nodes, uris)
    draft = root.draft
    if draft.number < 2019 and isinstance(value.get("$ref"), str):
        value = _wrap_reference(value, root)
    # Whether the outer or the inner draft says where the URI stands, readers do not agree.
    uri = _shorten(document, uris[root.text_number][root.base])
    head: dict[str, Json] = dict.fromkeys((document.root.draft.identifier, draft.identifier), uri)
    if draft != document.root.draft:
        head["$schema"] = draft.uri
    return head | {word: held for word, held in value.items() if word not in ("$schema", *head)}


def _wrap_reference(value: dict[str, Json], root: SchemaNode) -> dict[str, Json]:
    """The same schema with its ``$ref`` inside a branch, because an older draft ignores what stands beside it.

    What was ignored is left out, or it would count now.
    """
    keywords = KEYWORDS[root.draft.number]
    keep = ("definitions", "$schema", "title", "description")
    members = {word: held for word, held in value.items() if word in keep or word not in keywords}
    return members | {"allOf": [{"$ref": value["$ref"]}]}


def _rewrite_references(
    document: JsonSchema, root: SchemaNode, nodes: list[SchemaNode], uris: ResourceUris
) -> dict[str, Json]:
    """A copy of a text in which every reference leads to the same place when all texts are one.

    References that lead nowhere and have no meaning, because they stand beside another one, are left out: validators
    look for their targets nevertheless.
    """
    value = _copy(root.value)
    if not isinstance(value, dict):
        return {} if value else {"not": {}}
    own = {node.place: node for node in nodes if node.text_number == root.text_number}
    if any(uri != base for base, uri in uris[root.text_number].items()):
        _rewrite_identifiers(document, value, own, uris[root.text_number])
    for node in own.values():
        for word in REFERRING:
            to = get_reference(node, word)
            if to is None:
                continue
            if locate_schema(document, node, to) is None and to not in document.blocked:
                del _holder(value, node)[word]
                continue
            resource = find_resource(document, node, to)
            if resource is None or meta_schema(resource.base):
                continue
            before, fragment = split_uri(to)
            base, uri = uris[root.text_number][node.base], uris[resource.text_number].get(resource.base, resource.base)
            if join_uri(base, before) != uri:
                _holder(value, node)[word] = _shorten(document, uri, base) + (f"#{fragment}" if fragment else "")
    return value


def _rewrite_identifiers(
    document: JsonSchema, value: dict[str, Json], own: Mapping[str, SchemaNode], uris: Mapping[str, str]
) -> None:
    """Give the resources inside a copy of a text the URIs that no resource of another text has."""
    for node in own.values():
        place = node.place.rpartition("/")[0]
        while place not in own:
            place = place.rpartition("/")[0]
        outer = own[place]
        stated_uri = own_uri(node.value, outer.draft)
        if node.place and stated_uri:
            fragment = split_uri(stated_uri)[1]
            uri = _shorten(document, uris[node.base], uris[outer.base])
            _holder(value, node)[outer.draft.identifier] = uri + (f"#{fragment}" if fragment else "")


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
