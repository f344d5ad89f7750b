"""Random readers, and writers of them: types of many names that are one type to the reader, times and decimals in other units, and types of nobody."""

import json
import random
from typing import Any

Schema = Any
"""A schema as JSON has it."""

UNITS: dict[str, list[Schema]] = {
    "instant": [{"type": "long", "logicalType": f"timestamp-{unit}"} for unit in ("millis", "micros", "nanos")],
    "wall": [{"type": "long", "logicalType": f"local-timestamp-{unit}"} for unit in ("millis", "micros", "nanos")],
    "clock": [{"type": "int", "logicalType": "time-millis"}, {"type": "long", "logicalType": "time-micros"}],
    "price": [
        {"type": "bytes", "logicalType": "decimal", "precision": 10 + scale, "scale": scale} for scale in (1, 2, 4)
    ],
    "number": ["int", "long"],
    "text": ["string"],
}
"""Leaves by what they mean, the coarser unit first; a reader has none that is coarser than a writer's, but for instants."""
EITHER_WAY = {"instant", "wall"}
DEFAULTS: dict[str, Any] = {"price": "\u0007", "text": "q", "number": 7, "clock": 5000, "instant": 5000, "wall": 5000}
KINDS = ("record", "record", "record", "enum", "fixed", "price")
FIELDS = ("at", "by", "sub")


def scaled(name: str, size: int, scale: int) -> Schema:
    """A decimal in a fixed."""
    return {
        "type": "fixed",
        "name": name,
        "size": size,
        "logicalType": "decimal",
        "precision": 12 + scale,
        "scale": scale,
    }


class FittedPairs:
    """Makes one reader and writers of it; the same for the same seed.

    Each type of the reader is known by a number. A record of it has a field with that number that no other record has, an
    enum such symbols and a fixed such a size, so that a value says which type it is of.
    """

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.kinds = [self.dice.choice(KINDS) for _ in range(self.dice.randrange(3, 6))]
        self.spaces = [self.dice.choice("ab") for _ in self.kinds]
        self.leaves = {(at, name): self.leaf() for at in range(len(self.kinds)) for name in FIELDS[:2]}
        self.inner = {at: self.shape(at + 1, 1) for at in range(len(self.kinds))}
        self.scales = {at: self.dice.choice((1, 2, 4)) for at in range(len(self.kinds))}
        self.optional = {key for key in self.leaves if self.dice.random() < 0.3}
        """The leaves of records that have a default."""
        self.top = [self.shape(0, 2) for _ in range(self.dice.randrange(2, 5))]

    def leaf(self) -> tuple[str, int]:
        """What a leaf means, and its unit."""
        family = self.dice.choice([*UNITS])
        return family, self.dice.randrange(len(UNITS[family]))

    def shape(self, first: int, depth: int) -> Any:
        """A type whose named types have numbers from `first` on."""
        numbers = range(first, len(self.kinds))
        pick = self.dice.random()
        if not numbers or pick < 0.15:
            return ("leaf", *self.leaf())
        if depth and pick < 0.4:
            return (self.dice.choice(("array", "map")), self.shape(first, depth - 1))
        if pick < 0.65:
            return ("one", self.dice.choice(numbers))
        members = self.dice.sample(numbers, min(len(numbers), self.dice.randrange(1, 4)))
        leaf = [self.leaf()] if self.dice.random() < 0.4 else []
        return ("choice", members, leaf, self.dice.random() < 0.5 or len(members) + len(leaf) < 2)

    # ------------------------------------------------------------------------------------------------ readers

    def reader(self) -> Schema:
        """The reader."""
        known: set[str] = set()
        fields = [
            {"name": f"f{at}", "aliases": [f"g{at}"], "type": self.read(shape, known)}
            for at, shape in enumerate(self.top)
        ]
        return {"type": "record", "name": "Top", "fields": fields}

    def read(self, shape: Any, known: set[str]) -> Schema:
        """A shape as the reader has it."""
        match shape:
            case ("leaf", family, unit):
                return UNITS[family][unit]
            case ("array", items):
                return {"type": "array", "items": self.read(items, known)}
            case ("map", items):
                return {"type": "map", "values": self.read(items, known)}
            case ("one", number):
                return self.target(number, known)
        _, members, leaves, nullable = shape
        named = [self.target(number, known) for number in members]
        return [*(["null"] if nullable else []), *named, *(UNITS[family][unit] for family, unit in leaves)]

    def target(self, number: int, known: set[str]) -> Schema:
        """A named type of the reader: defined where it stands first."""
        name = f"{self.spaces[number]}.T{number}"
        if name in known:
            return name
        known.add(name)
        schema = self.define(number, name, {name: UNITS[family][unit] for name, (family, unit) in self.own(number)})
        if schema["type"] == "record":
            schema["fields"] += [
                {"name": "sub", "type": self.read(self.inner[number], known)},
                {"name": "new", "type": "int", "default": number},
            ]
            for field in schema["fields"][1:3]:
                field["aliases"] = [f"old_{field['name']}"]
                if (number, field["name"]) in self.optional:
                    field["default"] = DEFAULTS[self.leaves[number, field["name"]][0]]
        if schema["type"] == "enum" and number % 2:
            schema["default"] = f"S{number}"
        return {**schema, "aliases": [f"old.K{number}"]}

    def own(self, number: int) -> list[tuple[str, tuple[str, int]]]:
        return [(name, self.leaves[number, name]) for name in FIELDS[:2]]

    def define(self, number: int, name: str, leaves: dict[str, Schema], scale: int | None = None) -> Schema:
        """A type of this number under a name; a record without the fields that hold others."""
        match self.kinds[number]:
            case "record":
                fields = [{"name": f"id{number}", "type": "int"}]
                return {
                    "type": "record",
                    "name": name,
                    "fields": [*fields, *({"name": one, "type": leaves[one]} for one in leaves)],
                }
            case "enum":
                return {"type": "enum", "name": name, "symbols": [f"S{number}", f"U{number}"]}
            case "price":
                return scaled(name, 8 + number, self.scales[number] if scale is None else scale)
        return {"type": "fixed", "name": name, "size": 20 + number}

    def writer(self, seed: int) -> "FittedWriters":
        """What makes a writer."""
        return FittedWriters(self, seed)


