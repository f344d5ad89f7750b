"""Random pairs of Avro schemas in which names decide: records, enums and fixed of few short names in several namespaces."""

import copy
import random
from collections.abc import Callable, Iterator
from typing import Any

from tests.oracle.avro_logical import BY_KIND

Node = Any
PRIMITIVES = ("null", "boolean", "int", "int", "long", "long", "float", "double", "bytes", "bytes", "string", "string")
SPACES = ("a", "b", "c", "a.b")
"""None has no namespace: what Java takes for a name without one inside a namespace depends on the order of definitions."""
WIDER = {
    "int": ("long", "float", "double"),
    "long": ("float", "double"),
    "float": ("double",),
    "string": ("bytes",),
    "bytes": ("string",),
}
DEFAULTS = {"int": 7, "long": -8, "float": 0.1, "double": 0.1, "bytes": "\u00ff", "string": "t", "boolean": True}
NAMED = ("record", "enum", "fixed")


class UnionMaker:
    """Makes one schema: many unions, few names."""

    def __init__(self, chance: random.Random, logical: float) -> None:
        self._chance = chance
        self._logical = logical
        self.defined: dict[str, Node] = {}

    def schema(self) -> Node:
        """A record of some fields, or a union."""
        return self.union(3) if self._chance.random() < 0.4 else self.record(3)

    def type(self, depth: int) -> Node:
        """Any type."""
        kind = self._chance.choice(("leaf", "leaf", "leaf", "named", "record", "union", "union", "array", "map"))
        if depth == 0 or kind == "leaf":
            return self.leaf()
        if kind in {"array", "map"}:
            return {"type": kind, "items" if kind == "array" else "values": self.type(depth - 1)}
        made = {"named": self.named, "record": self.record, "union": self.union}[kind](depth - 1)
        return made if made is not None else self.leaf()

    def leaf(self) -> Node:
        """A primitive type, now and then with a logical one."""
        kind = self._chance.choice(PRIMITIVES)
        if kind in BY_KIND and self._chance.random() < self._logical:
            return {"type": kind, **self._chance.choice(BY_KIND[kind])}
        return kind

    def name(self, kind: str) -> str | None:
        """A name that is not taken."""
        space = self._chance.choice(SPACES)
        full = f"{space}.{kind[0].upper()}"
        return None if full in self.defined else full

    def named(self, depth: int) -> Node | None:
        """An enum or a fixed, or one of the types that are there."""
        del depth
        if self.defined and self._chance.random() < 0.3:
            return self._chance.choice(list(self.defined))
        kind = self._chance.choice(("enum", "fixed"))
        full = self.name(kind)
        if full is None:
            return None
        more: dict[str, Node] = {"size": self._chance.choice((2, 2, 3))}
        if kind == "enum":
            more = {"symbols": list("ABC"[: self._chance.choice((2, 3))])}
        self.defined[full] = {"type": kind, "name": full, **more}
        return self.defined[full]

    def record(self, depth: int) -> Node | None:
        """A record; the same short name has now the same fields, now others."""
        full = self.name("record")
        if full is None:
            return None
        made: dict[str, Node] = {"type": "record", "name": full, "fields": []}
        self.defined[full] = made
        for at in range(self._chance.choice((1, 1, 2, 3))):
            name = self._chance.choice(("x", "y", f"f{at}"))
            if all(field["name"] != name for field in made["fields"]):
                field = {"name": name, "type": self.type(depth)}
                if isinstance(field["type"], str) and field["type"] in DEFAULTS and self._chance.random() < 0.5:
                    field["default"] = DEFAULTS[field["type"]]
                made["fields"].append(field)
        return made

    def union(self, depth: int) -> Node:
        """A union, most often with several records."""
        branches: list[Node] = []
        words: set[str] = set()
        for _ in range(self._chance.randrange(2, 6)):
            before = dict(self.defined)
            made = self.record(depth) if self._chance.random() < 0.5 else self.type(depth)
            made = self.leaf() if made is None else made
            word = word_of(made, self.defined)
            if word == "union" or word in words:
                self.defined = before
            else:
                words.add(word)
                branches.append(made)
        return branches


