"""Projects at their edges: each thing that a file may say otherwise is a change, what has no label is never dropped, and settings that come twice."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.behaviours.test_projects import STREAM, apply, plan_of, project_of, rules_of
from treaty import connect
from treaty.core.column_types import parse_column_type
from treaty.core.limits import NAME_LENGTH
from treaty.core.messages.metastore.sources import DescribeSource, DescribeType
from treaty.core.refusals import Invalid, OutcomeUnknown, Reason, Unavailable
from treaty.core.registry import run_exchange
from treaty.core.sources import StoredType
from treaty.metastore import Metastore
from treaty.metastore.project import ProjectChoices
from treaty.metastore.project.files import InvalidProjectError
from treaty.metastore.project.lock import read_lock
from treaty.metastore.project.order import find_needs, order_objects, side_subject
from treaty.metastore.project.plan import PlannedStep
from treaty.metastore.project.planned_rows import PlannedRows
from treaty.metastore.project.settings import read_project_settings
from treaty.metastore.project.start import ProjectStart, ProjectStartError, ProjectUnavailableError
from treaty.metastore.sql.script import parse_script


@pytest.fixture
def metastore() -> Iterator[Metastore]:
    with connect("memory:") as connection:
        yield Metastore(connection.registry)


# ------------------------------------------------------------------------------------------------- what a file says otherwise

BASE = "CREATE STREAM s (k STRING KEY, v INT, at TIMESTAMP{}) {}WITH (KAFKA_TOPIC = 't', KEY_FORMAT = 'AVRO', VALUE_FORMAT = 'AVRO'{})"
OTHERWISE = {
    "a column": BASE.format(", w INT", "", ""),
    "a header": BASE.format(", h BINARY HEADER('x')", "", ""),
    "all headers": BASE.format(", h ARRAY<STRUCT<key STRING, value BINARY>> HEADERS", "", ""),
    "a comment of a column": BASE.format(" COMMENT 'c'", "", ""),
    "a comment": BASE.format("", "COMMENT 'c' ", ""),
    "TIMESTAMP": BASE.format("", "", ", TIMESTAMP = 'at'"),
    "CLUSTER": BASE.format("", "", ", CLUSTER = 'west'"),
    "FRAMING": BASE.format("", "", ", FRAMING = 'header'"),
    "RETENTION_MS": BASE.format("", "", ", RETENTION_MS = 5"),
    "SUBJECT": BASE.format("", "", ", SUBJECT = 'other'"),
    "KEY_SUBJECT": BASE.format("", "", ", KEY_SUBJECT = 'other'"),
    "KEY_FORMAT": BASE.format("", "", "").replace("KEY_FORMAT = 'AVRO'", "KEY_FORMAT = 'KAFKA'"),
    "the topic": BASE.format("", "", "").replace("'t'", "'u'"),
    "the spelling of the name": BASE.format("", "", "").replace("STREAM s", "STREAM S"),
}
"""What a statement says otherwise than BASE without more."""


@pytest.mark.parametrize("what", OTHERWISE)
def test_each_thing_that_a_file_says_otherwise_is_a_change_there_and_back(metastore: Metastore, what: str) -> None:
    plain = BASE.format("", "", "")
    apply(metastore, plain)
    for text in (OTHERWISE[what], plain):
        plan = plan_of(metastore, text)
        if text is plain and what == "a column":  # a column of the schema stays there
            continue
        assert [(step.action, rules_of(plan)) for step in plan.changes] == [("change", [])], plan.changes
        assert apply(metastore, text)[0].startswith("change")
        assert plan_of(metastore, text).changes == ()


def test_a_file_that_asks_for_no_bad_rows_leaves_their_stream_over(metastore: Metastore) -> None:
    create = "CREATE STREAM s (v INT) WITH (KAFKA_TOPIC = 't', VALUE_FORMAT = 'AVRO'{})"
    apply(metastore, create.format(", BAD_ROWS = true"), label="mine")
    for says in ("", ", BAD_ROWS = false"):
        plan = plan_of(metastore, create.format(says), label="mine")
        assert ["has a stream of bad rows s_bad" in note for step in plan.steps for note in step.notes] == [True], says
        dropped = plan_of(metastore, create.format(says), label="mine", prune=True)
        assert ("drop", "s_bad") in [(step.action, step.name) for step in dropped.steps], says
    kept = plan_of(metastore, create.format(", BAD_ROWS = true"), label="mine", prune=True)
    assert (kept.changes, [step.notes for step in kept.steps]) == ((), [()])


@pytest.mark.parametrize("strict", [False, True])
def test_a_start_leaves_a_dropped_stream_of_bad_rows_as_it_is(metastore: Metastore, *, strict: bool) -> None:
    text = STREAM.format("s").replace("'AVRO'", "'AVRO', BAD_ROWS = true")
    apply(metastore, text)
    metastore.run("DROP STREAM s_bad")
    changes = plan_of(metastore, text, strict=strict).changes
    assert [line for step in changes for line in step.differences if line.startswith("+")] == ["+ STREAM s_bad"] * (not strict)  # fmt: skip


# ----------------------------------------------------------------------------------------------------------------- labels


@pytest.mark.parametrize("label", ["", "mine", "other"])
def test_what_has_no_label_of_the_project_is_never_dropped(metastore: Metastore, label: str) -> None:
    apply(metastore, STREAM.format("plain"), "CREATE TYPE Plain AS INT")
    apply(metastore, STREAM.format("labelled"), "CREATE TYPE Labelled AS INT", label="mine")
    plan = plan_of(metastore, STREAM.format("plain"), label=label, prune=True)
    dropped = {step.name for step in plan.steps if step.action == "drop"}
    assert dropped == ({"labelled", "Labelled"} if label == "mine" else set())


def test_a_type_that_is_another_one_keeps_its_label_where_the_project_has_none(metastore: Metastore) -> None:
    apply(metastore, "CREATE TYPE T AS INT", label="mine")
    apply(metastore, "CREATE TYPE T AS STRING")
    assert metastore.registry.ask(DescribeType("T")).answer.type.label == "mine"


@pytest.mark.parametrize("user", ["CREATE TYPE U AS STRUCT<a T>", "CREATE STREAM s (v T) WITH (CONNECTOR = 'delta', PATH = 's')"])  # fmt: skip
def test_a_type_is_another_one_only_where_nothing_uses_it(metastore: Metastore, user: str) -> None:
    apply(metastore, "CREATE TYPE T AS INT", user)
    plan = plan_of(metastore, "CREATE TYPE T AS STRING", user)
    assert (rules_of(plan), plan.refused[0].closure) == (["TYPE_DIFFERS"], (user.split()[2],))


# ------------------------------------------------------------------------------------------------------- order and settings


def test_types_come_first_and_queries_last_whatever_their_names() -> None:
    texts = ["CREATE STREAM a AS SELECT 1", STREAM.format("b"), "CREATE TYPE c AS INT", STREAM.format("d"), "CREATE TYPE e AS INT"]  # fmt: skip
    assert [one.name for one in order_objects(project_of(*texts).objects)] == ["c", "e", "b", "d", "a"]


@pytest.mark.parametrize(
    ("place", "value"),
    [("KAFKA_TOPIC = 't'", "t"), ("CONNECTOR = 'files', PATH = 'p/q'", "p/q"), ("KAFKA_TOPIC = 't', PATH = 'p'", "t")],
)
def test_subjects_have_the_name_of_the_topic_or_path(place: str, value: str) -> None:
    (parsed,) = parse_script(f"CREATE STREAM s (v INT) WITH ({place}, VALUE_FORMAT = 'JSON')").statements
    statement: Any = parsed.value
    assert [str(side_subject(statement, side)) for side in ("key", "value")] == [f"{value}-key", f"{value}-value"]
    named: Any = parse_script(f"CREATE STREAM s (v INT) WITH ({place}, KEY_SUBJECT = 'k', SUBJECT = 'u')").statements[0].value  # fmt: skip
    assert [str(side_subject(named, side)) for side in ("key", "value")] == ["k", "u"]


def test_nothing_needs_itself() -> None:
    """The key is registered in the subject from which the value is taken."""
    own = "CREATE STREAM s (k INT KEY) WITH (KAFKA_TOPIC = 't', FORMAT = 'AVRO', KEY_SUBJECT = 'x', SUBJECT = 'x')"
    project = project_of(own, "CREATE STREAM q AS SELECT * FROM q")
    assert find_needs(project.objects) == {("source", "s"): set(), ("source", "q"): set()}
    assert len(order_objects(project.objects)) == 2


@pytest.mark.parametrize("first", ["true", "false"])
@pytest.mark.parametrize("second", ["", "true", "false"])
def test_of_settings_that_come_twice_the_last_one_counts(first: str, second: str) -> None:
    protect = "; ALTER STREAM s SET PROTECTED = {}"
    state = {"true": "; PAUSE s", "false": "; RESUME s", "": ""}
    text = STREAM.format("s") + protect.format(first) + state[first]
    project = project_of(text, (protect.format(second) * bool(second) + state[second]).lstrip("; ") or "SET START = 'latest'")  # fmt: skip
    (described,) = project.objects
    assert (described.protect, described.state) == ((second or first) == "true", "PAUSED" if (second or first) == "true" else "RUNNING")  # fmt: skip


@pytest.mark.parametrize("length", [NAME_LENGTH - 1, NAME_LENGTH, NAME_LENGTH + 1])
def test_a_label_is_as_long_as_any_name(tmp_path: Path, length: int) -> None:
    (tmp_path / "treaty.toml").write_text(f'[project]\nlabel = "{"x" * length}"\n')
    if length <= NAME_LENGTH:
        assert read_project_settings(tmp_path).label == "x" * length
    else:
        with pytest.raises(InvalidProjectError, match="too long"):
            read_project_settings(tmp_path)


@pytest.mark.parametrize("place", [(5, 1), (5, 3), (1, 1), (0, 0)])
def test_a_refusal_stands_at_its_own_place_where_that_is_known(place: tuple[int, int]) -> None:
    step = PlannedStep("create", "STREAM", "s", "a.sql", 3, column=7, refusal=Reason("R", "m"), refusal_place=place)
    assert step.found_place == (place if place[0] else (3, 7))


# ---------------------------------------------------------------------------------------------------- locks, plans and starts


def test_a_lock_has_what_is_outside_of_the_project_alone(metastore: Metastore) -> None:
    """Though all of it is there, what the files create is not taken from the registry."""
    texts = [STREAM.format("own"), "CREATE TYPE Own AS INT"]
    apply(metastore, *texts, STREAM.format("outer"), "CREATE TYPE Outer AS INT")
    query = "CREATE STREAM q (v Own, w Outer) AS SELECT * FROM STREAM own JOIN STREAM OUTER"
    lock = run_exchange(metastore.registry, read_lock(project_of(*texts, query)))
    assert [(one.table, one.name) for one in lock.objects] == [("source", "outer"), ("type", "outer")]


def test_a_planned_type_counts_before_the_one_that_is_there() -> None:
    rows = PlannedRows({"t": StoredType("T", "INT", 1)}, {"t": StoredType("T", "STRING", 0)})
    assert rows.expand(parse_column_type("T")) == parse_column_type("STRING")
    assert PlannedRows(rows.types).expand(parse_column_type("ARRAY<T>")) == parse_column_type("ARRAY<INT>")


@pytest.mark.parametrize("error", [Unavailable("away"), Invalid.of("RULE", "no")])
def test_what_a_registry_refuses_comes_to_who_asked_over_a_plan(error: Exception) -> None:
    def ask() -> Any:
        try:
            yield DescribeSource("s")
        except (Unavailable, Invalid) as refused:
            return refused

    exchange = PlannedRows({}).answer(ask())
    next(exchange)
    with pytest.raises(StopIteration) as end:
        exchange.throw(error)
    assert end.value.value is error


class Failing:
    """A registry that answers nothing."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    async def ask(self, *_: object) -> Any:
        raise self.error

    async def close(self) -> None:
        """Keep nothing open."""


