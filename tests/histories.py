"""Random histories of an Avro schema: versions that a union can hold, and frames written with each."""

import copy
import json
import random
from typing import Any

from tests.frames import frame

PLAIN = ("int", "long", "float", "double", "string", "bytes", "boolean")


class Maker:
    """Makes types, the versions that follow, and values; the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.names = 0

    def name(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def kind(self, depth: int) -> Any:
        pick = self.dice.choice([*PLAIN, "enum", "array", "map", "record", "null"] if depth else [*PLAIN])
        match pick:
            case "enum":
                return {"type": "enum", "name": self.name("E"), "symbols": ["A", "B"]}
            case "array":
                return {"type": "array", "items": self.kind(depth - 1)}
            case "map":
                return {"type": "map", "values": self.kind(depth - 1)}
            case "record":
                return self.record(depth - 1)
            case "null":
                return ["null", self.solid(depth - 1)]
        return pick

    def solid(self, depth: int) -> Any:
        while isinstance(kind := self.kind(depth), list):
            pass
        return kind

    def record(self, depth: int) -> Any:
        fields = [{"name": self.name("f"), "type": self.kind(depth)} for _ in range(self.dice.randrange(1, 5))]
        return {"type": "record", "name": self.name("R"), "fields": fields}

    def next(self, schema: Any) -> Any:
        """A version that a union can hold: fields added, renamed, dropped or moved, types widened, symbols added."""
        made = copy.deepcopy(schema)
        records = [one for one in self.inside(made) if one["type"] == "record"]
        enums = [one for one in self.inside(made) if one["type"] == "enum"]
        target = self.dice.choice(records)
        field = self.dice.choice(target["fields"])
        match self.dice.randrange(6):
            case 0:
                target["fields"].append({"name": self.name("f"), "type": ["null", self.solid(1)], "default": None})
            case 1:
                target["fields"].insert(0, {"name": self.name("f"), "type": "string", "default": "é"})
            case 2:
                field.update(name=self.name("f"), aliases=[field["name"], *field.get("aliases", [])])
            case 3:
                field["type"] = {"int": "long", "float": "double"}.get(field["type"], field["type"]) if isinstance(field["type"], str) else field["type"]  # fmt: skip
            case 4 if len(target["fields"]) > 1:
                target["fields"].remove(field)
            case _:
                if enums:
                    self.dice.choice(enums)["symbols"].append(self.name("S"))
        self.dice.shuffle(target["fields"])
        return made

    def inside(self, kind: Any) -> list[Any]:
        """All named types in a type."""
        if isinstance(kind, list):
            return [one for part in kind for one in self.inside(part)]
        if not isinstance(kind, dict):
            return []
        below = [kind[name] for name in ("items", "values") if name in kind] + [
            one["type"] for one in kind.get("fields", ())
        ]
        return [kind] * ("name" in kind) + [one for part in below for one in self.inside(part)]

    def value(self, kind: Any) -> Any:
        match kind:
            case list():
                return self.dice.choice([None, self.value(kind[1])])
            case {"type": "enum"}:
                return self.dice.choice(kind["symbols"])
            case {"type": "array"}:
                return [self.value(kind["items"]) for _ in range(self.dice.randrange(3))]
            case {"type": "map"}:
                return {f"k{turn}": self.value(kind["values"]) for turn in range(self.dice.randrange(1, 3))}
            case {"type": "record"}:
                return {one["name"]: self.value(one["type"]) for one in kind["fields"]}
            case "string":
                return self.dice.choice(["", "x", "né", "y" * 70])
            case "bytes":
                return self.dice.randbytes(self.dice.randrange(5))
            case "boolean":
                return self.dice.random() < 0.5
            case "float" | "double":
                return self.dice.choice([0.0, -1.5, 2.0**20])
        return self.dice.choice([0, -1, 2**31 - 1, -(2**31)])


class Long(Maker):
    """Histories of any length in which every field that comes later has a default, records and maps of them too."""

    def next(self, schema: Any) -> Any:
        """A version that a union can hold, with all defaults in its own words."""
        if self.dice.random() < 0.5:
            made = super().next(schema)
        else:
            made = copy.deepcopy(schema)
            self.change(made)
        for one in self.inside(made):
            for field in one.get("fields", ()):
                if isinstance(field.get("default"), dict | list):
                    field["default"] = self.default(field["type"])
        return made

    def change(self, schema: Any) -> None:
        """Add a record, a list, a map or a choice with a default; make text bytes; change a default; a record may be null."""
        target = self.dice.choice([one for one in self.inside(schema) if one["type"] == "record"])
        field = self.dice.choice(target["fields"])
        match self.dice.randrange(4):
            case 0:
                added = self.dice.choice(
                    [self.record(1), {"type": "array", "items": self.record(0)}, {"type": "map", "values": "int"}]
                )
                target["fields"].append({"name": self.name("f"), "type": added, "default": self.default(added)})
            case 1 if field["type"] == "string":
                field["type"] = "bytes"
            case 2 if "default" in field:
                field["default"] = self.default(field["type"])
            case 3 if isinstance(field["type"], dict) and field.get("default") is not None:
                field["type"] = [field["type"], "null"]

    def default(self, kind: Any) -> Any:
        """A value of a type as JSON has it."""
        match kind:
            case [first, *_]:
                return self.default(first)
            case {"type": "record", "fields": fields}:
                # A member may be left out where its field has a default of its own.
                return {
                    one["name"]: one["default"] if "default" in one else self.default(one["type"])
                    for one in fields
                    if "default" not in one or self.dice.random() < 0.7
                }
            case {"type": "array", "items": items}:
                return [self.default(items) for _ in range(self.dice.randrange(3))]
            case {"type": "map", "values": values}:
                return {"k": self.default(values)}
            case {"type": "enum", "symbols": symbols}:
                return self.dice.choice(symbols)
            case "null":
                return None
            case "string" | "bytes":
                return self.dice.choice(["", "q", "\u00e9"])
            case "boolean":
                return True
            case "float" | "double":
                return 0.5
        return self.dice.choice([0, 7])

    def value(self, kind: Any) -> Any:
        if isinstance(kind, list):
            return self.dice.choice([None if one == "null" else self.value(one) for one in kind])
        return super().value(kind)


def history(seed: int, rows: int) -> tuple[list[str], list[bytes]]:
    """Five versions, and so many frames of each, in order; the id of a version is its place from 1."""
    return _written(Maker(seed), 5, rows)


def long_history(seed: int, rows: int, versions: int = 50) -> tuple[list[str], list[bytes]]:
    """The same for many versions, with defaults and names that move."""
    return _written(Long(seed), versions, rows)


def _written(maker: Maker, count: int, rows: int) -> tuple[list[str], list[bytes]]:
    versions = [maker.record(3)]
    while len(versions) < count:
        versions.append(maker.next(versions[-1]))
    texts = [json.dumps(one) for one in versions]
    frames = [
        frame(at + 1, text, maker.value(one))
        for at, (text, one) in enumerate(zip(texts, versions, strict=True))
        for _ in range(rows)
    ]
    return texts, frames
