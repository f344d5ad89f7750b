"""Values for JSON Schemas, defaults that a reader puts in, and the judge, a validator that knows nothing of Treaty."""

import copy
import random
from typing import Any

import jsonschema_rs

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
INNER: tuple[Any, ...] = (1, "a", None, True, {}, [])
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
    *({name: inner} for name in NAMES for inner in INNER),
    *({"a": a, "b": b} for a in (1, "a", 2.5) for b in (0, "abc", False)),
    {"a": 1, "b": 1, "c": 1},
    {"a": "a", "b": "b", "c": "c", "d": "d"},
    {"a": {"a": 1}},
    {"b": {"a": "a", "b": 1}},
    {"b1": 1},
    {"abc": "x", "a": 3},
)

Schema = Any


def validator(schema: Schema) -> jsonschema_rs.Validator:
    """What judges values, without any network."""
    return jsonschema_rs.validator_for(schema, offline=True)


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


def refused(old: Schema, new: Schema, values: list[Any]) -> tuple[list[Any], int]:
    """The values that `old` allows and `new` refuses, with its defaults too; and how many these defaults saved."""
    writer, reader = validator(old), validator(new)
    filler = Filler(new)
    broken = [value for value in values if writer.is_valid(value) and not reader.is_valid(value)]
    lost = [value for value in broken if not reader.is_valid(filler.filled(new, value))]
    return lost, len(broken) - len(lost)
