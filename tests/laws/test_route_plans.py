"""Plans of a pipeline: what each option says reaches them, what a registry can't say is asked again. No Spark runs here."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from tests.frames import record
from tests.laws.asked import PIPELINE, V1, V2, Asked, Clock, planner_of, planner_of_route, put
from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.core.messages.listings import ListVersions
from treaty.core.messages.versions import DeleteVersion
from treaty.core.names import subject_of
from treaty.core.refusals import Unavailable
from treaty.core.schema import Draft
from treaty.plan.decode_plans import make_plan
from treaty.plan.errors import PlanError
from treaty.spark import BatchDecoder, KafkaSource, Pipeline
from treaty.spark.keyed.options import KeyedTableOptions
from treaty.spark.pipelines import planner as planner_file
from treaty.spark.pipelines.planner import PAUSE
from treaty.spark.pipelines.route import TopicRoute, make_route


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(planner_file, "time", made)
    return made


@pytest.fixture
def registry() -> Any:
    with connect("memory:") as opened:
        opened.set_level("", "NONE")
        yield opened


# ----------------------------------------------------------------------------------------------- what is said reaches plans

RECURSIVE = record(("n", "int"), ("below", ["null", "shop.Node"], None), name="Node")
PROTO = (
    'syntax = "proto3"; package p; message Other { int32 o = 1; optional int32 d = 2; }'
    " message M { int32 a = 1; optional int32 b = 2; }"
)
OPTIONS: Mapping[str, tuple[str, str, Any]] = {
    "reader": ("AVRO", V1, 1), "depth": ("AVRO", RECURSIVE, 5), "framing": ("AVRO", V1, "header"),
    "lossy": ("AVRO", record(("n", "long")), "double"), "message": ("PROTOBUF", PROTO, "p.M"), "defaults": ("PROTOBUF", PROTO, True),
}  # fmt: skip


@pytest.mark.parametrize("option", OPTIONS)
def test_each_option_of_a_pipeline_is_that_of_its_plans(registry: Connection, option: str) -> None:
    schema_format, text, value = OPTIONS[option]
    registry.register("s", Draft(text, schema_format))
    if option in {"reader", "lossy"}:
        registry.register("s", Draft(V2 if option == "reader" else record(("n", "double")), schema_format))
    said = {option: value}
    expected = make_plan(registry, "s", case_sensitive=False, **{"reader": "union", **said}).with_engine(
        "fastavro" if schema_format == "AVRO" else "ptars"
    )
    usual, asked = (planner_of(one, registry) for one in (PIPELINE, replace(PIPELINE, **said)))
    before = usual.plan()
    assert before.with_engine(expected.engine) != expected
    for plan in (asked.plan(), asked.extend(asked.plan(), frozenset({99}))):
        assert plan.with_engine(expected.engine) == expected
    decoder = BatchDecoder(registry, "s", "c", **({"reader": "union"} | said))
    assert decoder._make_plan(registry, None).with_engine(expected.engine) == replace(expected, case_sensitive=True)


def test_a_way_of_writing_is_for_formats_of_plug_ins(registry: Connection) -> None:
    put(registry, V1)
    with pytest.raises(PlanError, match="encoding = 'x' is for formats of plug-ins"):
        planner_of(replace(PIPELINE, encoding="x"), registry).plan()


def test_what_was_read_is_read_alike_when_its_version_is_gone(registry: Connection) -> None:
    """Of a union, of the keys beside it, and in batches of one's own."""
    for subject in ("s", "k"):
        put(registry, V1, subject)
        put(registry, V2, subject)
    planner = planner_of(replace(PIPELINE, keyed=KeyedTableOptions(subject="k")), registry)
    plan = planner.plan()
    decoder = BatchDecoder(registry, "s", "c", reader="union")
    columns = ["name", "n", "more"]
    for subject in ("s", "k"):
        for permanent in (False, True):
            registry.ask(DeleteVersion(subject_of(subject), 2, permanent=permanent))
    assert [name for name, _ in planner.plan().columns] == columns[:2]
    for later in (planner.refresh(plan), planner.extend(plan, frozenset()), planner.make_fitting(plan)):
        assert [name for name, _ in later.columns] == columns
        assert later.key is not None
        assert [name for name, _ in later.key.columns] == columns
    assert [name for name, _ in decoder._make_plan(registry, plan).columns] == columns


def test_names_that_differ_in_case_alone_are_no_columns_of_a_pipeline(registry: Connection) -> None:
    registry.register("s", Draft(V1))
    twin = put(registry, record(("name", "string"), ("Name", "string", "")))
    plan = planner_of(PIPELINE, registry).plan()
    assert [one.schema_id for one in plan.rejected] == [twin]
    assert not plan.case_sensitive