class FittedWriters:
    """Makes one writer of a reader."""

    def __init__(self, pairs: FittedPairs, seed: int) -> None:
        self.pairs, self.dice = pairs, random.Random(seed)
        self.known: set[str] = set()
        self.units: dict[Any, int] = {}
        self.steady = self.dice.random() < 0.7
        """Whether all that is read as one field has one unit, or is missing."""
        self.aliens = 0
        self.twins: set[tuple[int, str]] = set()
        """Types in a choice (by its id) of which the reader takes another one, that comes first or has the reader's name."""

    def schema(self) -> Schema:
        """The writer: the reader's fields in another order, under other names, beside some that are not read."""
        top = [(self.dice.choice((f"f{at}", f"g{at}")), shape, ("Top", at)) for at, shape in enumerate(self.pairs.top)]
        top += [(f"gone{at}", self.dice.choice(self.pairs.top), ("gone", at)) for at in range(self.dice.randrange(3))]
        self.dice.shuffle(top)
        fields = [{"name": name, "type": self.write(shape, owner)} for name, shape, owner in top]
        return {"type": "record", "name": "Top", "fields": fields}

    def write(self, shape: Any, owner: Any) -> Schema:
        """A shape as the writer has it; `owner` is the field of the reader that it is read as."""
        match shape:
            case ("leaf", family, unit):
                leaf = self.unit(family, unit, owner)
                lone = self.steady or family not in EITHER_WAY or self.dice.random() < 0.7
                return leaf if lone else ["int", leaf]
            case ("array", items):
                return {"type": "array", "items": self.write(items, owner)}
            case ("map", items):
                return {"type": "map", "values": self.write(items, owner)}
            case ("one", number):
                names = self.dice.sample(range(3), self.dice.choice((1, 1, 2, 3)))
                parts = [self.variant(number, at) for at in names]
                return parts if len(parts) > 1 else parts[0]
        _, members, leaves, nullable = shape
        parts, twins = [], set[str]()
        most = {number for number in members if self.steady and self.pairs.kinds[number] == "price"}
        for number in sorted(most | {*self.dice.sample(members, self.dice.randrange(1, len(members) + 1))}):
            places = self.dice.sample(range(3), self.dice.randrange(1, 4))
            variants = [self.variant(number, at) for at in places]
            parts += variants
            if self.pairs.kinds[number] != "record":
                variant_names = [str(variant if isinstance(variant, str) else variant["name"]) for variant in variants]
                twins |= {*variant_names} - {variant_names[places.index(0) if 0 in places else 0]}
        more = [self.unit(family, unit, owner) for family, unit in leaves if self.steady or self.dice.random() < 0.8]
        more += ["null"] if nullable and self.dice.random() < 0.8 else []
        more += [self.alien(members)] if self.dice.random() < 0.3 else []
        for part in more:  # types are defined where they stand first, so the others keep their order
            parts.insert(self.dice.randrange(len(parts) + 1), part)
        self.twins |= {(id(parts), name) for name in twins}
        return parts

    def unit(self, family: str, unit: int, owner: Any) -> Schema:
        """A leaf in a unit that the reader's holds."""
        most = len(UNITS[family]) if family in EITHER_WAY else unit + 1
        key = (owner, family) if self.steady else (owner, family, self.dice.random())
        return UNITS[family][self.units.setdefault(key, self.dice.randrange(most)) % most]

    def lacks(self, number: int, name: str) -> bool:
        """Whether a record has no such field."""
        key = ("lacks", number, name) if self.steady else ("lacks", number, name, self.dice.random())
        return (number, name) in self.pairs.optional and bool(self.units.setdefault(key, self.dice.random() < 0.4))

    def variant(self, number: int, at: int) -> Schema:
        """A type that is read as one of the reader: of its name, of its last part, or of its alias, or a record that has its fields."""
        space = self.pairs.spaces[number]
        foreign = self.pairs.kinds[number] == "record" and number % 2
        name = (f"{space}.T{number}", f"z.T{number}", f"x.Foreign{number}" if foreign else f"old.K{number}")[at]
        if name in self.known:
            return name
        self.known.add(name)
        leaves = {
            self.dice.choice((one, f"old_{one}")): self.unit(family, unit, (number, one))
            for one, (family, unit) in self.pairs.own(number)
            if not self.lacks(number, one)
        }
        scale = self.dice.choice([one for one in (1, 2, 4) if one <= self.pairs.scales[number]])
        key = ("scale", number) if self.steady else ("scale", number, at)
        schema = self.pairs.define(number, name, leaves, self.units.setdefault(key, scale))
        match schema["type"]:
            case "record":
                schema["fields"].append({"name": "sub", "type": self.write(self.pairs.inner[number], (number, "sub"))})
                self.dice.shuffle(schema["fields"])
            case "enum" if self.dice.random() < 0.4:
                schema["symbols"].insert(0, "OTHER")
        return schema

    def alien(self, members: list[int]) -> Schema:
        """A type that no type of the choice is read from: its last part is that of one of them, and of another kind."""
        self.aliens += 1
        number = self.dice.choice(members)
        name = f"alien{self.aliens}.T{number}"
        if self.pairs.kinds[number] != "enum" and self.dice.random() < 0.5:
            return {"type": "enum", "name": name, "symbols": ["A"]}
        if self.pairs.kinds[number] not in {"fixed", "price"}:
            return {"type": "fixed", "name": name, "size": 3}
        return {"type": "record", "name": name, "fields": [{"name": "alien", "type": "int"}]}


