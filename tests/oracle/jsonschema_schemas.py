"""JSON Schemas from a seed, in every draft: most are valid, and any of them can be broken at random places."""

import json
from typing import Any

from treaty.formats.jsonschema.drafts import DRAFTS, KEYWORDS
from treaty.formats.seeded_random import SeededRandom

NUMBERS = tuple(DRAFTS)
_NAMES = ("a", "b", "name", "x/y", "über", "", "$ref", "c~d")
_TYPES = ("string", "integer", "number", "boolean", "null", "object", "array")
_VALUES: tuple[Any, ...] = (None, True, 0, 1, -3, 1.5, "", "a", [], [1], {}, {"a": 1}, 10**20)
_REGEXES = ("^a+$", "[a-z]{2,3}", "^(x|y)", r"\d+", "", "^[^/]*$")
_JUNK: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, "", "x", "string", "#", "#/definitions/a", "(", [], ["a", "a"], [{}], [1], {}, {"type": 1},
    {"a": []}, {"$ref": "#"}, {"a": "b"}, "a b", [[]], {"pattern": "["}, {"": {}},
)  # fmt: skip
_WORDS = sorted({word for rows in KEYWORDS.values() for word in rows if word not in ("$schema", "$vocabulary")})


def made(seed: int, number: int, depth: int = 4) -> dict[str, Any]:
    """A schema of a draft."""
    draw = SeededRandom(seed)
    schema = _Maker(draw, number).schema(depth)
    if not isinstance(schema, dict):
        schema = {"allOf": [schema]} if number > 4 else {}
    return {"$schema": DRAFTS[number].uri + ("#" if number < 2019 and draw.chance(80) else ""), **schema}


def broken(schema: Any, draw: SeededRandom, times: int) -> Any:
    """A copy with some places replaced, dropped or renamed."""
    copy = json.loads(json.dumps(schema))
    for _ in range(times):
        holders = [one for one in _inside(copy) if one]
        if not holders:
            return copy
        holder = draw.pick(holders)
        key = draw.pick(list(holder)) if isinstance(holder, dict) else draw.below(len(holder))
        if key == "$schema":
            continue
        way = draw.below(10)
        if way < 5:
            holder[key] = json.loads(json.dumps(draw.pick(_JUNK)))
        elif way < 7 and isinstance(holder, dict):
            holder[draw.pick(_WORDS)] = holder.pop(key)
        elif way < 9 and isinstance(holder, dict):
            holder[draw.pick(_WORDS)] = json.loads(json.dumps(draw.pick(_JUNK)))
        else:
            del holder[key]
    return copy


def _inside(value: Any) -> list[Any]:
    found, waiting = [], [value]
    while waiting:
        here = waiting.pop()
        if isinstance(here, dict | list):
            found.append(here)
            waiting += here.values() if isinstance(here, dict) else here
    return found


class _Maker:
    def __init__(self, draw: SeededRandom, number: int) -> None:
        self.draw = draw
        self.number = number
        self.words = [word for word in KEYWORDS[number] if word not in ("$schema", "$vocabulary", "$recursiveRef")]

    def schema(self, depth: int) -> Any:
        if self.number > 4 and self.draw.chance(8):
            return self.draw.chance(50)
        made: dict[str, Any] = {}
        for _ in range(1 + self.draw.below(5)):
            word = self.draw.pick(self.words)
            if KEYWORDS[self.number][word].holds == "value":
                made[word] = self.value(word)
            elif depth:
                made[word] = self.held(word, depth - 1)
        if self.number == 4:
            for word in ("maximum", "minimum"):
                if f"exclusiveM{word[1:]}" in made:
                    made[word] = 1
        return made

    def held(self, word: str, depth: int) -> Any:
        """What stands under a keyword that holds schemas."""
        holds = KEYWORDS[self.number][word].holds
        names = list(dict.fromkeys(self.draw.pick(_NAMES) for _ in range(1 + self.draw.below(3))))
        if word == "patternProperties":
            names = list(dict.fromkeys(self.draw.pick(_REGEXES) for _ in names))
        if holds == "map":
            return {name: self.schema(depth) for name in names}
        if holds == "dependencies":
            return {name: self.schema(depth) if self.draw.chance(50) else ["a"] for name in names}
        if holds == "schemas" or (holds == "items" and self.draw.chance(40)):
            return [self.schema(depth) for _ in names]
        return self.schema(depth)

    def value(self, word: str) -> Any:
        """What stands under any other keyword."""
        draw = self.draw
        match word:
            case "type":
                return (
                    draw.pick(_TYPES) if draw.chance(70) else list(dict.fromkeys(draw.pick(_TYPES) for _ in range(3)))
                )
            case "enum" | "examples":
                return [draw.pick(_VALUES)] if draw.chance(50) else [1, "a", None]
            case "const" | "default":
                return draw.pick(_VALUES)
            case "$ref" | "$dynamicRef":
                return draw.pick(("#", "#", "#/definitions/a"))
            case "$id" | "id":
                return draw.pick(("http://example.org/a", "b.json", "../c"))
            case "$anchor" | "$dynamicAnchor":
                return draw.pick(("here", "there"))
            case "required":
                return list(dict.fromkeys(draw.pick(_NAMES) for _ in range(2)))
            case "dependentRequired":
                return {"a": ["b"]}
            case "pattern":
                return draw.pick(_REGEXES)
            case "multipleOf":
                return draw.pick((1, 0.5, 10, 0.01))
            case "exclusiveMaximum" | "exclusiveMinimum":
                return draw.chance(50) if self.number == 4 else draw.pick((0, 1.5, -7))
            case "maximum" | "minimum":
                return draw.pick((0, 1.5, -7, 10**20))
        if word in ("uniqueItems", "readOnly", "writeOnly", "deprecated", "$recursiveAnchor"):
            return draw.chance(50)
        return draw.pick((0, 1, 3)) if word.startswith(("max", "min")) else "text"
