"""Random histories of records with defaults: fields inside them become nullable, unions grow and turn, defaults change."""

import copy
import json
import random
from typing import Any

from tests.frames import frame

LEAVES = ("int", "string", "boolean", "double", "bytes", "long")


class DefaultHistory:
    """Makes the versions of one schema, each with frames; the same for the same seed.

    A `plain` one has no unions but those that JSON tells apart: null and another type, or texts, whole numbers and truth values.
    """

    def __init__(self, seed: int, *, plain: bool = False) -> None:
        self.dice = random.Random(seed)
        self.plain = plain
        self.count = 0
        self.schema: Any = {"type": "record", "name": "T", "fields": [{"name": "id", "type": "int"}]}

    def name(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def solid(self, depth: int) -> Any:
        """A type that is no union."""
        match self.dice.choice(["leaf", "leaf", "enum", "fixed", "list", "map", "record"] if depth else ["leaf"]):
            case "enum":
                return {"type": "enum", "name": self.name("E"), "symbols": ["A", "B"]}
            case "fixed":
                return {"type": "fixed", "name": self.name("X"), "size": 2}
            case "list":
                return {"type": "array", "items": self.kind(depth - 1)}
            case "map":
                return {"type": "map", "values": self.kind(depth - 1)}
            case "record":
                return self.record(depth - 1)
        return self.dice.choice(LEAVES)

    def kind(self, depth: int) -> Any:
        """A type; one in three is a union, of one type and null or of several."""
        if self.dice.random() < 0.65:
            return self.solid(depth)
        parts: dict[str, Any] = {}
        if self.plain:
            some = self.dice.choice([[self.solid(depth)], self.dice.sample(["int", "string", "boolean"], 2)])
            some.insert(self.dice.randrange(len(some) + 1), "null")
            return some
        for _ in range(self.dice.choice([1, 1, 2, 3])):
            one = self.solid(depth)
            parts[one if isinstance(one, str) else one["type"] + one.get("name", "")] = one
        some = [*parts.values()]
        if len(some) == 1 or self.dice.random() < 0.5:
            some.insert(self.dice.randrange(len(some) + 1), "null")
        return some

    def record(self, depth: int) -> Any:
        made = [self.field(depth) for _ in range(self.dice.randrange(1, 4))]
        return {"type": "record", "name": self.name("R"), "fields": made}

    def field(self, depth: int) -> dict[str, Any]:
        kind = self.kind(depth)
        made = {"name": self.name("f"), "type": kind}
        return made | ({"default": self.default(kind)} if self.dice.random() < 0.3 else {})

    def default(self, kind: Any) -> Any:
        """A value as JSON has it, of any type of a union."""
        match kind:
            case list():
                return self.default(self.dice.choice(kind))
            case {"type": "record", "fields": fields}:
                given = [one for one in fields if "default" not in one or self.dice.random() < 0.6]
                return {one["name"]: self.default(one["type"]) for one in given}
            case {"type": "array", "items": items}:
                return [self.default(items) for _ in range(self.dice.randrange(3))]
            case {"type": "map", "values": values}:
                return {f"k{at}": self.default(values) for at in range(self.dice.randrange(3))}
            case {"type": "enum", "symbols": symbols}:
                return self.dice.choice(symbols)
            case {"type": "fixed"}:
                return "xy"
            case "null":
                return None
            case "boolean":
                return self.dice.random() < 0.5
            case "string" | "bytes":
                return self.dice.choice(["", "q", "\u00e9"])
            case "double":
                return self.dice.choice([0.5, -1.25, 2.0])
        return self.dice.choice([0, 7, -3])

    def next(self) -> None:
        """Another version."""
        self.schema = copy.deepcopy(self.schema)
        records = [one for one in walk(self.schema) if one["type"] == "record"]
        owner = self.dice.choice(records)
        field = self.dice.choice(owner["fields"])
        top = [one for one in self.schema["fields"] if one["name"] != "id"]
        match self.dice.randrange(7):
            case 0 | 1:
                kind = self.kind(3)
                self.schema["fields"].append({"name": self.name("f"), "type": kind, "default": self.default(kind)})
            case 2 | 3 | 4 if field["name"] != "id":
                self.change_union(field)
            case 5 if owner is not self.schema:
                kind = self.kind(1)
                owner["fields"].append({"name": self.name("f"), "type": kind, "default": self.default(kind)})
            case _ if top:
                self.dice.choice(top)["default"] = ...
        for record in [*walk(self.schema)][::-1]:
            for one in record.get("fields", ()):
                # Each default fits the types of its own version.
                if one.get("default") is ... or ("default" in one and (one is field or self.dice.random() < 0.7)):
                    one["default"] = self.default(one["type"])
        for record in [*walk(self.schema)][::-1]:
            for one in record.get("fields", ()):
                if isinstance(one.get("default"), dict | list):
                    one["default"] = self.default(one["type"])

    def change_union(self, field: dict[str, Any]) -> None:
        """A type may be null from now on, in either order; a union turns, or has another type."""
        kind = field["type"]
        if isinstance(kind, list):
            self.dice.shuffle(kind)
            if len(kind) - ("null" in kind) > 1 and not self.plain and self.dice.random() < 0.5:
                kind.append({"type": "enum", "name": self.name("E"), "symbols": ["C"]})
        else:
            field["type"] = self.dice.choice([["null", kind], [kind, "null"]])
        if "default" in field:
            field["default"] = ...

    def value(self, kind: Any) -> Any:
        """A value as fastavro writes it."""
        match kind:
            case list():
                part = self.dice.choice(kind)
                if part == "null":
                    return None
                return (part if isinstance(part, str) else part.get("name", part["type"]), self.value(part))
            case {"type": "record", "fields": fields}:
                return {one["name"]: self.value(one["type"]) for one in fields}
            case {"type": "array", "items": items}:
                return [self.value(items) for _ in range(self.dice.randrange(3))]
            case {"type": "map", "values": values}:
                return {f"k{at}": self.value(values) for at in range(self.dice.randrange(3))}
            case {"type": "fixed"}:
                return b"yx"
            case "bytes":
                return b"\x00b"
        return self.default(kind)


def walk(kind: Any) -> list[Any]:
    """All named types in a type, the outer ones first."""
    if isinstance(kind, list):
        return [one for part in kind for one in walk(part)]
    if not isinstance(kind, dict):
        return []
    below = [kind[name] for name in ("items", "values") if name in kind]
    below += [one["type"] for one in kind.get("fields", ())]
    return [kind] * ("name" in kind) + [one for part in below for one in walk(part)]


def default_history(
    seed: int, versions: int = 4, rows: int = 2, *, plain: bool = False
) -> tuple[list[str], list[bytes]]:
    """Versions, and so many frames of each, in order; the id of a version is its place from 1."""
    made = DefaultHistory(seed, plain=plain)
    texts, frames = [], []
    for place in range(1, versions + 1):
        if place > 1:
            made.next()
        texts.append(json.dumps(made.schema))
        frames += [frame(place, texts[-1], made.value(made.schema)) for _ in range(rows)]
    return texts, frames
