"""Random JSON Schemas and changed ones, to be judged by a validator that knows nothing of Treaty."""

import copy
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import jsonschema_rs

from tests.oracle.jsonschema_values import (
    FORMATS,
    NAMES,
    NUMBERS,
    PATTERNS,
    SCALARS,
    TEXTS,
    URIS,
    Schema,
    Values,
    validator,
)
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.jsonschema.model import JsonSchema
from treaty.formats.jsonschema.parser import parse_schema

FIXED: dict[str, tuple[Any, ...]] = {
    "pattern": PATTERNS,
    "format": FORMATS,
    "contentEncoding": ("base64",),
    "multipleOf": (1, 2, 3, 4, 0.5),
    "minimum": NUMBERS,
    "maximum": NUMBERS,
    "exclusiveMinimum": NUMBERS,
    "exclusiveMaximum": NUMBERS,
    "uniqueItems": (True,),
    "type": ("string", "integer", "number", "object", "array", ["string", "null"], ["object", "null"]),
    "const": ("a", 1, None),
    "title": ("t", "u"),
}


class Maker:
    """Makes schemas of one draft from a seed; with `defaults`, properties often have one and become required."""

    def __init__(self, chance: random.Random, draft: int, *, defaults: bool = False) -> None:
        self.chance = chance
        self.draft = draft
        self.defaults = defaults
        self.definitions = "definitions" if draft < 2019 else "$defs"

    def whole(self) -> Schema:
        """A schema with definitions, which may refer to themselves."""
        root = self.some(self.object, self.object, self.array, self.choice, self.schema)(3)
        if not isinstance(root, dict) or "$ref" in root:
            root = {"properties": {"a": root}}
        root = {"$schema": URIS[self.draft], **root}
        root[self.definitions] = {"one": self.definition(), "two": self.definition()}
        return root

    def definition(self) -> Schema:
        """A schema that is more than a reference."""
        made = self.schema(2)
        while isinstance(made, dict) and "$ref" in made:
            made = self.schema(2)
        return made

    def some(self, *choices: Any) -> Any:
        return self.chance.choice(choices)

    def likely(self, share: float) -> bool:
        return self.chance.random() < share

    def schema(self, depth: int) -> Schema:
        """A schema of some kind."""
        kinds: list[Callable[[int], Schema]] = [self.string, self.number, self.value, self.simple]
        if depth > 0:
            kinds += [self.object, self.object, self.object, self.array, self.choice, self.reference, self.types]
        made = self.chance.choice(kinds)(depth)
        if isinstance(made, dict) and self.likely(0.06):
            made = self.adorned(made, depth)
        return made

    def adorned(self, made: dict[str, Any], depth: int) -> Schema:
        """The same schema with one more keyword of any family."""
        if "$ref" in made:
            return made
        name, value = self.keyword(depth)
        return {**made, name: value}

    def simple(self, depth: int) -> Schema:
        if self.draft > 4 and self.likely(0.1):
            return self.some(True, False, True)
        return self.some({"type": "boolean"}, {"type": "null"}, {}, {"title": "t"}, {"type": "boolean"})

    def string(self, depth: int) -> Schema:
        made: dict[str, Any] = {"type": "string"} if self.likely(0.9) else {"minLength": 1}
        for word in ("minLength", "maxLength", "pattern", "format"):
            if self.likely(0.15):
                made[word] = self.word_value(word, depth)
        return made

    def number(self, depth: int) -> Schema:
        made: dict[str, Any] = {"type": self.some("integer", "number")}
        for word in ("minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"):
            if self.likely(0.15):
                made[word] = self.word_value(word, depth)
        return made

    def value(self, depth: int) -> Schema:
        values = self.chance.sample(SCALARS[:12], self.chance.randint(1, 3))
        values = [one for at, one in enumerate(values) if not any(equal(one, other) for other in values[:at])]
        if self.draft > 4 and self.likely(0.4):
            return {"const": values[0]}
        return {"enum": values} if self.likely(0.7) else {"type": "string", "enum": self.chance.sample(TEXTS, 2)}

    def object(self, depth: int) -> Schema:
        names = self.chance.sample(NAMES, self.chance.randint(0, 3))
        made: dict[str, Any] = {"type": "object"} if self.likely(0.9) else {}
        made["properties"] = {name: self.property(depth - 1) for name in names}
        if self.likely(0.4) and names:
            made["required"] = self.chance.sample(names, 1)
        if self.likely(0.5):
            made["additionalProperties"] = self.some(False, False, True, self.schema(depth - 1))
        for word in ("minProperties", "maxProperties", "patternProperties", "propertyNames", "dependencies"):
            if self.likely(0.05) and (self.draft > 4 or word != "propertyNames"):
                made[word] = self.word_value(word, depth)
        if self.draft > 7 and self.likely(0.1):
            made["unevaluatedProperties"] = self.some(False, self.schema(0))
        return made

    def property(self, depth: int) -> Schema:
        made = self.schema(depth)
        if isinstance(made, dict) and "$ref" not in made and self.likely(0.15):
            made = {**made, "default": self.some("a", 1, None, {}, [])}
        if self.defaults and isinstance(made, dict) and "$ref" not in made and self.likely(0.6):
            made = {**made, "default": Values(self.chance, {}).value(without_references(made))}
        return made

    def array(self, depth: int) -> Schema:
        made: dict[str, Any] = {"type": "array"}
        if self.likely(0.6):
            made["items"] = self.schema(depth - 1)
        elif self.likely(0.6):
            several = [self.schema(depth - 1) for _ in range(self.chance.randint(1, 2))]
            made["prefixItems" if self.draft == 2020 else "items"] = several
            if self.likely(0.5):
                rest = self.some(False, self.schema(depth - 1))
                made["items" if self.draft == 2020 else "additionalItems"] = rest
        for word in ("minItems", "maxItems", "uniqueItems", "contains"):
            if self.likely(0.1) and (self.draft > 4 or word != "contains"):
                made[word] = self.word_value(word, depth)
        if self.draft > 7 and self.likely(0.1):
            made["unevaluatedItems"] = self.some(False, self.schema(0))
        return made

    def choice(self, depth: int) -> Schema:
        word = self.some("anyOf", "oneOf", "oneOf", "allOf", "not", "if")
        if word == "not":
            return {"not": self.schema(depth - 1)}
        if word == "if":
            if self.draft < 7:
                return {"anyOf": [self.schema(depth - 1)]}
            made = {"if": self.schema(depth - 1)}
            for part in ("then", "else"):
                if self.likely(0.7):
                    made[part] = self.schema(depth - 1)
            return made
        if word != "allOf" and self.likely(0.4):
            return {word: self.tagged(depth)}
        return {word: [self.schema(depth - 1) for _ in range(self.chance.randint(1, 3))]}

    def tagged(self, depth: int) -> list[Schema]:
        """Objects that are told apart by a value of their own."""
        made = []
        for tag in self.chance.sample(TEXTS[1:5], 2):
            one: Schema = {"type": "object", "properties": {"c": {"enum": [tag]}}, "required": ["c"]}
            if self.likely(0.5):
                one["properties"]["a"] = self.property(depth - 1)
            made.append(one)
        return made

    def reference(self, depth: int) -> Schema:
        return {"$ref": f"#/{self.definitions}/{self.some('one', 'two')}"}

    def types(self, depth: int) -> Schema:
        names = self.chance.sample(("string", "integer", "null", "object", "array", "boolean", "number"), 2)
        return {"type": names}

    def keyword(self, depth: int) -> tuple[str, Any]:
        """A keyword and its value."""
        words = ["minLength", "maxLength", "pattern", "format", "minimum", "maximum", "multipleOf", "minItems"]
        words += ["maxItems", "uniqueItems", "minProperties", "maxProperties", "patternProperties", "dependencies"]
        words += ["required", "additionalProperties", "type", "enum", "not", "anyOf", "allOf", "oneOf", "title"]
        words += ["exclusiveMinimum", "exclusiveMaximum"]
        if self.draft > 4:
            words += ["propertyNames", "contains", "const"]
        if self.draft > 6:
            words += ["if"]
        if self.draft in (6, 7):
            words += ["contentEncoding"]
        if self.draft > 7:
            words += ["unevaluatedProperties", "unevaluatedItems", "dependentRequired", "dependentSchemas"]
            words += ["minContains", "maxContains"]
        word = self.chance.choice(words)
        return word, self.word_value(word, depth)

    def word_value(self, word: str, depth: int) -> Any:
        """A value for a keyword."""
        inner = max(depth - 1, 0)
        if word in FIXED:
            choices = (True, False) if self.draft == 4 and word.startswith("exclusive") else FIXED[word]
            return self.chance.choice(choices)
        if word in ("allOf", "anyOf", "oneOf"):
            return [self.schema(inner) for _ in range(self.chance.randint(1, 2))]
        if word == "enum":
            return self.chance.sample(SCALARS[:8], 3)
        if word == "required":
            return [self.some(*NAMES)]
        if word == "patternProperties":
            return {self.some(*PATTERNS): self.schema(inner)}
        if word in ("dependencies", "dependentRequired", "dependentSchemas"):
            names, schema = [self.some(*NAMES)], self.schema(inner)
            held = {"dependentRequired": names, "dependentSchemas": schema}.get(word, self.some(names, schema))
            return {self.some(*NAMES): held}
        if word.startswith(("min", "max")):
            return self.chance.randint(0, 3)
        return self.some(self.schema(inner), self.schema(inner), self.schema(0))