class RawValues:
    """Makes values of a writer, as fastavro takes them: numbers in whole seconds, and each value of a choice with its type."""

    def __init__(self, schema: Schema, twins: set[tuple[int, str]], seed: int) -> None:
        self.dice, self.schema, self.twins = random.Random(seed), schema, twins
        self.has_twin = False
        """Whether the last value has a part whose type is one of the `twins`."""
        self.named: dict[str, Schema] = {}
        self.collect(schema)

    def collect(self, schema: Schema) -> None:
        """Note the named types."""
        for part in schema if isinstance(schema, list) else [schema]:
            if isinstance(part, dict):
                if "name" in part:
                    self.named[part["name"]] = part
                for inner in [part.get("items"), part.get("values"), *(one["type"] for one in part.get("fields", ()))]:
                    self.collect(inner)

    def make_field(self, field: Schema) -> Any:
        """A value of a field; what is not read may be of any type."""
        had_twin, value = self.has_twin, self.make(field["type"])
        self.has_twin = had_twin if field["name"].startswith("gone") else self.has_twin
        return value

    def make(self, schema: Schema) -> Any:
        """A value of a type."""
        if isinstance(schema, list):
            part = self.dice.choice(schema)
            value = self.make(part)
            named = self.named.get(part if isinstance(part, str) else part.get("name", ""))
            self.has_twin = self.has_twin or (named is not None and (id(schema), named["name"]) in self.twins)
            return (named["name"], value) if named else value
        schema = self.named.get(schema, {"type": schema}) if isinstance(schema, str) else schema
        match schema["type"]:
            case "record":
                return {field["name"]: self.make_field(field) for field in schema["fields"]}
            case "array":
                return [self.make(schema["items"]) for _ in range(self.dice.randrange(1, 3))]
            case "map":
                return {key: self.make(schema["values"]) for key in "kl"[: self.dice.randrange(1, 3)]}
            case "enum":
                return self.dice.choice(schema["symbols"])
            case "bytes":
                return self.dice.randrange(1, 10**6).to_bytes(4, "big")
            case "fixed":
                return self.dice.randrange(1, 10**6).to_bytes(schema["size"], "big")
            case "int" | "long":
                return self.dice.randrange(1, 80) * 1_000_000 if "logicalType" in schema else self.dice.randrange(100)
        return {"string": self.dice.choice("pq"), "null": None}[schema["type"]]


def plain_text(schema: Schema) -> str:
    """A schema without logical types, so that raw numbers are written with it."""

    def strip(part: Schema) -> Schema:
        if isinstance(part, dict):
            return {name: strip(one) for name, one in part.items() if name not in {"logicalType", "precision", "scale"}}
        return [strip(one) for one in part] if isinstance(part, list) else part

    return json.dumps(strip(schema))
