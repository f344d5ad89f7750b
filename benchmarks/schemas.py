"""Schemas to measure with: a small one of 15 fields and a large one of 500, nested, in every format."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

SMALL = 15
LARGE = 500
GROUP = 10
"""Fields of one nested type of a large schema."""

AVRO_KINDS = ("long", "string", "double", "int", "boolean")
JSON_KINDS = ("integer", "string", "number", "integer", "boolean")
PROTO_KINDS = ("int64", "string", "double", "int32", "bool")


@dataclass(frozen=True, slots=True)
class Texts:
    """Makers of schema texts: `small(version)` and `large(version)`.

    Every version has other docs, and all but version 0 one optional field more, so that each reads all others' data.
    """

    small: Callable[[int], str]
    large: Callable[[int], str]


def more(version: int) -> int:
    """Return how many fields a version has beyond those of version 0."""
    return int(version > 0)


def avro_fields(count: int, version: int, prefix: str = "field") -> list[dict[str, object]]:
    """Return optional fields of Avro with docs."""
    return [
        {
            "name": f"{prefix}_{n}",
            "type": ["null", AVRO_KINDS[n % 5]],
            "default": None,
            "doc": f"Field {n} of {version}",
        }
        for n in range(count)
    ]


def avro_small(version: int) -> str:
    """Return an Avro record of 15 fields and one more in later versions."""
    return json.dumps(
        {
            "type": "record",
            "name": "Event",
            "namespace": "org.example",
            "fields": avro_fields(SMALL + more(version), version),
        }
    )


def avro_large(version: int) -> str:
    """Return an Avro record of 500 fields in records of ten."""
    parts = [
        {
            "name": f"part_{n}",
            "type": {"type": "record", "name": f"Part{n}", "fields": avro_fields(GROUP, version)},
            "doc": f"Part {n}",
        }
        for n in range(LARGE // GROUP)
    ]
    record = {"type": "record", "name": "Event", "namespace": "org.example"}
    return json.dumps({**record, "fields": parts + avro_fields(more(version), version, "more")})


def properties(count: int, version: int, prefix: str = "field") -> dict[str, object]:
    """Return optional properties of JSON Schema with descriptions."""
    return {
        f"{prefix}_{n}": {"type": ["null", JSON_KINDS[n % 5]], "description": f"Field {n} of {version}"}
        for n in range(count)
    }


def json_object(members: dict[str, object], **more: object) -> dict[str, object]:
    """Return a closed object."""
    return {"type": "object", "properties": members, "additionalProperties": False, **more}


def json_small(version: int) -> str:
    """Return a JSON Schema of 15 properties and one more in later versions."""
    head = {"$schema": "http://json-schema.org/draft-07/schema#", "title": "Event"}
    return json.dumps({**head, **json_object(properties(SMALL + more(version), version), required=["field_0"])})


def json_large(version: int) -> str:
    """Return a JSON Schema of 500 properties in objects of ten, behind references."""
    parts = {f"Part{n}": json_object(properties(GROUP, version), required=["field_1"]) for n in range(LARGE // GROUP)}
    members: dict[str, object] = {f"part_{n}": {"$ref": f"#/definitions/Part{n}"} for n in range(LARGE // GROUP)}
    head = {"$schema": "http://json-schema.org/draft-07/schema#", "title": "Event", "definitions": parts}
    return json.dumps({**head, **json_object(members | properties(more(version), version, "more"))})


def proto_fields(count: int, version: int, prefix: str = "field", first: int = 1) -> str:
    """Return fields of Protobuf with comments."""
    lines = (
        f"  // Field {n} of {version}\n  optional {PROTO_KINDS[n % 5]} {prefix}_{n} = {n + first};\n"
        for n in range(count)
    )
    return "".join(lines)


def proto_small(version: int) -> str:
    """Return a Protobuf file of one message of 15 fields and one more in later versions."""
    return f'syntax = "proto3";\npackage org.example;\n\nmessage Event {{\n{proto_fields(SMALL + more(version), version)}}}\n'


def proto_large(version: int) -> str:
    """Return a Protobuf file of 500 fields in messages of ten."""
    count = LARGE // GROUP
    parts = "".join(f"message Part{n} {{\n{proto_fields(GROUP, version)}}}\n" for n in range(count))
    uses = "".join(f"  Part{n} part_{n} = {n + 1};\n" for n in range(count))
    added = proto_fields(more(version), version, "more", count + 1)
    return f'syntax = "proto3";\npackage org.example;\n\nmessage Event {{\n{uses}{added}}}\n{parts}'


TEXTS: Mapping[str, Texts] = {
    "AVRO": Texts(avro_small, avro_large),
    "JSON": Texts(json_small, json_large),
    "PROTOBUF": Texts(proto_small, proto_large),
}
"""Makers by format."""
