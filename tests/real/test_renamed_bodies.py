"""A body whose sources have other names, planned by Spark: it gives the same columns, reads the same, and keeps the same state."""

from dataclasses import replace

import pytest
from pyspark.sql import SparkSession

from tests.query_bodies import NAMES, read_body
from treaty.core.column_types.tokens import split_tokens
from treaty.core.handlers.metastore.body_names import rename_in_body, rename_in_state
from treaty.core.sources import QueryPlan
from treaty.spark.planner.bodies import BodyPlanner
from treaty.spark.planner.questions import BodyPlan, QueryBody

pytestmark = pytest.mark.jvm
LATER = ("another_one", "of two words", "order", "Größe", "x7")


@pytest.fixture(scope="module")
def planner(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> BodyPlanner:
    return BodyPlanner(spark, tmp_path_factory.mktemp("planned"))


def rename_all(query: QueryBody, plan: QueryPlan) -> tuple[QueryBody, dict[str, str]]:
    """The query over the same sources by other names."""
    read = [one.source for one in plan.reads]
    names = {name.lower(): LATER[(place + len(query.text)) % len(LATER)] for place, name in enumerate(read)}
    sources = tuple(replace(one, name=names.get(one.name.lower(), one.name)) for one in query.sources)
    columns = {
        token.text.lower()
        for one in query.sources
        for column in one.columns
        if one.name in read
        for token in split_tokens(f"{column.name} {column.type}")
    }
    return replace(query, text=rename_in_body(query.text, names, columns), sources=sources), names


def facts(planned: BodyPlan, names: dict[str, str]) -> tuple[object, ...]:
    """All that a plan says besides its body, by the names of later."""
    plan = planned.plan
    reads = [(names.get(one.source.lower(), one.source), one.generation, one.mode, one.columns) for one in plan.reads]
    return planned.columns, plan.output_mode, plan.key, plan.fingerprint, sorted(reads), len(plan.state)


def cut(part: tuple[str, str]) -> tuple[str, str]:
    """A part of a state without its last words, where it was shortened: a name of another length ends it elsewhere."""
    kind, text = part
    return kind, text[:100] if text.endswith("…") else text


@pytest.mark.parametrize("name", NAMES)
def test_a_body_by_other_names_is_planned_as_the_same_query(planner: BodyPlanner, name: str) -> None:
    query, _ = read_body(name)
    before = planner.plan(query)
    renamed, names = rename_all(query, before.plan)
    assert renamed.text != query.text
    after = planner.plan(renamed)
    assert facts(after, {}) == facts(before, names)
    plain = {key: one for key, one in names.items() if one.isidentifier() and one.isascii()}
    if plain == names:
        texts = [(kind, rename_in_state(text, names)) for kind, text in before.plan.state]
        assert sorted(map(cut, texts)) == sorted(map(cut, after.plan.state))