def equal(one: Any, other: Any) -> bool:
    """Whether two values are equal as JSON, where true is not 1."""
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


MAPS = ("properties", "definitions", "$defs", "patternProperties", "dependentSchemas")
LISTS = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
PARTS = ("not", "if", "then", "else", "items", "additionalProperties", "additionalItems", "contains", "propertyNames")


def places(schema: Schema, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to all schemas inside a schema, itself included."""
    yield way
    if not isinstance(schema, dict):
        return
    for word, held in schema.items():
        if word in MAPS and isinstance(held, dict):
            for name, inner in held.items():
                yield from places(inner, (*way, word, name))
        elif word in LISTS and isinstance(held, list):
            for at, inner in enumerate(held):
                yield from places(inner, (*way, word, at))
        elif word in PARTS and isinstance(held, dict | bool):
            yield from places(held, (*way, word))


def changed(maker: Maker, schema: Schema) -> Schema:
    """The same schema with one change somewhere."""
    schema = copy.deepcopy(schema)
    ways = list(places(schema))
    if maker.likely(0.6):
        ways = [way for way in ways if way[:1] not in (("definitions",), ("$defs",))]  # which may not be referred to
    way = maker.chance.choice(ways)
    here: Any = schema
    for step in way:
        here = here[step]
    new = _changed(maker, here, root=not way)
    if not way:
        if not isinstance(new, dict):
            return schema
        return new
    holder: Any = schema
    for step in way[:-1]:
        holder = holder[step]
    if way[-2:][0] in ("definitions", "$defs") and isinstance(new, dict) and "$ref" in new:
        return schema  # a definition that is only a reference may lead to itself
    holder[way[-1]] = new
    return schema


def without_references(schema: Schema) -> Schema:
    """The same schema where every reference became a schema that allows everything."""
    if isinstance(schema, list):
        return [without_references(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {} if "$ref" in schema else {name: without_references(one) for name, one in schema.items()}


def _changed(maker: Maker, here: Schema, *, root: bool) -> Schema:
    if maker.defaults and isinstance(here, dict) and here.get("properties") and maker.likely(0.5):
        return _changed_required(maker, here)
    if not isinstance(here, dict) or (not root and maker.likely(0.08)):
        return maker.schema(1)
    if not root and "$ref" not in here and maker.likely(0.12):
        several = [here, maker.schema(1)]
        maker.chance.shuffle(several)
        return {maker.some("anyOf", "anyOf", "oneOf", "oneOf", "allOf"): several[: maker.chance.randint(1, 2)]}
    words = [word for word in here if word not in ("$schema", "definitions", "$defs", "$ref")]
    if not words or maker.likely(0.25):
        return maker.adorned(here, 1)
    word = maker.chance.choice(words)
    held = here[word]
    if maker.likely(0.3):
        return {name: one for name, one in here.items() if name != word}
    if word == "properties":
        return {**here, word: _changed_properties(maker, held)}
    if isinstance(held, list) and held:
        return {**here, word: _changed_list(maker, word, held)}
    if word == "type":
        if maker.likely(0.5) and isinstance(held, str):
            return {**here, word: list(dict.fromkeys([held, maker.some("null", "string", "number")]))}
        return {**here, word: maker.some("number", "string", "object", held)}
    if isinstance(held, bool):
        return {**here, word: not held if maker.likely(0.5) and word != "uniqueItems" else held}
    if isinstance(held, int | float) and word not in ("const", "default"):
        value = held + maker.some(-1, 1, 2)
        return {
            **here,
            word: max(value, 1) if word == "multipleOf" else max(value, 0) if word[3:4].isupper() else value,
        }
    if isinstance(held, str | int | float | None) and word not in (
        "pattern",
        "format",
        "contentEncoding",
        "const",
        "default",
        "title",
    ):
        return here
    if word in ("const", "default"):
        return {**here, word: maker.some("a", 1, None)}
    return {**here, word: maker.word_value(word, 1)}


def _changed_properties(maker: Maker, held: dict[str, Any]) -> dict[str, Any]:
    free = [name for name in NAMES if name not in held]
    if held and maker.likely(0.4):
        gone = maker.chance.choice(list(held))
        return {name: one for name, one in held.items() if name != gone}
    return {**held, maker.chance.choice(free): maker.property(1)} if free else held


def _changed_required(maker: Maker, here: dict[str, Any]) -> dict[str, Any]:
    """One more property is required; perhaps it is new."""
    properties, needed = here["properties"], here.get("required", [])
    name = maker.chance.choice(NAMES)
    if name not in properties:
        properties = {**properties, name: maker.property(1)}
    return {**here, "properties": properties, "required": list(dict.fromkeys([*needed, name]))}


def _changed_list(maker: Maker, word: str, held: list[Any]) -> list[Any]:
    if len(held) > 1 and maker.likely(0.35):
        gone = maker.chance.randrange(len(held))
        return held[:gone] + held[gone + 1 :]
    if word == "required":
        return list(dict.fromkeys([*held, maker.some(*NAMES)]))
    if word == "type":
        return list(dict.fromkeys([*held, maker.some("null", "string", "integer")]))
    if word == "enum":
        more = maker.some(*SCALARS[:12])
        return held if any(equal(more, one) for one in held) else [*held, more]
    several = [*held, maker.schema(1)]
    if maker.likely(0.2):
        maker.chance.shuffle(several)
    return several


def document(schema: Schema) -> JsonSchema:
    """Treaty's model of a schema."""
    return parse_schema(ResolvedSchema("JSON", json.dumps(schema)), strict=True)


def accepted(schema: Schema) -> bool:
    """Whether both sides take a schema: references in a circle about one and the same value are refused by Treaty."""
    try:
        validator(schema)
        document(schema)
    except (jsonschema_rs.ValidationError, ValueError):
        return False
    return True


def pair(seed: int, draft: int) -> tuple[Schema, Schema]:
    """A writer's schema and a reader's, which differ in a few places or in all."""
    chance = random.Random(f"{seed} {draft}")
    maker = Maker(chance, draft, defaults=seed % 4 == 0)
    while True:
        old = maker.whole()
        new = old
        for _ in range(chance.choice((0, 1, 1, 1, 2, 2, 3, 4))):
            new = changed(maker, new)
        if chance.random() < 0.02:
            new = maker.whole()
        if chance.random() < 0.3:
            old, new = new, old
        if accepted(old) and accepted(new):
            return old, new