def word_of(node: Node, defined: dict[str, Node]) -> str:
    """What a branch is called in a union: no two may be called the same."""
    if isinstance(node, list):
        return "union"
    if isinstance(node, str):
        return node
    return str(node["name"] if node["type"] in NAMED else node["type"])


def places(node: Node) -> Iterator[tuple[Any, Any]]:
    """Every place of a type, as container and key."""
    queue: list[tuple[Any, Any]] = [(node, "root")]
    while queue:
        holder, key = queue.pop(0)
        yield holder, key
        here = holder[key]
        if isinstance(here, list):
            queue += [(here, at) for at in range(len(here))]
        elif isinstance(here, dict):
            queue += [(field, "type") for field in here.get("fields", ())]
            queue += [(here, word) for word in ("items", "values") if word in here]


def rename(root: Node, old: str, new: str) -> None:
    """Give a named type another full name everywhere."""
    for holder, key in list(places(root)):
        here = holder[key]
        if here == old:
            holder[key] = new
        elif isinstance(here, dict) and here.get("name") == old and here["type"] in NAMED:
            here["name"] = new


def _definitions(root: Node) -> list[Node]:
    return [h[k] for h, k in places(root) if isinstance(h[k], dict) and h[k]["type"] in NAMED]


def _respace(root: Node, chance: random.Random) -> None:
    names = [one["name"] for one in _definitions(root)]
    if names:
        old = chance.choice(names)
        space, short = chance.choice(SPACES), old.rpartition(".")[2]
        short = chance.choice((short, short, f"{short}{short}"))
        new = f"{space}.{short}"
        if new not in names:
            rename(root, old, new)
            if chance.random() < 0.5:
                (one,) = (each for each in _definitions(root) if each["name"] == new)
                one["aliases"] = [old]


def _swap(root: Node, chance: random.Random) -> None:
    names = [one["name"] for one in _definitions(root) if one["type"] == "record"]
    if len(names) > 1:
        one, other = chance.sample(names, 2)
        rename(root, one, "swap.Swap")
        rename(root, other, one)
        rename(root, "swap.Swap", other)


def _widen(root: Node, chance: random.Random) -> None:
    found = [(h, k) for h, k in places(root) if _kind(h[k]) in WIDER]
    if found:
        holder, key = chance.choice(found)
        holder[key] = chance.choice(WIDER[_kind(holder[key])])


def _dress(root: Node, chance: random.Random) -> None:
    found = [(h, k) for h, k in places(root) if isinstance(h[k], str) and h[k] in BY_KIND]
    if found:
        holder, key = chance.choice(found)
        holder[key] = {"type": holder[key], **chance.choice(BY_KIND[holder[key]])}


def _shuffle(root: Node, chance: random.Random) -> None:
    unions = [h[k] for h, k in places(root) if isinstance(h[k], list)]
    for union in unions:
        inside = {word_of(each, {}) for each in union if isinstance(each, dict)}
        if not inside & {each for each in union if isinstance(each, str)}:
            chance.shuffle(union)


def _branch(root: Node, chance: random.Random) -> None:
    unions = [h[k] for h, k in places(root) if isinstance(h[k], list)]
    names = {one["name"] for one in _definitions(root)}
    if not unions:
        return
    union = chance.choice(unions)
    words = {word_of(each, {}) for each in union}
    extra: list[Node] = [kind for kind in dict.fromkeys(PRIMITIVES) if kind not in words]
    records = [one for one in union if isinstance(one, dict) and one["type"] == "record"]
    for space in ("c", "d"):
        for one in records:
            full = f"{space}.{one['name'].rpartition('.')[2]}"
            if full not in names:
                fields = [each for each in one["fields"] if not isinstance(each["type"], (dict, list))]
                extra.append({"type": "record", "name": full, "fields": copy.deepcopy(fields)})
    union.insert(chance.randrange(len(union) + 1), chance.choice(extra))


def _wrap(root: Node, chance: random.Random) -> None:
    found = [(h, k) for h, k in places(root) if not isinstance(h, list) and not isinstance(h[k], list)]
    if found:
        holder, key = chance.choice(found)
        if holder[key] != "null":
            holder[key] = ["null", holder[key]] if chance.random() < 0.5 else [holder[key], "null"]
            holder.pop("default", None)


