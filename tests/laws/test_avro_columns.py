"""Columns of Avro schemas: the mapping of the decode planner, with every loss named."""

import json
import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.oracle.avro_logical import dressed_schema
from tests.oracle.avro_treaty import model
from treaty.core.limits import COLUMN_RECURSION, DECIMAL_DIGITS
from treaty.core.state.columns import LOSSES, Column, Columns, ColumnType, Decimal, List, Map, Scalar, Struct
from treaty.formats.avro.data.columns import derive_columns
from treaty.formats.avro.data.recursion import find_recursive_records
from treaty.formats.avro.format import FORMAT
from treaty.formats.avro.model import (
    AvroArray,
    AvroFixed,
    AvroMap,
    AvroPrimitive,
    AvroRecord,
    AvroReference,
    AvroSchema,
    AvroType,
    AvroUnion,
)
from treaty.formats.avro.normal_form import get_logical_type
from treaty.formats.format import InvalidSchemaError
from treaty.plan.avro.bounds import find_bounded
from treaty.plan.avro.columns import ddl
from treaty.plan.avro.flat import flatten_schema
from treaty.plan.ddl import quote_name

seeds = st.integers(0, 2**32 - 1)
WORDS = {
    "null": "VOID", "boolean": "BOOLEAN", "int32": "INT", "int64": "BIGINT", "float32": "FLOAT", "float64": "DOUBLE",
    "string": "STRING", "binary": "BINARY", "date": "DATE", "timestamp": "TIMESTAMP", "timestamp_ntz": "TIMESTAMP_NTZ",
}  # fmt: skip


def spark(kind: ColumnType) -> str:
    """A column type in Spark's words."""
    match kind:
        case Scalar(name):
            return WORDS[name]
        case Decimal(precision, scale):
            return f"DECIMAL({precision}, {scale})"
        case List(element):
            return f"ARRAY<{spark(element)}>"
        case Map(key, value):
            return f"MAP<{spark(key)}, {spark(value)}>"
        case Struct(inside):
            return f"STRUCT<{', '.join(f'{quote_name(field.name)}: {spark(field.type)}' for field in inside)}>"


def leaves(schema: AvroSchema, node: AvroType, seen: set[str]) -> list[AvroPrimitive | AvroFixed]:
    """Every leaf that a type leads to, each named type once."""
    match node:
        case AvroArray(items):
            return leaves(schema, items, seen)
        case AvroMap(values):
            return leaves(schema, values, seen)
        case AvroUnion(branches):
            return [leaf for branch in branches for leaf in leaves(schema, branch, seen)]
        case AvroRecord(full, fields):
            seen.add(full)
            return [leaf for field in fields for leaf in leaves(schema, field.type, seen)]
        case AvroReference(full):
            return [] if full in seen else leaves(schema, schema.names[full], seen)
        case AvroPrimitive() | AvroFixed():
            return [node]
    return []


def held_by_spark(leaf: AvroPrimitive | AvroFixed) -> bool:
    """Whether the planner and Avro's own library agree on what a decimal is, and Spark has such a type."""
    members = dict(leaf.props)
    valid = get_logical_type(leaf) == "decimal"
    if members.get("logicalType") == "decimal" and isinstance(leaf, AvroFixed):
        return valid and members["precision"] <= DECIMAL_DIGITS  # type: ignore[operator]
    return not valid or members["precision"] <= DECIMAL_DIGITS  # type: ignore[operator]


@given(seeds)
@example(417066)  # a record between two that contain themselves
def test_columns_are_those_of_the_decode_planner(seed: int) -> None:
    schema = model(json.dumps(dressed_schema(seed)))
    opened = find_bounded(flatten_schema(schema), COLUMN_RECURSION)
    derivation = derive_columns(schema)
    root = opened.resolve(opened.root)
    if not all(map(held_by_spark, leaves(schema, schema.root, set()))):
        return
    if isinstance(root, AvroRecord):
        assert [(column.name, spark(column.type)) for column in derivation] == [
            (field.name, ddl(field.type, opened.names)) for field in root.fields
        ]
    else:
        assert derivation.whole
        assert [spark(column.type) for column in derivation] == [ddl(opened.root, opened.names)]


# ------------------------------------------------------------------------------------------------------- losses


def made_of(node: object) -> Columns:
    """The columns of a schema given as JSON values."""
    return derive_columns(model(json.dumps(node)))


def one(kind: object, **more: object) -> Columns:
    """The columns of a record with one field ``x``."""
    return made_of({"type": "record", "name": "A", "fields": [{"name": "x", "type": kind, **more}]})


FIXED = {"type": "fixed", "name": "F", "size": 16}


