"""Payloads against thriftpy2's own protocols, both ways; and damaged ones, which are bad and nothing worse."""

import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from thriftpy2.parser.parser import parse_fp
from thriftpy2.protocol.binary import TBinaryProtocol
from thriftpy2.protocol.compact import TCompactProtocol
from thriftpy2.transport.memory import TMemoryBuffer

from treaty.formats.format import BadPayloadError
from treaty.formats.seeded_random import SeededRandom
from treaty_thrift.format import FORMAT
from treaty_thrift.model import ThriftSchema

Parse = Callable[..., ThriftSchema]
TEXT = """
enum Colour { RED, GREEN = 5, BLUE = -3 }
struct Point { 1: required double x, 20: optional i16 y }
union Any { 1: i64 number, 2: string text, 3: Point point }
struct All {
  1: bool yes, 2: i8 tiny, 3: i16 small, 4: i32 middle, 5: i64 large, 6: double real, 7: string text, 8: binary raw,
  9: Colour colour, 10: Point point, 11: list<bool> bits, 12: list<Point> points, 13: map<string, i64> counts,
  14: map<i32, list<string>> words, 30: set<i16> some, 31: Any any, 500: list<list<Colour>> colours, 501: map<bool, bool> flags
}
"""
PROTOCOLS: dict[str, Any] = {"binary": TBinaryProtocol, "compact": TCompactProtocol}
BUFFER: Any = TMemoryBuffer


def oracle() -> Any:
    made: Any = parse_fp
    return made(io.StringIO(TEXT), "oracle_thrift", enable_cache=False)


def to_object(module: Any, kind: Any, value: dict[str, Any]) -> Any:
    """A value as thriftpy2 has it."""
    made = kind()
    for id_ in kind.thrift_spec:
        type_, name, *rest = kind.thrift_spec[id_]
        if name in value:
            setattr(made, name, convert(module, type_, rest[0] if len(rest) > 1 else None, value[name]))
    return made


def convert(module: Any, type_: int, spec: Any, value: Any) -> Any:
    if type_ == 12:
        return to_object(module, spec, value)
    if type_ == 8 and spec is not None:
        return spec._NAMES_TO_VALUES[value]
    if type_ in {14, 15}:
        inner, deeper = spec if isinstance(spec, tuple) else (spec, None)
        return [convert(module, inner, deeper, one) for one in value]
    if type_ == 13:
        (key, held) = spec
        inner, deeper = held if isinstance(held, tuple) else (held, None)
        take: dict[int, Callable[[str], Any]] = {8: int, 2: lambda one: one == "true"}
        read = take.get(key, str)
        return {read(one): convert(module, inner, deeper, two) for one, two in value.items()}
    return value.encode("latin-1") if type_ == 18 else value


@pytest.mark.parametrize("protocol", FORMAT.payloads)
def test_bytes_are_those_of_thriftpy2(parse: Parse, protocol: str) -> None:
    schema, module, encoding = parse(TEXT), oracle(), FORMAT.payloads[protocol]
    assert FORMAT.example is not None
    write, read = encoding.write(schema), encoding.read(schema, schema)
    for seed in range(150):
        value = json.loads(FORMAT.example(schema, seed))
        payload = write(value)
        mine = to_object(module, module.All, value)
        buffer = BUFFER()
        made = PROTOCOLS[protocol](buffer)
        made.write_struct(mine)
        assert payload == buffer.getvalue(), value
        back = module.All()
        PROTOCOLS[protocol](BUFFER(payload)).read_struct(back)
        assert write(drop_nulls(read(payload))) == payload
        again = BUFFER()
        PROTOCOLS[protocol](again).write_struct(back)
        assert len(again.getvalue()) == len(payload)  # sets may have another order


def drop_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: drop_nulls(one) for name, one in value.items() if one is not None}
    return [drop_nulls(one) for one in value] if isinstance(value, list) else value


def test_values_have_pythons_types_and_defaults_fill_what_is_missing(parse: Parse) -> None:
    writer = parse("struct A { 1: binary raw, 2: map<i32, bool> by, 9: i64 gone }")
    reader = parse(
        'enum E { X } struct A { 1: binary raw, 2: map<i32, bool> by, 3: list<string> later = ["a"], 4: E e = E.X, 5: i32 n }'
    )
    for encoding in FORMAT.payloads.values():
        payload = encoding.write(writer)({"raw": b"\xff", "by": {7: True}, "gone": 1})
        first, second = (encoding.read(writer, reader)(payload) for _ in range(2))
        assert first == {"raw": b"\xff", "by": {7: True}, "later": ["a"], "e": "X", "n": None}
        assert first["later"] is not second["later"]


