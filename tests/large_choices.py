"""Random pairs of JSON Schemas with large choices, whose branches a constant tells apart or not; and values for them."""

import copy
import random
from dataclasses import dataclass, field
from typing import Any

import jsonschema_rs

Schema = Any
DRAFTS = {
    6: "http://json-schema.org/draft-06/schema#",
    7: "http://json-schema.org/draft-07/schema#",
    2019: "https://json-schema.org/draft/2019-09/schema",
    2020: "https://json-schema.org/draft/2020-12/schema",
}
SCALARS: tuple[Any, ...] = ("e0", "e1", "e2", 0, 1, 1.0, 1.5, True, False, None, "", [], {})


@dataclass(slots=True)
class ChoicePair:
    """An old schema, a new one, and values that were made with both in view."""

    old: Schema
    new: Schema
    values: list[Any]
    writer: Any = field(init=False)
    reader: Any = field(init=False)

    def __post_init__(self) -> None:
        """Make the validators."""
        self.writer, self.reader = (jsonschema_rs.validator_for(one) for one in (self.old, self.new))

    def find_allowed(self) -> list[Any]:
        """The values that the old schema allows."""
        return [value for value in self.values if self.writer.is_valid(value)]


class ChoicePairs:
    """Makes a pair; the same for the same state of chance."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.draft = chance.choice(list(DRAFTS))
        self.tag = chance.choice(("type", "type", "kind"))
        self.word = chance.choice(("oneOf", "anyOf"))
        self.plain = chance.random() < 0.5
        self.wrap = chance.choice(("root", "root", "property", "allOf", "items"))
        self.by_reference = chance.random() < 0.3

    def make(self) -> ChoicePair:
        """The pair."""
        count = self.chance.choice((16, 17, 20, 24, 40, 66))
        old = [self.branch(at) for at in range(count)]
        new = copy.deepcopy(old)
        for _ in range(self.chance.choice((0, 1, 1, 1, 2, 3))):
            new = self.changed(new)
        if self.chance.random() < 0.3:
            old, new = new, old
        other = self.word if self.chance.random() < 0.9 else {"oneOf": "anyOf", "anyOf": "oneOf"}[self.word]
        values = [self.wrapped(value) for one in (*old, *new) for value in self.values(one)]
        self.chance.shuffle(values)
        return ChoicePair(self.whole(old, self.word), self.whole(new, other), values[:150])

    def whole(self, branches: list[Schema], word: str) -> Schema:
        """The branches as one schema."""
        top: dict[str, Any] = {"$schema": DRAFTS[self.draft]}
        if self.by_reference:
            place = "definitions" if self.draft < 2019 else "$defs"
            top[place] = {f"e{at}": one for at, one in enumerate(branches)}
            branches = [{"$ref": f"#/{place}/e{at}"} for at in range(len(branches))]
        choice = {word: branches}
        match self.wrap:
            case "property":
                return {**top, "type": "object", "properties": {"in": choice}, "additionalProperties": False}
            case "items":
                return {**top, "type": "array", "items": choice}
            case "allOf":
                return {**top, "allOf": [choice, {"minProperties": 1}]}
        return {**top, **choice}

    def wrapped(self, value: Any) -> Any:
        return {"property": {"in": value}, "items": [value]}.get(self.wrap, value)

    def likely(self, share: float) -> bool:
        return self.chance.random() < share

    def branch(self, at: int) -> Schema:
        """One event; where it is not plain also other things."""
        if not self.plain and self.likely(0.15):
            kind = self.chance.choice(("string", "integer", "null", "array", "boolean"))
            return self.chance.choice(({"type": kind}, {"const": self.chance.choice(SCALARS)}, {"enum": ["e1", at]}))
        made: Schema = {"type": "object", "properties": {self.tag: self.constant(at)}, "required": [self.tag]}
        for name in self.chance.sample(("a", "b", "c"), self.chance.randint(0, 2)):
            made["properties"][name] = self.chance.choice(({"type": "string"}, {"type": "integer"}, {}))
        if self.plain or self.likely(0.7):
            made["additionalProperties"] = False
        if not self.plain:
            for word, share in (("type", 0.1), ("required", 0.1)):
                if self.likely(share):
                    del made[word]
        return made

    def constant(self, at: int) -> Schema:
        if self.plain:
            return self.chance.choice(({"const": f"e{at}"}, {"type": "string", "const": f"e{at}"}))
        if self.likely(0.1):
            return {"const": self.chance.choice(SCALARS)}
        several = [f"e{at}", *([f"e{at + 1}"] if self.likely(0.1) else [])]
        return self.chance.choice(({"const": f"e{at}"}, {"enum": several}, {"type": "string", "enum": several}))

    def changed(self, branches: list[Schema]) -> list[Schema]:
        """The branches with one change."""
        at = self.chance.randrange(len(branches))
        one = branches[at]
        match self.chance.randrange(10):
            case 0 | 1 | 2:
                extra = self.branch(len(branches) if self.likely(0.8) else at)
                return [*branches[:at], extra, *branches[at:]]
            case 3:
                return branches[:at] + branches[at + 1 :]
            case 4:
                self.chance.shuffle(branches)
            case 5 | 6 if isinstance(one, dict) and "properties" in one:
                for other in branches if self.likely(0.5) else [one]:
                    if "properties" in other:
                        other["properties"]["more"] = {"type": "string"}
            case 7 if isinstance(one, dict) and "properties" in one:
                one["properties"][self.tag] = self.constant(self.chance.randrange(len(branches)))
            case 8 if isinstance(one, dict) and "properties" in one:
                one["required"] = [*one.get("required", []), "a"] if self.likely(0.5) else []
            case _:
                branches[at] = self.branch(at)
        return branches

    def values(self, branch: Schema) -> list[Any]:
        """Values near a branch."""
        if "properties" not in branch:
            return [self.chance.choice(SCALARS), branch.get("const", branch.get("enum", [0])[-1])]
        made: dict[str, Any] = {}
        for name, inner in branch["properties"].items():
            if name in branch.get("required", ()) or self.likely(0.5):
                kinds = {"string": "x", "integer": 3}
                made[name] = inner.get("const", inner.get("enum", [kinds.get(inner.get("type"), 1.5)])[-1])
        other = {**made, self.chance.choice(("a", "b", "more", self.tag)): self.chance.choice(SCALARS)}
        return [made, other, {name: one for name, one in other.items() if self.likely(0.7)}]
