"""Schemas and pairs of schemas that are small and cost a lot, and ordinary ones that are large."""

import json
from typing import Any

Schema = dict[str, Any]
INTEGER, NUMBER = {"type": "integer"}, {"type": "number"}


def combined_choices(count: int, branches: int) -> Schema:
    """Many choices of the same value, whose branches are told apart by a constant each."""

    def branch(at: int, value: int) -> Schema:
        return {"properties": {f"p{at}": {"const": value}}, "required": [f"p{at}"]}

    return {"allOf": [{"oneOf": [branch(at, value) for value in range(branches)]} for at in range(count)]}


def bounds(count: int, *words: str) -> Schema:
    """Many choices of two bounds of one number."""
    return {"allOf": [{"anyOf": [{words[0]: at}, {words[1]: -at}]} for at in range(count)]}


def doubled(word: str, count: int, leaf: Schema) -> Schema:
    """Definitions that each combine the next one twice."""
    steps = {f"d{at}": {word: [{"$ref": f"#/definitions/d{at + 1}"}] * 2} for at in range(count)}
    return {"$ref": "#/definitions/d0", "definitions": {**steps, f"d{count}": leaf}}


def conditions(count: int, more: int) -> Schema:
    """Many conditions about one value."""
    return {"allOf": [{"if": INTEGER, "then": {"minimum": more - at}} for at in range(count)]}


def nested_nulls(count: int, leaf: Schema) -> Schema:
    """A choice of null, a string and the next such choice."""
    kinds: list[Schema] = [{"type": "null"}, {"type": "string"}]
    steps = {f"d{at}": {"oneOf": [*kinds, {"$ref": f"#/definitions/d{at + 1}"}]} for at in range(count)}
    return {"$ref": "#/definitions/d0", "definitions": {**steps, f"d{count}": leaf}}


def ladder(count: int, leaf: Schema) -> Schema:
    """Definitions with two properties that refer to the next one."""
    steps = {
        f"d{at}": {"properties": {side: {"$ref": f"#/definitions/d{at + 1}"} for side in ("a", "b")}}
        for at in range(count)
    }
    return {"$ref": "#/definitions/d0", "definitions": {**steps, f"d{count}": leaf}}


def anchors(count: int, word: str) -> Schema:
    """Dynamic anchors, combined."""
    inner = {"type": "object", "properties": {"x": INTEGER}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {f"d{at}": {"$dynamicAnchor": f"a{at}", **inner} for at in range(count)},
        word: [{"$dynamicRef": f"#a{at}"} for at in range(count)],
    }


def objects(count: int, least: int) -> Schema:
    """A choice of objects that nothing tells apart."""

    def branch(at: int) -> Schema:
        return {"type": "object", "properties": {f"p{at}": {"minLength": least}}, "required": [f"p{at}"]}

    return {"anyOf": [branch(at) for at in range(count)]}


def events(count: int, word: str = "oneOf", *, more: bool = False, by_reference: bool = False) -> Schema:
    """A choice of events, as people have them: closed objects with a constant that says which event it is."""
    made: list[Schema] = []
    for at in range(count):
        properties = {"type": {"const": f"event{at}"}, **{f"n{one}": INTEGER for one in range(6)}}
        if more:
            properties["more"] = {"type": "string"}
        made.append({"type": "object", "properties": properties, "required": ["type"], "additionalProperties": False})
    if not by_reference:
        return {word: made}
    places = [{"$ref": f"#/definitions/e{at}"} for at in range(count)]
    return {word: places, "definitions": {f"e{at}": one for at, one in enumerate(made)}}


def dependencies(count: int) -> Schema:
    """Names that each need the one before: what is required is found in as many rounds."""
    names = {f"n{at + 1}": [f"n{at}"] for at in range(count)}
    return {"type": "object", "dependencies": dict(reversed(names.items())), "required": [f"n{count}"]}


def required(count: int, *, more: bool) -> Schema:
    """An object with many required names, as many of which are new."""
    names = [f"{'m' if more else 'n'}{at}" for at in range(count)]
    properties = {name: {"type": "string", "default": ""} for name in names}
    return {"type": "object", "properties": properties, "required": names, "additionalProperties": False}


def patterns(count: int, least: int) -> Schema:
    """Expressions for names, beside as many names."""
    held = {f"^x{at}[a-z]*$": {"minLength": least} for at in range(count)}
    return {"patternProperties": held, "properties": {f"x{at}a": {} for at in range(count)}}


JSON_PAIRS: dict[str, tuple[Schema, Schema]] = {
    "12 choices of 12": (combined_choices(12, 12), combined_choices(12, 13)),
    "20 choices of 12": (combined_choices(20, 12), combined_choices(20, 13)),
    "196 choices of bounds": (bounds(196, "minimum", "maximum"), bounds(196, "maximum", "minimum")),
    "60 anyOf, doubled": (doubled("anyOf", 60, INTEGER), doubled("anyOf", 60, NUMBER)),
    "300 allOf, doubled": (doubled("allOf", 300, INTEGER), doubled("allOf", 300, NUMBER)),
    "90 conditions": (conditions(90, 0), conditions(90, 1)),
    "60 choices in choices": (nested_nulls(60, INTEGER), nested_nulls(60, NUMBER)),
    "a ladder of 300": (ladder(300, INTEGER), ladder(300, NUMBER)),
    "500 anchors": (anchors(500, "allOf"), anchors(500, "anyOf")),
    "190 objects": (objects(190, 0), objects(190, 1)),
    "1,000 dependencies": (dependencies(1_000), dependencies(1_001)),
    "4,000 required names": (required(4_000, more=False), required(4_000, more=True)),
    "150 patterns": (patterns(150, 0), patterns(150, 1)),
}
"""By name, an old schema and a new one that cost more to compare than to read."""


def avro_union(count: int, prefix: str) -> str:
    """A union of records with fields of their own."""
    kinds = ("int", "string", "bytes")
    return json.dumps(
        [
            {"type": "record", "name": f"{prefix}{at}", "fields": [{"name": f"f{at}", "type": kinds[at % 3]}]}
            for at in range(count)
        ]
    )


def avro_defaults(count: int) -> str:
    """Defaults that are checked against every branch of a union."""
    branches = [
        {
            "type": "record",
            "name": f"R{at}",
            "fields": [{"name": "a", "type": "int"}, {"name": f"b{at}", "type": "int"}],
        }
        for at in range(count)
    ]
    items = [{"a": 1, f"b{count - 1}": at} for at in range(count)]
    return json.dumps(
        {
            "type": "record",
            "name": "Top",
            "fields": [
                {"name": "u", "type": ["null", *branches]},
                {"name": "d", "type": {"type": "array", "items": [f"R{at}" for at in range(count)]}, "default": items},
            ],
        }
    )


def protobuf_files(count: int, fields: int, *, turned: bool) -> tuple[str, dict[str, str]]:
    """A file whose message has a field for each pair of the messages in other files; and those files."""
    inner = "".join(f" int32 f{at} = {at + 1};" for at in range(fields))
    texts = {f"{at}.proto": f'syntax = "proto3"; package p{at}; message M {{{inner} }}' for at in range(count)}
    imports = "".join(f'import "{name}";' for name in texts)
    kinds = [divmod(at, count)[turned] for at in range(count * count)]
    body = "".join(f"p{kind}.M u{at} = {at + 1};" for at, kind in enumerate(kinds))
    return f'syntax = "proto3"; {imports} message Top {{ {body} }}', texts
