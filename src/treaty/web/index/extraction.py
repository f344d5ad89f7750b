"""What a schema text says to a search: names and types of its fields, tags, and words of its documentation.

Avro and JSON Schema are read as JSON alone; other formats by their own parser, if it lists elements.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from treaty.core.limits import SCHEMA_MEMBERS
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.budget import StepBudget, StepsError, use_budget
from treaty.formats.format import InvalidSchemaError
from treaty.formats.registry import find_formats

TAGS = "confluent:tags"
_WORDS = re.compile(r"\w+")
_DOCS = ("doc", "description", "title")
_MORE = ("allOf", "anyOf", "oneOf")
Json = Any


@dataclass(slots=True)
class SchemaContents:
    """Fields as (path, types), tags, and documentation. A path is of names, with a dot between them."""

    fields: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    tags: set[str] = field(default_factory=set)
    docs: list[str] = field(default_factory=list)

    @property
    def words(self) -> str:
        """The words of the documentation."""
        return " ".join(_WORDS.findall(" ".join(self.docs)))

    def note(self, node: dict[str, Json]) -> None:
        """Take tags and documentation of a part."""
        tags = node.get(TAGS)
        if isinstance(tags, list):
            self.tags.update(str(one) for one in tags)
        for name in _DOCS:
            text = node.get(name)
            if isinstance(text, str):
                self.docs.append(text)


def extract(schema: ResolvedSchema) -> SchemaContents:
    """Return what a text says; nothing of one that can't be read."""
    contents = SchemaContents()
    if schema.format in {"AVRO", "JSON"}:
        try:
            value = json.loads(schema.text)
        except (ValueError, RecursionError):
            return contents
        walk = _walk_avro if schema.format == "AVRO" else _walk_json
        walk(value, contents)
    else:
        _list_elements(schema, contents)
    return contents


# ------------------------------------------------------------------------------------------------------------ Avro


def _walk_avro(root: Json, contents: SchemaContents) -> None:
    waiting: list[tuple[Json, str]] = [(root, "")]
    while waiting and len(contents.fields) < SCHEMA_MEMBERS:
        node, path = waiting.pop()
        if isinstance(node, list):
            waiting += ((one, path) for one in reversed(node))
        elif isinstance(node, dict):
            contents.note(node)
            fields = node.get("fields")
            if isinstance(fields, list):
                inside = [one for one in fields if isinstance(one, dict) and isinstance(one.get("name"), str)]
                deeper: list[tuple[Json, str]] = []
                for one in inside:
                    name, kind = f"{path}.{one['name']}" if path else one["name"], one.get("type")
                    if isinstance(kind, str) and "." not in kind:  # most are no more than that
                        contents.fields.append((name, (kind,)))
                    else:
                        contents.fields.append((name, tuple(_avro_types(kind))))
                        deeper.append((kind, name))
                    if len(one) > 2:
                        contents.note(one)
                waiting += reversed(deeper)
            else:
                waiting += (
                    (node[step], path)
                    for step in ("items", "values", "type")
                    if isinstance(node.get(step), dict | list)
                )


def _avro_types(node: Json) -> Iterator[str]:
    """The types that a field may have, without null: kinds, names of types, and logical types."""
    for one in node if isinstance(node, list) else [node]:
        if isinstance(one, str) and one != "null":
            yield one
            if "." in one:
                yield one.rpartition(".")[2]
        elif isinstance(one, dict):
            kind, logical, name = one.get("type"), one.get("logicalType"), one.get("name")
            yield from (word for word in (kind, logical, name) if isinstance(word, str))


# ----------------------------------------------------------------------------------------------------- JSON Schema


def _walk_json(root: Json, contents: SchemaContents) -> None:
    waiting: list[tuple[Json, str, tuple[str, ...]]] = [(root, "", ())]
    while waiting and len(contents.fields) < SCHEMA_MEMBERS:
        node, path, seen = waiting.pop()
        if not isinstance(node, dict):
            continue
        to = node.get("$ref")
        if isinstance(to, str) and to not in seen:
            waiting.append((_follow(root, to), path, (*seen, to)))
        contents.note(node)
        inside = node.get("properties")
        for name, one in reversed(inside.items()) if isinstance(inside, dict) else ():
            place = f"{path}.{name}" if path else name
            kind = one.get("type") if isinstance(one, dict) else None
            if isinstance(kind, str) and len(one) == 1:  # most are no more than that
                contents.fields.append((place, (kind,)))
                continue
            contents.fields.append((place, tuple(_json_types(root, one))))
            waiting.append((one, place, seen))
        waiting += ((node[step], path, seen) for step in ("items", "additionalProperties") if step in node)
        for step in _MORE:
            choices = node.get(step)
            if isinstance(choices, list):
                waiting += ((one, path, seen) for one in choices)


def _json_types(root: Json, node: Json) -> Iterator[str]:
    if isinstance(node, dict) and isinstance(node.get("$ref"), str):
        node = _follow(root, node["$ref"])
    if isinstance(node, dict):
        types = node.get("type")
        yield from (
            one for one in (types if isinstance(types, list) else [types]) if isinstance(one, str) and one != "null"
        )
        if isinstance(node.get("format"), str):
            yield node["format"]


def _follow(root: Json, to: str) -> Json:
    """Return the part of the same text that a reference leads to; None for any other."""
    if not to.startswith("#"):
        return None
    node = root
    for step in to[1:].split("/")[1:]:
        node = node.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(node, dict) else None
    return node


# --------------------------------------------------------------------------------------------------- other formats


def _list_elements(schema: ResolvedSchema, contents: SchemaContents) -> None:
    """Fields of a format that lists its elements, without their types; tags as the format finds them."""
    form = find_formats().find(schema.format)
    if form is None or form.elements is None:
        return
    try:
        with use_budget(StepBudget()):
            model = form.parse(schema, False)
            for one in form.elements(model):
                if one.doc:
                    contents.docs.append(one.doc)
                if one.kind == "field" and len(contents.fields) < SCHEMA_MEMBERS:
                    contents.fields.append((one.name, ()))
            if form.tagging is not None:
                contents.tags.update(tag for entity in form.tagging.entities(model) for tag in entity.tags)
    except (InvalidSchemaError, StepsError):
        return
