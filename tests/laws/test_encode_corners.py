"""Encode plans at the corners: aliases, nulls in lists, the branch that is taken, requirements of choices, and heads and codecs of a group."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from tests.frames import record
from treaty.arrow.tables import table_of_rows
from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.core.messages.registration import Register
from treaty.core.names import subject_of
from treaty.core.schema import Draft, Reference
from treaty.core.state.columns import Column, ColumnType, Decimal, List, Map, Scalar, Struct
from treaty.plan.ddl import parse_type
from treaty.plan.encoding.encode_plans import check_columns, make_draft, make_encode_plan
from treaty.plan.encoding.fit import ColumnConversion
from treaty.plan.encoding.options import DeriveOptions, EncodeOptions, Framed
from treaty.plan.encoding.value import EncodePlan
from treaty.plan.errors import PlanError

INT, LONG, TEXT = Scalar("int32"), Scalar("int64"), Scalar("string")


@pytest.fixture
def registry() -> Iterator[Connection]:
    with connect("memory:") as connection:
        yield connection


def plan_of(registry: Connection, text: str, *columns: Column, format_: str = "AVRO", **options: Any) -> EncodePlan:
    registry.ask(Register(subject_of("s"), Draft(text, format_)))
    return make_encode_plan(registry, "s", columns, EncodeOptions(**options))


def part(plan: EncodePlan, name: str) -> ColumnConversion:
    return next(one.fit for one in plan.fit.parts if one.name == name)


def test_a_column_may_have_another_name_of_its_field(registry: Connection) -> None:
    text = record({"name": "now", "type": "int", "aliases": ["was", "first"]}, ("b", "int"))
    for name in ("now", "was", "first"):
        plan = plan_of(registry, text, Column(name, INT, nullable=False), Column("b", INT, nullable=False))
        assert [(one.name, one.source) for one in plan.fit.parts] == [("now", name), ("b", "b")]
        assert plan.fit.same is (name == "now")
    with pytest.raises(PlanError, match="no field for /other"):
        plan_of(registry, text, Column("other", INT), Column("now", INT, nullable=False), Column("b", INT))


@pytest.mark.parametrize("items_null", [True, False])
@pytest.mark.parametrize("have_null", [True, False])
def test_null_is_wrong_where_the_column_may_have_it_and_the_schema_has_it_not(
    registry: Connection, *, items_null: bool, have_null: bool
) -> None:
    item = ["null", "int"] if items_null else "int"
    text = record(("a", {"type": "array", "items": item}), ("m", {"type": "map", "values": item}), ("o", item))
    columns = (
        Column("a", List(INT, nullable=have_null), nullable=False), Column("m", Map(TEXT, INT, nullable=have_null), nullable=False),
        Column("o", INT, nullable=have_null),
    )  # fmt: skip
    plan = plan_of(registry, text, *columns)
    wrong = have_null and not items_null
    assert part(plan, "a").parts[0].fit.required is wrong
    assert next(one.fit for one in part(plan, "m").parts if one.name == "value").required is wrong
    assert part(plan, "o").required is wrong
    assert plan.fit.clean is not wrong


@pytest.mark.parametrize(
    ("branches", "have", "taken"),
    [
        (["int", "long"], INT, "member0"), (["long", "int"], INT, "member1"), (["int", "long"], LONG, "member1"),
        (["string", "bytes"], TEXT, "member0"), (["double", "long"], INT, "member1"), (["int", "string"], LONG, "member1"),
        (["long", "string"], INT, "member0"), (["string", "long"], INT, "member1"), (["double", "string"], Scalar("float32"), "member0"),
    ],
)  # fmt: skip
def test_a_value_takes_the_branch_in_which_it_loses_nothing(
    registry: Connection, branches: list[str], have: ColumnType, taken: str
) -> None:
    """The one of its own type, else one that needs no check, and of these no text for a number; of two that are as good the later one."""
    plan = plan_of(registry, record(("u", [*branches, "null"])), Column("u", have))
    chosen = part(plan, "u")
    if chosen.way == "branch":
        assert chosen.constant == taken
        assert [one.name for one in chosen.parts if one.fit.way != "constant"] == [taken]


def test_each_path_that_may_lose_something_has_something_to_lose(registry: Connection) -> None:
    text = record(("a", "float"), ("b", "int"))
    columns = (Column("a", Scalar("float64"), nullable=False), Column("b", INT, nullable=False))
    assert part(plan_of(registry, text, *columns, lossy=("/a",)), "a").checks != part(plan_of(registry, text, *columns), "a").checks  # fmt: skip
    for lossy in (("/b",), ("/a", "/b"), ("/a", "/nothing")):
        with pytest.raises(PlanError, match="where nothing is there to be lost") as refused:
            plan_of(registry, text, *columns, lossy=lossy)
        assert lossy[-1] in str(refused.value)


@pytest.mark.parametrize(
    ("kind", "default", "constant"),
    [
        ({"type": "long", "logicalType": "timestamp-millis"}, 5, 5000),
        ({"type": "long", "logicalType": "local-timestamp-millis"}, 5, 5000),
        ({"type": "long", "logicalType": "timestamp-micros"}, 5, 5),
        ({"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2}, "\u00ff", "-1E-2"),
        ({"type": "int", "logicalType": "date"}, 3, 3),
        (["null", "int"], None, None),
    ],
)
def test_a_default_is_a_value_of_its_column(registry: Connection, kind: Any, default: Any, constant: Any) -> None:
    text = record(("a", "int"), {"name": "d", "type": kind, "default": default})
    plan = plan_of(registry, text, Column("a", INT, nullable=False))
    defaults = [one.fit.constant for one in plan.fit.parts if one.name == "d"]
    assert [json.loads(one) for one in defaults] == ([] if constant is None else [constant])


# ------------------------------------------------------------------------------------------------------- documents, messages


@pytest.mark.parametrize(
    ("branches", "is_wrong"),
    [
        ([{"required": ["a"]}, {"required": ["a", "b"]}], True),
        ([{"required": ["a"]}, {"required": ["b"]}], False),
        ([{}, {"required": ["a"]}], False),
    ],
)
def test_a_member_must_be_there_where_every_choice_needs_it(
    registry: Connection, branches: list[Any], *, is_wrong: bool
) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "anyOf": branches}
    plan = plan_of(registry, json.dumps(schema), Column("a", LONG), Column("b", LONG), format_="JSON")
    assert (part(plan, "a").required, part(plan, "b").required) == (is_wrong, False)


@pytest.mark.parametrize(
    ("schema", "takes_null"),
    [
        ({"type": ["string", "null"]}, True),
        ({"type": "string"}, False),
        ({"enum": ["A", "B"]}, False),
        ({"enum": ["A", None]}, True),
        ({"const": "A"}, False),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, True),
    ],
)
def test_a_null_that_must_be_there_is_written_where_it_is_a_value(
    registry: Connection, schema: dict[str, Any], *, takes_null: bool
) -> None:
    text = json.dumps({"type": "object", "required": ["a"], "properties": {"a": schema}})
    fit = part(plan_of(registry, text, Column("a", TEXT), format_="JSON"), "a")
    assert ((fit.way == "present"), fit.required) == (takes_null, not takes_null)


@pytest.mark.parametrize(("syntax", "check"), [("proto2", "symbols"), ("proto3", "enum")])
def test_an_open_enum_takes_any_number(registry: Connection, syntax: str, check: str) -> None:
    label = "optional " if syntax == "proto2" else ""
    text = f'syntax = "{syntax}"; message A {{ {label}K k = 1; }} enum K {{ X = 0; Y = 1; }}'
    plan = plan_of(registry, text, Column("k", TEXT), format_="PROTOBUF")
    assert [one.name for one in part(plan, "k").checks] == [check]


def test_a_decimal_of_a_message_of_another_file_has_its_digits(registry: Connection) -> None:
    decimal = 'import "confluent/type/decimal.proto"; import "confluent/meta.proto"; '
    field = '[(confluent.field_meta) = {{ params: [{{ key: "precision", value: "{0}" }}, {{ key: "scale", value: "2" }}] }}]'
    inner = (
        f'syntax = "proto3"; package d; {decimal} message Inner {{ confluent.type.Decimal p = 1 {field.format(7)}; }}'
    )
    outer = f'syntax = "proto3"; {decimal} import "inner.proto"; message A {{ d.Inner i = 1; confluent.type.Decimal p = 2 {field.format(5)}; }}'
    registry.ask(Register(subject_of("inner"), Draft(inner, "PROTOBUF")))
    registry.ask(Register(subject_of("s"), Draft(outer, "PROTOBUF", (Reference("inner.proto", "inner", 1),))))
    columns = (Column("i", Struct((Column("p", Decimal(7, 2)),))), Column("p", Decimal(5, 2)))
    plan = make_encode_plan(registry, "s", columns)
    assert part(plan, "i").type == "STRUCT<`p`: DECIMAL(7, 2)>"
    assert part(plan, "p").type == "DECIMAL(5, 2)"
    assert plan.fit.clean


def test_a_grown_document_needs_what_rows_have_and_says_its_draft(registry: Connection) -> None:
    old = {"type": "object", "required": ["a", "gone"], "properties": {"a": {"type": "integer"}, "gone": {"type": "integer"}}}  # fmt: skip
    registry.ask(Register(subject_of("s"), Draft(json.dumps(old), "JSON")))
    columns = (Column("a", LONG, nullable=False), Column("b", TEXT, nullable=False))
    grown = json.loads(check_columns(registry, "s", columns, EncodeOptions(derive=DeriveOptions("JSON"))).text)
    assert sorted(grown["required"]) == ["a", "b"]
    for draft, word in ((7, "draft-07"), (2020, "2020-12")):
        new = check_columns(registry, "new", columns, EncodeOptions(derive=DeriveOptions("JSON", draft=draft)))  # type: ignore[arg-type]  # one of two
        assert word in json.loads(new.text)["$schema"]


# ------------------------------------------------------------------------------------------------------------- heads and runs


@pytest.mark.parametrize(
    ("body", "number"),
    [
        ("", 1),
        ("optional int32 a = 3;", 4),
        ("optional int32 a = 1; reserved 7, 3 to 5;", 8),
        ("optional int32 a = 1; extensions 100 to 199;", 200),
        ("optional int32 a = 1; extensions 100 to max;", 2),
        ("optional int32 a = 98; reserved 99; extensions 100 to 18999;", 20_000),
        ("optional int32 a = 18998;", 18_999),
        ("optional int32 a = 18999;", 20_000),
        ("optional int32 a = 18999; extensions 20000 to 20004, 20005 to 30000;", 30_001),
        ("optional int32 a = 536870910;", 536_870_911),
        ("optional int32 a = 536870911;", None),
        ("optional int32 a = 1; reserved 2 to max;", None),
        ("optional int32 a = 3; extensions 4 to max;", None),
    ],
)
def test_a_new_field_has_a_number_that_nobody_has_or_had(registry: Connection, body: str, number: int | None) -> None:
    registry.ask(Register(subject_of("s"), Draft(f'syntax = "proto2"; message R {{ {body} }}', "PROTOBUF")))
    options = EncodeOptions(derive=DeriveOptions("PROTOBUF"), register=True)
    tried = check_columns(registry, "s", [Column("new", TEXT)], options)
    assert tried.fine is (number is not None), tried.explain()
    assert f"optional string new = {number};" in tried.text if number else "finds no number in R" in tried.problems[0]


@pytest.mark.parametrize("register", [True, False])
@pytest.mark.parametrize("is_there", [True, False])
def test_a_dry_run_says_whether_a_schema_would_be_registered(
    registry: Connection, *, register: bool, is_there: bool
) -> None:
    text = record(("a", "int"))
    if is_there:
        registry.ask(Register(subject_of("s"), Draft(text)))
    options = EncodeOptions(schema=text, register=register)
    result = check_columns(registry, "s", (Column("a", INT, nullable=False),), options)
    assert (result.registers, result.schema_id > 0, result.fine) == (register and not is_there, is_there, is_there or register)  # fmt: skip
    assert result.plan is not None


@pytest.mark.parametrize("framing", ["prefix", "header", "version", "md5", "single-object"])
@pytest.mark.parametrize("register", [True, False])
def test_a_schema_that_is_given_is_planned_as_the_version_that_it_is(
    registry: Connection, framing: Framed, *, register: bool
) -> None:
    """The third version by its text has the same head as by its number."""
    texts = [record(*((f"f{at}", "int", 0) for at in range(count))) for count in (1, 2, 3)]
    for text in texts:
        registry.ask(Register(subject_of("s"), Draft(text)))
    columns = tuple(Column(f"f{at}", INT, nullable=False) for at in range(2))
    by_number = make_encode_plan(registry, "s", columns, replace(EncodeOptions(version=2), framing=framing))
    given = replace(EncodeOptions(schema=texts[1], register=register), framing=framing)
    by_text = make_encode_plan(registry, "s", columns, given)
    assert by_text == by_number
    stored = replace(by_text, properties=(("a", "1"), ("b", "2")), codec="c", part="key", validate=True, message="m", files=("x", "y"))  # fmt: skip
    assert EncodePlan.from_json(stored.to_json()) == stored


def test_columns_of_rows_have_the_type_of_their_first_value(registry: Connection) -> None:
    """Also where the first rows have none."""
    table = table_of_rows(("a", "b", "c"), [(None, 1, None), (2, None, None), (3, 4, None)])
    assert [str(kind) for kind in table.schema.types] == ["int64", "int64", "string"]
    assert table.to_pylist()[1] == {"a": 2, "b": None, "c": None}
    assert pa.types.is_string(table_of_rows(("a",), []).schema.types[0])
    assert parse_type("INT") == INT


TEXT_OF = {"AVRO": '"int"', "JSON": '{"type":"integer"}'}


@pytest.mark.parametrize("latest", ["", "AVRO", "JSON"])
@pytest.mark.parametrize("said", ["", "AVRO", "JSON"])
def test_a_text_is_of_the_format_that_is_said_else_of_that_of_the_subject(
    registry: Connection, said: str, latest: str
) -> None:
    place = subject_of("s")
    if latest:
        registry.ask(Register(place, Draft(TEXT_OF[latest], latest)))
    draft = make_draft(registry, place, (), EncodeOptions(schema="text", schema_type=said))
    assert draft == Draft("text", said or latest or "AVRO")
    assert make_draft(registry, place, (), EncodeOptions()) is None
    if said:
        with pytest.raises(PlanError, match="schema_type"):
            make_draft(registry, place, (), EncodeOptions(schema_type=said))


def test_what_a_plan_has_beside_its_columns_is_explained_where_it_is_not_as_usual(registry: Connection) -> None:
    plan = plan_of(registry, record(("a", "int")), Column("a", INT, nullable=False))
    usual = {line.split()[0] for line in plan.explain().splitlines()}
    assert not usual & {"framing", "codec"}
    for other, line in (
        (replace(plan, framing="header"), "framing header"),
        (replace(plan, codec="gzip"), "codec gzip"),
    ):
        assert line in [" ".join(shown.split()) for shown in other.explain().splitlines()]
    for other, word in ((replace(plan, message="shop.Order"), "schema"), (replace(plan, validate=True), "engine")):
        before, after = (
            [line for line in shown.explain().splitlines() if line.split()[0] == word] for shown in (plan, other)
        )
        assert before != after


@pytest.mark.parametrize(
    ("body", "had"), [("enum E { S = 0; }", "none"), ("message B {} message A { message C {} }", "A, A.C, B")]
)
def test_a_message_that_is_not_there_is_refused_with_those_that_are(registry: Connection, body: str, had: str) -> None:
    with pytest.raises(PlanError, match=f"no message 'X'; it has {had}$"):
        plan_of(registry, f'syntax = "proto3"; {body}', Column("a", INT), format_="PROTOBUF", message="X")
