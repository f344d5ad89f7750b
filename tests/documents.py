"""JSON Schemas of columns, documents of them, and documents that are damaged or strange; the same for the same seed."""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.frames import header

LEAVES: Mapping[str, tuple[dict[str, Any], ...]] = {
    "text": ({"type": "string"}, {"type": ["string", "null"], "maxLength": 4}, {"type": "string", "enum": ["a", "ö", "NaN"]}),
    "whole": ({"type": "integer"}, {"type": "integer", "minimum": 3, "maximum": 5.5}, {"type": ["integer", "null"]}),
    "real": ({"type": "number"}, {"type": "number", "minimum": 0.5}, {"type": "number", "exclusiveMaximum": 7}),
    "truth": ({"type": "boolean"},),
    "day": ({"type": "string", "format": "date"},),
    "instant": ({"type": "string", "format": "date-time"},),
    "exact": ({"type": "number", "minimum": 0, "maximum": 999, "multipleOf": 0.01},),
}  # fmt: skip
"""Schemas of columns by what they hold."""
VALUES: Mapping[str, tuple[str, ...]] = {
    "text": ('"a"', '"ö"', '"NaN"', '"x, Info"', '"ä€😀"', '""', '"null"', r'"\u0041\n\u001f\ud83d\ude00"', r'"\u0000"'),
    "whole": ("7", "3", "5", "6", "-0", "9223372036854775807", "-9223372036854775808", "0"),
    "real": ("7", "1.5", "0.5", "0.1", "1e5", "1E-7", "-1e-400", "123456789012345678901234567890", "6.999999999999999999999"),
    "truth": ("true", "false"),
    "day": ('"2024-02-29"', '"1969-12-31"', '"0001-01-01"'),
    "instant": ('"2024-02-29T12:00:00Z"', '"2024-02-29T12:00:00.123456+02:00"', '"1969-12-31T23:59:59.9Z"'),
    "exact": ("1", "1.25", "0.5", "998.99"),
}  # fmt: skip
"""Values that columns hold, as pyarrow and Python read them alike."""
ODD = (
    "null", "7", "7.0", "1e2", '"7"', "true", "[7]", "{}", "[]", "[1,null,2]", '{"a":1}', "NaN", "-NaN", "Infinity", " -Inf", "1e400", "-1e400",
    "9223372036854775808", "007", "+1", ".5", "5.", "-", '"2023-02-29"', '"2024-2-9"', '"2024-02-29 12:00:00"', '"2024-02-29T12:00:00"',
    '"2024-02-29T25:00:00Z"', '"2024-02-29T12:00:00.123456789Z"', '"1.5"', "1.255", "999.999", "1000", r'"\ud800"', r'"\x"', '"a\tb"', "'a'", "nul",
    "// no", '"x', "[1,2", '{"a":1',
)  # fmt: skip
"""Values that few columns hold, or none."""
EDGES = (
    " 1e999", '" 2024-02-09 "', '"0000-01-01"', '"2024-02-29T12:00:60Z"', '"2024-02-29T12:00:00+18:30"', '"0000-02-29T12:00:00Z"', "1e1001",
    "-1.5E-1001", "1" * 1001, "[" * 210 + "]" * 210, '{"a":' * 600 + "1" + "}" * 600, "[" * 3000 + "]" * 3000,
)  # fmt: skip
"""Values at the limits of the libraries that read them."""
ENDS = (
    "", " ", "\n", "x", "\0", "}", "]", ",", "{}", ' {"n": 1}', ',"n":1', ',"x":1', '\n{"c0":1}', "// x", "\u00a0", "}\n{", '"',
)  # fmt: skip
"""What stands behind a document."""


def make_schema(dice: random.Random, depth: int = 2) -> tuple[dict[str, Any], dict[str, str]]:
    """A schema of an object whose parts all have columns, and what each property holds (`object` and `list` for those with parts)."""
    properties: dict[str, Any] = {}
    holds: dict[str, str] = {}
    for at in range(dice.randrange(1, 7)):
        kind = dice.choice([*LEAVES, *(["object", "list", "texts"] if depth else [])])
        name = dice.choice((f"c{at}", f"ö{at}", f"C {at}"))
        holds[name] = kind
        if kind == "object":
            properties[name] = make_schema(dice, depth - 1)[0]
        elif kind == "list":
            properties[name] = {"type": "array", "items": make_schema(dice, depth - 1)[0]}
        elif kind == "texts":
            properties[name] = {
                "type": "array",
                "items": {"type": "string"},
                "minItems": dice.randrange(2),
                "maxItems": 3,
            }
        else:
            properties[name] = dice.choice(LEAVES[kind])
    made: dict[str, Any] = {"type": "object", "properties": properties}
    if not dice.randrange(3):
        made["required"] = [one for one in properties if dice.randrange(2)]
    if not dice.randrange(3):
        made["additionalProperties"] = bool(dice.randrange(2))
    return made, holds


def make_document(
    dice: random.Random, schema: Mapping[str, Any], odd: float = 0.0, strange: Sequence[str] = ODD
) -> str:
    """A document with most members of a schema; each value is a strange one with the chance `odd`."""
    members = []
    for name, inner in schema["properties"].items():
        if dice.random() < 0.85:
            members.append((name, make_value(dice, inner, odd, strange)))
    if dice.random() < odd:
        members.append((dice.choice(("zz", "c0", "null", *schema["properties"])), dice.choice(strange)))
    dice.shuffle(members)
    blank = dice.choice(("", "", " ", "\n\t"))
    inside = f",{blank}".join(
        f"{json.dumps(name, ensure_ascii=bool(dice.randrange(2)))}:{blank}{one}" for name, one in members
    )
    return f"{{{blank}{inside}}}"


def make_value(dice: random.Random, schema: Mapping[str, Any], odd: float, strange: Sequence[str]) -> str:
    """The text of a value for a schema, or of a strange one."""
    if dice.random() < odd:
        return dice.choice(strange)
    if "properties" in schema:
        return make_document(dice, schema, odd, strange)
    if "items" in schema:
        return f"[{','.join(make_value(dice, schema['items'], odd, strange) for _ in range(dice.randrange(4)))}]"
    holds = next((name for name, many in LEAVES.items() if schema in many), "text")
    return dice.choice(VALUES[holds])


def make_frames(
    dice: random.Random, schema: Mapping[str, Any], number: int, count: int, strange: Sequence[str] = (*ODD, *EDGES)
) -> Iterator[bytes | None]:
    """Frames of a schema's id: most are good documents, the others have strange values, strange ends or damaged bytes."""
    for _ in range(count):
        way = dice.randrange(12)
        text = make_document(dice, schema, 0.1 if way in {0, 1} else 0.0, strange).encode()
        if way == 2:
            text = dice.choice((text, b"{}")) + dice.choice(ENDS).encode()
        elif way == 3:
            at = dice.randrange(len(text))
            more = dice.choice(
                (b"", b"\xff", b"\0", b"{", b"}", b'"', b",", b":", b"1", b"\\", b"\xc3", b"\xef\xbb\xbf")
            )
            text = text[:at] + more + text[at + dice.randrange(3) :]
        elif way == 4:
            text = dice.choice(
                (b"", b"null", b"[]", b" {}", b"{", b"7", dice.randbytes(9), text[: dice.randrange(len(text))])
            )
        broken = (None, b"", header(number)[:3], header(number + 9) + text, b"\1" + header(number))
        yield dice.choice(broken) if way == 5 and not dice.randrange(3) else header(number) + text