async def _start(error: Exception) -> None:
    await ProjectStart("p", project_of(STREAM.format("s")), ProjectChoices(strict=True)).apply(Failing(error))


@pytest.mark.parametrize("error", [Unavailable("away"), OutcomeUnknown("c1")])
def test_a_start_without_an_answer_may_come_again(error: Exception) -> None:
    with pytest.raises(ProjectUnavailableError, match="p can't be applied"):
        asyncio.run(_start(error))
    assert not issubclass(ProjectUnavailableError, ProjectStartError)


@pytest.mark.parametrize(("label", "own", "refused"), [("", "", []), ("", "x", []), ("x", "x", []), ("x", "", []), ("x", "y", ["LABEL_DIFFERS"])])  # fmt: skip
def test_a_label_of_a_file_is_that_of_the_project_where_it_has_one(
    metastore: Metastore, label: str, own: str, refused: list[str]
) -> None:
    says = f" WITH (LABEL = '{own}')" if own else ""
    stream = STREAM.format("s").replace("'AVRO'", f"'AVRO', LABEL = '{own}'") if own else STREAM.format("s")
    plan = plan_of(metastore, stream, f"CREATE TYPE T AS INT{says}", label=label)
    assert rules_of(plan) == refused * 2


def test_a_stream_that_is_left_over_is_noted_where_nothing_is_dropped(metastore: Metastore) -> None:
    """Nothing is dropped without a label, though the plan says so."""
    create = "CREATE STREAM s (v INT) WITH (KAFKA_TOPIC = 't', VALUE_FORMAT = 'AVRO'{})"
    apply(metastore, create.format(", BAD_ROWS = true"))
    for prune in (False, True):
        (step,) = plan_of(metastore, create.format(""), prune=prune).steps
        assert ["has a stream of bad rows s_bad" in note for note in step.notes] == [True]


@pytest.mark.parametrize("text", ["CREATE TYPE T AS INT COMMENT 'b'", "CREATE TYPE T AS INT", "CREATE TYPE T AS STRING COMMENT 'a'", "CREATE TYPE t AS INT COMMENT 'a'"])  # fmt: skip
def test_each_thing_that_a_file_says_otherwise_of_a_type_is_a_change(metastore: Metastore, text: str) -> None:
    apply(metastore, "CREATE TYPE T AS INT COMMENT 'a'")
    assert len(plan_of(metastore, text).changes) == 2, "a drop, and a type of this name"
    apply(metastore, text)
    assert plan_of(metastore, text).changes == ()
