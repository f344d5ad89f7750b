"""Random pairs of Avro schemas of many named types, and what a value of the old one must be when it is read as the new one.

Records refer to each other and to themselves, stand in large unions, and may share their last name across namespaces.
"""

import copy
import json
import random
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Node = Any
"""A type: the name of a primitive or of a definition, a list of branches, an array or a map."""

WIDER = {
    "int": ("long", "float", "double"), "long": ("float", "double"), "float": ("double",),
    "string": ("bytes",), "bytes": ("string",),
}  # fmt: skip
PRIMITIVES = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
SPACES = ("acme", "acme", "acme.v2", "other")
DEFAULTS: dict[str, Any] = {
    "null": None, "boolean": True, "int": 7, "long": 2**40, "float": 0.5, "double": -2.0, "bytes": "ab", "string": "q",
}  # fmt: skip
DEPTH = 5
"""Records inside records of a value, where they may end."""
HARD_DEPTH = 12
"""Records inside records of a value; one that is deeper is given up."""


class EndlessError(Exception):
    """A value has no end, or none that is near."""


@dataclass
class Types:
    """A schema: its definitions by their full names, and its root."""

    named: dict[str, dict[str, Any]]
    root: Node

    def write_text(self) -> str:
        """The schema as JSON, each definition where it is first met."""
        seen: set[str] = set()
        return json.dumps(self._opened(self.root, seen))

    def _opened(self, node: Node, seen: set[str]) -> Node:
        if isinstance(node, list):
            return [self._opened(one, seen) for one in node]
        if isinstance(node, dict):
            word = "items" if node["type"] == "array" else "values"
            return {**node, word: self._opened(node[word], seen)}
        if node not in self.named or node in seen:
            return node
        seen.add(node)
        made = dict(self.named[node])
        if "fields" in made:
            made["fields"] = [{**one, "type": self._opened(one["type"], seen)} for one in made["fields"]]
        return made

    def list_places(self) -> Iterator[tuple[Any, Any]]:
        """The places of all fields' types, as container and key."""
        for made in self.named.values():
            for field in made.get("fields", ()):
                yield field, "type"


