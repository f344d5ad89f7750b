"""Random Avro schemas and random changes to them, repeatable by seed."""

import copy
import random
from collections.abc import Callable, Iterator
from typing import Any

Node = Any
"""A schema, or a part of one, as JSON values."""

PRIMITIVES = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
SPACES = (None, None, "n", "n.m", "o")


class Maker:
    """Makes one schema; remembers the names it has defined, so that it can use them again."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._names: list[str] = []
        self._count = 0

    def schema(self) -> Node:
        """A whole schema, most often a record."""
        return self._record(3, None) if self._chance.random() < 0.9 else self._type(3, None)

    def _type(self, depth: int, space: str | None) -> Node:
        chance = self._chance.random()
        if depth == 0 or chance < 0.35:
            return self._primitive()
        if chance < 0.42 and self._names:
            return self._chance.choice(self._names)
        kind = self._chance.choice(("record", "enum", "fixed", "array", "map", "union", "union"))
        if kind in {"enum", "fixed"}:
            return self._enum(space) if kind == "enum" else self._fixed(space)
        makers = {"record": self._record, "array": self._array, "map": self._map, "union": self._union}
        return makers[kind](depth - 1, space)

    def _primitive(self) -> Node:
        kind = self._chance.choice(PRIMITIVES)
        chance = self._chance.random()
        if chance < 0.8:
            return kind
        return {"type": kind, "logicalType": "date"} if chance < 0.9 else {"type": kind, "note": [chance, {"a": None}]}

    def _head(self, kind: str, space: str | None) -> tuple[dict[str, Node], str | None]:
        self._count += 1
        name = f"{kind[0].upper()}{self._count}"
        head: dict[str, Node] = {"type": kind, "name": name}
        own = self._chance.choice(SPACES)
        if own:
            head["namespace"] = own
            space = own
        if self._chance.random() < 0.2:
            head["doc"] = "what it is"
        if self._chance.random() < 0.1:
            head["aliases"] = [self._chance.choice(("Other", "n.Other", f"{name}Old"))]
        return head, space

    def _known(self, head: dict[str, Node], space: str | None) -> Node:
        self._names.append(f"{space}.{head['name']}" if space else head["name"])
        return head

    def _record(self, depth: int, space: str | None) -> Node:
        head, space = self._head("record", space)
        recursive = self._chance.random() < 0.2
        head["fields"] = []
        for at in range(self._chance.randrange(0, 6)):
            field: dict[str, Node] = {"name": f"f{at}", "type": self._type(depth, space)}
            self._adorn(field)
            head["fields"].append(field)
        if recursive:
            head["fields"].append({"name": "next", "type": ["null", head["name"]], "default": None})
        return self._known(head, space)

    def _adorn(self, field: dict[str, Node]) -> None:
        if self._chance.random() < 0.4:
            value = default_of(field["type"], self._chance)
            if value is not NONE:
                field["default"] = value
        if self._chance.random() < 0.1:
            field["order"] = self._chance.choice(("ascending", "descending", "ignore"))
        if self._chance.random() < 0.1:
            field["aliases"] = [self._chance.choice(("old", "f7", "f8"))]
        if self._chance.random() < 0.1:
            field["doc"] = self._chance.choice(("", "what\nit is", "\u00e9"))

    def _enum(self, space: str | None) -> Node:
        head, space = self._head("enum", space)
        head["symbols"] = list("ABCDE"[: self._chance.randrange(1, 6)])
        if self._chance.random() < 0.3:
            head["default"] = self._chance.choice(head["symbols"])
        return self._known(head, space)

    def _fixed(self, space: str | None) -> Node:
        head, space = self._head("fixed", space)
        head["size"] = self._chance.randrange(0, 20)
        return self._known(head, space)

    def _array(self, depth: int, space: str | None) -> Node:
        return {"type": "array", "items": self._type(depth, space)}

    def _map(self, depth: int, space: str | None) -> Node:
        return {"type": "map", "values": self._type(depth, space)}

    def _union(self, depth: int, space: str | None) -> Node:
        branches: list[Node] = []
        seen: set[str] = set()
        for _ in range(self._chance.randrange(1, 5)):
            known = len(self._names)
            branch = self._type(depth, space)
            word = branch if isinstance(branch, str) else branch["type"] if isinstance(branch, dict) else "union"
            word = self._names[-1] if word in {"record", "enum", "fixed"} else word
            if word == "union" or word in seen:
                del self._names[known:]  # what it defined goes with it
            else:
                seen.add(word)
                branches.append(branch)
        return branches


NONE = object()
"""No default is known."""


def default_of(node: Node, chance: random.Random) -> Any:
    """A default for a type, `NONE` where that takes more than a look."""
    if isinstance(node, list):
        return default_of(chance.choice(node), chance) if node else NONE
    kind = node["type"] if isinstance(node, dict) else node
    if kind == "enum":
        return node["symbols"][0]
    simple: dict[str, Any] = {
        "null": None, "boolean": True, "int": chance.choice((0, -1, 2**31 - 1)), "long": chance.choice((5, -(2**63))),
        "float": chance.choice((1.5, 3, 1e-7)), "double": chance.choice((0.1, 2, -1e30)), "bytes": "\u00ff",
        "string": 'a"b', "fixed": "x", "array": [], "map": {},
    }  # fmt: skip
    return simple.get(kind, NONE)


# -------------------------------------------------------------------------------------------------------- changes


def places(node: Node) -> Iterator[tuple[Any, Any]]:
    """Every place in a schema where a type stands, as container and key; the root is the key ``root``."""
    queue: list[tuple[Any, Any]] = [({"root": node}, "root")] if not (isinstance(node, dict) and "root" in node) else []
    if not queue:
        queue = [(node, "root")]
    while queue:
        holder, key = queue.pop(0)
        yield holder, key
        here = holder[key]
        if isinstance(here, list):
            queue += [(here, at) for at in range(len(here))]
        elif isinstance(here, dict):
            queue += [(field, "type") for field in here.get("fields", ()) if isinstance(field, dict)]
            queue += [(here, word) for word in ("items", "values") if word in here]


def _pick(root: Node, chance: random.Random, wanted: Callable[[Node], bool]) -> tuple[Any, Any] | None:
    found = [(holder, key) for holder, key in places(root) if wanted(holder[key])]
    return chance.choice(found) if found else None


def _is(*kinds: str) -> Callable[[Node], bool]:
    return lambda node: isinstance(node, dict) and node.get("type") in kinds


_named = _is("record", "enum", "fixed")


def _rename(root: Node, chance: random.Random) -> None:
    if place := _pick(root, chance, _named):
        named = place[0][place[1]]
        old = named["name"]
        named["name"] = old + "x"
        if chance.random() < 0.6:
            space = named.get("namespace")
            named["aliases"] = [chance.choice((old, f"{space}.{old}" if space else old))]


def _respace(root: Node, chance: random.Random) -> None:
    if place := _pick(root, chance, _named):
        place[0][place[1]]["namespace"] = chance.choice(("", "n", "p.q"))


def _fields(root: Node, chance: random.Random) -> list[Node] | None:
    place = _pick(root, chance, lambda node: _is("record")(node) and bool(node["fields"]))
    return place[0][place[1]]["fields"] if place else None


def _drop_field(root: Node, chance: random.Random) -> None:
    if fields := _fields(root, chance):
        fields.pop(chance.randrange(len(fields)))


def _add_field(root: Node, chance: random.Random) -> None:
    if place := _pick(root, chance, _is("record")):
        kind = chance.choice((*PRIMITIVES, ["null", "string"], {"type": "array", "items": "int"}))
        field = {"name": f"g{chance.randrange(100)}", "type": kind}
        if chance.random() < 0.6 and (value := default_of(kind, chance)) is not NONE:
            field["default"] = value
        fields = place[0][place[1]]["fields"]
        fields.insert(chance.randrange(len(fields) + 1), field)


def _add_enum_field(root: Node, chance: random.Random) -> None:
    if place := _pick(root, chance, _is("record")):
        name = f"Added{chance.randrange(100)}"
        kind = {"type": "enum", "name": name, "symbols": ["A", "B"], "default": "A"}
        place[0][place[1]]["fields"].append({"name": f"e{chance.randrange(100)}", "type": kind})


def _rename_field(root: Node, chance: random.Random) -> None:
    if fields := _fields(root, chance):
        field = chance.choice(fields)
        old = field["name"]
        field["name"] = old + "x"
        if chance.random() < 0.6:
            field["aliases"] = [old]


def _alias_field(root: Node, chance: random.Random) -> None:
    if fields := _fields(root, chance):
        chance.choice(fields)["aliases"] = [chance.choice(fields)["name"]]


def _shuffle_fields(root: Node, chance: random.Random) -> None:
    if fields := _fields(root, chance):
        chance.shuffle(fields)


def _widen(root: Node, chance: random.Random) -> None:
    wider = {"int": ["long", "float", "double"], "long": ["float", "double"], "float": ["double"]}
    wider |= {"string": ["bytes"], "bytes": ["string"]}
    if place := _pick(root, chance, lambda node: isinstance(node, str) and node in wider):
        place[0][place[1]] = chance.choice(wider[place[0][place[1]]])


def _retype(root: Node, chance: random.Random) -> None:
    if place := _pick(root, chance, lambda node: isinstance(node, str)):
        place[0][place[1]] = chance.choice(PRIMITIVES)


def _restructure(root: Node, chance: random.Random) -> None:
    if place := _pick(root, chance, lambda node: isinstance(node, str | dict)):
        here = place[0][place[1]]
        place[0][place[1]] = chance.choice(({"type": "array", "items": here}, {"type": "map", "values": here}))


def _wrap(root: Node, chance: random.Random) -> None:
    whole = [(holder, key) for holder, key in places(root) if not isinstance(holder, list)]
    holder, key = chance.choice(whole)
    if not isinstance(holder[key], list) and holder[key] != "null":
        holder[key] = chance.choice((["null", holder[key]], [holder[key], "null"], [holder[key]]))


def _unwrap(root: Node, chance: random.Random) -> None:
    if place := _pick(root, chance, lambda node: isinstance(node, list) and bool(node)):
        place[0][place[1]] = chance.choice(place[0][place[1]])


def _branches(root: Node, chance: random.Random) -> None:
    if place := _pick(root, chance, lambda node: isinstance(node, list)):
        branches = place[0][place[1]]
        chance.shuffle(branches)
        free = [kind for kind in PRIMITIVES if kind not in branches]
        if branches and chance.random() < 0.5:
            branches.pop()
        elif free:
            branches.append(chance.choice(free))


def _symbols(root: Node, chance: random.Random) -> None:
    if place := _pick(root, chance, _is("enum")):
        enum = place[0][place[1]]
        symbols = enum["symbols"]
        if len(symbols) > 1 and chance.random() < 0.6:
            gone = symbols.pop(chance.randrange(len(symbols)))
            if enum.get("default") == gone:
                enum.pop("default")
        else:
            symbols.append(f"S{len(symbols)}")
        if chance.random() < 0.3:
            enum["default"] = chance.choice(symbols)


def _resize(root: Node, chance: random.Random) -> None:
    if place := _pick(root, chance, _is("fixed")):
        place[0][place[1]]["size"] += 1


def _describe(root: Node, chance: random.Random) -> None:
    if place := _pick(root, chance, _named):
        place[0][place[1]] |= {"doc": "changed", "note": 1}


CHANGES = (
    _rename, _respace, _drop_field, _drop_field, _add_field, _add_field, _add_enum_field, _rename_field, _alias_field,
    _shuffle_fields, _widen, _widen, _retype, _restructure, _wrap, _unwrap, _branches, _symbols, _symbols, _resize,
    _resize, _describe,
)  # fmt: skip


def changed(schema: Node, chance: random.Random) -> Node:
    """The schema with one to three changes."""
    root = {"root": copy.deepcopy(schema)}
    for _ in range(chance.choice((1, 1, 2, 2, 3))):
        chance.choice(CHANGES)(root, chance)
    return root["root"]


def pairs(seed: int, count: int) -> Iterator[tuple[Node, Node]]:
    """`count` pairs of schemas, the second one made from the first; now and then they swap."""
    chance = random.Random(seed)
    for _ in range(count):
        one = Maker(chance).schema()
        other = changed(one, chance)
        yield (one, other) if chance.random() < 0.5 else (other, one)


# ------------------------------------------------------------------------------------------------------ breakages

_BAD: dict[str, tuple[Any, ...]] = {
    "type": (None, 5, "nowhere", {"type": "int"}, "record", ["int", "int"], ["null", ["int"]], "array"),
    "name": (None, 7, "1a", "", "a-b", "a..b", "int", "null", "f0"),
    "namespace": ("a..b", "1", ".", 5, None, "n"),
    "fields": (None, {}, "x", [5], [{"name": "x"}], [{"type": "int"}]),
    "symbols": (None, "A", [1], ["A", "A"], ["1"], [""]),
    "size": (None, -1, 1.0, "4", 2**31, True),
    "items": (None, 5, [], [["int"]]),
    "values": (None, 5, "nowhere"),
    "default": (None, "x", 5, 1.5, {}, [], 2**40, True),
    "order": ("up", None, 5, "IGNORE"),
    "aliases": ("x", [1], None, ["1-"], []),
    "doc": (5, None),
}


def broken(schema: Node, chance: random.Random) -> Node:
    """The schema with one member replaced or gone, which most often makes it invalid."""
    root = copy.deepcopy(schema)
    spots: list[tuple[dict[str, Any], str]] = []
    queue: list[Any] = [root]
    while queue:
        here = queue.pop()
        if isinstance(here, dict):
            spots += [(here, member) for member in here if member in _BAD]
            queue += here.values()
        elif isinstance(here, list):
            queue += here
    if spots:
        holder, member = chance.choice(spots)
        if chance.random() < 0.2:
            del holder[member]
        else:
            holder[member] = chance.choice(_BAD[member])
    return root


def singles(seed: int, count: int) -> Iterator[Node]:
    """`count` schemas, half of them broken."""
    chance = random.Random(seed)
    for at in range(count):
        schema = Maker(chance).schema()
        yield broken(schema, chance) if at % 2 else schema
