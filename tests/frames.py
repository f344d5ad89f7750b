"""Registry frames for tests: records encoded by fastavro, and every way to damage one."""

import io
import json
import random
from collections.abc import Callable, Mapping
from typing import Any

import fastavro

SPOILT: Mapping[str, tuple[str, Callable[[bytes, random.Random], bytes]]] = {
    "nothing": ("TOO_SHORT", lambda _, __: b""),
    "part of a frame": ("TOO_SHORT", lambda value, dice: value[: dice.randrange(1, 5)]),
    "wrong magic": ("BAD_MAGIC", lambda value, dice: bytes([dice.randrange(1, 256)]) + value[1:]),
    "unknown id": (
        "UNKNOWN_ID",
        lambda value, dice: b"\0" + dice.randrange(10**6, 2**31).to_bytes(4, "big") + value[5:],
    ),
    "negative id": ("UNKNOWN_ID", lambda value, _: b"\0\xff\xff\xff\xff" + value[5:]),
    "no payload": ("MALFORMED", lambda value, _: value[:5]),
    "cut short": ("MALFORMED", lambda value, dice: value[: dice.randrange(6, len(value))]),
    "one byte more": ("TRAILING", lambda value, dice: value + dice.randbytes(1)),
    "many bytes more": ("TRAILING", lambda value, dice: value + dice.randbytes(dice.randrange(2, 40))),
    "two records": ("TRAILING", lambda value, _: value + value[5:]),
    "huge length": ("MALFORMED", lambda value, _: value[:5] + b"\xfe\xff\xff\xff\x0f" + value[5:]),
    "negative length": ("MALFORMED", lambda value, _: value[:5] + b"\x01" + value[6:]),
}
"""Ways to damage a frame whose record begins with a string: the code that it must be found with, and the deed."""


def header(schema_id: int) -> bytes:
    return b"\0" + schema_id.to_bytes(4, "big")


def frame(schema_id: int, schema: str, record: Any) -> bytes:
    out = io.BytesIO()
    out.write(header(schema_id))
    fastavro.schemaless_writer(out, fastavro.parse_schema(json.loads(schema)), record)
    return out.getvalue()


def resolved(value: bytes, writer: str, reader: str) -> Any:
    """What fastavro itself makes of a frame."""
    target = fastavro.parse_schema(json.loads(reader))
    return fastavro.schemaless_reader(io.BytesIO(value[5:]), fastavro.parse_schema(json.loads(writer)), target)


def record(*fields: Any, name: str = "Order", **more: Any) -> str:
    """A record schema; a field is (name, type) or (name, type, default) or a whole object."""
    made = []
    for field in fields:
        if isinstance(field, dict):
            made.append(field)
        else:
            made.append(dict(zip(("name", "type", "default"), field, strict=False)))
    return json.dumps({"type": "record", "name": name, "namespace": "shop", "fields": made, **more})
