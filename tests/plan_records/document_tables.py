"""Versions of JSON Schemas at the corners, and random ones, with documents that fit and that do not."""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests import documents
from tests.frames import header
from tests.plan_records.record import PlanRecord

PlanCase = Callable[[PlanRecord], None]
SEEDS = range(8)
D4, D6, D7 = (f"http://json-schema.org/draft-0{number}/schema#" for number in (4, 6, 7))


def of(properties: Mapping[str, Any], **more: Any) -> str:
    """An object; a property is a type or a whole schema."""
    schemas = {name: kind if isinstance(kind, dict) else {"type": kind} for name, kind in properties.items()}
    return json.dumps({"type": "object", "properties": schemas, **more})


CENTS = {
    "type": "number",
    "title": "org.apache.kafka.connect.data.Decimal",
    "connect.type": "bytes",
    "connect.parameters": {"scale": "2", "connect.decimal.precision": "9"},
}
MILLS = {**CENTS, "connect.parameters": {"scale": "3", "connect.decimal.precision": "38"}}
FINE = {**CENTS, "connect.parameters": {"scale": "5", "connect.decimal.precision": "12"}}
SMALL = {"type": "integer", "minimum": -5, "maximum": 500, "connect.type": "int32"}
FLOAT = {"type": "number", "connect.type": "float32"}
Choices = Sequence[Mapping[str, Any]]
TABLE: Mapping[str, tuple[Sequence[str], Sequence[str], Choices]] = {
    "numbers": ((of({"a": "integer", "b": "number", "c": SMALL, "d": FLOAT, "e": CENTS}), of({"a": "number", "b": "integer", "c": "integer", "d": "number", "e": FINE}), of({"a": SMALL, "b": FLOAT, "c": FLOAT, "d": SMALL, "e": MILLS}), of({"a": "integer", "c": "string", "e": "number"})),
        ('{"a":1,"b":0.5,"c":7,"d":1.5,"e":12.34}', '{"a":1.0,"b":1e3,"c":99999999999,"d":1e300,"e":12.345678}', '{"a":"x"}', '{"a":null,"b":-0.0}', '{"a":9007199254740993,"b":9007199254740993}'), ({"validate": True},)),
    "types-that-clash": ((of({"a": "string", "b": {"type": "array", "items": {"type": "integer"}}}), of({"a": "boolean", "b": {"type": "array", "items": {"type": "string"}}}), of({"a": {"type": "object", "properties": {"x": {"type": "integer"}}}, "b": "object"}), of({"a": "null", "b": "null"})), ('{"a":"s","b":[1]}', '{"a":true,"b":["t"]}', '{"a":{"x":1},"b":{"k":[null]}}'), ()),
    "fields-come-and-go": ((of({"a": "integer", "b": {"type": "string", "description": "first"}}), of({"b": "string", "c": {"type": "object", "properties": {"d": {"type": "integer", "description": "inner"}}}}, description="all"), of({"c": {"type": "object", "properties": {"e": {"type": "string"}, "d": {"type": "number"}}}, "b": {"type": "string", "description": "last"}})), ('{"a":1,"b":"s","c":{"d":2,"e":"t"},"z":[1]}', "{}", "[]", "null", "{", '{"b":1}'), ({"rest": "map"}, {"rest": "variant"}, {"rest": "other"}, {"validate": True})),
    "nested": ((of({"l": {"type": "array", "items": {"type": "object", "properties": {"x": {"type": "integer"}}}}, "m": {"type": "object", "additionalProperties": {"type": "integer"}}}), of({"l": {"type": "array", "items": {"type": "object", "properties": {"y": {"type": "string"}, "x": {"type": "number"}}}}, "m": {"type": "object", "additionalProperties": {"type": "number"}}}), of({"l": {"type": "array"}, "m": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "integer"}}}})), ('{"l":[{"x":1,"y":"s"},null],"m":{"k":2}}', '{"l":[{"x":0.5}],"m":{"k":0.5}}', '{"m":{"k":[1]}}'), ({"rest": "map"},)),
    "texts": ((of({"d": {"type": "string", "format": "date"}, "t": {"type": "string", "format": "date-time"}, "b": {"type": "string", "contentEncoding": "base64"}, "e": {"enum": ["p", "q"]}, "k": {"const": 5}, "u": {"type": "string", "format": "uuid"}}), of({"d": "string", "t": {"type": "string", "format": "date"}, "b": "string", "e": {"enum": ["p", 1]}, "k": {"const": "k"}, "u": {"type": ["string", "integer"]}})), ('{"d":"2020-02-29","t":"2020-01-01T00:00:00.123456789Z","b":"YQ==","e":"p","k":5,"u":"x"}', '{"d":"2020-02-30","t":"x","b":"!","e":"z","k":6}'), ({"validate": True},)),
    "no-object": (('{"type": "integer"}', '{"type": "string"}', '{"type": "number"}', '{"type": "array", "items": {"type": "integer"}}'), ("5", '"s"', "0.5", "[1]", "null"), ({"rest": "map"}, {"validate": True})),
    "an-object-and-none": ((of({"a": "integer"}), '{"type": "integer"}', "true", of({"b": "integer"})), ('{"a":1}', "5", '{"b":2}'), ()),
    "no-properties": (('{"type": "object"}', '{"type": "object", "additionalProperties": false}', of({"a": "integer"})), ('{"a":1}', "{}"), ()),
    "choices": ((json.dumps({"oneOf": [{"type": "object", "properties": {"a": {"type": "integer"}}}, {"type": "object", "properties": {"b": {"type": "string"}}}]}), json.dumps({"allOf": [{"$ref": "#/$defs/x"}, {"properties": {"c": {"type": "integer"}}}], "$defs": {"x": {"type": "object", "properties": {"a": {"type": "number"}}}}}), of({"a": {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "b": {"type": ["string", "null"]}})), ('{"a":1,"b":"s","c":3}', '{"a":null,"b":null}'), ({"validate": True},)),
    "drafts": ((of({"a": "integer"}, **{"$schema": D4}), of({"a": "integer"}, **{"$schema": D6}), of({"a": "integer"}, **{"$schema": D7}), of({"a": "integer", "b": "string"}, **{"$schema": "http://json-schema.org/draft-03/schema#"})), ('{"a":1.0}', '{"a":1e0}', '{"a":1}'), ({"validate": True},)),
    "recursion": ((json.dumps({"type": "object", "properties": {"v": {"type": "integer"}, "next": {"$ref": "#"}, "more": {"type": "array", "items": {"$ref": "#"}}}}),), ('{"v":1,"next":{"v":2,"next":{"v":3,"next":{"v":4}}}}', '{"more":[{"v":5}]}'), ({"depth": 1}, {"depth": 2, "rest": "map"})),
    "titles": ((of({"a": "integer"}, title="com.acme.Order"), of({"a": "number"}, title="com.acme.Order"), of({"b": "string"}, title="com.other.Order"), of({"a": "string"}, title=""), '{"type": "string", "title": "Text"}', of({"a": "boolean", "x": {"type": "object", "additionalProperties": {"type": "integer"}}}, title="com.acme order")), ('{"a":1}', '{"a":0.5,"b":"s"}', '"t"'), ({"validate": True},)),
    "names-in-use": ((of({"rest": "string", "REST_": "integer"}), of({"a": "integer", "A": "string"}), of({"b`c": "integer", "": "string"})), ('{"rest":"s","x":1}', '{"a":1,"A":"s"}', '{"b`c":1,"":"e"}'), ({"rest": "map"}, {"case_sensitive": False})),
    "nulls": ((of({"a": "null", "b": {"type": "array", "items": {"type": "null"}}, "c": "integer"}), of({"a": "integer", "b": {"type": "array", "items": {"type": "string"}}, "c": "null"}), of({"a": {"type": "object", "properties": {"x": {"type": "null"}}}})), ('{"a":null,"b":[null],"c":1}', '{"a":5,"b":["s"]}'), ()),
    "never": ((of({"a": {"not": {}}, "b": {"type": "integer", "not": {"const": 3}}}), "false", of({"a": {"if": {"type": "integer"}, "then": {"minimum": 3}, "else": {"type": "string"}}})), ('{"a":1,"b":2}', '{"b":3}'), ({"validate": True},)),
}  # fmt: skip


