"""What a plan shows: all that will exist, what counts as refused, and the place of what is refused in its file."""

from collections.abc import Iterator

import pytest

from tests.behaviours.test_projects import STREAM, apply, names_of, plan_of, put_query, rules_of
from tests.planning import SelectPlanner
from treaty import connect
from treaty.metastore import Metastore, PlanningOptions
from treaty.metastore.project import apply_plan
from treaty.metastore.project.plan import ProjectPlan


@pytest.fixture
def metastore() -> Iterator[Metastore]:
    with connect("memory:") as connection:
        yield Metastore(connection.registry)


def test_a_refused_drop_takes_nothing_along(metastore: Metastore) -> None:
    """Neither its bad rows nor its reader, which stay."""
    bad_rows = STREAM.format("old").replace("'AVRO'", "'AVRO', BAD_ROWS = true")
    apply(metastore, STREAM.format("a"), bad_rows, label="mine")
    put_query(metastore, "stays", "SELECT * FROM STREAM old", ("old",))
    plan = plan_of(metastore, STREAM.format("a"), label="mine", prune=True)
    assert [(step.name, step.outcome, step.closure) for step in plan.changes] == [("old", "refused", ())]
    assert plan.counts["drop"] == 0


@pytest.mark.parametrize(("source", "outcome"), [("old", "refused"), ("a", "drop")])
def test_a_drop_is_refused_for_a_changed_query_that_still_reads_it(
    metastore: Metastore, source: str, outcome: str
) -> None:
    """A query that reads something else from now on lets it go, and does not go along."""
    metastore.planning = PlanningOptions(SelectPlanner())
    bad_rows = STREAM.format("old").replace("'AVRO'", "'AVRO', BAD_ROWS = true")
    query = "CREATE STREAM q AS SELECT {} FROM STREAM {}"
    apply(metastore, STREAM.format("a"), bad_rows, query.format("carrier", "old"), label="mine")
    plan = plan_of(metastore, STREAM.format("a"), query.format("id, carrier", source), label="mine", prune=True)
    (drop,) = (step for step in plan.steps if step.name == "old")
    assert (drop.outcome, drop.closure) == (outcome, () if outcome == "refused" else ("old_bad",))
    if outcome == "refused":
        assert drop.refusal is not None
        assert drop.refusal.message == "old is read by q, which stays"


def test_what_a_folder_lacks_is_noted_where_nothing_is_dropped(metastore: Metastore) -> None:
    bad_rows = STREAM.format("old").replace("'AVRO'", "'AVRO', BAD_ROWS = true")
    apply(metastore, STREAM.format("a"), bad_rows, "CREATE TYPE t AS STRING", label="mine")
    note = "{} has the label mine and is in no file: --prune would drop it"
    assert plan_of(metastore, STREAM.format("a"), label="mine").notes == (note.format("old"), note.format("t"))
    assert plan_of(metastore, STREAM.format("a")).notes == ()
    assert plan_of(metastore, STREAM.format("a"), label="mine", prune=True).notes == ()


def lines_of(plan: ProjectPlan, name: str) -> list[str]:
    return next(list(step.differences) for step in plan.steps if step.name == name)


@pytest.mark.parametrize("is_there", [False, True])
def test_a_plan_names_all_that_will_exist(metastore: Metastore, is_there: bool) -> None:  # noqa: FBT001 (a case)
    """Topic, formats and columns of queries as they are after the plan, and streams of bad rows."""
    flights = STREAM.format("flights").replace("'AVRO'", "'JSON', BAD_ROWS = true")
    query = "CREATE STREAM late AS SELECT carrier FROM STREAM flights"
    metastore.planning = PlanningOptions(SelectPlanner())
    if is_there:
        apply(metastore, flights)
    plan = plan_of(metastore, flights, query)
    assert ("+ STREAM flights_bad" in lines_of(plan, "flights")) is not is_there
    shown = "\n".join(line.removeprefix("+ ") for line in lines_of(plan, "late"))
    assert plan.steps[-1].columns == ("carrier STRING",)
    apply_plan(metastore, plan)
    assert metastore.run("SHOW CREATE STREAM late")[0].rows == ((shown,),)
    assert "KAFKA_TOPIC = 'late'" in shown
    assert "VALUE_FORMAT = 'JSON'" in shown
    assert names_of(metastore) == ["flights", "flights_bad", "late"]


def test_a_changed_query_is_compared_with_all_that_its_row_has(metastore: Metastore) -> None:
    metastore.planning = PlanningOptions(SelectPlanner())
    query = "CREATE STREAM late AS SELECT {} FROM STREAM flights"
    apply(metastore, STREAM.format("flights"), query.format("carrier"))
    plan = plan_of(metastore, STREAM.format("flights"), query.format("id, carrier"))
    changed = [line for line in lines_of(plan, "late") if not line.startswith("  ")]
    assert changed == ["- SELECT carrier FROM STREAM flights", "+ SELECT id, carrier FROM STREAM flights"]
    assert plan.steps[-1].columns == ("id BIGINT", "carrier STRING")
    apply_plan(metastore, plan)
    assert apply(metastore, STREAM.format("flights"), query.format("id, carrier")) == [
        "unchanged flights",
        "unchanged late",
    ]


def test_a_refused_change_is_compared_with_all_that_its_row_has(metastore: Metastore) -> None:
    apply(metastore, STREAM.format("flights"), label="mine")
    plan = plan_of(metastore, STREAM.format("flights").replace("STRING", "STRING, home adress"), label="mine")
    assert rules_of(plan) == ["TYPE_NOT_FOUND"]
    changed = [line for line in lines_of(plan, "flights") if not line.startswith("  ")]
    assert changed == ["-   carrier STRING", "+   carrier STRING,", "+   home adress"]


# -------------------------------------------------------------------------------------------------- where it stands


@pytest.mark.parametrize(
    ("text", "place", "hint"),
    [
        ("CREATE STREAM s (id INT,\n  home adress) WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'AVRO')", (2, 8), "address"),
        ("CREATE STREAM adress (adress adress) WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'AVRO')", (1, 30), "address"),
        ("CREATE STREAM s (x ARRAY<`adress`>) WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'AVRO')", (1, 26), "address"),
        ("CREATE TYPE home AS\n STRUCT<at: adress>", (2, 13), "address"),
        ("CREATE STREAM q AS\n SELECT id FROM STREAM flihgts", (2, 24), "flights"),
    ],
)
def test_a_name_that_is_not_there_is_found_in_its_file_with_the_name_that_was_meant(
    metastore: Metastore, text: str, place: tuple[int, int], hint: str
) -> None:
    metastore.run("CREATE TYPE address AS STRUCT<city: STRING>")
    metastore.planning = PlanningOptions(SelectPlanner())
    plan = plan_of(metastore, STREAM.format("flights"), text)
    (step,) = plan.refused
    assert step.refusal is not None
    assert step.found_place == place
    assert f"did you mean {hint}?" in step.refusal.allowed


def test_an_error_of_a_query_is_found_in_its_file(metastore: Metastore) -> None:
    metastore.planning = PlanningOptions(SelectPlanner())
    text = "\n\n  CREATE STREAM q AS\n  SELECT 1 + 1 FROM STREAM flights"
    (step,) = plan_of(metastore, STREAM.format("flights"), text).refused
    assert step.refusal is not None
    assert (step.line, step.found_place) == (3, (4, 3))
    assert step.refusal.message == "this query is not of the form that is planned"
