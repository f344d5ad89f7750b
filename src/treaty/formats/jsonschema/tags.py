"""Tags of JSON Schemas, the member ``confluent:tags``: which there are, and a schema with others.

The path of a tag follows Confluent: ``object.NAME`` is a property, ``array`` leads to the items, ``allof.0``,
``anyof.0``, ``oneof.0``, ``not`` and ``conditional.if`` (``then``, ``else``) into combinations, and
``object.definitions.NAME`` to a definition. A schema that says several of these is read as an ``allof`` of them,
in the order of `_list_parts`; one with several types as an ``anyof`` of these.
"""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import cast

from treaty.core.limits import ENTITY_PATH
from treaty.formats.format import TaggableEntity
from treaty.formats.json_pointer import ValuePath
from treaty.formats.jsonschema.canonical import print_value
from treaty.formats.jsonschema.model import Json, JsonSchema

MEMBER = "confluent:tags"
"""The member that holds the tags, a list of names."""
MALFORMED = f"its member {MEMBER} is no list of names"
BOOLEAN = "it is written as true or false, which has no room for tags"

_OBJECT = frozenset(
    {"properties", "required", "additionalProperties", "minProperties", "maxProperties", "dependencies",
     "patternProperties", "propertyNames", "dependentRequired", "dependentSchemas", "unevaluatedProperties"}
)  # fmt: skip
"""Keywords that only say something of objects: a schema with one of them and without a type is read as an object."""
_ARRAY = frozenset({"items", "additionalItems", "minItems", "maxItems", "uniqueItems", "contains", "prefixItems"})
_COMBINED = ("allOf", "anyOf", "oneOf")
_KEPT = ("definitions", "$defs")


@dataclass(frozen=True, slots=True)
class _TagPath:
    """The way to a schema: as the path says it, as some clients count, and in the text."""

    path: str
    also: str
    steps: ValuePath

    def extend(self, word: str, *, also: str | None = None, steps: tuple[str | int, ...] = ()) -> "_TagPath":
        """One word further on the path, and these steps further in the text."""
        steps_to_schema = self.steps
        for step in steps:
            steps_to_schema = (steps_to_schema, step)
        other = word if also is None else also
        return _TagPath(_join_path(self.path, word), _join_path(self.also, other), steps_to_schema)


def _join_path(path: str, word: str) -> str:
    return f"{path}.{word}" if path else word


def list_entities(document: JsonSchema) -> Iterator[TaggableEntity]:
    """Objects and properties of the own text, each before what is inside it."""
    alone = document.root.draft.number < 2019  # there a reference silences all that stands beside it
    waiting: list[tuple[Json, _TagPath]] = [(document.root.value, _TagPath("", "", None))]
    while waiting:
        value, way = waiting.pop()
        if len(way.path) > ENTITY_PATH or not isinstance(value, dict):
            continue
        if alone and isinstance(value.get("$ref"), str):
            continue
        spoken = _list_parts(value)
        inside: list[tuple[Json, _TagPath]] = []
        for index, word in enumerate(spoken):
            part_way = way if len(spoken) == 1 else way.extend(f"allof.{index}")
            yield from _list_part_entities(value, word, part_way, inside)
        waiting += reversed(inside)


def _list_parts(value: dict[str, Json]) -> list[str]:
    """What a schema says, as words: enumerations, combinations, negation, constants, conditions, and what it is."""
    statements = [word for word in ("enum", *_COMBINED, "not", "const", "if") if word in value]
    kinds = value.get("type")
    if isinstance(kinds, str):
        return [*statements, kinds]
    if isinstance(kinds, list):
        named = [kind for kind in kinds if isinstance(kind, str)]
        return [*statements, named[0] if len(named) == 1 else "types"]
    words = value.keys()
    sniffed = "object" if words & _OBJECT else "array" if words & _ARRAY else ""
    if not sniffed and not statements and words & set(_KEPT):
        sniffed = "object"  # a text that only holds definitions
    return [*statements, sniffed] if sniffed else statements


