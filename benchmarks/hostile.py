"""Schemas that are made to cost much: pairs of an old and a new text, of every kind that once held a server up, in several sizes.

Harmless ones stand between them: large and ordinary schemas that must be accepted, whatever the others do.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class CostlyPair:
    """An old and a new text of a format; a harmless pair has to be accepted."""

    name: str
    format: str
    old: str
    new: str
    harmless: bool = False


def _json(old: object, new: object) -> Pair:
    return json.dumps(old), json.dumps(new)


# -------------------------------------------------------------------------------------------------------- JSON Schema


def choices(size: int, each: int = 0) -> Pair:
    """`size` choices, each between branches with another constant; the new one has a branch more in each."""

    def make(branches: int) -> object:
        return {
            "allOf": [
                {"oneOf": [{"properties": {f"p{at}": {"const": j}}, "required": [f"p{at}"]} for j in range(branches)]}
                for at in range(size)
            ]
        }

    return _json(make(each or size), make((each or size) + 1))


def swapped_bounds(size: int) -> Pair:
    """Choices between bounds, of which the words are swapped."""

    def make(first: str, second: str) -> object:
        return {"allOf": [{"anyOf": [{first: at}, {second: -at}]} for at in range(size)]}

    return _json(make("minimum", "maximum"), make("maximum", "minimum"))


def doubling(word: str) -> Callable[[int], Pair]:
    """Definitions of which each is a combination of the next one twice."""

    def make(size: int) -> Pair:
        def one(last: str) -> object:
            steps = {f"d{at}": {word: [{"$ref": f"#/$defs/d{at + 1}"}] * 2} for at in range(size)}
            return {"$ref": "#/$defs/d0", "$defs": {**steps, f"d{size}": {"type": last}}}

        return _json(one("number"), one("integer"))

    make.__qualname__ = f"doubling {word}"
    return make


def branching(size: int) -> Pair:
    """Definitions with two properties that refer to the next one."""

    def one(last: str) -> object:
        steps = {
            f"d{at}": {"properties": {word: {"$ref": f"#/$defs/d{at + 1}"} for word in "ab"}} for at in range(size)
        }
        return {"$ref": "#/$defs/d0", "$defs": {**steps, f"d{size}": {"type": last}}}

    return _json(one("integer"), one("number"))


def conditions(size: int) -> Pair:
    """Conditions one inside the other."""

    def one(least: int) -> object:
        schema: object = {"minimum": least}
        for at in range(size):
            schema = {"if": {"type": "integer"}, "then": schema, "else": {"minLength": at}}
        return schema

    return _json(one(0), one(1))


def nested_choices(size: int) -> Pair:
    """Each is null, a string or the next one."""

    def one(last: str) -> object:
        schema: object = {"type": last}
        for _ in range(size):
            schema = {"oneOf": [{"type": "null"}, {"type": "string"}, {"properties": {"next": schema}}]}
        return schema

    return _json(one("integer"), one("number"))


def reversed_branches(size: int) -> Pair:
    """Objects with a constant each, in the reverse order."""
    branches = [{"type": "object", "properties": {"kind": {"const": at}, "v": {"minimum": at}}} for at in range(size)]
    return _json({"oneOf": branches}, {"oneOf": branches[::-1]})


def raised_lengths(size: int) -> Pair:
    """Objects of which each property gets a higher least length."""

    def one(more: int) -> object:
        return {
            "anyOf": [
                {
                    "type": "object",
                    "properties": {f"p{at}": {"type": "string", "minLength": at + more}},
                    "required": [f"p{at}"],
                }
                for at in range(size)
            ]
        }

    return _json(one(0), one(1))


def dynamic_anchors(size: int) -> Pair:
    """Many dynamic anchors under a combination."""

    def one(word: str) -> object:
        anchors = {f"a{at}": {"$dynamicAnchor": f"n{at}", "type": "object"} for at in range(size)}
        refer = [{"$dynamicRef": f"#n{at}"} for at in range(size)]
        return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": anchors, word: refer}

    return _json(one("allOf"), one("anyOf"))


def chain(size: int) -> Pair:
    """Definitions that refer to the next one."""

    def one(last: str) -> object:
        steps = {f"d{at}": {"$ref": f"#/$defs/d{at + 1}"} for at in range(size)}
        return {"$ref": "#/$defs/d0", "$defs": {**steps, f"d{size}": {"type": last}}}

    return _json(one("integer"), one("number"))


def patterns(size: int) -> Pair:
    """As many expressions as names."""

    def one(kind: str) -> object:
        names = {f"{'a' * (at % 30)}{at}": {"type": "integer"} for at in range(size)}
        return {"properties": names, "patternProperties": {f"^(a+)+{at}$": {"type": kind} for at in range(size)}}

    return _json(one("integer"), one("number"))


def nested(size: int) -> Pair:
    """Brackets inside brackets, as a text that may be none."""
    inner = '{"items":' * size
    return inner + '{"type":"integer"}' + "}" * size, inner + '{"type":"number"}' + "}" * size


def enumerations(size: int) -> Pair:
    """Very many values."""
    return _json({"enum": [f"v{at}" for at in range(size)]}, {"enum": [f"v{at}" for at in range(1, size)]})


def negations(size: int) -> Pair:
    """Negations of combinations of negations."""

    def one(last: int) -> object:
        schema: object = {"minimum": last}
        for at in range(size):
            schema = {"not": {"anyOf": [schema, {"not": {"type": ["string", "null"][at % 2]}}]}}
        return schema

    return _json(one(0), one(1))


def dependencies(size: int) -> Pair:
    """Each property asks for schemas of others, and nothing else may be there."""

    def one(kind: str) -> object:
        return {
            "dependentSchemas": {f"p{at}": {"properties": {f"p{at + 1}": {"type": kind}}} for at in range(size)},
            "unevaluatedProperties": False,
        }

    return _json(one("integer"), one("number"))


# --------------------------------------------------------------------------------------------------------------- Avro


def _record(name: str, fields: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": fields}


def wide_record(size: int) -> Pair:
    """Very many fields."""

    def one(kind: str) -> object:
        return _record("R", [{"name": f"f{at}", "type": kind, "default": 0} for at in range(size)])

    return _json(one("int"), one("long"))


def renamed_union(size: int) -> Pair:
    """A union of records that all have another name, and the same fields."""

    def one(word: str) -> object:
        return _record(
            "U", [{"name": "u", "type": [_record(f"{word}{at}", [{"name": "a", "type": "int"}]) for at in range(size)]}]
        )

    return _json(one("A"), one("B"))


def recursive_records(size: int) -> Pair:
    """Types inside each other, of which the last one contains the first."""

    def one(kind: str) -> str:
        begin = (
            f'{{"type":"record","name":"T{at}","fields":[{{"name":"v","type":"{kind}"}},{{"name":"next","type":["null",'
            for at in range(size)
        )
        return "".join(begin) + '"T0"' + "]}]}" * size

    return one("int"), one("long")


def many_records(size: int) -> Pair:
    """Records in a row, each of the type of the one before and of a new one."""

    def one(kind: str) -> object:
        fields = [{"name": f"f{at}", "type": _record(f"N{at}", [{"name": "v", "type": kind}])} for at in range(size)]
        fields += [{"name": f"g{at}", "type": f"N{at}"} for at in range(size)]
        return _record("R", fields)

    return _json(one("int"), one("long"))


def aliases(size: int) -> Pair:
    """Very many aliases."""
    old = _record("R", [{"name": f"f{at}", "type": "int"} for at in range(70)])
    fields = [
        {"name": f"g{at}", "type": "int", "aliases": [f"x{at}_{n}" for n in range(size // 70)]} for at in range(70)
    ]
    return _json(old, _record("R", fields))


def doubling_defaults(size: int) -> Pair:
    """Defaults of records in records, which each level doubles."""

    def one(kind: str) -> object:
        schema: Any = _record("L0", [{"name": "v", "type": kind, "default": 0}])
        for at in range(1, size):
            twice = [{"name": "a", "type": schema, "default": {}}, {"name": "b", "type": f"L{at - 1}", "default": {}}]
            schema = _record(f"L{at}", twice)
        return schema

    return _json(one("int"), one("long"))


def symbols(size: int) -> Pair:
    """An enum of very many symbols, in the reverse order."""
    names = [f"S{at}" for at in range(size)]
    return _json({"type": "enum", "name": "E", "symbols": names}, {"type": "enum", "name": "E", "symbols": names[::-1]})


# ----------------------------------------------------------------------------------------------------------- Protobuf


def _message(fields: str) -> str:
    return f'syntax = "proto3";\npackage p;\n{fields}'


def many_messages(size: int) -> Pair:
    """Messages that refer to the next one."""

    def one(kind: str) -> str:
        return _message("".join(f"message M{at} {{ M{(at + 1) % size} a = 1; {kind} b = 2; }}\n" for at in range(size)))

    return one("int32"), one("int64")


def wide_message(size: int) -> Pair:
    """Very many fields."""

    def one(kind: str) -> str:
        return _message(
            "message M {"
            + "".join(f"{kind} f{at} = {at + 1};\n" for at in range(size) if not 18_999 <= at <= 19_999)
            + "}"
        )

    return one("int32"), one("string")


def nested_messages(size: int) -> Pair:
    """Messages inside each other."""

    def one(kind: str) -> str:
        return _message("".join(f"message M{at} {{" for at in range(size)) + f"{kind} v = 1;" + "}" * size)

    return one("int32"), one("int64")


def moved_messages(size: int) -> Pair:
    """Messages of which each has another name, and the same fields."""

    def one(word: str) -> str:
        return _message("".join(f"message {word}{at} {{ int32 a = 1; string b = 2; }}\n" for at in range(size)))

    return one("A"), one("B")


def brackets(size: int) -> Pair:
    """A text that never ends."""
    return _message("message M { int32 a = 1; }"), _message("message M " + "{" * size)


KINDS: tuple[tuple[str, Callable[[int], Pair], tuple[int, ...]], ...] = (
    ("JSON", choices, (4, 6, 8, 10, 12, 16, 20, 24)),
    ("JSON", swapped_bounds, (20, 50, 100, 150, 196, 400)),
    ("JSON", doubling("anyOf"), (20, 60, 120, 300, 1_000)),
    ("JSON", doubling("oneOf"), (20, 60, 120, 300, 1_000)),
    ("JSON", doubling("allOf"), (20, 60, 120, 300, 1_000)),
    ("JSON", branching, (50, 100, 200, 500, 1_000)),
    ("JSON", conditions, (20, 40, 60, 90, 200)),
    ("JSON", nested_choices, (10, 20, 40, 60, 120)),
    ("JSON", reversed_branches, (45, 90, 180, 199, 400, 1_000)),
    ("JSON", raised_lengths, (20, 60, 120, 190, 300)),
    ("JSON", dynamic_anchors, (50, 200, 500, 1_000, 2_000)),
    ("JSON", chain, (100, 500, 1_000, 3_000, 5_000)),
    ("JSON", patterns, (50, 100, 200, 400, 900)),
    ("JSON", nested, (20, 50, 100, 1_000, 10_000)),
    ("JSON", enumerations, (500, 2_000, 5_000, 20_000, 60_000)),
    ("JSON", negations, (10, 20, 40, 80, 160)),
    ("JSON", dependencies, (20, 50, 100, 300, 1_000)),
    ("AVRO", wide_record, (500, 1_000, 1_500, 5_000, 19_000)),
    ("AVRO", renamed_union, (50, 100, 200, 400, 900)),
    ("AVRO", recursive_records, (20, 50, 100, 300, 3_000)),
    ("AVRO", many_records, (100, 300, 1_000, 3_000, 8_000)),
    ("AVRO", aliases, (700, 2_000, 7_000, 20_000, 60_000)),
    ("AVRO", doubling_defaults, (5, 10, 15, 20, 30)),
    ("AVRO", symbols, (500, 2_000, 5_000, 10_000, 20_000)),
    ("PROTOBUF", many_messages, (100, 300, 1_000, 3_000, 5_000)),
    ("PROTOBUF", wide_message, (500, 1_000, 2_000, 6_000, 18_000)),
    ("PROTOBUF", nested_messages, (10, 30, 60, 90, 1_000)),
    ("PROTOBUF", moved_messages, (50, 200, 500, 1_000, 3_000)),
    ("PROTOBUF", brackets, (100, 1_000, 10_000, 100_000, 300_000)),
)
"""Formats, makers and sizes."""


def costly_pairs() -> Iterator[CostlyPair]:
    """All pairs that are made to cost much, from the smallest size of each kind to the largest."""
    for step in range(max(len(sizes) for _, _, sizes in KINDS)):
        for format_, make, sizes in KINDS:
            if step < len(sizes):
                name = make.__qualname__
                yield CostlyPair(f"{name} {sizes[step]:,}", format_, *make(sizes[step]))


def harmless_pairs() -> Iterator[CostlyPair]:
    """Large and ordinary schemas with an ordinary change."""
    fields: list[dict[str, Any]] = [
        {"name": f"field_{at}", "type": "string", "doc": "what it is " * 5} for at in range(1_000)
    ]
    more = [*fields, {"name": "more", "type": ["null", "string"], "default": None}]
    yield CostlyPair("Avro of 100 kB", "AVRO", *_json(_record("Large", fields), _record("Large", more)), harmless=True)
    few = fields[:15]
    yield CostlyPair(
        "Avro of 15 fields", "AVRO", *_json(_record("S", few), _record("S", [*few, more[-1]])), harmless=True
    )
    for count in (30, 200):
        properties = {f"p{at}": {"type": "string", "description": "what it is " * 5} for at in range(count)}
        old = {"type": "object", "properties": properties, "additionalProperties": False}
        new = {**old, "properties": {**properties, "more": {"type": "integer"}}}
        yield CostlyPair(f"JSON of {count} properties", "JSON", *_json(old, new), harmless=True)
    events = [
        {
            "type": "object",
            "properties": {"type": {"const": f"event{at}"}, **{f"v{n}": {"type": "integer"} for n in range(6)}},
            "required": ["type"],
            "additionalProperties": False,
        }
        for at in range(101)
    ]
    yield CostlyPair("JSON of 100 events", "JSON", *_json({"oneOf": events[:-1]}, {"oneOf": events}), harmless=True)
    lines = "".join(f"  string field_{at} = {at + 1}; // what it is\n" for at in range(300))
    narrow, wide = f"message Large {{\n{lines}}}\n", f"message Large {{\n{lines}  int32 more = 301;\n}}\n"
    yield CostlyPair("Protobuf of 300 fields", "PROTOBUF", _message(narrow), _message(wide), harmless=True)
