"""Columns of decoded rows: a decode plan whose reader is the schema has the same names, types and docs."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.frames import record
from tests.iglu import schemas
from tests.oracle.avro_logical import dressed_schema
from tests.oracle.jsonschema_schemas import NUMBERS, made
from tests.oracle.protobuf_files import DIALECTS
from tests.oracle.protobuf_files import made as made_protobuf
from treaty.core.schema_engine import ResolvedSchema
from treaty.core.state.columns import Column, Columns, Decimal, List, Map, Scalar, Struct
from treaty.formats.format import InvalidSchemaError
from treaty.plan.ddl import columns_ddl, list_docs, type_ddl
from treaty.plan.decoded_columns import derive_decoded_columns
from treaty.plan.errors import PlanError
from treaty.plan.options import DecodeOptions
from treaty.plan.planners import find_planner
from treaty.plan.registered_schema import RegisteredSchema
from treaty.plan.registry_queries import parse_resolved

seeds = st.integers(0, 2**32 - 1)


def compare_with_the_plan(schema: ResolvedSchema) -> Columns | None:
    """The columns, after a look at the plan that reads this one schema; None where neither has any."""
    try:
        known = RegisteredSchema(1, "s", 1, schema.format, parse_resolved(schema), meaning=schema)
        plan = find_planner(schema.format).compose([known], known.schema, DecodeOptions())
    except (InvalidSchemaError, PlanError):
        return None
    found = derive_decoded_columns(schema)
    if found.whole:
        assert plan.columns == ()
        assert [type_ddl(one.type) for one in found] == [plan.type]
    else:
        assert columns_ddl(found) == plan.columns
    assert tuple(list_docs(found)) == plan.docs
    return found


@given(seeds)
def test_columns_of_an_avro_schema_are_those_of_its_plan(seed: int) -> None:
    compare_with_the_plan(ResolvedSchema("AVRO", json.dumps(dressed_schema(seed))))


@given(seeds, st.sampled_from(NUMBERS))
def test_columns_of_a_json_schema_are_those_of_its_plan(seed: int, draft: int) -> None:
    compare_with_the_plan(ResolvedSchema("JSON", json.dumps(made(seed, draft))))


@given(seeds, st.sampled_from(DIALECTS))
def test_columns_of_a_message_are_those_of_its_plan(seed: int, dialect: str) -> None:
    compare_with_the_plan(ResolvedSchema("PROTOBUF", made_protobuf(seed, dialect)))


def test_columns_of_published_schemas_are_those_of_their_plans() -> None:
    found = [compare_with_the_plan(ResolvedSchema("JSON", text)) for text in list(schemas().values())[::12]]
    assert sum(one is not None for one in found) > 40


PROTO = 'syntax = "proto3"; message A { int32 a = 1; optional int32 b = 2; repeated B c = 3; map<string, B> d = 4; message B { string x = 1; } }'
JSON = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": ["string", "null"]}, "c": {}},
    "required": ["a", "b", "c"],
    "additionalProperties": False,
}
TREE = record(("value", "int"), ("next", ["null", "Node"]), name="Node")
WIDE = {"type": "bytes", "logicalType": "decimal", "precision": 3, "scale": 4}


@pytest.mark.parametrize(
    ("format_", "text", "columns"),
    [
        ("AVRO", record(("a", "int"), ("b", ["null", "int"], None)), (Column("a", Scalar("int32"), nullable=False), Column("b", Scalar("int32")))),
        ("AVRO", record(("a", {"type": "array", "items": ["null", "long"]})), (Column("a", List(Scalar("int64"), nullable=True), nullable=False),)),
        ("AVRO", record(("a", WIDE)), (Column("a", Scalar("binary"), nullable=False),)),
        ("AVRO", record(("a", ["int", "string"])), (Column("a", Struct((Column("member0", Scalar("int32")), Column("member1", Scalar("string")))), nullable=False),)),
        ("PROTOBUF", PROTO, (
            Column("a", Scalar("int32"), nullable=False), Column("b", Scalar("int32")),
            Column("c", List(Struct((Column("x", Scalar("string"), nullable=False),))), nullable=False),
            Column("d", Map(Scalar("string"), Struct((Column("x", Scalar("string"), nullable=False),))), nullable=False),
        )),
        ("PROTOBUF", 'syntax = "proto3"; message A { uint64 a = 1; }', (Column("a", Decimal(20, 0), nullable=False),)),
        ("JSON", json.dumps(JSON), (Column("a", Scalar("int64"), nullable=False), Column("b", Scalar("string")), Column("c", Scalar("string")))),
    ],
    ids=str,
)  # fmt: skip
def test_nulls_are_those_of_the_schema(format_: str, text: str, columns: tuple[Column, ...]) -> None:
    assert derive_decoded_columns(ResolvedSchema(format_, text)).columns == columns


def test_a_record_inside_itself_is_cut_and_the_cut_is_named() -> None:
    found = derive_decoded_columns(ResolvedSchema("AVRO", TREE), depth=2)
    assert [(one.name, type_ddl(one.type)) for one in found] == [("value", "INT"), ("next", "STRUCT<`value`: INT>")]
    assert {one.rule for one in found.losses} == {"RECURSION_CUT"}


def test_a_schema_without_fields_is_one_column() -> None:
    found = derive_decoded_columns(ResolvedSchema("AVRO", '{"type": "array", "items": "int"}'))
    assert (found.columns, found.whole) == ((Column("value", List(Scalar("int32")), nullable=False),), True)


def test_a_message_is_read_by_its_name() -> None:
    inner = derive_decoded_columns(ResolvedSchema("PROTOBUF", PROTO), message="A.B")
    assert [one.name for one in inner] == ["x"]


@pytest.mark.parametrize(
    ("act", "told"),
    [
        (lambda: derive_decoded_columns(ResolvedSchema("AVRO", '"int"'), message="A"), "message = 'A' is for PROTOBUF, and the schema is AVRO; leave it out"),
        (lambda: derive_decoded_columns(ResolvedSchema("PROTOBUF", PROTO), message="C"), "the schema has no message 'C'; it has A, A.B"),
        (lambda: derive_decoded_columns(ResolvedSchema("XML", "<a/>")), "rows of the format XML cannot be decoded"),
        (lambda: derive_decoded_columns(ResolvedSchema("AVRO", "{")), ""),
    ],
    ids=["message", "missing message", "format", "text"],
)  # fmt: skip
def test_what_has_no_columns_is_refused_in_words(act: Callable[[], object], told: str) -> None:
    with pytest.raises((PlanError, InvalidSchemaError)) as refused:
        act()
    assert told in str(refused.value)
