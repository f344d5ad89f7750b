"""Plans and the tables of their rows: what a table can't take is bad, beside the plan that it had. No Spark runs here."""

from dataclasses import dataclass, replace
from typing import Any

import pytest
from pyspark.sql.types import StructType

from tests.frames import record
from tests.laws.asked import NARROW, PIPELINE, V1, V2, V3, V4, Asked, planner_of, put, read_avro_in_python
from tests.spark_columns import read_columns
from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.core.messages.listings import ListVersions
from treaty.core.schema import Draft
from treaty.plan.decode_plans import make_plan
from treaty.plan.errors import RESOLUTION, PlanError
from treaty.plan.value import DecodePlan, RejectedSchema
from treaty.spark import LakeTable, Pipeline
from treaty.spark.keyed.options import DEBEZIUM, KeyedTableOptions
from treaty.spark.lake.changes import EvolutionError
from treaty.spark.lake.subjects import list_table_columns
from treaty.spark.pipelines.planner import RoutePlanner, fit_plan
from treaty.spark.pipelines.route import TopicRoute
from treaty.spark.pipelines.rows import list_columns


@pytest.fixture
def registry() -> Any:
    with connect("memory:") as opened:
        opened.set_level("", "NONE")
        yield opened


# ------------------------------------------------------------------------------------------------------- what a table can take


def test_the_columns_of_a_plan_are_those_of_its_table(registry: Connection) -> None:
    deep = '{"type": "array", "items": {"type": "map", "values": {"type": "record", "name": "In", "fields": [{"name": "x", "type": "double"}]}}}'
    text = f'{{"type": "record", "name": "R", "fields": [{{"name": "a b", "type": {deep}}}]}}'.replace("a b", "a_b")
    registry.register("s", Draft(text))
    plan = planner_of(PIPELINE, registry).plan()
    assert list_columns(plan) == list_table_columns(plan) == read_columns("a_b ARRAY<MAP<STRING, STRUCT<x: DOUBLE>>>")
    registry.register("bare", Draft('"long"'))
    assert list_columns(make_plan(registry, "bare")) == read_columns("value BIGINT")


@dataclass
class Versions:
    """The versions of a subject: V1 can be read by all, and of V3 and V4 a reader takes no other."""

    registry: Connection

    def __post_init__(self) -> None:
        self.ids = [put(self.registry, text) for text in (V1, V2, V3, V4)]

    def plan(self, reader: int, last: int, before: DecodePlan | None = None) -> DecodePlan:
        """A plan for a reader of the versions that were there when `last` was the newest."""
        plan = make_plan(self.registry, "s", reader=reader, case_sensitive=False, before=before)
        gone = {*self.ids[last:]}
        writers = tuple(one for one in plan.writers if one.schema_id not in gone)
        return replace(plan, writers=writers, rejected=tuple(one for one in plan.rejected if one.schema_id not in gone))


@pytest.mark.parametrize("why", ["types", "names"])
def test_ids_whose_rows_a_table_can_not_take_are_bad_beside_the_plan_that_it_had(
    registry: Connection, why: str
) -> None:
    versions = Versions(registry)
    one, two, three, four = versions.ids
    before = versions.plan(1, 2)
    assert ([x.schema_id for x in before.writers], [x.schema_id for x in before.rejected]) == ([one], [two])
    newer = replace(versions.plan(3, 4), framing=replace(before.framing, heads=(("00", three),)))
    assert [x.schema_id for x in newer.writers] == [three]
    have, keep = (NARROW, ()) if why == "types" else (None, ("N",))
    pipeline = replace(PIPELINE, keep=keep)
    made = fit_plan(newer, before, pipeline, have)
    assert replace(made, rejected=(), framing=before.framing) == replace(before, rejected=())
    assert made.framing == newer.framing, "what means an id is as it is now"
    reasons = {x.schema_id: x.message for x in made.rejected}
    assert list(reasons) == [two, three, four]
    assert reasons[two] == before.rejected[0].message
    assert f"id {three} (s version 3): its rows can't go into lake/good: " in reasons[three]
    told = {
        "types": "n is int in the table and string in the rows",
        "names": "two columns of lake/good would be called n",
    }
    assert told[why] in reasons[three]
    assert reasons[four] == next(x.message for x in newer.rejected if x.schema_id == four)
    assert {x.code for x in made.rejected} == {RESOLUTION}
    again = fit_plan(newer, made, pipeline, have)
    assert again == made, "an id is told once, with the first reason"
    for evolution, last in (("fail", before), ("widen", None), ("fail", None)):
        with pytest.raises((EvolutionError, PlanError), match=told[why]):
            fit_plan(newer, last, replace(pipeline, evolution=evolution), have)


@pytest.mark.parametrize(
    ("evolution", "rows", "fits"),
    [
        ("widen", V2, True), ("none", V2, False), ("fail", V2, None),
        ("none", record(("name", "string"), ("more", "int")), True), ("fail", record(("name", "string"), ("more", "int")), None),
        *((one, record(("name", "string")), True) for one in ("widen", "none", "fail")),
    ],
)  # fmt: skip
def test_a_plan_fits_as_far_as_its_table_may_grow(
    registry: Connection, evolution: str, rows: str, *, fits: bool | None
) -> None:
    registry.register("s", Draft(V1))
    before = make_plan(registry, "s")
    registry.register("s", Draft(rows))
    newer = make_plan(registry, "s", reader="latest")
    pipeline = replace(PIPELINE, evolution=evolution)
    assert fit_plan(newer, before, pipeline, None) is newer, "a table that is not there takes anything"
    if fits is None:
        with pytest.raises(EvolutionError, match=r"is new|grows from"):
            fit_plan(newer, before, pipeline, NARROW)
    else:
        made = fit_plan(newer, before, pipeline, NARROW)
        assert (made is newer) == fits
        assert made.known == newer.known


