"""Random JSON Schema texts that refer to each other and share URIs, and what they mean by the model of references alone."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.oracle.jsonschema_schemas import NUMBERS
from tests.oracle.jsonschema_treaty import model
from treaty.formats.format import InvalidSchemaError
from treaty.formats.jsonschema.drafts import DRAFTS
from treaty.formats.jsonschema.model import JsonSchema, JsonSchemaDraft, SchemaNode
from treaty.formats.jsonschema.references import get_child, get_reference, ignores_siblings, locate_schema
from treaty.formats.seeded_random import SeededRandom

EXAMPLE = "http://example.org/"
URIS = (
    f"{EXAMPLE}b",
    f"{EXAMPLE}dir/",
    f"{EXAMPLE}one",
    f"{EXAMPLE}own",
    "c",
    "dir/c",
    "../c",
    "urn:q:1",
    "http://example.com:80",
)
"""The URIs of schemas inside texts: the same ones in all of them."""
NAMES = ("one", "two", "dir/three")
VALUES = {"integer": 1, "null": None, "string": "s", "boolean": True}
_LONGEST = 40


@dataclass
class Bundle:
    """An own text with three referenced ones, each of which may refer to those before it."""

    own: dict[str, Any]
    references: list[dict[str, Any]]


@dataclass
class _TextMaker:
    """Makes one text: schemas with a type, two properties and definitions, some in an unknown keyword, two levels deep."""

    draw: SeededRandom
    draft: JsonSchemaDraft
    names: tuple[str, ...]
    used: set[str] = field(default_factory=set)

    def schema(self, depth: int) -> dict[str, Any]:
        made: dict[str, Any] = {}
        uri = self.draw.pick(URIS)
        if self.draw.below(2) and uri not in self.used:
            self.used.add(uri)
            made[self.draft.identifier] = uri
        if self.draft.number > 2018 and not self.draw.below(3):
            made["$anchor"] = self.draw.pick("ab")
        made["type"] = ["object", self.draw.pick(list(VALUES))]
        made["properties"] = {name: self._reference() for name in "xy" if self.draw.below(2)}
        if depth:
            made[self.draft.definitions] = {name: self.schema(depth - 1) for name in "mn" if self.draw.below(3)}
            made["other"] = {name: self.schema(0) for name in "mn" if not self.draw.below(3)}
            for held in made["other"].values():
                held.pop(self.draft.identifier, None)  # validators don't find it by its URI
        return made

    def _reference(self) -> dict[str, Any]:
        keyword = self.draft.definitions if self.draw.below(5) else "other"
        pointer = f"#/{keyword}/{self.draw.pick('mn')}"
        match self.draw.below(7):
            case 0:
                return {"$ref": pointer}
            case 1:
                return {"$ref": f"{pointer}/{keyword}/{self.draw.pick('mn')}"}
            case 2 | 3:
                return {"$ref": self.draw.pick(URIS) + self.draw.pick(("", "", "#", pointer, "#a"))}
            case 4 | 5 if self.names:
                return {"$ref": self.draw.pick(self.names) + self.draw.pick(("", "", pointer))}
        return {"type": self.draw.pick(list(VALUES))}


def make_bundle(seed: int) -> Bundle:
    """Four texts, strictly valid where references that lead nowhere or to two schemas could be taken out of them."""
    draw = SeededRandom(seed)
    main = draw.pick(NUMBERS)
    references: list[dict[str, Any]] = []

    def text(name: str, names: tuple[str, ...]) -> dict[str, Any]:
        draft = DRAFTS[main if draw.below(5) else draw.pick(NUMBERS)]
        made = _TextMaker(draw, draft, names).schema(2)
        made.pop(draft.identifier, None)
        head: dict[str, Any] = {"$schema": draft.uri}
        if draw.below(3):
            head[draft.identifier] = EXAMPLE + draw.pick((name, name, name, "one"))
        return mended({**head, **made}, references)

    for at, name in enumerate(NAMES):
        references.append({"name": name, "schema": text(name, NAMES[:at]), "references": references[:at]})
    return Bundle(text("own", NAMES), references)


def mended(text: dict[str, Any], references: list[dict[str, Any]]) -> dict[str, Any]:
    """A text without the references that are refused."""
    for _ in range(12):
        try:
            model(json.dumps(text), references)
        except InvalidSchemaError as wrong:
            for fault in wrong.faults:
                *steps, last = fault.path.split("/")[1:]
                holder: Any = text
                for step in steps:
                    holder = holder[step]
                holder.pop(last, None)
        else:
            break
    return text


def make_values(seed: int) -> Iterator[Any]:
    """Values that the texts may take."""
    draw = SeededRandom(seed)

    def value(depth: int) -> Any:
        if depth and draw.below(5):
            return {name: value(depth - 1) for name in "xy" if draw.below(5) > 1}
        return draw.pick(list(VALUES.values()))

    for _ in range(20):
        yield value(4)


def is_meant(document: JsonSchema, node: SchemaNode, value: Any, depth: int = 0) -> bool:
    """Whether a value is valid by a schema of such a text, where the model says what its references lead to."""
    assert isinstance(node.value, dict)
    to = get_reference(node)
    if to is not None and depth < _LONGEST:
        target = locate_schema(document, node, to)
        assert target is not None
        if not is_meant(document, target, value, depth + 1):
            return False
        if ignores_siblings(node):
            return True
    types = node.value.get("type")
    kind = "object" if isinstance(value, dict) else next(one for one, same in VALUES.items() if same is value)
    if types is not None and kind != types and not (isinstance(types, list) and kind in types):
        return False
    named = node.value.get("properties")
    inside = [name for name in named if name in value] if isinstance(named, dict) and isinstance(value, dict) else []
    return all(is_meant(document, get_child(node, "properties", name), value[name], depth + 1) for name in inside)
