# mypy: ignore-errors
"""What `record.py` registers: schemas of all formats that grow and refer to others. It runs with an older Treaty only."""

import json
import random
from typing import Any

from treaty.core.names import Subject
from treaty.core.schema import Draft, Metadata, Reference, Rule, RuleSet

WORDS = (
    "order",
    "item",
    "price",
    "count",
    "name",
    "city",
    "street",
    "zip",
    "phone",
    "mail",
    "state",
    "note",
    "rank",
    "share",
    "token",
    "user",
    "team",
    "shop",
)
KINDS = {
    "AVRO": ("long", "string", "double", "boolean"),
    "JSON": ("integer", "string", "number", "boolean"),
    "PROTOBUF": ("int64", "string", "double", "bool"),
}


def text(kind: str, name: str, fields: int, *, refers: str = "", plain: bool = False) -> str:
    """A schema with so many fields, of which more are compatible with fewer."""
    parts = [(f"{WORDS[n % len(WORDS)]}_{n}", KINDS[kind][n % 4]) for n in range(fields)]
    if kind == "AVRO":
        members: list[dict[str, Any]] = [{"name": n, "type": ["null", t], "default": None} for n, t in parts]
        if refers:
            members.append({"name": "ref", "type": ["null", refers], "default": None})
        record = {"type": "record", "name": name, "namespace": "org.example", "fields": members}
        return json.dumps(record, indent=None if plain else 1)
    if kind == "JSON":
        properties: dict[str, Any] = {n: {"type": ["null", t]} for n, t in parts}
        if refers:
            properties["ref"] = {"$ref": refers}
        whole = {"type": "object", "title": name, "properties": properties, "additionalProperties": False}
        return json.dumps(whole, indent=None if plain else 1)
    lines = [f"  optional {t} {n} = {number};" for number, (n, t) in enumerate(parts, 1)]
    head = 'syntax = "proto3";\npackage org.example;\n' + (f'import "{refers}";\n' if refers else "")
    more = [f"  optional Base{refers[4:-6]} ref = {fields + 1};"] if refers else []
    return head + f"message {name} {{\n" + "\n".join(lines + more) + "\n}\n"


def draft(kind: str, name: str, fields: int, chance: random.Random, refers: Subject | None = None) -> Draft:
    metadata = rules = None
    if chance.random() < 0.08:
        metadata = Metadata((("**.city_5", ("PII",)),), (("major", chance.choice("123")), ("team", name)))
    if chance.random() < 0.05:
        rules = RuleSet(domain=(Rule("r", "CONDITION", "WRITE", "CEL", expr="message.x != ''", tags=("PII",)),))
    references: tuple[Reference, ...] = ()
    word = ""
    if refers is not None:
        number = refers.name.rpartition("-")[2]
        word = {"AVRO": f"org.example.Base{number}", "JSON": f"base{number}.json", "PROTOBUF": f"base{number}.proto"}[
            kind
        ]
        references = (Reference(word, refers.name, -1),)
    return Draft(text(kind, name, fields, refers=word, plain=chance.random() < 0.6), kind, references, metadata, rules)
