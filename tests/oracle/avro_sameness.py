"""Pairs of Avro texts that mean the same schema or nearly so, and what Java says: `Schema.equals`, and equal docs, aliases and
defaults of enums, which is what Confluent's registry asks on top of it.

`python -m tests.oracle.avro_sameness` asks anew and writes the answers.
"""

import copy
import json
import lzma
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.oracle.avro_answers import digest, packed
from tests.oracle.avro_schemas import Maker, Node, places
from tests.oracle.java import AvroOracle, avro_oracle

FILE = Path(__file__).parents[1] / "conformance" / "data" / "avro-java-sameness.json.xz"
SEED = 20261128
PAIRS = 20_000
"""Questions whose answers are kept; tests ask a share of them."""


class Raw(str):
    """A number as it is written."""

    __slots__ = ()


ONES = ("1", "1.0", "1e0", "10E-1", "1.00", "2", "-1", "9007199254740993", "9007199254740993.0")
ZEROS = ("0", "-0", "0.0", "-0.0", "0e5", "1e-400", "1e400")
WORDS = ("a", "b", "\u00e9", "\U0001f642", "B", "")
PROPERTIES = ("x", "y", "note", "scale", "precision", "logicalType", "connect.name", "\u00e9", "Z", "order", "default")
ALIASES = ("A1", "n.A1", "n.A2", "o.A1", "A2", "A3")


def scalar(chance: random.Random) -> Any:
    """A value without members."""
    return chance.choice([Raw(chance.choice(ONES)), Raw(chance.choice(ZEROS)), chance.choice(WORDS), True, False, None])


def value(chance: random.Random, depth: int = 2) -> Any:
    """A value of a property."""
    kind = chance.random()
    if depth == 0 or kind < 0.6:
        return scalar(chance)
    if kind < 0.8:
        return {chance.choice(WORDS): value(chance, depth - 1) for _ in range(chance.randrange(4))}
    return [value(chance, depth - 1) for _ in range(chance.randrange(4))]


def _types(root: Node) -> list[dict[str, Any]]:
    return [holder[key] for holder, key in places(root) if isinstance(holder[key], dict)]


def _fields(root: Node) -> list[dict[str, Any]]:
    return [field for node in _types(root) for field in node.get("fields", ())]


def _named(root: Node) -> list[dict[str, Any]]:
    return [node for node in _types(root) if "name" in node]


def dress(root: Node, chance: random.Random) -> None:
    """Give the types and fields of a schema properties, aliases, docs and defaults with members."""
    for holder, key in list(places(root)):
        here = holder[key]
        if isinstance(here, str) and here in {"bytes", "int", "string"} and chance.random() < 0.3:
            holder[key] = {"type": here, **_properties(chance)}
        elif isinstance(here, dict) and chance.random() < 0.5:
            here.update({name: said for name, said in _properties(chance).items() if name not in here})
    for field in _fields(root):
        if chance.random() < 0.3:
            field.update({name: said for name, said in _properties(chance).items() if name not in field})
            field.pop("order", None)
            field.pop("default", None)
        if chance.random() < 0.3:
            field["aliases"] = chance.sample(["o1", "o2", "o3", "\u00e9"], chance.randrange(4))
        if field["type"] == "double":
            field["default"] = Raw(chance.choice(ONES + ZEROS))
        if isinstance(field["type"], dict) and field["type"].get("type") == "map" and field["type"]["values"] == "int":
            field["default"] = {word: Raw("1") for word in chance.sample(WORDS, 3)}
    for node in _named(root):
        if chance.random() < 0.4:
            node["aliases"] = chance.sample(ALIASES, chance.randrange(4))


def _properties(chance: random.Random) -> dict[str, Any]:
    if chance.random() < 0.3:
        return {"logicalType": "decimal", "precision": Raw("17"), "scale": Raw(chance.choice(("0", "4")))}
    names = chance.sample(PROPERTIES, chance.randrange(1, 4))
    return {name: value(chance) for name in names if name != "logicalType"}


# ------------------------------------------------------------------------------------------------------- changes


def _change_value(said: Any, chance: random.Random) -> Any:
    """Another spelling of a value, or another value."""
    if isinstance(said, Raw):
        family = next((words for words in (ONES, ZEROS) if said in words), ("17", "17.0"))
        return Raw(chance.choice(family))
    if isinstance(said, dict) and said:
        name = chance.choice(list(said))
        return {**said, name: _change_value(said[name], chance)}
    if isinstance(said, list) and said:
        return chance.sample(said, len(said))
    return scalar(chance)


def _a_property(root: Node, chance: random.Random) -> None:
    holders = [(node, name) for node in [*_types(root), *_fields(root)] for name in node if name in PROPERTIES]
    if holders:
        node, name = chance.choice(holders)
        if chance.random() < 0.2:
            del node[name]
        else:
            node[name] = _change_value(node[name], chance)


def _a_default(root: Node, chance: random.Random) -> None:
    fields = [field for field in _fields(root) if "default" in field]
    if fields:
        field = chance.choice(fields)
        field["default"] = _change_value(field["default"], chance)


