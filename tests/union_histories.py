"""Random histories of unions whose types come, go, are renamed and look alike, and one frame for each type of each version."""

import copy
import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.frames import frame
from treaty.plan.avro.envelope import WHOLE

FIELDS = (("id", "long", 0), ("at", "long", 0), ("by", "string", ""), ("ok", "boolean", False))
"""Fields that the records are made of: name, type, default."""
POOL = ("a.A", "b.A", "a.B", "b.B", "a.C")
"""Names of types that are used again by others, in careless histories."""


@dataclass(frozen=True, slots=True)
class BranchFrame:
    """A frame of a version (its id) with a value of one type of a union; `steps` lead to the union in the record."""

    schema_id: int
    type: int | str
    union: int
    steps: tuple[str, ...]
    value: bytes


class UnionHistory:
    """Makes the versions of one or two unions; the same for the same seed.

    In a careful history a name belongs to one type for ever, and `types` are numbers. In a careless one names and
    aliases are drawn from a few, and the types of a version are known by their names.
    """

    def __init__(self, seed: int, *, careless: bool = False) -> None:
        self.dice = random.Random(seed)
        self.careless = careless
        self.count = 0
        self.types: dict[int, dict[str, Any]] = {}
        self.shape = self.dice.choice(["field", "field", "list", "map", "root", "record", "inside", "beside"])
        count = 2 if self.shape in {"inside", "beside"} else 1
        self.unions: list[list[int]] = [[self.new_type(), self.new_type()] for _ in range(count)]
        self.nullable = [self.dice.random() < 0.4 for _ in self.unions]
        self.gone: list[list[int]] = [[] for _ in self.unions]
        if self.shape == "inside":
            # The second union is a field of the first type of the first one.
            host = self.types[self.unions[0][0]] = self.new_record()
            host["fields"] = [{"name": "u", "type": None}]

    def new_record(self) -> dict[str, Any]:
        self.count += 1
        return {"type": "record", "name": f"{self.dice.choice('ab')}.T{self.count}", "fields": self.some_fields()}

    def some_fields(self) -> list[Any]:
        made = []
        for name, kind, default in self.dice.sample(FIELDS, self.dice.randrange(4)):
            made.append({"name": name, "type": kind} | ({"default": default} if self.dice.random() < 0.4 else {}))
        return made

    def new_type(self) -> int:
        made = self.new_record()
        pick = self.dice.random()
        if pick < 0.1:
            made = {"type": "enum", "name": made["name"], "symbols": ["X", "Y"]}
        elif pick < 0.2:
            made = {"type": "fixed", "name": made["name"], "size": 2}
        if self.dice.random() < 0.15:  # a name that it will have later
            self.count += 1
            made["aliases"] = [f"a.T{self.count}"]
        self.types[self.count] = made
        return self.count

    def next(self) -> None:
        """Change one union, and perhaps a type."""
        at = self.dice.randrange(len(self.unions))
        mine, gone = self.unions[at], self.gone[at]
        fixed = 1 if self.shape == "inside" and at == 0 else 0
        one = self.types[self.dice.choice(mine[fixed:] or mine)]
        match self.dice.randrange(8):
            case 0 | 1 | 2:
                mine.append(self.new_type())
            case 3 if len(mine) > 1 + fixed:
                gone.append(mine.pop(self.dice.randrange(fixed, len(mine))))
            case 4 if gone:
                mine.append(gone.pop())
            case 5:
                self.rename(one)
            case 6 if one["type"] == "record" and (
                left := [x for x in FIELDS if x[0] not in {f["name"] for f in one["fields"]}]
            ):
                name, kind, default = self.dice.choice(left)
                one["fields"].append({"name": name, "type": kind, "default": default})
            case _:
                self.nullable[at] = not self.nullable[at]

    def rename(self, one: dict[str, Any]) -> None:
        """A new name, which its aliases lead from, which is an alias already, or which is the same but for the namespace."""
        old, aliases = one["name"], one.get("aliases", [])
        space, _, last = old.partition(".")
        match self.dice.randrange(3):
            case 0 if aliases and not self.careless:
                one["name"], one["aliases"] = aliases[0], aliases[1:]
            case 1:
                one["name"] = f"{'b' if space == 'a' else 'a'}.{last}"
            case _:
                self.count += 1
                one["name"], one["aliases"] = f"a.T{self.count}", [old]

    def careless_names(self) -> None:
        """Give every type a name of the pool, and aliases too; a type never holds one that had its name."""
        turn = self.dice.randrange(2)
        for at, numbers in enumerate(self.unions):
            pool = [one for place, one in enumerate(POOL) if self.shape != "beside" or place % 2 == (at + turn) % 2]
            pool = [f"{one}{at}" for one in pool] if self.shape == "inside" else pool
            while len(numbers) > len(pool):
                numbers.pop()
            for number, name in zip(numbers, self.dice.sample(pool, len(numbers)), strict=True):
                self.types[number]["name"] = name
                aliases = self.dice.sample(pool, self.dice.randrange(2))
                self.types[number]["aliases"] = [one for one in aliases if one != name]

    def schema(self) -> Any:
        """This version."""
        parts: list[Any] = []
        for numbers, nullable in zip(self.unions, self.nullable, strict=True):
            some: list[Any] = [copy.deepcopy(self.types[number]) for number in self.dice.sample(numbers, len(numbers))]
            if nullable:
                some.insert(self.dice.randrange(len(some) + 1), "null")
            parts.append(some)
        outer = parts[0]
        if self.shape == "inside":
            host = self.types[self.unions[0][0]]["name"]
            (mine,) = (one for one in outer if one != "null" and one["name"] == host)
            mine["fields"] = [one | ({"type": parts[1]} if one["name"] == "u" else {}) for one in mine["fields"]]
        made = self.around(outer)
        if self.shape == "beside":
            made["fields"].append({"name": "w", "type": parts[1]})
        return made

    def around(self, union: Any) -> Any:
        match self.shape:
            case "root":
                return union
            case "list":
                union = {"type": "array", "items": union}
            case "map":
                union = {"type": "map", "values": union}
            case "record":
                union = {"type": "record", "name": "In", "fields": [{"name": "u", "type": union}]}
        return {"type": "record", "name": "Top", "fields": [{"name": "u", "type": union}]}

    def frames(self, schema_id: int, text: str) -> list[BranchFrame]:
        """One frame for each type of this version."""
        made: list[BranchFrame] = []
        if self.shape == "beside":
            for at, name in enumerate("uw"):
                other = self.types[self.unions[1 - at][0]]
                for number in self.unions[at]:
                    one = self.types[number]
                    row = {name: (one["name"], self.value(one)), "wu"[at]: (other["name"], self.value(other))}
                    made.append(BranchFrame(schema_id, self.key(number), at, (name,), frame(schema_id, text, row)))
            return made
        ways: Mapping[str, tuple[tuple[str, ...], Callable[[Any], Any]]] = {
            "root": ((WHOLE,), lambda one: one),
            "list": (("u", "[]"), lambda one: {"u": [one]}),
            "map": (("u", "{}"), lambda one: {"u": {"k": one}}),
            "record": (("u", "u"), lambda one: {"u": {"u": one}}),
        }
        steps, wrap = ways.get(self.shape, (("u",), lambda one: {"u": one}))
        for number in self.unions[0]:
            one = self.types[number]
            value = self.value(one)
            if self.shape == "inside" and number == self.unions[0][0]:
                value["u"] = (self.types[self.unions[1][0]]["name"], self.value(self.types[self.unions[1][0]]))
            made.append(
                BranchFrame(schema_id, self.key(number), 0, steps, frame(schema_id, text, wrap((one["name"], value))))
            )
        for number in self.unions[1] if self.shape == "inside" else ():
            host, one = self.types[self.unions[0][0]], self.types[number]
            value = self.value(host) | {"u": (one["name"], self.value(one))}
            sent = frame(schema_id, text, wrap((host["name"], value)))
            made.append(BranchFrame(schema_id, self.key(number), 1, (*steps, "any member", "u"), sent))
        return made

    def key(self, number: int) -> int | str:
        return self.types[number]["name"] if self.careless else number

    @staticmethod
    def value(one: Any) -> Any:
        match one["type"]:
            case "enum":
                return "X"
            case "fixed":
                return b"xy"
        return {
            field["name"]: {"long": 7, "string": "s", "boolean": True}.get(str(field["type"]))
            for field in one["fields"]
        }


def union_history(seed: int, versions: int = 5, *, careless: bool = False) -> list[tuple[str, list[BranchFrame]]]:
    """The versions of a history, each with one frame for each type of its unions; ids are places from 1."""
    made = UnionHistory(seed, careless=careless)
    found = []
    for place in range(versions):
        if place:
            made.next()
        if careless:
            made.careless_names()
        text = json.dumps(made.schema())
        found.append((text, made.frames(place + 1, text)))
    return found
