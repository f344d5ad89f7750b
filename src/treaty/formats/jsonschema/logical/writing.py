"""Logical types written as a JSON Schema of draft 2020-12."""

import json

from treaty.formats.json_printer import Json
from treaty.formats.jsonschema.logical.words import (
    BYTES,
    CLOCKS,
    CONNECT,
    DATE,
    DECIMAL,
    DIGITS,
    FLINK,
    INSTANT,
    LENGTHS,
    NUMBERS,
    PARAMETERS,
    PRECISION,
    TIME,
)
from treaty.formats.logical.defaults import plain
from treaty.formats.logical.faults import fault
from treaty.formats.logical.model import Array, Enum, Map, Member, Scalar, Struct, Type
from treaty.formats.logical.parse import parse

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def written(text: str) -> str:
    """The JSON Schema that a text of logical types describes.

    Names are titles. What may not be null is required. Raises `InvalidSchemaError` for a text that is none, and for
    what JSON does not have.
    """
    return json.dumps({"$schema": DRAFT, **_struct(parse(text), "")}, ensure_ascii=False)


def _struct(struct: Struct, path: str) -> dict[str, Json]:
    found: dict[str, Json] = {"title": struct.name} if struct.name else {}
    found["type"] = "object"
    found["properties"] = {one.name: _member(one, f"{path}/{one.name}") for one in struct.members}
    required: list[Json] = [one.name for one in struct.members if not one.nullable]
    if required:
        found["required"] = required
    found["additionalProperties"] = False
    return found


def _member(member: Member, path: str) -> Json:
    found = _place(member.type, path, nullable=member.nullable)
    if member.comment:
        found["description"] = member.comment
    if member.default is not None:
        found["default"] = plain(member.default.value, member.type)
    return found


def _place(kind: Type, path: str, *, nullable: bool) -> dict[str, Json]:
    found = _type(kind, path)
    return {"oneOf": [{"type": "null"}, found]} if nullable else found


def _type(kind: Type, path: str) -> dict[str, Json]:
    match kind:
        case Array(element, nullable):
            return {"type": "array", "items": _place(element, path, nullable=nullable)}
        case Map(key, value, nullable):
            if key.name != "STRING":
                raise fault("LOGICAL_UNSUPPORTED", path, f"a MAP with keys of type {key.name}", "keys of type STRING")
            values = _place(value, path, nullable=nullable)
            return {"type": "object", CONNECT: "map", "additionalProperties": values}
        case Struct():
            return _struct(kind, path)
        case Enum(name, symbols):
            named: dict[str, Json] = {"title": name} if name else {}
            return {**named, "type": "string", "enum": list(symbols)}
    return _scalar(kind)


def _scalar(kind: Scalar) -> dict[str, Json]:
    if kind.name in NUMBERS:
        return {"type": "number", CONNECT: NUMBERS[kind.name]}
    if kind.name in CLOCKS:
        digits: dict[str, Json] = {} if kind.numbers == (CLOCKS[kind.name],) else {PRECISION: kind.numbers[0]}
        if kind.name == "TIMESTAMP":
            return {"type": "number", CONNECT: "int64", FLINK: "timestamp", **digits}
        title, size = (TIME, "int32") if kind.name == "TIME" else (INSTANT, "int64")
        return {"type": "number", CONNECT: size, "title": title, **digits}
    match kind.name:
        case "BOOLEAN":
            return {"type": "boolean"}
        case "DATE":
            return {"type": "number", CONNECT: "int32", "title": DATE}
        case "DECIMAL":
            said: Json = {"scale": str(kind.numbers[1]), DIGITS: str(kind.numbers[0])}
            return {"type": "number", CONNECT: "bytes", "title": DECIMAL, PARAMETERS: said}
    found: dict[str, Json] = {"type": "string"}
    names = LENGTHS
    if kind.name in ("BYTES", "BINARY", "VARBINARY"):
        found[CONNECT] = "bytes"
        names = BYTES
    if kind.name in ("CHAR", "BINARY"):
        found[names[0]] = kind.numbers[0]
    if kind.numbers:
        found[names[1]] = kind.numbers[0]
    return found
