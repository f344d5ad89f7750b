"""What a schema text says to a search: names and types of its fields, tags, and words of its documentation.

Avro and JSON Schema are read as JSON alone; other formats by their own parser, if it lists elements.
"""

from collections.abc import Iterator

from treaty.core.limits import SCHEMA_MEMBERS
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.avro.flat_record import read_flat_record
from treaty.formats.budget import StepBudget, StepsError, use_budget
from treaty.formats.format import InvalidSchemaError
from treaty.formats.plain_json import read_plain
from treaty.formats.registry import find_formats
from treaty.web.index.contents import FIELD_TYPES, PATH_CHARACTERS, Json, SchemaContents, list_type_words

READ_AS_JSON = frozenset({"AVRO", "JSON"})
"""Formats whose texts are read without their references."""
_MORE = ("allOf", "anyOf", "oneOf")
EXTRACTION_STEPS = 200_000
"""Steps, of about a microsecond each, of reading one schema for the index; of a larger one the index has what was read up to there."""
FLAT_CHARACTERS = 50_000
"""Characters of the longest text that is read as a flat record: a shorter one meets no limit of the walk but those of a single field."""


def extract(schema: ResolvedSchema) -> SchemaContents:
    """Return what a text says; nothing of one that can't be read."""
    if schema.format == "AVRO" and (flat := read_flat(schema.text)) is not None:
        return flat
    contents = SchemaContents()
    if schema.format in READ_AS_JSON:
        try:
            value = read_plain(schema.text)
        except (ValueError, RecursionError):
            return contents
        try:
            walk(schema.format, value, contents, StepBudget(EXTRACTION_STEPS, "EXTRACTION_STEPS"))
        except StepsError:
            return contents  # what was found up to there is searched
    else:
        _list_elements(schema, contents)
    return contents


def walk(format_name: str, value: Json, contents: SchemaContents, budget: StepBudget) -> None:
    """Put what a value says into the contents. Raises `StepsError` at the end of the budget; what was put stays."""
    if format_name == "AVRO":
        _walk_avro(value, contents, budget)
    else:
        _JsonWalk(value, contents).run(budget)


# ------------------------------------------------------------------------------------------------------------ Avro


def read_flat(text: str) -> SchemaContents | None:
    """Return what the text of a flat record says, as most are; None of one that is for the walk, which comes to the same."""
    record = read_flat_record(text) if len(text) <= FLAT_CHARACTERS else None
    if record is None:
        return None
    contents = SchemaContents()
    docs, fields = contents.docs, contents.fields
    if isinstance(record.doc, str):
        docs.append(record.doc)
    for field in record.fields:
        name, kind, doc = field.name, field.type, field.doc
        if len(name) > PATH_CHARACTERS:
            return None
        if isinstance(kind, str) and "." not in kind:
            fields.append((name, (kind,)))
        else:
            fields.append((name, tuple(list_type_words(kind))))
        if isinstance(doc, str):
            docs.append(doc)
    return contents


def _walk_avro(root: Json, contents: SchemaContents, budget: StepBudget) -> None:
    """Walk through the text, which is a tree: a name of a type is not followed, so that nothing is walked twice."""
    waiting: list[tuple[Json, str]] = [(root, "")]
    while waiting and len(contents.fields) < SCHEMA_MEMBERS:
        node, path = waiting.pop()
        budget.spend(1)
        if isinstance(node, list):
            waiting += ((part, path) for part in reversed(node))
        elif isinstance(node, dict):
            contents.note(node)
            fields = node.get("fields")
            if isinstance(fields, list):
                waiting += reversed(_put_avro_fields(fields, path, contents, budget))
            else:
                parts = (node.get(step) for step in ("items", "values", "type"))
                waiting += ((part, path) for part in parts if isinstance(part, dict | list))