class RecordPairs:
    """Makes a pair; the same for the same state of chance."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.count = 0

    def make(self) -> tuple[Types, Types]:
        """An old schema and a new one."""
        old = self.types()
        new = copy.deepcopy(old)
        for _ in range(self.chance.choice((0, 1, 1, 1, 2, 3))):
            self.change(new)
        return (new, old) if self.likely(0.3) else (old, new)

    def likely(self, share: float) -> bool:
        return self.chance.random() < share

    def new_name(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def types(self) -> Types:
        """Definitions, each of which may refer to any other one, and a root that leads to many."""
        made = Types({}, None)
        for _ in range(self.chance.choice((3, 5, 8, 8, 12, 40))):
            short = self.new_name("T")
            if made.named and self.likely(0.15):
                short = self.chance.choice(list(made.named)).rpartition(".")[2]
            full = f"{self.chance.choice(SPACES)}.{short}"
            if full not in made.named:
                made.named[full] = self.definition(full)
        names = list(made.named)
        for at, full in enumerate(names):
            for _ in range(self.chance.randint(1, 3) if "fields" in made.named[full] else 0):
                made.named[full]["fields"].append(self.field(self.node(names[at + 1 :], names)))
        events = self.chance.sample(names, len(names) if self.likely(0.7) else max(1, len(names) // 2))
        fields = [
            self.field(events),
            self.field(self.chance.choice(names)),
            self.field({"type": "map", "values": names[-1]}),
        ]
        made.named["acme.Root"] = {"type": "record", "name": "acme.Root", "fields": fields}
        made.root = "acme.Root" if self.likely(0.8) else events
        return made

    def definition(self, full: str) -> dict[str, Any]:
        """A type of its own without references."""
        kind = self.chance.choice(("record", "record", "record", "enum", "fixed"))
        if kind == "enum":
            size = self.chance.choice((1, 3, 5, 60))
            made: dict[str, Any] = {"type": kind, "name": full, "symbols": [f"S{at}" for at in range(size)]}
            return {**made, "default": "S0"} if self.likely(0.3) else made
        if kind == "fixed":
            return {"type": kind, "name": full, "size": self.chance.choice((1, 4, 16))}
        wide = self.chance.choice((1, 2, 4, 20))
        return {"type": kind, "name": full, "fields": [self.field(self.simple()) for _ in range(wide)]}

    def field(self, node: Node) -> dict[str, Any]:
        made = {"name": self.new_name("f"), "type": node}
        first = node[0] if isinstance(node, list) else node
        if isinstance(first, str) and first in DEFAULTS and self.likely(0.5):
            made["default"] = DEFAULTS[first]
        return made

    def simple(self) -> Node:
        one = self.chance.choice(PRIMITIVES)
        return ["null", one] if one != "null" and self.likely(0.2) else one

    def node(self, later: list[str], names: list[str]) -> Node:
        """A type that refers to others: to later ones as it likes, to any of them where a value may end."""
        match self.chance.randrange(6):
            case 0 if later:
                return self.chance.choice(later)
            case 1:
                return {"type": "array", "items": self.chance.choice(names)}
            case 2:
                return {"type": "map", "values": ["null", self.chance.choice(names)]}
            case 3:
                return ["null", *self.chance.sample(names, min(len(names), self.chance.randint(2, 4)))]
        return ["null", self.chance.choice(names)]

    # --------------------------------------------------------------------------------------------------- changes

    def change(self, types: Types) -> None:
        """One change, where there is what it changes."""
        full = self.chance.choice(list(types.named))
        made = types.named[full]
        change = self.chance.randrange(10)
        if change == 0:
            self.rename(types, full)
        elif change == 1:
            self.add_twin(types, full)
        elif change <= 4:
            self.change_node(types)
        elif made["type"] == "enum":
            self.change_symbols(made)
        elif made["type"] == "fixed":
            made["size"] += self.likely(0.5)
        else:
            self.change_fields(made)

    def rename(self, types: Types, full: str) -> None:
        """Another name or namespace, mostly with the old name as an alias."""
        space, _, short = full.rpartition(".")
        other = f"{self.chance.choice(SPACES)}.{short}" if self.likely(0.4) else f"{space}.{self.new_name('N')}"
        if other in types.named:
            return
        made = types.named.pop(full)
        made["name"] = other
        if self.likely(0.7):
            made["aliases"] = [full]
        types.named[other] = made
        types.root = renamed(types.root, full, other)
        for holder, key in types.list_places():
            holder[key] = renamed(holder[key], full, other)

    def add_twin(self, types: Types, full: str) -> None:
        """A changed copy under another namespace, in every union that has the first."""
        short = full.rpartition(".")[2]
        other = f"{self.chance.choice(('twin', 'acme', 'other'))}.{short}"
        if other in types.named:
            return
        made = types.named[other] = copy.deepcopy(types.named[full])
        made["name"] = other
        if made["type"] == "record" and made["fields"]:
            made["fields"].pop(self.chance.randrange(len(made["fields"])))
        for holder, key in types.list_places():
            if isinstance(holder[key], list) and full in holder[key]:
                holder[key].insert(self.chance.randrange(len(holder[key]) + 1), other)

    def change_node(self, types: Types) -> None:
        holder, key = self.chance.choice(list(types.list_places()))
        node = holder[key]
        names = list(types.named)
        match node:
            case list() if self.likely(0.6):
                extra = self.chance.choice((*PRIMITIVES, *names))
                node = [one for one in node if one != extra or self.likely(0.5)]
                node = node if extra in node or self.likely(0.4) else [*node, extra]
                self.chance.shuffle(node)
            case list():
                node = self.chance.choice(node)
            case str() if node in WIDER and self.likely(0.7):
                node = self.chance.choice(WIDER[node])
            case _ if self.likely(0.6):
                node = ["null", node] if node != "null" else ["null", "int"]
            case _:
                node = self.node([], names) if self.likely(0.5) else self.simple()
        holder[key] = node
        holder.pop("default", None)

    def change_symbols(self, made: dict[str, Any]) -> None:
        if self.likely(0.5) or len(made["symbols"]) == 1:
            made["symbols"].append(self.new_name("S_"))
        else:
            made["symbols"].pop()
        if self.likely(0.4):
            made["default"] = self.chance.choice(made["symbols"])
        elif made.get("default") not in made["symbols"]:
            made.pop("default", None)

    def change_fields(self, made: dict[str, Any]) -> None:
        fields = made["fields"]
        field = self.chance.choice(fields) if fields else self.field("int")
        match self.chance.randrange(6):
            case 0 | 1:
                fields.insert(self.chance.randrange(len(fields) + 1), self.field(self.simple()))
            case 2 | 3 if field in fields:
                fields.remove(field)
            case 4:
                if self.likely(0.8):
                    field["aliases"] = [field["name"]]
                field["name"] = self.new_name("g")
            case _:
                self.chance.shuffle(fields)


def renamed(node: Node, old: str, new: str) -> Node:
    """A type with another name for one of those that it refers to."""
    if isinstance(node, list):
        return [renamed(one, old, new) for one in node]
    if isinstance(node, dict):
        return {word: renamed(one, old, new) if word in {"items", "values"} else one for word, one in node.items()}
    return new if node == old else node


# ------------------------------------------------------------------------------------------------------------- values


def draw_value(types: Types, node: Node, chance: random.Random, depth: int = 0) -> Any:
    """A value; one of a union is a pair of the branch's name and what is in it."""
    if depth > HARD_DEPTH:
        raise EndlessError
    deep = depth >= DEPTH
    match node:
        case list():
            if not node:
                raise EndlessError
            ends = [one for one in node if one not in types.named or types.named[one]["type"] != "record"]
            branch = chance.choice(ends if deep and ends else node)
            name = branch if isinstance(branch, str) else branch["type"]
            return None if branch == "null" else (name, draw_value(types, branch, chance, depth))
        case {"type": "array", "items": items}:
            return [] if deep else [draw_value(types, items, chance, depth + 1) for _ in range(chance.randrange(3))]
        case {"type": "map", "values": values}:
            return (
                {}
                if deep
                else {key: draw_value(types, values, chance, depth + 1) for key in "kn"[: chance.randrange(3)]}
            )
        case str() if node in types.named:
            made = types.named[node]
            if made["type"] == "enum":
                return chance.choice(made["symbols"])
            if made["type"] == "fixed":
                return chance.randbytes(made["size"])
            return {one["name"]: draw_value(types, one["type"], chance, depth + 1) for one in made["fields"]}
    choices: dict[str, tuple[Any, ...]] = {
        "null": (None,), "boolean": (True, False), "int": (0, -1, 2**31 - 1, -(2**31), 300),
        "long": (0, -5, 2**63 - 1, -(2**63), 2**53 + 1), "float": (0.0, 1.5, -0.25, 2.0**100),
        "double": (0.1, -1e300, 3.0), "bytes": (b"", b"ab", "né".encode()), "string": ("", "q", "né", "x" * 40),
    }  # fmt: skip
    return chance.choice(choices[node])


