"""What is said about one place by a schema, its references and all of its ``allOf`` together; choices are kept apart."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from treaty.core.limits import SUBSCHEMAS
from treaty.formats.jsonschema.model import Json, JsonSchema, SchemaNode
from treaty.formats.jsonschema.references import REFERRING, follow_reference, get_child, ignores_siblings

KINDS = ("null", "boolean", "integer", "number", "string", "array", "object")
_SPEAK = {"object": ("properties", "additionalProperties", "patternProperties"), "array": ("items", "prefixItems")}
_HOLDING = frozenset({"unevaluatedProperties"}.union(*_SPEAK.values()))


def kind_of(value: Json) -> str:
    """The type of a value; a whole number is an integer."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case str():
            return "string"
        case list():
            return "array"
        case dict():
            return "object"
        case int():
            return "integer"
    return "integer" if value == value.to_integral_value() else "number"


@dataclass(slots=True)
class MergedConstraints:
    """`kinds` are the types that may stand here, None where nothing says; `values` those that an enumeration allows."""

    nodes: list[SchemaNode] = field(default_factory=list)
    kinds: frozenset[str] | None = None
    values: list[Json] | None = None
    properties: dict[str, list[SchemaNode]] = field(default_factory=dict)
    patterns: list[SchemaNode] = field(default_factory=list)
    rest: list[SchemaNode] = field(default_factory=list)
    items: list[SchemaNode] = field(default_factory=list)
    tuples: list[SchemaNode] = field(default_factory=list)
    required: set[str] = field(default_factory=set)
    choices: list[list[SchemaNode]] = field(default_factory=list)
    closed: bool = False
    never: bool = False
    doc: str = ""
    format: str = ""
    steps: int = 0

    @property
    def assumed(self) -> str:
        """The type that the keywords speak about where nothing names one, or ""."""
        words = {word for node in self.nodes if isinstance(node.value, dict) for word in node.value}
        named = [kind for kind, speaking in _SPEAK.items() if words.intersection(speaking)]
        return named[0] if len(named) == 1 and self.kinds is None else ""

    @property
    def silent(self) -> bool:
        """Whether it says nothing that a column's type could come from."""
        statements = self.properties or self.items or self.tuples or self.choices or self.rest or self.patterns
        return self.kinds is None and self.values is None and not statements and not self.never

    @property
    def key(self) -> tuple[tuple[int, str], ...]:
        """What distinguishes this place from others when it comes back inside itself: the schemas that hold its members."""
        return tuple(
            sorted({node.key for node in self.nodes if isinstance(node.value, dict) and _HOLDING & node.value.keys()})
        )

    def get_all(self, word: str) -> list[Json]:
        """What stands under a keyword, in all schemas that have it."""
        return [node.value[word] for node in self.nodes if isinstance(node.value, dict) and word in node.value]


def merge_constraints(
    document: JsonSchema, start: Iterable[SchemaNode], max_schemas: int = SUBSCHEMAS
) -> MergedConstraints:
    """All that is said about a place, in the order of the text, by `max_schemas` schemas; `steps` is how many were looked at."""
    merged = MergedConstraints()
    waiting = list(start)[::-1]
    visited: set[tuple[int, str]] = set()
    while waiting and len(visited) < max_schemas:
        node = waiting.pop()
        if node.key in visited:
            continue
        visited.add(node.key)
        if not isinstance(node.value, dict):
            merged.never = merged.never or node.value is False
            continue
        inner: list[SchemaNode] = []
        for word in REFERRING:
            target = follow_reference(document, node, word)
            if target is not None:
                inner.append(target)
        if not ignores_siblings(node):
            _take(merged, node, node.value)
            every = node.value.get("allOf")
            inner += [get_child(node, "allOf", at) for at in range(len(every))] if isinstance(every, list) else []
        elif not merged.doc and isinstance(node.value.get("description"), str):
            merged.doc = str(node.value["description"])
        waiting += reversed(inner)
    merged.steps = len(visited)
    return merged


def _take(merged: MergedConstraints, node: SchemaNode, value: dict[str, Json]) -> None:
    merged.nodes.append(node)
    kind = value.get("type")
    if isinstance(kind, str | list):
        named = frozenset(one for one in ([kind] if isinstance(kind, str) else kind) if isinstance(one, str))
        if "number" in named:
            named |= {"integer"}
        merged.kinds = named if merged.kinds is None else merged.kinds & named
    if isinstance(value.get("enum"), list) or "const" in value:
        listed = [value["const"]] if "const" in value else value["enum"]
        assert isinstance(listed, list)
        merged.values = listed if merged.values is None else merged.values
    for word in ("description", "format"):
        text = value.get(word)
        if isinstance(text, str):
            merged.doc = merged.doc or text if word == "description" else merged.doc
            merged.format = merged.format or text if word == "format" else merged.format
    for word in ("anyOf", "oneOf"):
        branches = value.get(word)
        if isinstance(branches, list) and branches:
            merged.choices.append([get_child(node, word, at) for at in range(len(branches))])
    _members(merged, node, value)
    _items(merged, node, value)


def _members(merged: MergedConstraints, node: SchemaNode, value: dict[str, Json]) -> None:
    for word in ("properties", "patternProperties"):
        held = value.get(word)
        for name in held if isinstance(held, dict) else ():
            inner = get_child(node, word, name)
            if word == "properties":
                merged.properties.setdefault(name, []).append(inner)
            else:
                merged.patterns.append(inner)
    for word in ("additionalProperties", "unevaluatedProperties"):
        if value.get(word) is False:
            merged.closed = True
        elif isinstance(value.get(word), dict):
            merged.rest.append(get_child(node, word))
    names = value.get("required")
    if isinstance(names, list):
        merged.required.update(name for name in names if isinstance(name, str))


def _items(merged: MergedConstraints, node: SchemaNode, value: dict[str, Json]) -> None:
    listed = value.get("prefixItems" if node.draft.number > 2019 else "items")
    if isinstance(listed, list):
        word = "prefixItems" if node.draft.number > 2019 else "items"
        merged.tuples += [get_child(node, word, at) for at in range(len(listed))]
    if isinstance(value.get("items"), dict | bool):
        merged.items.append(get_child(node, "items"))
