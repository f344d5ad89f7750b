"""What development builds wrote wrongly is found by the versions of a subject, and only that."""

from dataclasses import replace
from typing import Any

import pytest

from tests.default_histories import default_history
from tests.frames import record
from tests.union_histories import union_history
from treaty.assemble import connect
from treaty.core.messages.registration import Register
from treaty.core.messages.settings import Config, Scope, SetConfig
from treaty.core.names import subject_of
from treaty.core.schema import Draft
from treaty.plan.avro.flat import parse_avro
from treaty.plan.avro.merge import merge, merge_by_structure
from treaty.plan.avro.union_pairs import list_read_unions
from treaty.plan.decode_plans import make_plan
from treaty.plan.suspect_rows import SuspectRows, find_suspect_rows
from treaty.spark.lake.table import LakeTable
from treaty.spark.pipelines.reports.suspect_queries import list_pipeline_queries
from treaty.spark.pipelines.value import Pipeline


def find(*texts: str) -> tuple[SuspectRows, ...]:
    with connect("memory:") as registry:
        registry.ask(SetConfig(Scope("*"), Config(level="NONE")))
        for text in texts:
            registry.ask(Register(subject_of("t-value"), Draft(text)))
        return find_suspect_rows(make_plan(registry, "t-value", reader="union"))


def inner(*fields: str, name: str) -> Any:
    return {"type": "record", "name": name, "fields": [{"name": one, "type": "long"} for one in fields]}


PAID, CANCELLED, SHIPPED = (inner("id", name=name) for name in ("Paid", "Cancelled", "Shipped"))
UNIONS = [PAID, CANCELLED], [PAID, CANCELLED, SHIPPED]


@pytest.mark.parametrize(
    ("around", "condition"),
    [
        (lambda one: record(("body", one)), "`body`.`member0` IS NOT NULL"),
        (lambda one: record(("all", {"type": "array", "items": one})), "exists(`all`, x0 -> x0.`member0` IS NOT NULL)"),
        (lambda one: record(("in", {"type": "map", "values": {"type": "array", "items": one}})),
         "exists(map_values(`in`), x0 -> exists(x0, x1 -> x1.`member0` IS NOT NULL))"),
    ],
)  # fmt: skip
def test_a_type_that_stood_in_the_column_of_another_is_found(around: Any, condition: str) -> None:
    (found,) = find(*map(around, UNIONS))
    assert found.ids == (2,)
    assert "Shipped" in found.sentence
    assert "member0 instead of member2" in found.sentence
    assert (
        found.print_query("events", "schema_id")
        == f"SELECT count(*) FROM events WHERE `schema_id` IN (2) AND {condition}"
    )
    assert found.print_query("events") == f"SELECT count(*) FROM events WHERE {condition}"


def test_types_that_were_told_apart_are_not_found() -> None:
    other = inner("code", name="Lost")
    assert find(record(("body", UNIONS[0])), record(("body", [*UNIONS[0], other]))) == ()
    assert find(record(("body", UNIONS[1])), record(("body", ["null", *UNIONS[1]]))) == ()


BASE = record(("id", "int"))
LIST = {"type": "array", "items": "int"}


def nested(kind: Any, default: Any) -> str:
    inside = {"type": "record", "name": "S", "fields": [{"name": "x", "type": kind}]}
    return record(("id", "int"), ("s", inside, default))


def test_defaults_that_were_made_of_another_type_are_found() -> None:
    (empty,) = find(BASE, nested(LIST, {"x": []}), nested(["null", LIST], {"x": None}))
    assert (empty.ids, empty.condition, empty.bad) == ((1,), "size(`s`.`x`) = 0", False)
    q = inner("q", name="Q")
    (failed,) = find(BASE, nested(q, {"x": {"q": 1}}), nested(["null", q], {"x": None}))
    assert (failed.ids, failed.condition, failed.bad) == ((1, 2, 3), "code = 'MALFORMED'", True)
    assert "lack s" in failed.sentence


def test_of_several_wrong_parts_of_a_default_no_row_is_empty_instead_of_null() -> None:
    """Java's reader fails at the second one whatever it makes of the first: every row is bad, and no query looks for empty lists."""
    texts = [
        record(("id", "int"), ("s", {"type": "record", "name": "S", "fields": [{"name": one, "type": kind} for one in "xy"]}, {"x": value, "y": value}))
        for kind, value in ((LIST, []), (["null", LIST], None))
    ]  # fmt: skip
    found = find(BASE, *texts)
    assert [(one.condition, one.bad) for one in found] == [("code = 'MALFORMED'", True)]


def test_defaults_that_were_right_or_never_needed_are_not_found() -> None:
    q = inner("q", name="Q")
    assert find(nested(q, {"x": {"q": 1}}), nested(["null", q], {"x": None})) == ()
    assert find(BASE, nested("int", {"x": 1}), nested(["null", "int"], {"x": None})) == ()
    assert find(BASE, record(("id", "int"), ("x", q, {"q": 1})), record(("id", "int"), ("x", ["null", q], None))) == ()


@pytest.mark.parametrize("first", [0, pytest.param(1_000, marks=pytest.mark.soak)])
def test_a_union_is_named_exactly_where_the_two_pairings_differ(first: int) -> None:
    named = 0
    for seed in range(first, first + (1_000 if first else 30)):
        texts = [text for text, _ in union_history(seed)]
        found = [one for one in find(*dict.fromkeys(texts)) if "instead of" in one.sentence]
        versions = [parse_avro(text) for text in dict.fromkeys(texts)]
        before, after = merge_by_structure(versions), merge(versions)
        differ = [list_read_unions(one, before) != list_read_unions(one, after) for one in versions]
        assert {number for one in found for number in one.ids} == {
            at for at, is_other in enumerate(differ, 1) if is_other
        }
        named += bool(found)
    assert named


def test_random_histories_of_defaults_are_looked_through() -> None:
    assert any(find(*dict.fromkeys(default_history(seed)[0])) for seed in range(30))


def test_a_pipeline_names_its_tables_in_the_queries() -> None:
    with connect("memory:") as registry:
        registry.ask(SetConfig(Scope("*"), Config(level="NONE")))
        q = inner("q", name="Q")
        inside = [{"type": "record", "name": "S", "fields": [{"name": "x", "type": kind}]} for kind in (q, ["null", q])]
        texts = [
            record(("body", UNIONS[0])),
            record(("body", UNIONS[1]), ("s", inside[0], {"x": {"q": 1}})),
            record(("body", UNIONS[1]), ("s", inside[1], {"x": None})),
        ]
        for text in texts:
            registry.ask(Register(subject_of("t-value"), Draft(text)))
        plan = make_plan(registry, "t-value", reader="union")
    pipeline = Pipeline("t-value", "/lake/good", LakeTable("lake.bad", "iceberg"), "/lake/checkpoint", with_id="id")
    second, third, bad = list_pipeline_queries(plan, pipeline)
    assert second.query == "SELECT count(*) FROM delta.`/lake/good` WHERE `id` IN (2) AND `body`.`member0` IS NOT NULL"
    assert third.query == second.query.replace("(2)", "(3)")
    assert bad.query == "SELECT count(*) FROM lake.bad WHERE `schema_id` IN (1, 2, 3) AND code = 'MALFORMED'"
    assert "replay" in bad.remedy
    assert "new tables" in second.remedy
    assert list_pipeline_queries(replace(plan, reader_name="latest"), pipeline) == ()