@pytest.mark.parametrize(
    ("kind", "type_", "loss"),
    [
        ({"type": "int", "logicalType": "date"}, Scalar("date"), None),
        ({"type": "long", "logicalType": "timestamp-millis"}, Scalar("timestamp"), None),
        ({"type": "long", "logicalType": "local-timestamp-micros"}, Scalar("timestamp_ntz"), None),
        ({"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 2}, Decimal(38, 2), None),
        ({"type": "bytes", "logicalType": "decimal", "precision": 39}, Scalar("binary"), "DECIMAL_TOO_WIDE"),
        ({"type": "bytes", "logicalType": "decimal", "precision": 3, "scale": 4}, Scalar("binary"), "LOGICAL_UNKNOWN"),
        ({"type": "bytes", "logicalType": "big-decimal"}, Scalar("binary"), "LOGICAL_UNKNOWN"),
        ({"type": "int", "logicalType": "time-millis"}, Scalar("int32"), "TIME_AS_INTEGER"),
        ({"type": "long", "logicalType": "timestamp-nanos"}, Scalar("int64"), "NANOS_CUT"),
        ({"type": "string", "logicalType": "uuid"}, Scalar("string"), "UUID_AS_STRING"),
        ({**FIXED, "logicalType": "uuid"}, Scalar("binary"), "LOGICAL_UNKNOWN"),
        ({**FIXED, "size": 12, "logicalType": "duration"}, Scalar("binary"), "DURATION_AS_BINARY"),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, Scalar("string"), "ENUM_AS_STRING"),
        (["int", "long"], Scalar("int64"), None),
        (["double", "float"], Scalar("float64"), None),
        (["int", {"type": "long", "logicalType": "timestamp-millis"}], Scalar("int64"), "LOGICAL_UNKNOWN"),
        (
            ["int", "string"],
            Struct((Column("member0", Scalar("int32")), Column("member1", Scalar("string")))),
            "UNION_AS_STRUCT",
        ),
    ],
    ids=str,
)
def test_a_leaf_has_its_type_and_its_loss(kind: object, type_: ColumnType, loss: str | None) -> None:
    derivation = one(kind)
    assert derivation.columns == (Column("x", type_, nullable=False),)
    assert [(entry.rule, entry.column) for entry in derivation.losses] == ([(loss, "x")] if loss else [])


def test_a_nullable_union_is_a_nullable_column_wherever_it_stands() -> None:
    assert one(["null", "string"]).columns == (Column("x", Scalar("string"), nullable=True),)
    assert one({"type": "array", "items": ["int", "null"]}).columns[0].type == List(Scalar("int32"), nullable=True)
    assert one({"type": "map", "values": ["null", "int"]}).columns[0].type == Map(
        Scalar("string"), Scalar("int32"), nullable=True
    )
    assert one("null").columns == (Column("x", Scalar("null"), nullable=True),)


def test_docs_are_carried_the_one_of_the_type_where_the_field_has_none() -> None:
    enum = {"type": "enum", "name": "E", "symbols": ["A"], "doc": "of the type"}
    assert one(enum).columns[0].doc == "of the type"
    assert one(enum, doc="of the field").columns[0].doc == "of the field"
    assert made_of(enum).columns == (Column("value", Scalar("string"), nullable=False, doc="of the type"),)


def test_recursion_is_cut_at_the_stated_depth() -> None:
    node = {
        "type": "record",
        "name": "Node",
        "fields": [{"name": "value", "type": "int"}, {"name": "next", "type": ["null", "Node"]}],
    }
    schema = model(json.dumps(node))
    derivation = derive_columns(schema, 2)

    assert spark(Struct(derivation.columns)) == "STRUCT<`value`: INT, `next`: STRUCT<`value`: INT>>"
    assert [(loss.rule, loss.column) for loss in derivation.losses] == [("RECURSION_CUT", "next.next")]
    for depth in range(1, 6):
        assert len(derive_columns(schema, depth).losses) == 1
        assert derive_columns(schema, depth).losses[0].column == ".".join(["next"] * depth)


@given(seeds)
def test_every_loss_is_one_of_the_list_and_leads_to_a_place(seed: int) -> None:
    derivation = derive_columns(model(json.dumps(dressed_schema(seed))))
    for loss in derivation.losses:
        assert loss.rule in LOSSES
        assert loss.sentence
        first = loss.column.split(".")[0]
        assert first in {column.name for column in derivation} or loss.rule == "RECURSION_CUT"


@given(seeds)
def test_a_record_is_circular_if_a_walk_from_it_comes_back(seed: int) -> None:
    chance = random.Random(seed)
    names = [f"R{at}" for at in range(chance.randrange(1, 8))]
    fields = {name: [chance.choice(names) for _ in range(chance.randrange(3))] for name in names}
    records = [
        {
            "type": "record",
            "name": name,
            "fields": [{"name": f"f{at}", "type": ["null", used]} for at, used in enumerate(inside)],
        }
        for name, inside in fields.items()
    ]
    schema = model(json.dumps(records))

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        todo = list(fields[start])
        while todo:
            here = todo.pop()
            if here not in seen:
                seen.add(here)
                todo += fields[here]
        return seen

    assert find_recursive_records(schema) == {name for name in names if name in reached(name)}


def test_more_columns_than_the_limit_are_refused_and_a_long_chain_of_types_too() -> None:
    doubling: list[object] = [{"type": "record", "name": "R0", "fields": []}]
    for at in range(1, 30):
        fields = [{"name": name, "type": f"R{at - 1}"} for name in ("a", "b")]
        doubling.append({"type": "record", "name": f"R{at}", "fields": fields})
    chain: list[object] = [{"type": "record", "name": "R0", "fields": []}]
    for at in range(1, 5_000):  # the longest one first
        chain.insert(0, {"type": "record", "name": f"R{at}", "fields": [{"name": "a", "type": f"R{at - 1}"}]})
    for node, rule in ((doubling, "COLUMNS_TOO_MANY"), (chain, "SCHEMA_TOO_DEEP")):
        with pytest.raises(InvalidSchemaError) as refused:
            made_of(node)
        assert refused.value.faults[0].rule == rule


def test_the_format_offers_the_columns() -> None:
    assert FORMAT.columns is not None
    assert list(FORMAT.columns(model('"int"'))) == [Column("value", Scalar("int32"), nullable=False)]
