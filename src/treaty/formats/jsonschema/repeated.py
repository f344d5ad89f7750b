"""References to a URI or an anchor that several schemas of one text have."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence

from treaty.core.finding import Diagnostic
from treaty.formats.budget import spend
from treaty.formats.jsonschema.canonical import print_value
from treaty.formats.jsonschema.model import Json, JsonSchema, SchemaNode
from treaty.formats.jsonschema.references import REFERRING, find_resource, get_reference, locate_schema
from treaty.formats.jsonschema.uri import parse_pointer, split_uri

AMBIGUOUS = "a URI or an anchor that only one schema of a text has; exact copies are allowed"

SharedUris = Mapping[tuple[int, str], Sequence[SchemaNode]]
"""Schemas that have the same URI or anchor, by their text and that URI."""


def find_ambiguous(document: JsonSchema, own: Sequence[SchemaNode], shared: SharedUris) -> Iterator[Diagnostic]:
    """A fault for every reference of the own text that may mean two schemas: the order of keys would say which.

    Such a reference leads to a resource or an anchor whose URI two schemas have, or is written inside one. Copies mean the same.
    """
    if not shared:
        return
    digests: dict[int, str] = {}
    pairs = {named: _find_pair(schemas, digests) for named, schemas in shared.items()}
    inner = frozenset(one.key for schemas in shared.values() for one in schemas if one.place)
    for node in own:
        for word in REFERRING:
            to = get_reference(node, word)
            if to is None:
                continue
            outside = to[:1] == "#" and _is_outside(node, inner)
            for named in _list_names(document, node, to):
                pair = pairs.get(named)
                if pair is not None and (pair[0].place or not outside):
                    yield _fault(f"{node.place}/{word}", named, pair)
                    break


def _is_outside(node: SchemaNode, inner: frozenset[tuple[int, str]]) -> bool:
    """Whether no schema that repeats a URI is around this one: its fragments surely stay in the text."""
    place = node.place
    while place:
        if (node.text_number, place) in inner:
            return False
        place = place.rpartition("/")[0]
    return True


def _list_names(document: JsonSchema, node: SchemaNode, to: str) -> Iterator[tuple[int, str]]:
    """The names of all that a reference leads to: a resource, an anchor in it, and the resource of a pointer's target."""
    resource = find_resource(document, node, to)
    if resource is None:
        return
    yield resource.text_number, resource.base
    fragment = split_uri(to)[1]
    if parse_pointer(fragment) is None:
        yield resource.text_number, f"{resource.base}#{fragment}"
    target = locate_schema(document, node, to)
    if target is not None:
        yield target.text_number, target.base


def _find_pair(schemas: Sequence[SchemaNode], digests: dict[int, str]) -> tuple[SchemaNode, SchemaNode] | None:
    """Two schemas that are not copies of each other; None if all are."""
    first = schemas[0]
    digest = _digest(first.value, digests)
    for other in schemas[1:]:
        if other.draft != first.draft or _digest(other.value, digests) != digest:
            return first, other
    return None


def _digest(value: Json, digests: dict[int, str]) -> str:
    """SHA-256 of a value, whatever the order of its keys; `digests` keeps those of objects and lists by identity."""
    digest = digests.get(id(value))
    if digest is not None:
        return digest
    spend(4)
    shallow: Json = value
    if isinstance(value, dict):
        shallow = {name: _digest(held, digests) for name, held in value.items()}
    elif isinstance(value, list):
        shallow = [_digest(held, digests) for held in value]
    computed = hashlib.sha256(print_value(shallow, ordered=True).encode()).hexdigest()
    if isinstance(value, dict | list):
        digests[id(value)] = computed
    return computed


def _fault(path: str, named: tuple[int, str], pair: tuple[SchemaNode, SchemaNode]) -> Diagnostic:
    first, second = (one.place or "the root" for one in pair)
    where = "" if named[0] == 0 else " of a referenced text"
    message = f"two different schemas{where} have the URI {named[1]:.100}: {first:.100} and {second:.100}"
    return Diagnostic("REF_AMBIGUOUS", path, message, AMBIGUOUS)
