"""Comparing: each rule has a pair that breaks it and one that just doesn't, and what is compatible is read."""

import json
from collections.abc import Callable

import pytest

from treaty.formats.format import BadPayloadError
from treaty.formats.seeded_random import SeededRandom
from treaty_thrift.format import FORMAT
from treaty_thrift.model import ThriftSchema
from treaty_thrift.rules import RULES

Parse = Callable[..., ThriftSchema]
A = "struct A {{ {} }}"
CASES: list[tuple[str, str, str, str, str]] = [
    # rule, path, old, new, and a near miss of new
    ("FIELD_TYPE_CHANGED", "/A/1", A.format("1: i32 a"), A.format("1: i64 a"), A.format("1: i32 a, 2: i64 b")),
    ("FIELD_TYPE_CHANGED", "/A/1", A.format("1: binary a"), A.format("1: string a"), A.format("1: binary b")),
    ("FIELD_TYPE_CHANGED", "/A/1", A.format("1: list<i32> a"), A.format("1: set<i32> a"), A.format("1: list<i32> b")),
    ("FIELD_TYPE_CHANGED", "/A/1", "enum E { X } " + A.format("1: list<E> a"), A.format("1: list<i64> a"), A.format("1: list<i32> a")),
    ("FIELD_ID_CHANGED", "/A/2", A.format("1: i32 a"), A.format("2: i32 a"), A.format("2: i32 b")),
    ("FIELD_REQUIRED_MISSING", "/A/2", A.format("1: i32 a"), A.format("1: i32 a, 2: required i32 b"), A.format("1: i32 a, 2: i32 b")),
    ("FIELD_REQUIRED_UNSURE", "/A/1", A.format("1: i32 a"), A.format("1: required i32 a"), A.format("1: optional i32 a")),
    ("ENUM_SYMBOL_GONE", "/E", "enum E { X, Y }", "enum E { X }", "enum E { X, Z, N }"),
    ("UNION_FIELD_GONE", "/U", "union U { 1: i32 a, 2: i32 b }", "union U { 1: i32 a }", "union U { 1: i32 a, 2: i32 c, 3: i32 d }"),
    ("KIND_CHANGED", "/A", A.format("1: i32 a"), "union A { 1: i32 a }", "exception A { 1: i32 a }"),
    ("ROOT_CHANGED", "/B", A.format("1: i32 a"), A.format("1: i32 a") + "struct B { 1: i32 a }", "struct B { 1: i32 a }" + A.format("1: i32 a")),
    ("ROOT_CHANGED", "", A.format("1: i32 a"), "enum E { X }", "struct B { 1: i32 a }"),
]  # fmt: skip
HARMLESS = [
    ("FIELD_ADDED", A.format("1: i32 a"), A.format("1: i32 a, 2: i32 b")),
    ("FIELD_REMOVED", A.format("1: i32 a, 2: i32 b"), A.format("1: i32 a")),
    ("FIELD_RENAMED", A.format("1: i32 a"), A.format("1: i32 b")),
    ("DEFAULT_CHANGED", A.format("1: i32 a"), A.format("1: i32 a = 3")),
    ("REQUIREDNESS_CHANGED", A.format("1: required i32 a"), A.format("1: optional i32 a")),
    ("SYMBOL_ADDED", "enum E { X }", "enum E { X, Y }"),
    ("SYMBOL_RENAMED", "enum E { X }", "enum E { Y }"),
]


@pytest.mark.parametrize(("rule", "path", "old", "new", "near"), CASES)
def test_a_rule_is_broken_and_just_not_broken(
    parse: Parse, rule: str, path: str, old: str, new: str, near: str
) -> None:
    found = FORMAT.compare(parse(new), parse(old), "STRICT")

    assert (rule, path) in [(one.rule, one.path) for one in found]
    for one in found:
        assert one.remedy
        assert "{" not in one.message(reader="new", writer="old")
    assert FORMAT.compare(parse(near), parse(old), "STRICT") == ()


@pytest.mark.parametrize(("rule", "old", "new"), HARMLESS)
def test_what_does_no_harm_is_a_difference(parse: Parse, rule: str, old: str, new: str) -> None:
    assert FORMAT.differences is not None
    assert FORMAT.compare(parse(new), parse(old), "STRICT") == ()
    assert rule in [one.rule for one in FORMAT.differences(parse(new), parse(old))]


def test_every_rule_has_a_case() -> None:
    assert {case[0] for case in CASES} | {case[0] for case in HARMLESS} == RULES.keys()


def test_what_an_include_says_is_compared_where_it_is_used(parse: Parse) -> None:
    from treaty.core.schema_engine import ResolvedSchema  # noqa: PLC0415 (for this test alone)

    text = 'include "m.thrift"\nstruct A { 1: list<m.M> a }'
    old, new = (parse(text, m=ResolvedSchema("THRIFT", f"struct M {{ 1: {kind} x }}")) for kind in ("i32", "i64"))

    assert [(one.rule, one.path) for one in FORMAT.compare(new, old, "STRICT")] == [("FIELD_TYPE_CHANGED", "/M/1")]
    assert FORMAT.compare(new, new, "STRICT") == ()


TYPES = ("i32", "i64", "string", "binary", "bool", "list<i16>", "map<string, i32>", "E", "U", "B", "set<double>")


def draw(random: SeededRandom) -> str:
    """A text of a family in which many pairs are compatible."""

    def fields(count: int, kinds: tuple[str, ...], *, free: bool) -> str:
        made = []
        for id_ in range(1, count + 1):
            if random.chance(70):
                word = random.pick(("required ", *(["optional ", ""] * 8))) if free else ""
                kind = kinds[(id_ * 5) % len(kinds)] if random.chance(99) else random.pick(kinds)
                made.append(f"{id_}: {word}{kind} f{id_ if random.chance(99) else id_ + 1}x{id_}")
        return ", ".join(made)

    symbols = ", ".join(f"S{at} = {at}" for at in range(4) if at == 0 or random.chance(85))
    plain = ("i32", "string", "bool")
    return (
        f"enum E {{ {symbols} }} struct B {{ {fields(3, plain, free=True)} }} "
        f"union U {{ 9: i32 n, {fields(3, plain, free=False)} }} struct A {{ {fields(11, TYPES, free=True)} }}"
    )


def test_what_is_compatible_is_read(parse: Parse, record_property: Callable[[str, object], None]) -> None:
    compatible = refused = 0
    assert FORMAT.example is not None
    for seed in range(400):
        random = SeededRandom(seed)
        writer, reader = parse(draw(random)), parse(draw(random))
        if FORMAT.compare(reader, writer, "STRICT"):
            refused += 1
            continue
        compatible += 1
        for encoding in FORMAT.payloads.values():
            for number in range(5):
                value = json.loads(FORMAT.example(writer, number))
                try:
                    encoding.read(writer, reader)(encoding.write(writer)(value))
                except BadPayloadError as wrong:
                    # A union that knows the field is compatible; nothing else may be refused.
                    pytest.fail(f"seed {seed}, value {value}: {wrong}")
    record_property("figure", f"{compatible} compatible pairs, {refused} others")
    assert compatible > 40
    assert refused > 40
