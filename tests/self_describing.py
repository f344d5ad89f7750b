"""Seeded events with self-describing parts over 50 schemas, some of them damaged, and what is wrong with each."""

import json
from collections.abc import Mapping
from random import Random
from typing import Any

from tests.iglu import schemas
from treaty.client.iglu import IgluKey, IgluRegistry, Resolver, memory_registry

SCHEMAS = 50
META = "http://iglucentral.com/schemas/com.snowplowanalytics.self-desc/schema/jsonschema/1-0-0#"
CONTEXTS = "com.snowplowanalytics.snowplow/contexts/jsonschema/1-0-1"
CONFIG: Mapping[str, Any] = {
    "schema": "iglu:com.snowplowanalytics.iglu/resolver-config/jsonschema/1-0-3",
    "data": {"cacheSize": 500, "cacheTtl": 600, "repositories": []},
}
Json = Any
DAMAGE: Mapping[str, tuple[str, str]] = {
    "cut": ("NOT_JSON", ""),
    "type": ("INVALID_DATA", "type"),
    "required": ("INVALID_DATA", "required"),
    "extra": ("INVALID_DATA", "additionalProperties"),
    "enum": ("INVALID_DATA", "enum"),
    "range": ("INVALID_DATA", "minimum"),
    "missing": ("SCHEMA_NOT_FOUND", ""),
    "uri": ("INVALID_DATA", "pattern"),
    "deep": ("INVALID_DATA", "depth"),
    "broken": ("INVALID_SCHEMA", ""),
    "bare": ("MALFORMED", ""),
}
"""By kind of damage: the code of the failure, and the keyword that is violated."""


def uri(number: int, version: str = "1-0-0") -> str:
    return f"iglu:com.acme.shop/event_{number:02}/jsonschema/{version}"


def schema(number: int) -> Json:
    properties = {
        "id": {"type": "string", "maxLength": 40},
        "count": {"type": "integer", "minimum": 0, "maximum": 100_000},
        "price": {"type": ["number", "null"]},
        "kind": {"enum": ["view", "click", f"kind {number}"]},
        "tags": {"type": "array", "items": {"type": "string", "maxLength": 20}},
    }
    key = {"vendor": "com.acme.shop", "name": f"event_{number:02}", "format": "jsonschema", "version": "1-0-0"}
    body = {"type": "object", "properties": properties, "required": ["id", "count"], "additionalProperties": False}
    return {"$schema": META, "self": key, **body}


def registry() -> IgluRegistry:
    """A registry with the schemas, the envelope, and one document that is no schema."""
    documents: dict[IgluKey | str, Json] = {uri(number): schema(number) for number in range(SCHEMAS)}
    documents[f"iglu:{CONTEXTS}"] = json.loads(schemas()[CONTEXTS])
    documents[uri(98)] = {**schema(98), "properties": {"id": {"type": "no type"}}}
    return memory_registry("shop", documents)


def make_resolver(*more: IgluRegistry) -> Resolver:
    return Resolver(CONFIG, registries=(registry(), *more))


def part(chance: Random) -> dict[str, Json]:
    number = chance.randrange(SCHEMAS)
    data = {
        "id": f"{chance.getrandbits(64):016x}",
        "count": chance.randrange(1000),
        "price": chance.choice([None, round(chance.random() * 100, 2), 7]),
        "kind": chance.choice(["view", "click", f"kind {number}"]),
        "tags": ["new", "sale", "größe"][: chance.randrange(4)],
    }
    return {"schema": uri(number), "data": data}


def make_event(chance: Random, damage: str = "") -> str:
    """An event of about 500 bytes: an envelope with three parts, one of them with this damage."""
    parts = [part(chance) for _ in range(3)]
    victim = chance.choice(parts)
    match damage:
        case "type":
            victim["data"]["count"] = "5"
        case "required":
            del victim["data"]["id"]
        case "extra":
            victim["data"]["more"] = 1
        case "enum":
            victim["data"]["kind"] = "nothing"
        case "range":
            victim["data"]["count"] = -1
        case "missing":
            victim["schema"] = uri(99)
        case "broken":
            victim["schema"] = uri(98)
        case "uri":
            victim["schema"] = "iglu:com.acme shop/event/jsonschema/1-0"
        case "deep":
            victim["data"]["tags"] = json.loads("[" * 50 + "]" * 50)
        case "bare":
            return json.dumps({"data": parts})
    text = json.dumps({"schema": f"iglu:{CONTEXTS}", "data": parts}, ensure_ascii=False)
    return text[: chance.randrange(1, len(text))] if damage == "cut" else text


def make_events(seed: int, count: int, share: float = 0.02) -> list[tuple[str, str]]:
    """Events with the kind of their damage, empty for a good one."""
    chance, kinds = Random(seed), [*DAMAGE]
    made = []
    for place in range(count):
        damage = kinds[place % len(kinds)] if chance.random() < share else ""
        made.append((make_event(chance, damage), damage))
    return made


def expect(resolver: Resolver, text: str) -> list[tuple[str, str]]:
    """What a plain pass finds: the code and the keyword of each failure."""
    try:
        value = json.loads(text)
    except ValueError:
        return [("NOT_JSON", "")]
    parts = value["data"] if isinstance(value, dict) and value.get("schema") == f"iglu:{CONTEXTS}" else []
    outer = [one for one in [_look(resolver, value)] if one]
    return outer or [found for one in parts if (found := _look(resolver, one))]


def _look(resolver: Resolver, value: Json) -> tuple[str, str] | None:
    result = resolver.validate(value)
    match result.outcome:
        case "valid":
            return None
        case "invalid_data":
            return "INVALID_DATA", result.violations[0].keyword
        case "not_found" | "unavailable":
            return f"SCHEMA_{result.outcome.upper()}", ""
    return result.outcome.upper(), ""