def _list_part_entities(
    value: dict[str, Json], word: str, way: _TagPath, inside: list[tuple[Json, _TagPath]]
) -> Iterator[TaggableEntity]:
    """The entities of one thing that a schema says; the schemas in it are added to `inside`."""
    if word in _COMBINED:
        branches = value[word]
        plain = 0
        for index, branch in enumerate(branches if isinstance(branches, list) else ()):
            low = word.lower()
            inside.append((branch, way.extend(f"{low}.{index}", also=f"{low}.{index - plain}", steps=(word, index))))
            plain += _is_plain(branch)
    elif word == "not":
        inside.append((value["not"], way.extend("not", steps=("not",))))
    elif word == "if":
        inside += ((value[each], way.extend(f"conditional.{each}", steps=(each,))) for each in _branches(value))
    elif word == "types":
        kinds = value["type"]
        assert isinstance(kinds, list)
        for index, kind in enumerate(kinds):
            if kind in ("object", "array"):
                yield from _list_part_entities(value, str(kind), way.extend(f"anyof.{index}"), inside)
    elif word == "array":
        _items(value, way.extend("array"), inside)
    elif word == "object":
        yield from _object(value, way.extend("object"), inside)


def _branches(value: dict[str, Json]) -> list[str]:
    return [each for each in ("if", "then", "else") if each in value]


def _is_plain(value: Json) -> bool:
    """Whether a schema is one of a plain type, which some clients don't count among those that are combined."""
    return isinstance(value, dict) and value.get("type") in ("string", "number", "integer", "boolean", "null")


def _items(value: dict[str, Json], way: _TagPath, inside: list[tuple[Json, _TagPath]]) -> None:
    """The items of an array: one schema for all, or one for each place (``array.0``)."""
    for word in ("prefixItems", "items"):
        items = value.get(word)
        if isinstance(items, list):
            inside += ((item, way.extend(str(index), steps=(word, index))) for index, item in enumerate(items))
        elif isinstance(items, dict):
            inside.append((items, replace(way, steps=(way.steps, word))))


def _object(value: dict[str, Json], way: _TagPath, inside: list[tuple[Json, _TagPath]]) -> Iterator[TaggableEntity]:
    if len(way.path) <= ENTITY_PATH:
        yield _entity(value, "sr_record", way)
    properties = value.get("properties")
    for name, inner in properties.items() if isinstance(properties, dict) else ():
        member_way = way.extend(name, steps=("properties", name))
        if len(member_way.path) <= ENTITY_PATH:
            yield _entity(inner, "sr_field", member_way)
            inside.append((inner, member_way))
    for word in _KEPT:
        definitions = value.get(word)
        for name, inner in definitions.items() if isinstance(definitions, dict) else ():
            inside.append((inner, way.extend(f"{word}.{name}", steps=(word, name))))


def _entity(value: Json, kind: str, way: _TagPath) -> TaggableEntity:
    also = (way.also,) if way.also != way.path else ()
    if not isinstance(value, dict):
        return TaggableEntity(way.path, kind, (), way.steps, BOOLEAN, also)
    names = parse_names(value.get(MEMBER, []))
    return TaggableEntity(way.path, kind, names or (), way.steps, MALFORMED if names is None else "", also)


def parse_names(value: Json) -> tuple[str, ...] | None:
    """The names in a value, or None for one that is no list of names."""
    if not isinstance(value, list):
        return None
    names = [one for one in value if isinstance(one, str)]
    return tuple(names) if len(names) == len(value) else None


def write_tags(document: JsonSchema, tags: Mapping[Hashable, tuple[str, ...]]) -> str:
    """The canonical text in which these places have these tags: where the member stood, else as the last one."""
    root = _copy_value(document.root.value)
    for place, names in tags.items():
        node = _find_node(root, cast("ValuePath", place))
        if names:
            node[MEMBER] = cast("list[Json]", list(names))
        else:
            node.pop(MEMBER, None)
    return print_value(root)


def _copy_value(value: Json) -> Json:
    if isinstance(value, dict):
        return {name: _copy_value(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_copy_value(inner) for inner in value]
    return value


def _find_node(root: Json, place: ValuePath) -> dict[str, Json]:
    steps: list[str | int] = []
    while place is not None:
        place, step = place
        steps.append(step)
    node = root
    for step in reversed(steps):
        node = node[step]  # type: ignore[index]  # the place was found in this very text
    assert isinstance(node, dict)
    return node
