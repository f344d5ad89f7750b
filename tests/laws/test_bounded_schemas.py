"""Recursive schemas opened to a depth, with and without what lies deeper; and whether a writer has any value that a reader takes."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.avro.model import (
    ABSENT,
    AvroArray,
    AvroMap,
    AvroPrimitive,
    AvroRecord,
    AvroReference,
    AvroSchema,
    AvroType,
    AvroUnion,
    Field,
    is_null,
)
from treaty.formats.avro.resolution import DEEPER, LEVEL
from treaty.formats.registry import find_formats
from treaty.plan.avro.bounds import find_bounded, find_circular, is_deeper
from treaty.plan.avro.chances import BY_VALUE, takes_some
from treaty.plan.avro.logical_types import PLAIN

FORM = find_formats()["AVRO"]


def model(schema: Any) -> AvroSchema:
    parsed: AvroSchema = FORM.parse(ResolvedSchema("AVRO", json.dumps(schema)), False)
    return parsed


def array(items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items}


def mapping(values: Any) -> dict[str, Any]:
    return {"type": "map", "values": values}


def record(name: str, *fields: tuple[Any, ...], **more: Any) -> dict[str, Any]:
    members = [
        {"name": one, "type": kind} | ({"default": default[0]} if default else {}) for one, kind, *default in fields
    ]
    return {"type": "record", "name": name, "fields": members, **more}


KINDS: dict[str, Any] = {
    "union": ["null", "R"],
    "array": array("R"),
    "map": mapping("R"),
    "null or array": ["null", array("R")],
    "null or map": ["null", mapping("R")],
    "array of unions": array(["null", "R"]),
    "map of unions": mapping(["null", "R"]),
    "null or text": ["null", "string", "R"],
    "text or array": ["string", array("R")],
    "text or map": ["string", mapping("R")],
    "text or map of unions": ["string", mapping(["null", "R"])],
    "numbers": ["null", "int", "long", "R"],
    "text and numbers": ["string", "int", "long", "R"],
    "fixed": [{"type": "fixed", "name": "F", "size": 2}, array("R")],
}


def inside(node: AvroType) -> Iterator[str]:
    match node:
        case AvroRecord() | AvroReference():
            yield node.full
        case AvroArray():
            yield from inside(node.items)
        case AvroMap():
            yield from inside(node.values)
        case AvroUnion():
            for branch in node.branches:
                yield from inside(branch)


def strip(node: AvroType) -> AvroType:
    """A type without branches that stand for what lies deeper, and without the marks beside them."""
    match node:
        case AvroPrimitive():
            return replace(node, props=tuple(one for one in node.props if one[0] != PLAIN))
        case AvroArray():
            return replace(node, items=strip(node.items))
        case AvroMap():
            return replace(node, values=strip(node.values))
        case AvroUnion():
            return AvroUnion(tuple(strip(one) for one in node.branches if not is_deeper(one)))
    return node


def without_deeper(schema: AvroSchema) -> dict[str, Any]:
    def fields_of(node: AvroRecord) -> AvroRecord:
        return replace(node, fields=tuple(replace(one, type=strip(one.type)) for one in node.fields))

    records = {full: node for full, node in schema.names.items() if not full.startswith(DEEPER)}
    return {full: fields_of(node) if isinstance(node, AvroRecord) else node for full, node in records.items()}


def original(full: str) -> str:
    return full.removeprefix(LEVEL).partition(".")[2] if full.startswith(LEVEL) else full


def paths_of(schema: AvroSchema, ring: frozenset[str], depth: int) -> set[tuple[str, ...]]:
    """All paths of records from the root that have no more records of rings than the depth; of an opened schema by their own names."""
    paths: set[tuple[str, ...]] = set()

    def walk(full: str, path: tuple[str, ...]) -> None:
        path = (*path, original(full))
        if sum(name in ring for name in path) > depth:
            return
        paths.add(path)
        node = schema.names[full]
        for name in (
            [one for field in node.fields for one in inside(field.type)] if isinstance(node, AvroRecord) else []
        ):
            if not name.startswith(DEEPER):
                walk(name, path)

    assert isinstance(schema.root, AvroRecord | AvroReference)
    walk(schema.root.full, ())
    return paths


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_what_lies_deeper_stands_beside_the_same_schema(kind: str, depth: int) -> None:
    schema = model(record("R", ("n", "int"), ("r", KINDS[kind]), aliases=["Q"]))
    plain, beside = find_bounded(schema, depth), find_bounded(schema, depth, keeps_deeper=True)
    assert without_deeper(beside) == without_deeper(plain) == plain.names
    assert not find_circular(plain)
    assert not find_circular(beside)
    ring = frozenset({"R"})
    assert paths_of(plain, ring, 9) == paths_of(beside, ring, 9) == paths_of(schema, ring, depth)
    hollow = [node for full, node in beside.names.items() if full.startswith(DEEPER)]
    for node in hollow:
        assert isinstance(node, AvroRecord)
        assert (node.aliases, len(node.fields)) == (("Q",), 1)


@pytest.mark.parametrize(
    ("kind", "default", "kept"),
    [
        (["null", "string", "R"], None, True),
        (["null", "R"], None, None),
        (["string", "null", "R"], "x", False),
        (["string", array("R")], "x", False),
        (["string", mapping("R")], "x", False),
        (["string", "null"], "x", True),
        (array("R"), [], None),
        ("int", 0, True),
    ],
)
@pytest.mark.parametrize("keeps_deeper", [False, True])
def test_a_default_goes_where_a_branch_of_its_union_goes_unless_it_is_null(
    kind: Any, default: Any, *, kept: bool | None, keeps_deeper: bool
) -> None:
    """None: the field itself lies deeper."""
    opened = find_bounded(model(record("R", ("n", "int"), ("r", kind, default))), 1, keeps_deeper=keeps_deeper)
    root = opened.names["R"]
    assert isinstance(root, AvroRecord)
    defaults = {one.name: one.default for one in root.fields}
    assert defaults == {"n": ABSENT} | ({} if kept is None else {"r": default if kept else ABSENT})


@pytest.mark.parametrize(
    ("numbers", "is_plain"),
    [
        (["int", "long"], True),
        (["float", "double"], True),
        (["int", "string"], False),
        (["int", "double"], False),
        (["long"], False),
    ],
)
def test_numbers_of_one_column_are_marked_beside_what_lies_deeper(numbers: list[str], *, is_plain: bool) -> None:
    schema = model(record("R", ("r", ["null", *numbers, "R"])))
    root = find_bounded(schema, 1, keeps_deeper=True).names["R"]
    assert isinstance(root, AvroRecord)
    (field,) = root.fields
    assert isinstance(field.type, AvroUnion)
    marked = [
        PLAIN in dict(one.props) for one in field.type.branches if isinstance(one, AvroPrimitive) and not is_null(one)
    ]
    assert marked == [is_plain] * len(numbers)


RINGS: dict[str, tuple[dict[str, list[str]], set[str]]] = {
    "itself": ({"A": ["A"]}, {"A"}),
    "two": ({"A": ["B"], "B": ["A"]}, {"A", "B"}),
    "a record between two rings": ({"A": ["A", "X"], "X": ["B"], "B": ["B"]}, {"A", "B"}),
    "two records between two rings": ({"A": ["A", "X"], "X": ["Y"], "Y": ["B"], "B": ["B"]}, {"A", "B"}),
    "three records beside two rings": (
        {"A": ["C", "X"], "C": ["A"], "X": ["Y"], "Y": ["Z"], "Z": ["B"], "B": ["B"]},
        {"A", "B", "C"},
    ),
    "a record within a ring": ({"A": ["X"], "X": ["A", "Y"], "Y": []}, {"A", "X"}),
    "a way around": ({"A": ["B", "C"], "B": ["D"], "C": ["D"], "D": ["A"]}, {"A", "B", "C", "D"}),
    "none": ({"A": ["B", "C"], "B": ["C"], "C": []}, set()),
}


@pytest.mark.parametrize("rings", RINGS)
@pytest.mark.parametrize("container", ["union", "array", "map"])
def test_every_record_between_rings_is_opened_at_each_level(rings: str, container: str) -> None:
    uses, ring = RINGS[rings]

    def use(name: str) -> AvroType:
        target = AvroReference(name)
        if container == "union":
            return AvroUnion((AvroPrimitive("null"), target))
        return AvroArray(target) if container == "array" else AvroMap(target)

    def fields_of(names: list[str]) -> tuple[Field, ...]:
        return (Field("n", AvroPrimitive("int")), *(Field(f"f{name}", use(name)) for name in names))

    schema = AvroSchema(AvroReference("A"), {name: AvroRecord(name, fields_of(names)) for name, names in uses.items()})
    assert find_circular(schema) == ring
    for depth in (1, 2, 3, 4) if ring else ():
        for keeps_deeper in (False, True):
            opened = find_bounded(schema, depth, keeps_deeper=keeps_deeper)
            assert not find_circular(opened)
            assert paths_of(opened, frozenset(ring), 9) == paths_of(schema, frozenset(ring), depth)


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (AvroReference(f"{DEEPER}R"), True),
        (AvroReference("R"), False),
        (AvroArray(AvroReference(f"{DEEPER}R")), True),
        (AvroMap(AvroReference(f"{DEEPER}R")), True),
        (AvroMap(AvroArray(AvroReference("R"))), False),
        (AvroUnion((AvroPrimitive("null"), AvroReference(f"{DEEPER}R"))), True),
        (AvroUnion((AvroReference(f"{DEEPER}R"), AvroMap(AvroReference(f"{DEEPER}S")))), True),
        (AvroUnion((AvroPrimitive("int"), AvroReference(f"{DEEPER}R"))), False),
        (AvroArray(AvroUnion((AvroReference("R"), AvroReference(f"{DEEPER}R")))), False),
        (AvroUnion((AvroPrimitive("null"),)), False),
        (AvroPrimitive("null"), False),
    ],
)
def test_a_branch_is_deeper_where_all_of_it_but_null_is(node: AvroType, *, expected: bool) -> None:
    assert is_deeper(node) == expected


# -------------------------------------------------------------------------------------------------------------- chances

ENUM = {"type": "enum", "name": "E", "symbols": ["A", "B"]}
P, WIDER = record("P", ("n", "int")), record("Q", ("n", "int"), ("m", "int"), aliases=["P"])
CHANCES: dict[str, tuple[Any, Any, bool]] = {
    "a branch of the writer": (["string", "int"], "int", True),
    "no branch of the writer": (["string", "bytes"], "int", False),
    "a branch of the reader": ("int", ["string", "int"], True),
    "no branch of the reader": ("boolean", ["string", "int"], False),
    "one branch of both": (["boolean", "string"], ["string", "int"], True),
    "no branch of both": (["boolean", "null"], ["string", "int"], False),
    "an empty array": (array("string"), array("int"), True),
    "an empty map": (mapping("string"), mapping("int"), True),
    "an array and a map": (array("int"), mapping("int"), False),
    "a symbol": (ENUM, {**ENUM, "symbols": ["B", "C"]}, True),
    "no symbol": (ENUM, {**ENUM, "symbols": ["C"]}, False),
    "no symbol and a default": (ENUM, {**ENUM, "symbols": ["C"], "default": "C"}, True),
    "another enum": (ENUM, {**ENUM, "name": "F"}, False),
    "the default of another enum": (ENUM, {**ENUM, "name": "F", "default": "A"}, False),
    "a field with a default": (P, record("P", ("n", "int"), ("m", "int", 0)), True),
    "a field without a default": (P, record("P", ("n", "int"), ("m", "int")), False),
    "a field with a null default": (P, record("P", ("n", "int"), ("m", ["null", "int"], None)), True),
    "a branch whose record has no value": (P, ["null", record("P", ("n", "int"), ("m", "int"))], False),
    "a branch whose record has one": (P, ["null", record("P", ("n", "int"), ("m", "int", 0))], True),
    "a field that no one reads": (record("P", ("n", "int"), ("x", "string")), P, True),
    "one field that fits": (record("P", ("n", "int"), ("m", "string")), record("P", ("n", "int"), ("m", "int")), False),
    "a branch of each field": (record("P", ("n", ["int", "null"])), P, True),
    "a record as two others": (record("T", ("a", P), ("b", "P")), record("T", ("a", P), ("b", WIDER)), False),
    "a record as two others, turned": (record("T", ("a", P), ("b", "P")), record("T", ("a", WIDER), ("b", P)), False),
    "two records as one": (
        record("T", ("a", {**P, "name": "x.P"}), ("b", record("y.P", ("n", "string")))),
        record("T", ("a", P), ("b", "P")),
        False,
    ),
    "a record within itself": (record("R", ("r", ["null", "R"])), record("R", ("r", ["null", "R"])), True),
}


@pytest.mark.parametrize("what", CHANCES)
def test_a_writer_has_a_chance_where_one_of_its_values_can_be_read(what: str) -> None:
    writer, reader, expected = CHANCES[what]
    wrapped = (record("W", ("w", writer)), record("W", ("w", reader)))
    for written, read in ((writer, reader), wrapped):
        assert takes_some(model(read), model(written), ()) == expected, read


def test_an_alias_that_two_fields_have_leaves_no_value() -> None:
    reader = record("P", ("n", "int"))
    reader["fields"][0]["aliases"] = ["a", "b"]
    for names, expected in (
        (("a",), True),
        (("a", "b"), False),
        (("n",), True),
        (("n", "a"), False),
        (("b", "x"), True),
    ):
        writer = record("P", *((name, "int") for name in names))
        assert takes_some(model(reader), model(writer), ()) == expected, names


def test_only_rules_that_are_applied_to_values_leave_a_chance() -> None:
    findings = FORM.compare(model("int"), model("string"), "STRICT")
    assert findings
    for rule in FORM.rules:
        found = tuple(replace(one, rule=rule) for one in findings)
        assert takes_some(model("int"), model("int"), found) == (rule in BY_VALUE)