@pytest.mark.parametrize("said", [{"lossy": "double"}, {"message": "M"}, {"lossy": "allow", "defaults": True}], ids=str)
def test_an_option_of_another_format_is_left_out_where_other_topics_may_need_it_alone(
    registry: Connection, said: dict[str, Any]
) -> None:
    registry.register("a-value", Draft('{"type":"object","properties":{"a":{"type":"integer"}}}', "JSON"))
    topics = KafkaSource("h:1", ("a", "b"))
    many = Pipeline("", "x/{topic}", "y/{topic}", "c", source=topics, tries=1, **said)
    plan = planner_of_route(make_route(many, "a"), registry).plan()
    assert plan == make_plan(registry, "a-value", reader="union", case_sensitive=False)
    one = replace(many, source=replace(topics, topics=("a",)))
    named = replace(many, subject="a-value")
    for route in (make_route(one, "a"), TopicRoute(named)):
        with pytest.raises(PlanError, match="and the rows to read are JSON; leave it out"):
            planner_of_route(route, registry).plan()


def test_ids_that_were_learned_stay_in_the_plans_that_follow(registry: Connection) -> None:
    first, other = put(registry, V1), put(registry, V2, "elsewhere")
    planner = planner_of(PIPELINE, registry)
    plan = planner.plan()
    longer = planner.extend(plan, frozenset({other}))
    assert longer.known == {first, other}
    third = put(registry, V2.replace("more", "most"))
    for later in (planner.extend(longer, frozenset({third})), planner.make_fitting(longer)):
        assert later.known == {first, other, third}


# ------------------------------------------------------------------------------------------------------------ keys beside values


def test_a_plan_has_the_keys_schema_too_and_is_renewed_where_only_that_has_more_versions(registry: Connection) -> None:
    registry.register("s", Draft(V1))
    registry.register("k", Draft(record(("id", "int"), name="Key")))
    keyed = replace(PIPELINE, keyed=KeyedTableOptions(subject="k"))
    planner = planner_of(keyed, registry)
    plan = planner.plan()
    assert plan.key == make_plan(registry, "k", reader="union", case_sensitive=False).with_engine("fastavro")
    refreshed = planner.refresh(plan)
    asked = Asked(registry)
    planner.registry = asked
    assert planner.refresh(refreshed) is refreshed
    assert {type(one) for one in asked.requests} == {ListVersions}
    for subject, text in (
        ("k", record(("id", "long"), name="Key")),
        ("s", V2),
        ("k", record(("id", "double"), name="Key")),
    ):
        registry.register(subject, Draft(text))
        newer = planner.refresh(refreshed)
        assert newer != refreshed
        assert newer.key == make_plan(
            registry, "k", reader="union", case_sensitive=False, before=refreshed.key
        ).with_engine("fastavro")
        assert len(newer.writers) == 1 + (subject == "s" or "double" in text)
        refreshed = newer
    assert planner_of(replace(PIPELINE, keyed=KeyedTableOptions(("n",))), registry).plan().key is None


# --------------------------------------------------------------------------------------------- registries that lag or are away


def test_an_id_that_nobody_knows_is_waited_for_once(registry: Connection, clock: Clock) -> None:
    first, second = put(registry, V1), put(registry, V2, "elsewhere")
    asked = Asked(registry, missing=second)
    planner = planner_of(replace(PIPELINE, patience=20.0), asked)
    plan = planner.plan()

    asked.times = 3
    longer = planner.extend(plan, frozenset({second}))
    assert longer.known == {first, second}
    assert clock.slept == [0.05, 0.1, 0.2]

    clock.slept.clear()
    registry.register("s", Draft(record(("name", "string"), ("n", "int"), ("later", "int", 1))))
    assert planner.extend(plan, frozenset({77})) is plan, "what else is new is the next batch's"
    assert sum(clock.slept) == pytest.approx(20.0)
    assert max(clock.slept) == 5.0
    waited = clock.now
    assert planner.extend(plan, frozenset({77})) is plan
    assert clock.now == waited, "that it is not there is known"
    assert planner.extend(plan, frozenset({77, 78})) is plan
    assert clock.now == pytest.approx(waited + 20)
    both = planner.extend(plan, frozenset({77, second}))
    assert second in both.known
    assert clock.now == pytest.approx(waited + 40), "of one of them nobody had said anything"
    assert len(planner.extend(plan, frozenset()).known) == 2, "without an id it is further versions that are meant"


@pytest.mark.parametrize(("after", "slept"), [(0.5, [0.5, 1.0, 2.0]), (20.0, [20.0, PAUSE, PAUSE])])
def test_a_registry_that_is_away_is_asked_so_often(
    registry: Connection, clock: Clock, after: float, slept: list[float]
) -> None:
    registry.register("s", Draft(V1))
    for away in range(6):
        clock.slept.clear()
        planner = planner_of(replace(PIPELINE, tries=4), Asked(registry, away, after))
        if away < 4:
            assert planner.plan().writers
        else:
            with pytest.raises(Unavailable):
                planner.plan()
        assert clock.slept == slept[: min(away, 3)]
