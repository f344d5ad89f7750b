"""A seal behind each payload that is no field of the record: Avro's reader passes over it, and fails where it is broken.

Spark makes the row of a topmost record once and fills it again and again, but makes that of a record inside of another
for each row, with an object for each field. So the record itself is the reader's topmost one, and the bytes behind the payload
belong to the writer alone.

The seal is a byte for a fixed and eight unions. Each union has one number that can be passed over: the types before
that are of more bytes than a payload has, and there are none behind it. The first byte is odd: where a payload
is too long or too short by some bytes, one of the unions meets it, alone or as the end of a longer varint, and as the
number of a type it is negative or beyond 63.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from treaty.formats.avro.model import PRIMITIVES
from treaty.plan.format_plans import AvroFormatPlan

SEAL, FIRST, NEVER, ENDLESS = "treaty.Seal", "treaty.First", "treaty.Never", "treaty.Endless"
PIECE, DOUBLINGS = 2**16, 15
"""Two to the power of 31 bytes, of which Java has no array: a fixed of so many, and records of two of what was before,
since Avro's reader for Java may be given a limit for the bytes of a fixed.
"""


@dataclass(frozen=True, slots=True)
class SealedSchemas:
    """Texts of the two schemas, the bytes behind each payload, and a column that is null where a payload was refused, and
    nowhere else.
    """

    writer: str
    reader: str
    seal: bytes
    sure: str


def seal_schemas(plan: AvroFormatPlan, ending: bytes) -> SealedSchemas | None:
    """The schemas of a plan whose record's fields are the envelope's own, with a seal in place of the tail.

    `ending` are eight odd bytes below 0x80. None where the record's fields are not as the columns have them, or all of
    them may be null: a reader that fails gives a row of nulls.
    """
    if plan.whole or plan.layouts or plan.cuts:
        return None
    writer, reader = json.loads(plan.writer_text), json.loads(plan.reader_text)
    *columns, _ = reader["fields"]
    sure = next((one["name"] for one in columns if _is_sure(one["type"])), None)
    if sure is None:
        return None
    numbers = [byte >> 1 for byte in ending]
    seal: Any = _make_seal(numbers)
    for record in writer if isinstance(writer, list) else [writer]:
        record["fields"][-1]["type"] = seal
        seal = SEAL  # a type is defined where it stands first
    reader["fields"] = columns
    seal_bytes = bytes((ending[0], *(number << 1 for number in numbers)))
    return SealedSchemas(json.dumps(writer), json.dumps(reader), seal_bytes, sure)


def _is_sure(node: Any) -> bool:
    """Whether the column of a type is never null for a record that was read: a type that stands here itself, without a
    logical type, whose values might not fit.
    """
    if isinstance(node, Mapping):
        return node["type"] != "null" and "logicalType" not in node
    return isinstance(node, str) and node in PRIMITIVES and node != "null"


def _make_seal(numbers: Sequence[int]) -> Mapping[str, Any]:
    """The record of a fixed of one byte, and of a union for each number."""
    fields = [_make_field("first", {"type": "fixed", "name": FIRST, "size": 1})]
    defined: set[str] = set()
    for place, number in enumerate(numbers):
        parts: list[Any] = [f"{NEVER}{at}" for at in range(number)]
        for at, name in enumerate(parts):
            if name not in defined:
                endless = ENDLESS if defined else _make_endless()
                parts[at] = {"type": "record", "name": name, "fields": [_make_field("bytes", endless)]}
                defined.add(name)
        fields.append(_make_field(f"part{place}", [*parts, "null"]))
    return {"type": "record", "name": SEAL, "fields": fields}


def _make_endless() -> Mapping[str, Any]:
    """A record of more bytes than a payload has."""
    endless: Mapping[str, Any] = {"type": "fixed", "name": f"{ENDLESS}0", "size": PIECE}
    for step in range(1, DOUBLINGS + 1):
        name = f"{ENDLESS}{step}" if step < DOUBLINGS else ENDLESS
        halves = [_make_field("left", endless), _make_field("right", endless["name"])]
        endless = {"type": "record", "name": name, "fields": halves}
    return endless


def _make_field(name: str, type_: Any) -> Mapping[str, Any]:
    return {"name": name, "type": type_}
