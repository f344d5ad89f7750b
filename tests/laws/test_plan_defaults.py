"""Defaults of readers: each is read as fastavro reads it, is what its bytes mean, or is dropped with a word in `explain`."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.default_histories import default_history
from tests.frames import record, resolved
from tests.shapes import shape_of
from treaty.arrow.avro.rows import make_decoder
from treaty.core.names import DEFAULT_CONTEXT
from treaty.formats.avro.model import AvroRecord
from treaty.formats.avro.resolution import AvroSide
from treaty.plan.avro import planner
from treaty.plan.avro.flat import parse_avro
from treaty.plan.avro.java_defaults import is_made_alike
from treaty.plan.format_plans import AvroFormatPlan
from treaty.plan.registered_schema import RegisteredSchema
from treaty.plan.value import DecodePlan

PART = 2_000


def make_plan(*texts: str, reader: str = "union") -> DecodePlan:
    known = [RegisteredSchema(at, DEFAULT_CONTEXT, at, "AVRO", parse_avro(text)) for at, text in enumerate(texts, 1)]
    if reader == "latest":
        return planner.compose(known, parse_avro(texts[-1]))
    merged, losers = planner.union(known)
    lost = {one.schema_id for one in losers}
    return planner.compose([one for one in known if one.schema_id not in lost], merged)


@pytest.mark.parametrize(
    "first", [0, *(pytest.param(at, marks=pytest.mark.soak) for at in range(PART, 11 * PART, PART))]
)
@pytest.mark.parametrize("reader", ["union", "latest"])
def test_random_defaults_are_read_as_fastavro_reads_them(
    first: int, reader: str, figure: Callable[[str], None]
) -> None:
    rows = bad = 0
    for seed in range(first, first + (PART if first else 60)):
        texts, frames = default_history(seed, plain=True)
        plan = make_plan(*texts, reader=reader)
        decode, target = make_decoder(plan), parse_avro(plan.reader)
        shape = shape_of(target.root, target.names)
        for turn, value in enumerate(frames):
            found = decode(value)
            if found is None or found[1] is not None:
                bad += 1
                continue
            expected = shape(resolved(value, texts[turn // 2], plan.reader))
            assert found[0] == expected, f"seed {seed}, frame {turn}"
            rows += 1
    figure(f"histories of defaults from {first}, {reader}: {rows} rows, {bad} without a part")
    assert bad < rows / 5


def field(kind: Any, default: Any, **more: Any) -> str:
    return record(("id", "int"), {"name": "x", "type": kind, "default": default, **more})


WRONG = [
    ({"type": "enum", "name": "E", "symbols": ["A"]}, "Z"),
    ({"type": "fixed", "name": "F", "size": 2}, "x"),
    ({"type": "bytes", "logicalType": "decimal", "precision": 2, "scale": 0}, "\x01\x00"),
    ("bytes", "\u20ac"),
    ({"type": "long", "logicalType": "timestamp-millis"}, 2**62),
    ({"type": "record", "name": "S", "fields": [{"name": "e", "type": ["null", {"type": "enum", "name": "E", "symbols": ["A"]}]}]}, {"e": "Z"}),
    ({"type": "array", "items": {"type": "fixed", "name": "F", "size": 2}}, ["xy", ""]),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "default"), WRONG)
@pytest.mark.parametrize("reader", ["union", "latest"])
def test_a_default_that_is_no_value_of_its_column_is_dropped(kind: Any, default: Any, reader: str) -> None:
    """Spark took every row of the topic for damaged, and Arrow failed or had another value."""
    plan = make_plan(record(("id", "int")), field(kind, default), reader=reader)
    assert [one.schema_id for one in plan.rejected] == [1]
    assert [one.schema_id for one in plan.writers] == [2]
    assert "drops    the default of shop.Order/x" in plan.explain()
    assert DecodePlan.from_json(plan.to_json()) == plan


def test_a_default_of_a_record_that_is_left_without_another_one_is_dropped_too() -> None:
    enum = {"type": "enum", "name": "E", "symbols": ["A"]}
    inside = {"type": "record", "name": "S", "fields": [{"name": "e", "type": enum, "default": "Z"}]}
    plan = make_plan(record(("id", "int")), field(inside, {}), reader="latest")
    assert [one.schema_id for one in plan.rejected] == [1]
    assert isinstance(plan.recipe, AvroFormatPlan)
    assert [one.split(":")[0] for one in plan.recipe.dropped] == [
        "the default of shop.S/e",
        "the default of shop.Order/x",
    ]


A, B = (json.loads(record((name.lower(), "int"), name=name)) for name in "AB")
LIST, MAP = {"type": "array", "items": "int"}, {"type": "map", "values": "int"}


@pytest.mark.parametrize(
    ("kind", "default", "alike"),
    [
        (["null", A], None, True), ([A, "null"], None, False), ([LIST, "null"], None, False), ([MAP, "null"], None, False),
        (["int", "null"], None, True), (["string", "int"], 1, True), (["int", "double"], 1.5, False), (["int", "long"], 2**40, False),
        ([A, B], {"b": 1}, False), ([B, A], {"b": 1}, True), ([A, "string"], "s", False), (["boolean", "int"], 1, True),
        (["int", "boolean"], True, True), (["string", A], {"a": 1}, True), ([LIST, MAP], {"k": 1}, False), (["bytes", "string"], "s", True),
    ],
)  # fmt: skip
def test_the_type_that_java_makes_a_default_of(kind: Any, default: Any, alike: Any) -> None:
    """As Avro 1.12's `ResolvingGrammarGenerator` made them on Spark 4.1."""
    schema = parse_avro(record(("x", kind)))
    root = schema.resolve(schema.root)
    assert isinstance(root, AvroRecord)
    assert is_made_alike(default, AvroSide(schema, root.fields[0].type)) is alike