class Judge:
    """Whether what was read as one schema is what was written as another; by the words of the specification alone."""

    def __init__(self, old: Types, new: Types, *, by_fastavro: bool) -> None:
        """`by_fastavro`: fields that the old schema does not have are there, and a whole number read as a float keeps all its bits."""
        self.old = old
        self.new = new
        self.by_fastavro = by_fastavro

    def find_fault(self, value: Any, read: Any) -> str:
        """Where what was read is not what was written, in words; nothing where it is."""
        return self._fault(self.old.root, value, self.new.root, read, "")

    def _fault(self, old: Node, value: Any, new: Node, read: Any, path: str) -> str:
        if isinstance(old, list):
            kinds = {"array": dict, "map": dict}
            name, value = value if value is not None else ("null", None)
            old = next(
                one for one in old if one == name or (name in kinds and isinstance(one, dict) and one["type"] == name)
            )
        if isinstance(new, list):
            if isinstance(read, tuple):
                return (
                    self._fault(old, value, read[0], read[1], path)
                    if read[0] in new
                    else f"{path}: {read[0]} is no branch"
                )
            faults = [self._fault(old, value, one, read, path) for one in new]
            return "" if "" in faults else max(faults, key=len, default=f"{path}: no branch")
        if self.by_fastavro and isinstance(read, tuple):
            read = read[1]  # the name of a branch of the writer's, where the reader has no union
        if isinstance(old, dict) and isinstance(new, dict) and old["type"] == new["type"]:
            return self._inside(old, value, new, read, path)
        if isinstance(old, str) and isinstance(new, str):
            if old in self.old.named and new in self.new.named:
                return self._of_names(self.old.named[old], value, self.new.named[new], read, path)
            if old not in self.old.named and new not in self.new.named:
                kept = self.by_fastavro and old in {"int", "long"} and new == "float" and read == float(value)
                return "" if kept or is_carried(old, value, new, read) else f"{path}: {old} {value!r} as {new} {read!r}"
        return f"{path}: {old} read as {new}"

    def _inside(self, old: Node, value: Any, new: Node, read: Any, path: str) -> str:
        inner = [one["items" if one["type"] == "array" else "values"] for one in (old, new)]
        if type(read) is not type(value) or len(read) != len(value):
            return f"{path}: {value!r} read as {read!r}"
        keys = range(len(value)) if isinstance(value, list) else value
        faults = (self._fault(inner[0], value[key], inner[1], read[key], f"{path}/{key}") for key in keys)
        return next(filter(None, faults), "")

    def _of_names(self, old: dict[str, Any], value: Any, new: dict[str, Any], read: Any, path: str) -> str:
        shorts = [one["name"].rpartition(".")[2] for one in (old, new)]
        if old["type"] != new["type"] or (shorts[0] != shorts[1] and old["name"] not in new.get("aliases", ())):
            return f"{path}: {old['name']} read as {new['name']}"
        if old["type"] == "record":
            return self._fields(old, value, new, read, path)
        wanted = value if old["type"] == "fixed" or value in new["symbols"] else new.get("default")
        return "" if read == wanted and old.get("size") == new.get("size") else f"{path}: {value!r} read as {read!r}"

    def _fields(self, old: dict[str, Any], value: Any, new: dict[str, Any], read: Any, path: str) -> str:
        written = {one["name"]: one["type"] for one in old["fields"]}
        sources = {
            one["name"]: next((name for name in (one["name"], *one.get("aliases", ())) if name in written), None)
            for one in new["fields"]
        }
        if not isinstance(read, dict) or read.keys() != {
            name for name, source in sources.items() if source or self.by_fastavro
        }:
            return f"{path}: the fields of {new['name']} are not there"
        faults = (
            self._fault(written[source], value[source], field["type"], read[field["name"]], f"{path}/{field['name']}")
            if (source := sources[field["name"]]) is not None
            else self._default(field, read, path)
            for field in new["fields"]
        )
        return next(filter(None, faults), "")

    def _default(self, field: dict[str, Any], read: Any, path: str) -> str:
        if not self.by_fastavro:
            return "" if "default" in field else f"{path}/{field['name']}: no default"
        wanted = field.get("default", EndlessError)
        either = (wanted, wanted.encode() if isinstance(wanted, str) else wanted)
        return "" if read[field["name"]] in either else f"{path}/{field['name']}: not its default"


def is_carried(old: str, value: Any, new: str, read: Any) -> bool:
    """Whether one primitive was read as another as the specification promotes it."""
    if old != new and new not in WIDER.get(old, ()):
        return False
    if new in {"float", "double"}:
        wanted = struct.unpack("<f", struct.pack("<f", value))[0] if new == "float" else float(value)
        return type(read) is float and read == wanted
    if old != new and new in {"bytes", "string"}:
        value = value.encode() if new == "bytes" else value.decode()
    return type(read) is type(value) and bool(read == value)


def has_other_names(old: Types, new: Types) -> bool:
    """Whether names decide: types have been renamed or came or went, or two have one last name."""
    return old.named.keys() != new.named.keys() or has_twins(new)


def has_twins(types: Types) -> bool:
    """Whether two types have one last name."""
    return len({full.rpartition(".")[2] for full in types.named}) < len(types.named)