def test_an_id_that_is_read_stays_so_where_another_one_has_no_place(registry: Connection) -> None:
    one = put(registry, V1)
    before = make_plan(registry, "s", reader="union")
    two = put(registry, V2)
    newer = make_plan(registry, "s", reader="union")
    made = fit_plan(newer, before, replace(PIPELINE, keep=("more",)), None)
    assert ([x.schema_id for x in made.writers], [x.schema_id for x in made.rejected]) == ([one], [two])


def test_a_reason_that_is_known_is_not_told_anew(registry: Connection) -> None:
    versions = Versions(registry)
    _, two, three, four = versions.ids
    early = RejectedSchema(four, RESOLUTION, "the first reason")
    before = replace(versions.plan(1, 2), rejected=(early,))
    made = fit_plan(versions.plan(3, 4), before, PIPELINE, NARROW)
    assert {x.schema_id for x in made.rejected} == {two, three, four}
    assert made.rejected[0] == early


def test_a_pipeline_asks_its_table_and_one_with_a_key_does_not(registry: Connection) -> None:
    registry.register("s", Draft(V1))
    tables_asked: list[LakeTable] = []

    def ask(table: LakeTable) -> StructType:
        tables_asked.append(table)
        return NARROW

    def plans_of(pipeline: Pipeline, registry: Any) -> RoutePlanner:
        return RoutePlanner(TopicRoute(pipeline), registry, read_avro_in_python, ask)

    pipeline = replace(PIPELINE, reader="latest")
    asked = Asked(registry)
    planner = plans_of(pipeline, asked)
    before = planner.make_first()
    assert tables_asked == [pipeline.good_table]
    third = put(registry, V3)
    assert [one.schema_id for one in planner.plan().writers] == [third], "whether the table can take the rows or not"
    refreshed = planner.refresh(before)
    assert (refreshed.type, third in {one.schema_id for one in refreshed.rejected}) == (before.type, True)
    asked.requests.clear()
    assert planner.refresh(refreshed) is refreshed
    assert {type(one) for one in asked.requests} == {ListVersions}, "it is known that this version does not fit"
    other = put(registry, record(("name", "string"), ("n", "int"), ("x", "int", 0)), "elsewhere")
    extended = planner.extend(refreshed, frozenset({other}))
    assert (extended.type, other in extended.known) == (before.type, True)
    strict = plans_of(replace(pipeline, evolution="fail"), registry)
    with pytest.raises(EvolutionError, match="n is int in the table and string in the rows"):
        plans_of(pipeline, registry).make_first()
    with pytest.raises(EvolutionError, match="n is int in the table and string in the rows"):
        strict.refresh(before)
    tables_asked.clear()
    keyed = plans_of(replace(pipeline, keyed=KeyedTableOptions(("name",))), registry)
    assert [one.schema_id for one in keyed.make_first().writers] == [third]
    assert tables_asked == []


# --------------------------------------------------------------------------------------------------- names of columns beside

ROW = {"type": "record", "name": "Row", "fields": [{"name": "id", "type": "int"}, {"name": "name", "type": "string"}]}
EVENT = record(("before", ["null", ROW], None), ("after", ["null", "shop.Row"], None), ("op", "string"))
DOUBLES: list[tuple[str, dict[str, Any], str]] = [
    (V1, {"keep": ("N",)}, "would be called n"), (V1, {"with_id": "Name"}, "would be called name"),
    (V1, {"with_version": "n"}, "would be called n"), (V1, {"keep": ("value",)}, ""), ('"int"', {"keep": ("Value",)}, "would be called value"),
    (V1, {"keyed": KeyedTableOptions(("name",), order=("n",))}, "would be called n"),
    (V1, {"keyed": KeyedTableOptions(("n",), order=("n",)), "keep": ("n",)}, ""),
    (V1, {"keyed": KeyedTableOptions(("n",)), "keep": ("name", "n")}, "would be called name"),
    (EVENT, {"keyed": KeyedTableOptions(("id",), envelope=DEBEZIUM), "keep": ("op",)}, ""),
    (EVENT, {"keyed": KeyedTableOptions(("id",), envelope=DEBEZIUM), "keep": ("NAME",)}, "would be called name"),
    (EVENT, {"keep": ("op",)}, "would be called op"),
    (record(("name", "string"), ("Name", "string", "")), {}, "two fields of the record differ in nothing but upper and lower case from Name"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said", "told"), DOUBLES)
def test_a_table_has_no_two_columns_of_one_name(
    registry: Connection, text: str, said: dict[str, Any], told: str
) -> None:
    registry.register("s", Draft(text))
    plan, pipeline = make_plan(registry, "s"), replace(PIPELINE, **said)
    if told:
        with pytest.raises(PlanError, match=told):
            fit_plan(plan, None, pipeline, None)
    else:
        assert fit_plan(plan, None, pipeline, None) is plan
