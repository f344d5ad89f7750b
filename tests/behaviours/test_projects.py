"""Projects of SQL over a registry: their order, what is refused before anything is written, what is dropped, and what somebody else changes."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.planning import SelectPlanner
from treaty import connect
from treaty.core.messages.metastore.sources import CreateSource, DescribeSource, SourceDefinition
from treaty.core.refusals import Refusal
from treaty.core.registry import run_exchange
from treaty.core.sources import QueryPlan, SourceRead
from treaty.metastore import Metastore, PlanningOptions
from treaty.metastore.execution.pages import list_sources
from treaty.metastore.project import ProjectChoices, apply_plan, make_plan, parse_project, read_project_files
from treaty.metastore.project.application import InterruptedProjectError, RefusedProjectError
from treaty.metastore.project.export import export_objects
from treaty.metastore.project.files import InvalidProjectError, ProjectFile
from treaty.metastore.project.objects import SqlProject
from treaty.metastore.project.order import list_read_names, order_objects
from treaty.metastore.project.plan import ProjectPlan

STREAM = "CREATE STREAM {0} (id BIGINT KEY, carrier STRING) WITH (KAFKA_TOPIC = '{0}', VALUE_FORMAT = 'AVRO')"


@pytest.fixture
def metastore() -> Iterator[Metastore]:
    with connect("memory:") as connection:
        yield Metastore(connection.registry)


def project_of(*texts: str) -> SqlProject:
    return parse_project([ProjectFile(f"{place}.sql", text) for place, text in enumerate(texts)])


def plan_of(
    metastore: Metastore, *texts: str, label: str = "", prune: bool = False, strict: bool = False
) -> ProjectPlan:
    return make_plan(metastore, project_of(*texts), ProjectChoices(label, prune, strict))


def apply(metastore: Metastore, *texts: str, label: str = "", prune: bool = False) -> list[str]:
    plan = plan_of(metastore, *texts, label=label, prune=prune)
    apply_plan(metastore, plan)
    return [f"{step.action} {step.name}" for step in plan.steps]


def put_query(metastore: Metastore, name: str, body: str, reads: tuple[str, ...], label: str = "") -> None:
    """Create a stream with a query as a planner would send it."""
    sources = [metastore.registry.ask(DescribeSource(one)).answer.source for one in reads]
    plan = QueryPlan(body, tuple(SourceRead(one.name, one.generation, one.name) for one in sources))
    columns = sources[0].columns
    properties = (("LABEL", label),) if label else ()
    defined = SourceDefinition(name, "STREAM", "", columns, place=name, properties=properties, query=plan)
    metastore.registry.ask(CreateSource(defined))


def names_of(metastore: Metastore) -> list[str]:
    return [source.name for source in run_exchange(metastore.registry, list_sources())]


def rules_of(plan: ProjectPlan) -> list[str]:
    return [step.refusal.rule for step in plan.refused if step.refusal is not None]


# ------------------------------------------------------------------------------------------------------------ files


def test_files_of_a_folder_are_read_by_path_and_hidden_ones_are_left_out(tmp_path: Path) -> None:
    for name in ("b.sql", "a/z.sql", ".hidden/x.sql", "_draft.sql", "notes.txt"):
        tmp_path.joinpath(name).parent.mkdir(exist_ok=True)
        tmp_path.joinpath(name).write_text("SHOW STREAMS", "utf-8")
    assert [file.path for file in read_project_files(tmp_path)] == [str(tmp_path / "a/z.sql"), str(tmp_path / "b.sql")]
    tmp_path.joinpath("c.sql").write_bytes(b"\xff")
    with pytest.raises(InvalidProjectError, match="not UTF-8: byte 0 is 0xff"):
        read_project_files(tmp_path)
    empty = tmp_path / ".hidden"
    empty.joinpath("x.sql").unlink()
    with pytest.raises(InvalidProjectError, match="no file of SQL is here"):
        read_project_files(empty)


def test_all_problems_of_all_files_are_told_with_their_places() -> None:
    with pytest.raises(InvalidProjectError) as refused:
        project_of(
            STREAM.format("a"),
            f"\n{STREAM.format('A')}",
            "SHOW STREAMS;\n INSERT INTO a VALUES (1)",
            "PAUSE nobody",
            "CREATE STREEM",
        )
    problems = [(one.file, one.line, one.column, one.rule) for one in refused.value.problems]
    assert problems == [
        ("1.sql", 2, 1, "PROJECT_TWICE"),
        ("2.sql", 1, 1, "PROJECT_STATEMENT"),
        ("2.sql", 2, 2, "PROJECT_STATEMENT"),
        ("3.sql", 1, 1, "PROJECT_UNKNOWN"),
        ("4.sql", 1, 8, "SYNTAX"),
    ]


# ------------------------------------------------------------------------------------------------------------ order


def test_objects_come_after_what_they_need() -> None:
    ordered = order_objects(
        project_of(
            "CREATE STREAM q AS SELECT * FROM STREAM a JOIN b ON a.id = b.id",
            "CREATE STREAM b WITH (KAFKA_TOPIC = 'a')",
            "CREATE STREAM a (x inner_type) WITH (KAFKA_TOPIC = 'a', VALUE_FORMAT = 'AVRO')",
            "CREATE TYPE inner_type AS STRUCT<y outer_type>",
            "CREATE TYPE outer_type AS STRUCT<z INT>",
            "CREATE STREAM p AS SELECT * FROM q",
        ).objects
    )
    assert [described.name for described in ordered] == ["outer_type", "inner_type", "a", "b", "q", "p"]


def test_objects_that_need_each_other_are_named() -> None:
    circle = project_of(
        "CREATE STREAM a AS SELECT * FROM b", "CREATE STREAM b AS SELECT * FROM c", "CREATE STREAM c AS SELECT * FROM a"
    )
    with pytest.raises(InvalidProjectError, match="these need each other: a → b → c → a"):
        order_objects(circle.objects)


@pytest.mark.parametrize(
    ("body", "names"),
    [
        (
            "SELECT a, b FROM STREAM s AS x, t y JOIN `W w` ON a.id = b.id, q WHERE x IN (SELECT k FROM z)",
            ["s", "t", "w w", "q", "z"],
        ),
        ("FROM a |> WHERE x", ["a"]),
        ("WITH c AS (SELECT * FROM r) SELECT * FROM c LEFT JOIN (SELECT 1 FROM v) q ON true", ["r", "v"]),
        ("SELECT count(a, b) FROM (a JOIN B ON x)", ["a", "b"]),
        ("SELECT ')', (1, 2) -- FROM x\n FROM a", ["a"]),
    ],
)
def test_names_that_a_body_reads_stand_behind_from_join_and_their_commas(body: str, names: list[str]) -> None:
    assert list(list_read_names(body)) == names


# ------------------------------------------------------------------------------------------------- plan and changes


def test_a_plan_shows_the_lines_that_differ_and_a_second_run_has_nothing_to_do(metastore: Metastore) -> None:
    assert apply(metastore, STREAM.format("a"), "CREATE TYPE t AS INT") == ["create t", "create a"]
    changed = (
        STREAM.format("a")
        .replace("carrier STRING", "carrier STRING, gate t")
        .replace("STREAM a", "STREAM IF NOT EXISTS A")
    )
    (_, step) = plan_of(metastore, changed, "CREATE TYPE t AS INT").steps
    assert step.action == "change"
    assert step.differences[:6] == (
        "- CREATE STREAM a (",
        "+ CREATE STREAM A (",
        "    id BIGINT KEY,",
        "-   carrier STRING",
        "+   carrier STRING,",
        "+   gate t",
    )
    assert apply(metastore, changed, "CREATE TYPE t AS INT") == ["unchanged t", "change A"]
    assert apply(metastore, changed, "CREATE TYPE t AS INT") == ["unchanged t", "unchanged A"]


def test_what_is_refused_is_refused_before_anything_is_written(metastore: Metastore) -> None:
    metastore.run(
        ";".join([*map(STREAM.format, "ab"), "CREATE TYPE t AS INT", STREAM.format("c").replace("STRING", "t")])
    )
    incompatible = STREAM.format("a").replace("STRING", "INT")
    texts = (
        incompatible,
        "CREATE TYPE t AS STRING",
        STREAM.format("new"),
        STREAM.format("b").replace("STREAM b", "TABLE b").replace("KEY", "PRIMARY KEY"),
    )
    plan = plan_of(metastore, *texts)
    with pytest.raises(RefusedProjectError) as refused:
        apply_plan(metastore, plan)
    assert names_of(metastore) == ["a", "b", "c"]
    assert rules_of(refused.value.plan) == ["TYPE_DIFFERS", "COLUMN_CLASH", "SOURCE_KIND_DIFFERS"]
    assert any("-   carrier STRING" in line for line in refused.value.reason.details)


def test_a_source_of_a_type_that_is_planned_is_checked(metastore: Metastore) -> None:
    metastore.run(STREAM.format("a"))
    metastore.run("DROP STREAM a")
    plan = plan_of(
        metastore,
        "CREATE TYPE t AS INT",
        STREAM.format("a").replace("STRING", "t"),
        STREAM.format("b").replace("STRING", "t"),
    )
    assert rules_of(plan) == ["COLUMN_CLASH"]
    assert [(step.name, step.is_checked) for step in plan.steps] == [("t", True), ("a", True), ("b", True)]


def test_a_type_that_nothing_uses_is_replaced(metastore: Metastore) -> None:
    apply(metastore, "CREATE TYPE t AS INT")
    assert apply(metastore, "CREATE TYPE t AS STRING COMMENT 'words'") == ["change t", "change t"]
    assert metastore.run("SHOW TYPES")[0].rows == (("t", "STRING", "words"),)


def test_settings_beside_a_create_are_part_of_it(metastore: Metastore) -> None:
    protect = "; ALTER STREAM a SET PROTECTED = true"
    assert apply(metastore, STREAM.format("a") + protect) == ["create a", "change a"]
    assert apply(metastore, STREAM.format("a") + protect) == ["unchanged a"]
    assert apply(metastore, STREAM.format("a")) == ["unchanged a"]
    assert apply(metastore, STREAM.format("a") + protect.replace("true", "false")) == ["unchanged a", "change a"]


# ----------------------------------------------------------------------------------------------------------- labels


def test_only_what_has_the_label_is_dropped_and_with_its_bad_rows(metastore: Metastore) -> None:
    metastore.run(STREAM.format("byhand"))
    bad_rows = STREAM.format("old").replace("'AVRO'", "'AVRO', BAD_ROWS = true")
    apply(metastore, STREAM.format("a"), bad_rows, label="mine")
    apply(metastore, STREAM.format("other"), label="theirs")
    assert names_of(metastore) == ["a", "byhand", "old", "old_bad", "other"]
    plan = plan_of(metastore, STREAM.format("a"), label="mine", prune=True)
    assert [(step.action, step.name, step.closure) for step in plan.changes] == [("drop", "old", ("old_bad",))]
    apply_plan(metastore, plan)
    assert names_of(metastore) == ["a", "byhand", "other"]


def test_a_label_is_given_kept_and_never_taken_from_another_project(metastore: Metastore) -> None:
    metastore.run(STREAM.format("a"))
    assert apply(metastore, STREAM.format("a"), label="mine") == ["change a"]
    assert apply(metastore, STREAM.format("a"), label="mine") == ["unchanged a"]
    assert apply(metastore, STREAM.format("a")) == ["unchanged a"]
    plan = plan_of(metastore, STREAM.format("a"), label="theirs")
    assert rules_of(plan) == ["LABEL_DIFFERS"]
    metastore.run("ALTER STREAM a SET (LABEL = 'theirs')")
    assert apply(metastore, STREAM.format("a"), label="theirs") == ["unchanged a"]


def test_readers_go_before_what_they_read_and_readers_that_stay_refuse(metastore: Metastore) -> None:
    apply(metastore, STREAM.format("a"), STREAM.format("z"), label="mine")
    put_query(metastore, "m", "SELECT * FROM STREAM a", ("a",), label="mine")
    plan = plan_of(metastore, STREAM.format("z"), label="mine", prune=True)
    assert [step.name for step in plan.changes] == ["m", "a"]
    apply_plan(metastore, plan)
    assert names_of(metastore) == ["z"]
    put_query(metastore, "stays", "SELECT * FROM STREAM z", ("z",))
    plan = plan_of(metastore, STREAM.format("new"), label="mine", prune=True)
    assert rules_of(plan) == ["SOURCE_READ"]
    (create, drop) = plan.changes
    assert (create.outcome, drop.outcome, drop.closure) == ("create", "refused", ())
    assert {outcome: count for outcome, count in plan.counts.items() if count} == {"create": 1, "refused": 1}


# ---------------------------------------------------------------------------------------------------------- queries


def test_a_query_that_is_there_is_not_planned_again(metastore: Metastore) -> None:
    """R47: IF NOT EXISTS of a query that is there writes nothing and asks no planner."""
    apply(metastore, STREAM.format("a"))
    put_query(metastore, "q", "SELECT * FROM STREAM a", ("a",))
    query = "CREATE STREAM IF NOT EXISTS q AS SELECT * FROM STREAM a"
    assert apply(metastore, STREAM.format("a"), query) == ["unchanged a", "unchanged q"]
    assert apply(metastore, STREAM.format("a"), query, label="mine") == ["change a", "change q"]
    assert apply(metastore, STREAM.format("a"), query, label="mine") == ["unchanged a", "unchanged q"]


def test_queries_without_a_planner_wait_and_so_does_what_needs_them(metastore: Metastore) -> None:
    texts = (STREAM.format("a"), "CREATE STREAM q AS SELECT * FROM a", "CREATE STREAM p WITH (KAFKA_TOPIC = 'q')")
    plan = make_plan(metastore, project_of(*texts), ProjectChoices(queries="later"))
    assert [step.name for step in plan.waiting] == ["q", "p"]
    assert not plan.refused
    assert [result.name for result in apply_plan(metastore, plan)] == ["a"]


# --------------------------------------------------------------------------------------------- what others change


def test_queries_over_what_the_same_plan_creates_are_planned_before_anything_is_written(metastore: Metastore) -> None:
    texts = (
        "CREATE STREAM a AS SELECT carrier FROM STREAM b",
        "CREATE STREAM b AS SELECT id, carrier FROM STREAM flights",
        "CREATE STREAM flights (id name, carrier STRING) WITH (KAFKA_TOPIC = 'f', VALUE_FORMAT = 'AVRO')",
        "CREATE TYPE name AS STRING",
    )
    metastore.planning = PlanningOptions(planner := SelectPlanner())
    plan = plan_of(metastore, *texts, "CREATE STREAM c AS SELECT 1 + 1 FROM STREAM a")
    assert (rules_of(plan), [step.name for step in plan.refused]) == (["QUERY_REFUSED"], ["c"])
    plan = plan_of(metastore, *texts)
    assert [(step.name, step.notes) for step in plan.steps[2:]] == [
        ("b", ("planned by hand",)),
        ("a", ("planned by hand",)),
    ]
    assert names_of(metastore) == []
    apply_plan(metastore, plan)
    assert names_of(metastore) == ["a", "b", "flights"]
    assert planner.planned == 7
    assert apply(metastore, *texts) == ["unchanged name", "unchanged flights", "unchanged b", "unchanged a"]


def test_columns_of_a_schema_that_the_same_plan_makes_have_its_id_whatever_is_registered_before(
    metastore: Metastore,
) -> None:
    taken = "CREATE STREAM taken WITH (KAFKA_TOPIC = 'flights', BAD_ROWS = true)"
    texts = (STREAM.format("a"), STREAM.format("flights"), taken)
    plan = plan_of(metastore, *texts)
    assert [(step.name, step.is_checked, step.refusal) for step in plan.steps] == [
        ("a", True, None),
        ("flights", True, None),
        ("taken", True, None),
    ]
    apply_plan(metastore, plan)
    assert apply(metastore, *texts) == ["unchanged a", "unchanged flights", "unchanged taken"]


def test_queries_over_what_the_same_plan_creates_wait_for_no_planner_of_the_registry(metastore: Metastore) -> None:
    plan = plan_of(metastore, "CREATE STREAM late AS SELECT carrier FROM STREAM flights", STREAM.format("flights"))
    assert [(step.name, step.is_checked, step.refusal) for step in plan.steps] == [
        ("flights", True, None),
        ("late", False, None),
    ]


def test_a_plan_is_not_carried_out_on_other_rows_than_it_was_made_on(metastore: Metastore) -> None:
    apply(metastore, STREAM.format("a"))
    plan = plan_of(metastore, STREAM.format("a").replace("STRING", "STRING, gate INT"))
    metastore.run("ALTER STREAM a SET COMMENT = 'x'; ALTER STREAM a ADD COLUMN note STRING")
    with pytest.raises(
        InterruptedProjectError, match=r"STREAM a \(0\.sql:1\): The source is not the expected one; nothing was"
    ) as stopped:
        apply_plan(metastore, plan)
    assert stopped.value.done == 0


# ------------------------------------------------------------------------------------------------- rules of headless starts


def test_a_server_that_starts_changes_only_what_says_or_replace(metastore: Metastore) -> None:
    """R43: a changed file stops with the difference, and nothing of it is carried out."""
    apply(metastore, STREAM.format("a"))
    changed = STREAM.format("a").replace("STRING", "STRING, gate INT")
    plan = plan_of(metastore, changed, STREAM.format("b"), strict=True)
    assert rules_of(plan) == ["PROJECT_DIFFERS"]
    with pytest.raises(RefusedProjectError) as refused:
        apply_plan(metastore, plan)
    assert any("+   gate INT" in line for line in refused.value.reason.details)
    assert names_of(metastore) == ["a"]
    assert not plan_of(metastore, changed.replace("CREATE", "CREATE OR REPLACE"), strict=True).refused


def test_a_later_version_of_a_subject_changes_no_source(metastore: Metastore) -> None:
    """R44: what a statement took from a schema stays as it is, and a second start writes nothing (R42)."""
    apply(metastore, STREAM.format("a"), "CREATE STREAM b WITH (KAFKA_TOPIC = 'a')")
    before = metastore.run("DESCRIBE b")[0].rows
    metastore.run("CREATE STREAM c (carrier STRING, more INT) WITH (KAFKA_TOPIC = 'a', VALUE_FORMAT = 'AVRO')")
    assert apply(metastore, STREAM.format("a"), "CREATE STREAM IF NOT EXISTS b WITH (KAFKA_TOPIC = 'a')") == [
        "unchanged a",
        "unchanged b",
    ]
    assert metastore.run("DESCRIBE b")[0].rows == before
    apply(metastore, STREAM.format("a"), "CREATE STREAM b COMMENT 'x' WITH (KAFKA_TOPIC = 'a')")
    assert metastore.run("DESCRIBE b")[0].rows == before


def test_what_the_registry_does_not_let_see_is_refused_as_it_says(metastore: Metastore) -> None:
    plan = plan_of(metastore, "CREATE STREAM b WITH (KAFKA_TOPIC = 'nobody')")
    assert rules_of(plan) == ["SUBJECT_NOT_FOUND"]
    with pytest.raises(Refusal, match=r"STREAM b \(0\.sql:1\)"):
        apply_plan(metastore, replace(plan))


def test_an_export_has_the_columns_of_a_shared_schema_once(metastore: Metastore) -> None:
    """A schema of JSON does not say INT inside of arrays: the columns of its readers would be a schema of their own."""
    declared = "CREATE STREAM z (items ARRAY<STRUCT<q INT>>) WITH (KAFKA_TOPIC = 'z', VALUE_FORMAT = 'JSON')"
    metastore.run(f"{declared}; CREATE STREAM a WITH (KAFKA_TOPIC = 'z')")
    exported = run_exchange(metastore.registry, export_objects())
    assert [(one.name, "items" in one.text) for one in exported] == [("z", True), ("a", False)]
    with connect("memory:") as connection:
        other = Metastore(connection.registry)
        apply_plan(other, make_plan(other, project_of(*(one.text for one in exported))))
        assert other.run("DESCRIBE a")[0].rows == metastore.run("DESCRIBE a")[0].rows
        assert run_exchange(other.registry, export_objects()) == exported


def test_a_stream_of_bad_rows_that_is_missing_is_planned_and_made(metastore: Metastore) -> None:
    text = STREAM.format("s").replace("'AVRO'", "'AVRO', BAD_ROWS = true")
    apply(metastore, text)
    metastore.run("DROP STREAM s_bad")
    assert plan_of(metastore, text, strict=True).changes == (), "a start changes nothing that is there"
    (step,) = plan_of(metastore, text).changes
    assert (step.action, step.name, step.differences[-1], step.refusal) == ("change", "s", "+ STREAM s_bad", None)
    assert apply(metastore, text) == ["change s"]
    assert names_of(metastore) == ["s", "s_bad"]
    assert apply(metastore, text) == ["unchanged s"]
