"""Random JSON Schemas, changed ones, and values: to be judged by a validator that knows nothing of Treaty."""

import copy
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import jsonschema_rs

from treaty.core.meaning import Meaning
from treaty.formats.jsonschema.model import Document
from treaty.formats.jsonschema.parse import parse

URIS = {
    4: "http://json-schema.org/draft-04/schema#",
    6: "http://json-schema.org/draft-06/schema#",
    7: "http://json-schema.org/draft-07/schema#",
    2019: "https://json-schema.org/draft/2019-09/schema",
    2020: "https://json-schema.org/draft/2020-12/schema",
}
NAMES = ("a", "b", "c", "d")
TEXTS = ("", "a", "ab", "abc", "b1", "1990-01-01", "x@y.zz", "e30=")
NUMBERS = (-3, 0, 1, 2, 3, 4, 6, 10, 0.5, 2.5, 1.0)
PATTERNS = ("^a", "b", "^[a-z]+$", "[0-9]")
FORMATS = ("date", "email")
SCALARS: tuple[Any, ...] = (None, True, False, *NUMBERS, *TEXTS)
POOL: tuple[Any, ...] = (
    *SCALARS,
    [],
    {},
    *([scalar] for scalar in SCALARS),
    *([first, second] for first in (1, "a", None) for second in (1, "ab", True)),
    [1, 2, 3],
    ["a", "a", "b"],
    [{}, {}],
    [{"a": 1}],
    *({name: inner} for name in NAMES for inner in (1, "a", None, True, {}, [])),
    *({"a": a, "b": b} for a in (1, "a", 2.5) for b in (0, "abc", False)),
    {"a": 1, "b": 1, "c": 1},
    {"a": "a", "b": "b", "c": "c", "d": "d"},
    {"a": {"a": 1}},
    {"b": {"a": "a", "b": 1}},
    {"b1": 1},
    {"abc": "x", "a": 3},
)

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
Schema = Any


class Maker:
    """Makes schemas of one draft from a seed."""

    def __init__(self, chance: random.Random, draft: int) -> None:
        self.chance = chance
        self.draft = draft
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


def _changed(maker: Maker, here: Schema, *, root: bool) -> Schema:
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


def validator(schema: Schema) -> jsonschema_rs.Validator:
    """What judges values, without any network."""
    return jsonschema_rs.validator_for(schema, offline=True)


def document(schema: Schema) -> Document:
    """Treaty's model of a schema."""
    return parse(Meaning("JSON", json.dumps(schema)), strict=True)


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
    maker = Maker(chance, draft)
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