def _put_avro_fields(
    fields: list[Json], path: str, contents: SchemaContents, budget: StepBudget
) -> list[tuple[Json, str]]:
    """Put the fields of a record; return the types that may have fields of their own, with their paths."""
    budget.spend(len(fields))
    before = f"{path}." if path else ""
    deeper: list[tuple[Json, str]] = []
    for field_ in fields[: SCHEMA_MEMBERS - len(contents.fields)]:
        name = field_.get("name") if isinstance(field_, dict) else None
        if not isinstance(name, str):
            continue
        name, kind = before + name, field_.get("type")
        if isinstance(kind, str) and "." not in kind:  # most are no more than that
            contents.put_field(name, (kind,))
        elif contents.put_field(name, tuple(list_type_words(kind))):
            deeper.append((kind, name))
        if len(field_) == 3 and isinstance(doc := field_.get("doc"), str):  # and most of the rest no more than that
            contents.docs.append(doc)
        elif len(field_) > 2:
            contents.note(field_)
    return deeper


# ----------------------------------------------------------------------------------------------------- JSON Schema


class _JsonWalk:
    """A walk through a JSON Schema and the parts of it that it refers to.

    A part that many others refer to is walked once for each path, and read once for its tags and documentation.
    """

    def __init__(self, root: Json, contents: SchemaContents) -> None:
        """Begin at the root of the text."""
        self._root = root
        self._contents = contents
        self._waiting: list[tuple[Json, str, frozenset[int]]] = [(root, "", frozenset())]
        """Parts with their paths and the identities of the parts that references on the way led to."""
        self._walked: set[tuple[int, str]] = set()
        self._read: set[int] = set()
        self._targets: dict[str, Json] = {}

    def run(self, budget: StepBudget) -> None:
        """Put what the text says into the contents. Raises `StepsError` at the end of the budget; what was put stays."""
        while self._waiting and len(self._contents.fields) < SCHEMA_MEMBERS:
            node, path, passed = self._waiting.pop()
            budget.spend(1)
            if not isinstance(node, dict) or (id(node), path) in self._walked:
                continue
            self._walked.add((id(node), path))
            if id(node) not in self._read:
                self._read.add(id(node))
                self._contents.note(node)
            target = self._target_of(node)
            if isinstance(target, dict) and id(target) not in passed:
                budget.spend(len(passed))
                self._waiting.append((target, path, passed | {id(target)}))
            self._put_properties(node, path, passed, budget)
            parts = [node[step] for step in ("items", "additionalProperties") if step in node]
            parts += (part for step in _MORE if isinstance(node.get(step), list) for part in node[step])
            budget.spend(len(parts))
            self._waiting += ((part, path, passed) for part in parts)

    def _put_properties(self, node: dict[str, Json], path: str, passed: frozenset[int], budget: StepBudget) -> None:
        properties = node.get("properties")
        for name, part in reversed(properties.items()) if isinstance(properties, dict) else ():
            if len(self._contents.fields) >= SCHEMA_MEMBERS:
                return
            budget.spend(1)
            place = f"{path}.{name}" if path else name
            kind = part.get("type") if isinstance(part, dict) else None
            if isinstance(kind, str) and len(part) == 1:  # most are no more than that
                self._contents.put_field(place, (kind,))
                continue
            types = tuple(self._types(part))
            budget.spend(len(types))
            if self._contents.put_field(place, types):
                self._waiting.append((part, place, passed))

    def _types(self, node: Json) -> Iterator[str]:
        if isinstance(node, dict) and isinstance(node.get("$ref"), str):
            node = self._target_of(node)
        if isinstance(node, dict):
            types = node.get("type")
            kinds = types[:FIELD_TYPES] if isinstance(types, list) else [types]
            yield from (kind for kind in kinds if isinstance(kind, str) and kind != "null")
            if isinstance(node.get("format"), str):
                yield node["format"]

    def _target_of(self, node: dict[str, Json]) -> Json:
        """Return the part that a part refers to; None without a reference."""
        to = node.get("$ref")
        if not isinstance(to, str):
            return None
        if to not in self._targets:
            self._targets[to] = _follow(self._root, to)
        return self._targets[to]


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
            for element in form.elements(model):
                if element.doc:
                    contents.docs.append(element.doc)
                if element.kind == "field" and len(contents.fields) < SCHEMA_MEMBERS:
                    contents.put_field(element.name, ())
            if form.tagging is not None:
                contents.tags.update(tag for entity in form.tagging.entities(model) for tag in entity.tags)
    except (InvalidSchemaError, StepsError):
        return