def run_table(name: str) -> PlanCase:
    """The case of a row of the table: each document in the frames of each version."""
    versions, texts, more = TABLE[name]

    def run(case: PlanRecord) -> None:
        ids = [one for one in case.put(*versions, format_="JSON") if one > 0]
        rows = [header(one) + text.encode() for one in ids[:3] for text in texts]
        case.decode(rows=rows, reader="latest")
        case.decode(reader=1)
        plan = case.decode(rows=rows, reader="union")
        for choices in more:
            case.decode(rows=rows if choices.get("rest") != "variant" else (), **{"reader": "union", **choices})
        for shape in ("types", "wide"):
            case.decode(rows=rows, reader=shape, validate=bool(more and more[0].get("validate")))
        case.decode(reader="types", rest="map")
        case.decode(before=plan, reader="union")
        case.put(of({"late": "integer", "a": "array"}), format_="JSON")
        case.extend(plan, [max(case.texts)], rows[:2])
        for text in versions:
            case.columns(text, "JSON")
            case.columns(text, "JSON", depth=1)
        case.columns(versions[0], "JSON", message="M")

    return run


def run_seed(seed: int) -> PlanCase:
    """Random schemas one after the other, and random documents of them."""

    def run(case: PlanRecord) -> None:
        dice = random.Random(seed)
        rows: list[bytes] = []
        for _ in range(3):
            schema, _ = documents.make_schema(dice)
            (schema_id,) = case.put(json.dumps(schema), format_="JSON")
            rows += [header(schema_id) + documents.make_document(dice, schema, odd).encode() for odd in (0.0, 0.3)]
        for choices in ({"reader": "union", "validate": seed % 2 == 0}, {"reader": "latest"}):
            case.decode(rows=rows, **choices)

    return run


CASES: Mapping[str, PlanCase] = {
    **{name: run_table(name) for name in TABLE},
    **{f"seed-{seed}": run_seed(seed) for seed in SEEDS},
}