def _aliases(root: Node, chance: random.Random) -> None:
    nodes = [node for node in [*_named(root), *_fields(root)] if node.get("aliases")]
    if nodes:
        node = chance.choice(nodes)
        names = list(node["aliases"])
        way = chance.randrange(4)
        if way == 0:
            names.append(chance.choice(names))  # twice
        elif way == 1:
            names.pop()
        elif way == 2 and "fields" in node and node.get("namespace"):
            names = [name if "." in name else f"{node['namespace']}.{name}" for name in names]
        chance.shuffle(names)
        node["aliases"] = names


def _a_doc(root: Node, chance: random.Random) -> None:
    nodes = [*_named(root), *_fields(root)]
    if nodes:
        node = chance.choice(nodes)
        node["doc"] = chance.choice(("", None, "what it is", node.get("doc")))


def _an_order(root: Node, chance: random.Random) -> None:
    if fields := _fields(root):
        chance.choice(fields)["order"] = chance.choice(("ascending", "ascending", "ignore"))


def _symbols(root: Node, chance: random.Random) -> None:
    if enums := [node for node in _types(root) if node.get("type") == "enum"]:
        enum = chance.choice(enums)
        if chance.random() < 0.5:
            enum["symbols"] = chance.sample(enum["symbols"], len(enum["symbols"]))
        else:
            enum["default"] = chance.choice(enum["symbols"])


def _an_error(root: Node, chance: random.Random) -> None:
    if records := [node for node in _types(root) if node.get("type") == "record"]:
        chance.choice(records)["type"] = "error"


def _a_name(root: Node, chance: random.Random) -> None:
    """The same full name in one word."""
    if nodes := [node for node in _named(root) if node.get("namespace") and "." not in node["name"]]:
        node = chance.choice(nodes)
        node["name"] = f"{node.pop('namespace')}.{node['name']}"


def _an_object(root: Node, chance: random.Random) -> None:
    plain = [(holder, key) for holder, key in places(root) if holder[key] in ("int", "string", "bytes", "null")]
    if plain:
        holder, key = chance.choice(plain)
        holder[key] = {"type": holder[key]}


def _some_fields(root: Node, chance: random.Random) -> None:
    if records := [node for node in _types(root) if len(node.get("fields", ())) > 1]:
        chance.shuffle(chance.choice(records)["fields"])


CHANGES: tuple[Callable[[Node, random.Random], None], ...] = (
    _a_property, _a_property, _a_property, _a_default, _aliases, _aliases, _a_doc, _an_order, _symbols, _an_error, _a_name,
    _an_object, _some_fields,
)  # fmt: skip


def write(node: Any, chance: random.Random) -> str:
    """JSON text with the members of each object in any order, characters escaped or not, and now and then a member twice."""
    if isinstance(node, Raw):
        return str(node)
    if isinstance(node, dict):
        names = chance.sample(list(node), len(node))
        members = [f"{_quote(name, chance)}:{write(node[name], chance)}" for name in names]
        if members and chance.random() < 0.03 and names[0] not in {"name", "type", "fields"}:
            members.insert(0, f"{_quote(names[0], chance)}:{write(scalar(chance), chance)}")  # the last one counts
        return f"{{{', '.join(members)}}}"
    if isinstance(node, list):
        return f"[{','.join(write(one, chance) for one in node)}]"
    return _quote(node, chance) if isinstance(node, str) else json.dumps(node)


def _quote(text: str, chance: random.Random) -> str:
    return json.dumps(text, ensure_ascii=chance.random() < 0.5)


def pair_texts(count: int) -> Iterator[tuple[str, str]]:
    """Generated pairs: the second one is the first with up to two changes, and in another order."""
    chance = random.Random(SEED)
    for _ in range(count):
        one: Node = {"root": Maker(chance).schema()}
        dress(one["root"], chance)
        other = copy.deepcopy(one)
        for _ in range(chance.choice((0, 1, 1, 1, 2))):
            chance.choice(CHANGES)(other["root"], chance)
        yield write(one["root"], chance), write(other["root"], chance)


def ask(java: AvroOracle) -> dict[str, Any]:
    """The questions put to Java: of each answer one sign, 1 for the same, 0 for others, - where one is no schema to it."""
    texts = list(pair_texts(PAIRS))
    told = [java.ask(one=one, other=other) for one, other in texts]
    signs = "".join("-" if "same" not in one else str(int(one["same"])) for one in told)
    return {"questions": digest(texts), "answers": signs}


def kept(count: int = PAIRS) -> list[tuple[tuple[str, str], str]]:
    """The first questions, each with its answer; all of them fail if the generator has changed since they were asked."""
    answers: dict[str, str] = json.loads(lzma.decompress(FILE.read_bytes()))
    texts = list(pair_texts(count))
    if count == PAIRS:
        assert answers["questions"] == digest(texts), "other schemas are generated now: run make oracle"
    return list(zip(texts, answers["answers"], strict=count == PAIRS))


if __name__ == "__main__":
    with avro_oracle() as oracle:
        FILE.write_bytes(packed(ask(oracle)))
    print(f"{FILE.relative_to(Path.cwd())}: {FILE.stat().st_size:,} bytes")
