"""The named parts of a JSON Schema: the schema itself, its definitions and properties, with their descriptions and places."""

from collections.abc import Iterator
from dataclasses import replace

from treaty.formats.format import SchemaElement
from treaty.formats.json_pointer import find_positions, split_pointer
from treaty.formats.jsonschema.constraints import merge_constraints
from treaty.formats.jsonschema.lint.places import NEAR, list_properties, list_schemas
from treaty.formats.jsonschema.model import Json, JsonSchema

_KEPT = frozenset(("definitions", "$defs"))


def list_elements(document: JsonSchema) -> tuple[SchemaElement, ...]:
    """Types (the schema as a whole, and definitions), then properties."""
    listed = [*_list_types(document), *_list_properties(document)]
    places = find_positions(document.written, {one.path for one in listed})
    placed = ((one, places[one.path]) for one in listed)
    return tuple(replace(one, line=line, column=column) for one, (line, column) in placed)


def _list_types(document: JsonSchema) -> Iterator[SchemaElement]:
    for node in list_schemas(document):
        steps = split_pointer(node.place)
        if not steps:
            title = _text_of(node.value, "title")
            yield SchemaElement("type", "schema", title, "", "", _text_of(node.value, "description"))
        elif len(steps) > 1 and steps[-2] in _KEPT and _depth_of(steps[:-2]) == _depth_of(steps):
            doc = _text_of(node.value, "description")
            yield SchemaElement("type", "definition", steps[-1], node.place, node.place, doc)


def _list_properties(document: JsonSchema) -> Iterator[SchemaElement]:
    """Properties; one that is false says that it must not be there, and needs no description."""
    for name, node in list_properties(document):
        doc = None if node.value is False else merge_constraints(document, [node], NEAR).doc
        depth = _depth_of(split_pointer(node.place))
        yield SchemaElement("field", "property", name, node.place, node.place, doc, depth)


def _depth_of(steps: list[str]) -> int:
    """How many properties a pointer leads through: the word, and a name after it, which may be the same word."""
    depth = at = 0
    while at < len(steps):
        if steps[at] == "properties" and at + 1 < len(steps):
            depth, at = depth + 1, at + 1
        at += 1
    return depth


def _text_of(value: Json, word: str) -> str:
    text = value.get(word) if isinstance(value, dict) else None
    return text if isinstance(text, str) else ""