def _records(root: Node) -> list[Node]:
    return [one for one in _definitions(root) if one["type"] == "record"]


def _add_field(root: Node, chance: random.Random) -> None:
    if found := _records(root):
        fields, kind = chance.choice(found)["fields"], chance.choice(tuple(DEFAULTS))
        name = chance.choice(("x", "y", "z"))
        if all(field["name"] != name for field in fields):
            fields.insert(chance.randrange(len(fields) + 1), {"name": name, "type": kind, "default": DEFAULTS[kind]})


def _drop_field(root: Node, chance: random.Random) -> None:
    if found := _records(root):
        fields = chance.choice(found)["fields"]
        simple = [field for field in fields if isinstance(field["type"], str)]
        if simple:
            fields.remove(chance.choice(simple))


def _rename_field(root: Node, chance: random.Random) -> None:
    if found := _records(root):
        fields = chance.choice(found)["fields"]
        if fields:
            field = chance.choice(fields)
            field["aliases"] = [field["name"]]
            field["name"] = f"{field['name']}n"


def _symbols(root: Node, chance: random.Random) -> None:
    enums = [one for one in _definitions(root) if one["type"] == "enum"]
    if enums:
        one = chance.choice(enums)
        one["symbols"] = chance.sample("ABCD", chance.choice((2, 3)))
        if chance.random() < 0.5:
            one["default"] = one["symbols"][0]


def _kind(node: Node) -> str:
    return node if isinstance(node, str) else node["type"] if isinstance(node, dict) else "union"


CHANGES: tuple[Callable[[Node, random.Random], None], ...] = (
    _respace, _respace, _swap, _widen, _widen, _dress, _shuffle, _branch, _branch, _wrap, _add_field, _drop_field,
    _rename_field, _symbols,
)  # fmt: skip


def union_pairs(seed: int, count: int) -> Iterator[tuple[Node, Node]]:
    """`count` pairs of a writer and a reader made from it by one to four changes."""
    chance = random.Random(seed)
    for _ in range(count):
        writer = UnionMaker(chance, chance.choice((0.0, 0.0, 0.5))).schema()
        root = {"root": copy.deepcopy(writer)}
        for _ in range(chance.choice((1, 2, 2, 3, 4))):
            chance.choice(CHANGES)(root, chance)
        yield writer, root["root"]


NUMBERS = {
    "int": (0, 1, -1, 65, 16777217, 2**31 - 1, -(2**31)),
    "long": (0, -1, 16777217, 2**53 + 1, 2**63 - 1, -(2**63), 2**60 + 2**36 + 1, 1_577_934_245_006),
    "float": (0.0, 1.5, -0.10000000149011612, 3.4028234663852886e38),
    "double": (0.0, 0.1, -1e300, 16777217.0),
    "string": ("", "A", "ä€", "7"),
    "bytes": ("", "A", "\u00ff", "\u00c3\u00a4", "\u0001\u0041"),
}


def value_of(node: Node, defined: dict[str, Node], chance: random.Random, depth: int = 0) -> Any:
    """A random value in Avro's JSON encoding; `defined` has the named types of the schema. Raises where one has no end."""
    if depth > 12:
        raise RecursionError
    node = defined.get(node, node) if isinstance(node, str) else node
    if isinstance(node, list):
        branch = chance.choice(node)
        inside = value_of(branch, defined, chance, depth + 1)
        return None if branch == "null" else {word_of(branch, defined): inside}
    kind = _kind(node)
    match kind:
        case "null":
            return None
        case "boolean":
            return chance.random() < 0.5
        case "record":
            return {each["name"]: value_of(each["type"], defined, chance, depth + 1) for each in node["fields"]}
        case "array":
            return [value_of(node["items"], defined, chance, depth + 1) for _ in range(chance.randrange(3))]
        case "map":
            return {key: value_of(node["values"], defined, chance, depth + 1) for key in "ab"[: chance.randrange(3)]}
        case "enum":
            return chance.choice(node["symbols"])
        case "fixed":
            return "".join(chance.choice("A\u00ff\u0000") for _ in range(node["size"]))
    return chance.choice(NUMBERS[kind])


def definitions(node: Node) -> dict[str, Node]:
    """The named types of a schema by full name."""
    return {one["name"]: one for one in _definitions({"root": node})}