@pytest.mark.parametrize(
    ("text", "value", "said"),
    [
        ("struct A { 1: required i32 x }", {}, "at /x: the field is required"),
        ("struct A { 1: list<i8> x }", {"x": [1, 300]}, "at /x/1: 300 has more than 8 bits"),
        ("struct A { 1: string x }", {"x": 1}, "at /x: 1 is no text"),
        ("struct A { 1: string x }", {"x": "\ud800"}, "has no form in UTF-8"),
        ("struct A { 1: bool x }", {"x": 1}, "at /x: 1 is no boolean"),
        ("struct A { 1: map<string, double> x }", {"x": {"a": "b"}}, "at /x/a: 'b' is no number that"),
        ("struct A { 1: i32 x }", {"y": 1}, "at /y: A has no such field; it has x"),
        ("union A { 1: i32 x, 2: i32 y }", {"x": 1, "y": 2}, "has one field, and this one 2"),
        ("enum E { X } struct A { 1: E x }", {"x": 1}, "1 is no symbol of E; it has X"),
        ("struct A { 1: i32 x }", [], r"\[\] is no object of A"),
        ("enum E { X }", {}, "no struct, union or exception"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_with_its_path(parse: Parse, text: str, value: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        FORMAT.payloads["binary"].write(parse(text))(value)


BAD = [
    ("binary", b"", "MALFORMED"),
    ("binary", b"\x08\0\1\0\0\0\7\0x", "TRAILING"),
    ("binary", b"\x0a\0\1" + b"\0" * 9, "MALFORMED"),  # another type
    ("binary", b"\x63\0\5\0", "MALFORMED"),  # no type
    ("binary", b"\0", "INVALID"),  # a required field is missing
    ("binary", b"\x08\0\1\0\0\0\7\x0f\0\2\x08\x7f\xff\xff\xff\0", "MALFORMED"),  # two thousand million elements
    ("binary", b"\x08\0\1\0\0\0\7\x0f\0\2\x63\x7f\xff\xff\xff\0", "MALFORMED"),  # as many of no type
    ("binary", b"\x08\0\1\0\0\0\7\x0f\0\2\x08\xff\xff\xff\xff\0", "MALFORMED"),  # fewer than none
    ("binary", b"\x08\0\1\0\0\0\7\x0b\0\3\0\0\0\1\xff\0", "INVALID"),  # no UTF-8
    ("binary", b"\x08\0\1\0\0\0\7\x0b\0\3\xff\xff\xff\xf0\0", "MALFORMED"),
    ("binary", b"\x08\0\1\0\0\0\7\x08\0\4\0\0\0\x09\0", "INVALID"),  # no symbol
    ("binary", b"\x08\0\1\0\0\0\7" + b"\x0c\0\5" * 100 + b"\0" * 101, "MALFORMED"),  # too many levels, unknown
    ("compact", b"\x15\x0e\x1e", "MALFORMED"),
    ("compact", b"\x15\x0e\0x", "TRAILING"),
    ("compact", b"\x15" + b"\xff" * 9 + b"\1\0", "MALFORMED"),  # too long a number
    ("compact", b"\x15\x0e\x19\xf5\xff\xff\xff\xff\x0f\0", "MALFORMED"),
    ("compact", b"\x15\x0e\x1d\0", "MALFORMED"),
    ("compact", b"\0", "INVALID"),
]


@pytest.mark.parametrize(("protocol", "payload", "code"), BAD)
def test_bad_payloads_have_a_code(parse: Parse, protocol: str, payload: bytes, code: str) -> None:
    schema = parse("enum E { X } struct A { 1: required i32 id, 2: list<i32> many, 3: string text, 4: E e }")
    with pytest.raises(BadPayloadError) as bad:
        FORMAT.payloads[protocol].read(schema, schema)(payload)
    assert bad.value.code == code
    assert bad.value.message


@pytest.mark.parametrize("protocol", FORMAT.payloads)
def test_damage_is_bad_or_another_value_and_nothing_worse(parse: Parse, protocol: str) -> None:
    schema, encoding = parse(TEXT), FORMAT.payloads[protocol]
    assert FORMAT.example is not None
    read, bad = encoding.read(schema, schema), 0
    for seed in range(400):
        random = SeededRandom(seed)
        payload = bytearray(encoding.write(schema)(json.loads(FORMAT.example(schema, seed % 40))))
        for _ in range(1 + random.below(3)):
            payload[random.below(len(payload))] = random.below(256)
        cut = bytes(payload[: random.below(len(payload) + 1)]) if random.chance(50) else bytes(payload)
        try:
            read(cut)
        except BadPayloadError:
            bad += 1
    assert bad > 200


def test_a_record_in_itself_has_a_bottom(parse: Parse) -> None:
    schema = parse("struct A { 1: optional A a, 2: optional list<A> b }")
    value: dict[str, Any] = {}
    for _ in range(5000):
        value = {"a": value}
    for encoding in FORMAT.payloads.values():
        with pytest.raises(ValueError, match="too many levels"):
            encoding.write(schema)(value)
    with pytest.raises(BadPayloadError, match="more than 64 levels"):
        FORMAT.payloads["binary"].read(schema, schema)(b"\x0c\0\1" * 1000 + b"\0" * 1001)
