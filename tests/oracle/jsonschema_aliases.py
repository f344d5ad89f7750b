"""Pairs of JSON Schemas whose choices are made of references: the same one twice, by an alias, inside other keywords."""

import copy
import random
from collections.abc import Callable
from typing import Any

from tests.oracle.jsonschema_pairs import accepted
from tests.oracle.jsonschema_values import URIS, Schema

_SIMPLE: tuple[Schema, ...] = (
    {"type": "string"},
    {"type": "integer"},
    {"type": "number"},
    {"type": "null"},
    {"type": ["string", "null"]},
    {"enum": ["a", 1, None]},
    {"type": "string", "minLength": 2},
    {"type": "integer", "minimum": 2},
    {"type": "object"},
    {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
    {"type": "object", "properties": {"a": {"enum": ["b1"]}}, "required": ["a"]},
    {"type": "array", "items": {"type": "string"}},
    {},
)
_BESIDE: tuple[dict[str, Any], ...] = (
    {"title": "t"},
    {"type": "integer"},
    {"type": "string"},
    {"minLength": 1},
    {"not": {}},
)
_NAMES = ("e", "f", "g", "h", "alias", "second")
_LARGE = 17


class AliasMaker:
    """Makes schemas of one draft, of a few definitions and references to them."""

    def __init__(self, chance: random.Random, draft: int) -> None:
        self.chance = chance
        self.draft = draft
        self.home = "definitions" if draft < 2019 else "$defs"
        picked = [copy.deepcopy(chance.choice(_SIMPLE)) for _ in range(4)]
        self.definitions: dict[str, Schema] = dict(zip(_NAMES, picked, strict=False))
        self.definitions["alias"] = self.reference(chance.choice(_NAMES[:4]))
        self.definitions["second"] = self.reference("alias")
        if draft == 2020:
            self.definitions["e"]["$dynamicAnchor"] = "node"
        if draft >= 2019 and chance.random() < 0.3:
            self.definitions["f"]["$anchor"] = "plain"

    def reference(self, name: str) -> Schema:
        """A reference, perhaps with words beside it, which count from 2019-09 on."""
        words: dict[str, Any] = {"$ref": f"#/{self.home}/{name}"}
        if name == "e" and self.draft == 2020 and self.chance.random() < 0.3:
            words = {"$dynamicRef": "#node"}
        return {**words, **self.chance.choice(_BESIDE)} if self.chance.random() < 0.15 else words

    def branch(self) -> Schema:
        if self.chance.random() < 0.15:
            return copy.deepcopy(self.chance.choice(_SIMPLE))
        if self.chance.random() < 0.12:
            return {self.chance.choice(("allOf", "anyOf")): [self.reference(self.chance.choice(_NAMES))]}
        return self.reference(self.chance.choice(_NAMES))

    def choice(self) -> Schema:
        several = [self.branch() for _ in range(self.chance.choice((1, 1, 2, 2, 3)))]
        if self.chance.random() < 0.03:
            several += [{"enum": [f"only {at}"]} for at in range(_LARGE)]
            self.chance.shuffle(several)
        return {self.chance.choice(("oneOf", "oneOf", "oneOf", "anyOf", "allOf")): several}

    def wrap(self) -> Callable[[Schema], Schema]:
        """A place for a choice: the root, or inside another keyword."""
        places: list[Callable[[Schema], Schema]] = [
            lambda one: one,
            lambda one: one,
            lambda one: one,
            lambda one: {"properties": {"a": one}},
            lambda one: {"items": one},
            lambda one: {"additionalProperties": one},
            lambda one: {"allOf": [one, self.reference("e")]},
            lambda one: {"not": one},
            lambda one: {"anyOf": [one, {"type": "null"}]},
            lambda one: {"oneOf": [one, {"type": "null"}]},
            lambda one: {"dependencies" if self.draft < 2019 else "dependentSchemas": {"a": one}},
            lambda one: {"prefixItems" if self.draft == 2020 else "items": [one, one]},
        ]
        if self.draft > 4:
            places += [lambda one: {"contains": one}, lambda one: {"propertyNames": one}]
        if self.draft > 6:
            places += [
                lambda one: {"if": one, "then": self.reference("f")},
                lambda one: {"if": {"type": "string"}, "then": one},
            ]
        if self.draft > 7:
            places.append(lambda one: {"unevaluatedProperties": one})
        return self.chance.choice(places)

    def change(self, choice: Schema) -> Schema:
        """The choice with a branch more, once more, by another name, or of another kind."""
        ((word, several),) = choice.items()
        several = list(several)
        match self.chance.randrange(6):
            case 0:
                several.append(copy.deepcopy(self.chance.choice(several)))
            case 1:
                several.insert(self.chance.randrange(len(several) + 1), self.branch())
            case 2:
                several[self.chance.randrange(len(several))] = self.branch()
            case 3 if len(several) > 1:
                del several[self.chance.randrange(len(several))]
            case 4:
                word = self.chance.choice(("oneOf", "anyOf", "allOf"))
            case _:
                self.chance.shuffle(several)
        return {word: several}

    def document(self, root: Schema) -> Schema:
        return {"$schema": URIS[self.draft], **root, self.home: self.definitions}


def make_alias_pair(seed: int, draft: int) -> tuple[Schema, Schema]:
    """A writer's schema and a reader's, with the same definitions and mostly with nearly the same choice."""
    chance = random.Random(f"aliases {seed} {draft}")
    while True:
        maker = AliasMaker(chance, draft)
        old = maker.choice()
        new = maker.change(old) if chance.random() < 0.8 else maker.choice()
        if chance.random() < 0.1:
            old = maker.branch()
        wrap = maker.wrap()
        pair = maker.document(wrap(old)), maker.document(wrap(new))
        if all(map(accepted, pair)):
            return pair
