"""Bombs, bounds and places: what is too large is refused by name, and what is wrong is said where it stands."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.oracle.avro_treaty import meaning, model
from treaty.core import limits
from treaty.core.finding import Diagnostic
from treaty.core.schema_engine import ResolvedReference, ResolvedSchema
from treaty.formats.avro.compatibility import compare
from treaty.formats.avro.data.columns import derive_columns
from treaty.formats.avro.data.example import generate_example
from treaty.formats.avro.data.value import check_value
from treaty.formats.avro.format import FORMAT
from treaty.formats.avro.parser import parse_schema
from treaty.formats.format import InvalidSchemaError

MEGABYTE = 1_000_000


def faults(text: str, bindings: tuple[ResolvedReference, ...] = ()) -> tuple[Diagnostic, ...]:
    """The faults of a text that is not valid."""
    with pytest.raises(InvalidSchemaError) as refused:
        parse_schema(ResolvedSchema("AVRO", text, bindings), strict=True)
    return refused.value.faults


def record(name: str, *fields: Any, **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": list(fields), **more}


def field(name: str, kind: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, **more}


def chain(count: int, *, later: bool) -> list[Any]:
    """Records of which each uses the next one (`later`) or the one before."""
    first = {"type": "fixed", "name": "R0", "size": 1}
    rest = [record(f"R{at}", field("x", f"R{at - 1}")) for at in range(1, count)]
    return [*reversed(rest), first] if later else [first, *rest]


BOMBS: dict[str, tuple[str, str]] = {
    "open brackets": ("[" * MEGABYTE, "SCHEMA_TOO_DEEP"),
    "open braces": ('{"type":' * 120_000, "SCHEMA_TOO_DEEP"),
    "closed brackets": ("]" * MEGABYTE, "JSON_MALFORMED"),
    "nested arrays": ('{"type":"array","items":' * 201 + '"int"' + "}" * 201, "SCHEMA_TOO_DEEP"),
    "nested unions": ("[" * 200 + '"int"' + "]" * 200, "UNION_NESTED"),
    "an open string": ('"' + "a" * MEGABYTE, "JSON_MALFORMED"),
    "quotes": ('"' * MEGABYTE, "JSON_MALFORMED"),
    "backslashes": ('"' + "\\\\" * 500_000 + '"', "NAME_UNDEFINED"),
    "comments that never end": ("/*" * 500_000, "JSON_MALFORMED"),
    "a long number": (f'{{"type":"int","p":{"9" * 900_000}}}', "NUMBER_NOT_ALLOWED"),
    "a number just too long": (f'{{"type":"int","p":{"9" * 1_001}}}', "NUMBER_NOT_ALLOWED"),
    "a long illegal name": (json.dumps(record("-" * MEGABYTE)), "NAME_ILLEGAL"),
    "a long unknown name": (json.dumps("x" * MEGABYTE), "NAME_UNDEFINED"),
    "too many bytes": (json.dumps(record("A", doc="x" * limits.SCHEMA_BYTES)), "SCHEMA_TOO_LARGE"),
    "too many bytes, few characters": (json.dumps("é" * 600_000, ensure_ascii=False), "SCHEMA_TOO_LARGE"),
    "too many symbols": (
        json.dumps({"type": "enum", "name": "E", "symbols": [f"s{i}" for i in range(20_001)]}),
        "TOO_MANY",
    ),
    "too many fields": (json.dumps(record("A", *[field(f"f{i}", "int") for i in range(20_001)])), "TOO_MANY"),
    "too many branches": (json.dumps(["int"] * 20_001), "TOO_MANY"),
    "a chain of later definitions": (json.dumps(chain(10_000, later=True)), "SCHEMA_TOO_DEEP"),
    "a default that fits nothing, deep and wide": (
        json.dumps(
            [
                *[record(f"R{i}", field("f", ["null", *[f"R{j}" for j in range(40)]])) for i in range(40)],
                record(
                    "D", field("d", [f"R{j}" for j in range(40)], default=json.loads('{"f":' * 60 + "1" + "}" * 60))
                ),
            ]
        ),
        "DEFAULT_INVALID",
    ),
}


@pytest.mark.parametrize(("text", "rule"), [pytest.param(*bomb, id=name) for name, bomb in BOMBS.items()])
def test_a_bomb_is_refused_by_name(text: str, rule: str) -> None:
    found = faults(text)

    assert found[0].rule == rule
    assert found[0].expected
    assert all(len(one.message) < 300 for one in found)


LARGE: dict[str, Any] = {
    "a long name": record("a" * MEGABYTE),
    "a long namespace": record("a", namespace="a." * 500_000 + "b"),
    "many fields": record("A", *[field(f"f{i}", "int") for i in range(20_000)]),
    "many types": [record(f"A{i}") for i in range(4_000)],
    "a long chain": chain(3_000, later=False),
    "many aliases": record("A", *[field(f"f{i}", "int", aliases=[f"a{i}"]) for i in range(10_000)]),
    "the deepest array": json.loads('{"type":"array","items":' * 200 + '"int"' + "}" * 200),
    "the deepest record": json.loads(
        "".join(f'{{"type":"record","name":"R{at}","fields":[{{"name":"f","type":' for at in range(66))
        + '"int"'
        + "}]}" * 66
    ),
    "the deepest property": json.loads('{"type":"int","p":' + "[" * 199 + "]" * 199 + "}"),
    "the deepest default": [
        record("T", field("f", ["null", "T"])),
        record("D", field("d", "T", default=json.loads('{"f":' * 195 + "null" + "}" * 195))),
    ],
}  # fmt: skip


@pytest.mark.parametrize("node", [pytest.param(node, id=name) for name, node in LARGE.items()])
def test_what_is_large_and_legal_is_read_printed_and_compared(node: Any) -> None:
    schema, again = (model(json.dumps(node)) for _ in range(2))
    printed = FORMAT.show(schema, False).canonical

    assert model(printed) == schema
    assert FORMAT.show(schema, True).canonical
    assert compare(schema, again) == ()
    assert all(made(schema) for made in FORMAT.fingerprints.values())
    assert FORMAT.references(printed) == ()


@pytest.mark.parametrize("node", [pytest.param(node, id=name) for name, node in LARGE.items()])
def test_what_is_large_and_legal_gets_advice_columns_and_values(node: Any) -> None:
    schema = model(json.dumps(node))
    for lint in FORMAT.lints.values():
        lint.find(schema)
    value = generate_example(schema, 1)

    assert check_value(schema, value) == ()
    assert check_value(schema, '{"nothing": [0]}')
    if node is LARGE["a long chain"]:
        with pytest.raises(InvalidSchemaError):
            derive_columns(schema)
    else:
        assert not derive_columns(schema).whole or derive_columns(schema).columns


def test_a_schema_that_would_become_too_much_is_refused_by_name() -> None:
    doubling = [record("R0")] + [
        record(f"R{i}", field("x", f"R{i - 1}"), field("y", f"R{i - 1}")) for i in range(1, 100)
    ]
    whole = record("All", field("known", {"type": "array", "items": doubling}), field("x", "R99"))
    with pytest.raises(InvalidSchemaError) as refused:
        derive_columns(model(json.dumps(whole)))
    assert refused.value.faults[0].rule == "COLUMNS_TOO_MANY"
    with pytest.raises(ValueError, match="no value of at most"):
        generate_example(model(json.dumps(whole)), 1)


def test_large_unions_that_meet_are_compared_in_bounded_time() -> None:
    types = [record(f"A{i}", field("x", "int")) for i in range(3_000)]
    strangers = [record(f"B{i}", field("x", "int")) for i in range(3_000)]

    assert compare(model(json.dumps(types)), model(json.dumps(types[::-1]))) == ()
    assert [one.rule for one in compare(model(json.dumps(types)), model(json.dumps(strangers)))] == [
        "COMPARISON_TOO_LARGE"
    ]


def test_findings_are_bounded() -> None:
    def doubling(kind: str) -> str:
        node = record("A0", field("v", kind))
        for at in range(1, 60):
            node = record(f"A{at}", field("x", node), field("y", f"A{at - 1}"))
        return json.dumps(node)

    assert 0 < len(compare(model(doubling("int")), model(doubling("string")))) <= limits.FINDINGS


def links(count: int, width: int = 1) -> ResolvedSchema:
    """A schema at the end of a chain of references, each used `width` times."""
    here = ResolvedSchema("AVRO", '{"type":"fixed","name":"R0","size":1}')
    for at in range(1, count):
        bound = tuple(ResolvedReference(f"R{at - 1}", f"s{at}", 1, here) for _ in range(width))
        here = ResolvedSchema("AVRO", json.dumps(record(f"R{at}", field("x", f"R{at - 1}"))), bound)
    return here


def test_chains_of_references_are_bounded() -> None:
    allowed = links(limits.REFERENCE_DEPTH + 1, width=3)
    deeper = links(limits.REFERENCE_DEPTH + 2)

    assert (
        FORMAT.show(parse_schema(allowed, strict=True), False).resolved.count('"type":"record"')
        == limits.REFERENCE_DEPTH
    )
    assert faults(deeper.text, deeper.bindings)[0].rule == "REFERENCES_TOO_DEEP"


def test_the_number_of_references_is_bounded() -> None:
    def bound(count: int) -> tuple[ResolvedReference, ...]:
        texts = (json.dumps({"type": "fixed", "name": f"F{at}", "size": 1}) for at in range(count))
        return tuple(
            ResolvedReference(f"F{at}", f"s{at}", 1, ResolvedSchema("AVRO", text)) for at, text in enumerate(texts)
        )

    assert (
        len(parse_schema(ResolvedSchema("AVRO", '"F7"', bound(limits.REFERENCES)), strict=True).names)
        == limits.REFERENCES
    )
    assert faults('"F7"', bound(limits.REFERENCES + 1))[0].rule == "TOO_MANY_REFERENCES"


def test_of_two_references_with_one_name_the_first_counts() -> None:
    texts = (json.dumps({"type": "fixed", "name": "F", "size": size}) for size in (1, 2))
    bindings = tuple(ResolvedReference("F", "s", at, ResolvedSchema("AVRO", text)) for at, text in enumerate(texts))

    assert '"size":1' in FORMAT.show(parse_schema(ResolvedSchema("AVRO", '"F"', bindings), strict=True), False).resolved


def test_a_fault_inside_a_reference_names_the_reference() -> None:
    bound = ResolvedReference("F", "f-value", 3, ResolvedSchema("AVRO", '{"type":"fixed","name":"F"}'))
    first = faults('"F"', (bound,))[0]

    assert first.rule == "SIZE_INVALID"
    assert first.message.startswith("the reference 'F': ")


def test_the_verdict_does_not_depend_on_how_deep_the_caller_is() -> None:
    def at_depth(depth: int, call: Callable[[], str]) -> str:
        return call() if depth == 0 else at_depth(depth - 1, call)

    for name, node in LARGE.items():
        if "deepest" in name:
            text = json.dumps(node)
            shallow = FORMAT.show(model(text), True).canonical
            assert at_depth(400, lambda: FORMAT.show(model(text), True).canonical) == shallow  # noqa: B023


# -------------------------------------------------------------------------------------------------------- places


def test_all_faults_are_told_each_with_its_place() -> None:
    text = """{"type": "record", "name": "A", "fields": [
  {"name": "x", "type": "int", "default": "one"},
  {"name": "y", "type": ["null", {"type": "fixed", "name": "F", "size": -1}]},
  {"name": "9z", "type": "int"},
  {"name": "w"}
]}"""
    told = [(one.rule, one.path, one.line, one.column) for one in faults(text)]

    assert told == [
        ("DEFAULT_INVALID", "/fields/0/default", 2, 43),
        ("SIZE_INVALID", "/fields/1/type/1/size", 3, 73),
        ("NAME_ILLEGAL", "/fields/2/name", 4, 12),
        ("FIELD_TYPE_MISSING", "/fields/3", 5, 3),
    ]


def test_every_unknown_name_is_told_unless_something_else_is_wrong() -> None:
    unknown = [field("x", "Nope"), field("y", ["null", "n.Nil"]), field("z", "Nope")]
    told = [(one.rule, one.path) for one in faults(json.dumps(record("A", *unknown)))]

    assert told == [("NAME_UNDEFINED", "/fields/0/type"), ("NAME_UNDEFINED", "/fields/1/type/1")]
    assert [one.rule for one in faults(json.dumps(record("A", *unknown, {})))] == ["FIELD_NAME_MISSING"]


def test_no_more_faults_are_told_than_the_limit_allows() -> None:
    assert len(faults(json.dumps(record("A", *[field("-", "int") for _ in range(1_000)])))) == limits.FAULTS


def test_malformed_json_has_a_line_and_a_column() -> None:
    first = faults('{"type":\n "int",,}')[0]

    assert (first.rule, first.line, first.column) == ("JSON_MALFORMED", 2, 8)


def test_a_fault_reads_as_a_sentence() -> None:
    text = '{"type":"record","name":"A","fields":[{"name":"x","type":"int","default":null}]}'

    assert str(faults(text)[0]) == (
        'the default null of the field "x" does not fit its type at /fields/0/default (line 1, column 74); '
        "expected a value of the field's type; for a union, of one of its branches"
    )


# ------------------------------------------------------------------------------------------------- stored schemas


@pytest.mark.parametrize(
    "node",
    [
        record("a-b", field("x y", "int")),
        record("A", field("x", "int", default="one")),
        {"type": "enum", "name": "E", "symbols": ["1", "a-b"]},
        record("A", aliases=["1"]),
        record("A", namespace="a..b"),
        record('quo"te', field("back\\slash", "int")),
    ],
    ids=["names", "default", "symbols", "alias", "namespace", "escapes"],
)
def test_stored_schemas_are_read_without_looking_at_names_and_defaults(node: Any) -> None:
    text = json.dumps(node)
    stored = parse_schema(meaning(text), strict=False)

    assert faults(text)
    assert parse_schema(meaning(FORMAT.show(stored, False).canonical), strict=False) == stored
    assert compare(stored, stored) == ()


@pytest.mark.parametrize("text", ["", "{}", '"Nowhere"', '{"type":"fixed","name":"F","size":-1}', '["int","int"]'])
def test_what_never_was_a_schema_is_not_read_as_a_stored_one_either(text: str) -> None:
    with pytest.raises(InvalidSchemaError):
        parse_schema(meaning(text), strict=False)