class Values:
    """Values made along a schema: most of them fit it."""

    def __init__(self, chance: random.Random, root: Schema) -> None:
        self.chance = chance
        self.root = root

    def value(self, schema: Schema, depth: int = 4) -> Any:
        """A value that may fit."""
        if not isinstance(schema, dict) or depth == 0 or self.chance.random() < 0.05:
            return copy.deepcopy(self.chance.choice(POOL))
        if "$ref" in schema:
            return self.value(resolved(self.root, schema), depth - 1)
        for word in ("const", "default"):
            if word in schema and self.chance.random() < (0.9 if word == "const" else 0.1):
                return copy.deepcopy(schema[word])
        if "enum" in schema and self.chance.random() < 0.9:
            return copy.deepcopy(self.chance.choice(schema["enum"]))
        ways = [word for word in ("anyOf", "oneOf", "allOf", "then", "else", "if") if word in schema]
        if ways and self.chance.random() < 0.7:
            word = self.chance.choice(ways)
            inner = schema[word]
            made = self.value(self.chance.choice(inner) if isinstance(inner, list) else inner, depth - 1)
            if isinstance(made, dict) and ("properties" in schema or word == "allOf"):
                made = {**self.object(schema, depth), **made}
                for one in schema.get("allOf", ()):
                    more = self.value(one, depth - 1)
                    made = {**more, **made} if isinstance(more, dict) else made
            return made
        return self.typed(schema, depth)

    def typed(self, schema: dict[str, Any], depth: int) -> Any:
        named = schema.get("type")
        kind = self.chance.choice(named) if isinstance(named, list) else named
        if kind is None:
            if "properties" in schema or "required" in schema or "additionalProperties" in schema:
                kind = "object"
            elif "items" in schema or "prefixItems" in schema or "contains" in schema:
                kind = "array"
        match kind:
            case "object":
                return self.object(schema, depth)
            case "array":
                return self.array(schema, depth)
            case "string":
                return self.chance.choice(TEXTS)
            case "integer":
                return self.chance.choice((-3, 0, 1, 2, 3, 4, 5, 6, 8, 10))
            case "number":
                return self.chance.choice((*NUMBERS, 5, 8))
            case "boolean":
                return self.chance.choice((True, False))
            case "null":
                return None
        return copy.deepcopy(self.chance.choice(POOL))

    def object(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        made = {}
        needed = set(schema.get("required", ()))
        for name, inner in schema.get("properties", {}).items():
            if name in needed or self.chance.random() < 0.6:
                made[name] = self.value(inner, depth - 1)
        for name in needed - made.keys():
            made[name] = self.value({}, 1)
        if self.chance.random() < 0.4 and schema.get("additionalProperties") is not False:
            name = self.chance.choice((*NAMES, "b1", "abc"))
            made.setdefault(name, self.value(schema.get("additionalProperties", {}), depth - 1))
        return made

    def array(self, schema: dict[str, Any], depth: int) -> list[Any]:
        items = schema.get("items", {})
        prefix = items if isinstance(items, list) else schema.get("prefixItems", [])
        rest = schema.get("additionalItems", {}) if isinstance(items, list) else items
        made = [self.value(one, depth - 1) for one in prefix[: self.chance.randint(0, 3)]]
        for _ in range(self.chance.randint(0, 2)):
            if rest is not False and len(made) >= len(prefix):
                made.append(self.value(self.chance.choice((rest, schema.get("contains", rest))), depth - 1))
        return made


def resolved(root: Schema, schema: Schema) -> Schema:
    """Where a reference to a definition leads."""
    while isinstance(schema, dict) and "$ref" in schema:
        here: Any = root
        for step in schema["$ref"].split("/")[1:]:
            here = here[step.replace("~1", "/").replace("~0", "~")]
        schema = here
    return schema


class Filler:
    """Puts defaults in where a required property is missing, as a reader does that has them."""

    def __init__(self, root: Schema) -> None:
        self.root = root
        self._validators: dict[int, tuple[Schema, jsonschema_rs.Validator]] = {}

    def filled(self, schema: Schema, value: Any, depth: int = 12) -> Any:
        """The value with defaults, where `schema` asks for them: of one schema of several, the first that then fits."""
        schema = resolved(self.root, schema)
        if not isinstance(schema, dict) or depth == 0:
            return value
        if isinstance(value, dict):
            value = self.filled_object(schema, value, depth)
        elif isinstance(value, list):
            value = self.filled_array(schema, value, depth)
        for inner in schema.get("allOf", ()):
            value = self.filled(inner, value, depth - 1)
        for word in ("anyOf", "oneOf"):
            for inner in schema.get(word, ()):
                candidate = self.filled(inner, value, depth - 1)
                if self.fits(inner, candidate):
                    value = candidate
                    break
        return value

    def filled_object(self, schema: dict[str, Any], value: dict[str, Any], depth: int) -> dict[str, Any]:
        value = dict(value)
        properties = schema.get("properties", {})
        for name in schema.get("required", ()):
            inner = properties.get(name)
            outer = resolved(self.root, inner)
            for one in (inner, outer):
                if name not in value and isinstance(one, dict) and "default" in one:
                    value[name] = copy.deepcopy(one["default"])
        for name in value:
            if name in properties:
                value[name] = self.filled(properties[name], value[name], depth - 1)
            elif isinstance(schema.get("additionalProperties"), dict):
                value[name] = self.filled(schema["additionalProperties"], value[name], depth - 1)
        return value

    def filled_array(self, schema: dict[str, Any], value: list[Any], depth: int) -> list[Any]:
        items = schema.get("items", {})
        prefix = items if isinstance(items, list) else schema.get("prefixItems", [])
        rest = schema.get("additionalItems", {}) if isinstance(items, list) else items
        return [self.filled(prefix[at] if at < len(prefix) else rest, one, depth - 1) for at, one in enumerate(value)]

    def fits(self, schema: Schema, value: Any) -> bool:
        """Whether a value fits a schema inside the root."""
        if id(schema) not in self._validators:
            whole = {"$schema": self.root["$schema"], "allOf": [schema]}
            for word in ("definitions", "$defs"):
                if word in self.root:
                    whole[word] = self.root[word]
            self._validators[id(schema)] = (schema, validator(whole))
        return self._validators[id(schema)][1].is_valid(value)


def samples(seed: int, old: Schema, new: Schema, count: int) -> list[Any]:
    """Values for a pair: the common pool, and some made along either schema."""
    chance = random.Random(seed)
    made = list(POOL)
    for schema, share in ((old, 3), (new, 1)):
        maker = Values(chance, schema)
        made += [maker.value(schema) for _ in range(count * share // 4)]
    return made


def refused(old: Schema, new: Schema, values: list[Any]) -> Any | None:
    """A value in a list that `old` allows and `new` refuses, with its defaults too; None if there is none."""
    writer, reader = validator(old), validator(new)
    filler = Filler(new)
    for value in values:
        if writer.is_valid(value) and not reader.is_valid(value) and not reader.is_valid(filler.filled(new, value)):
            return [value]
    return None
