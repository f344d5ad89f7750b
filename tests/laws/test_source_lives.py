"""Sources that go and come back, what they read, what belongs to them, and what lists and jobs say of them."""

from dataclasses import fields, replace
from typing import Any

import pytest

from tests.laws.timed import TimedBench
from tests.laws.toy import toy
from tests.worlds.world import World
from treaty.core import limits
from treaty.core.access.rights import Access, AccessRule, with_included
from treaty.core.messages.metastore.plans import FinishPlanningJob, GetPlan, RequestPlan, TakePlanningJob
from treaty.core.messages.metastore.query_feed import ListQueries
from treaty.core.messages.metastore.runners import AcquireRunner
from treaty.core.messages.metastore.scripts import RunScript, ScriptMember
from treaty.core.messages.metastore.sources import (
    ChangeSource,
    CreateSource,
    CreateType,
    DropSource,
    ListDropped,
    ListTypes,
    SourceColumnChange,
    SourceDefinition,
    UndropSource,
)
from treaty.core.messages.names import GetPin
from treaty.core.messages.registration import Register
from treaty.core.messages.request import LATEST, Request
from treaty.core.names import Subject
from treaty.core.refusals import Refusal
from treaty.core.sources import QueryPlan, SchemaPin, SenderRule, SourceColumn, SourcePart, SourceRead
from treaty.core.state.metastore.keys import PlanningKey, SourceKey
from treaty.core.state.metastore.tables import DROPPED, PLANNING, SOURCE

COLUMNS = (SourceColumn("h", "STRING", role="header", header="x"), SourceColumn("v", "INT"), SourceColumn("w", "INT"))
SELECT = "CREATE STREAM s AS SELECT 1"


@pytest.fixture
def bench() -> TimedBench:
    return TimedBench()


def define(name: str, *columns: SourceColumn, **members: Any) -> CreateSource:
    return CreateSource(SourceDefinition(name, "STREAM", "", columns or COLUMNS, **members), replace=True)


def select(name: str = "q", body: str = "SELECT h, v FROM a", **members: Any) -> CreateSource:
    read = SourceRead("a", members.pop("generation", 1), "a", columns=("h", "v"), **members)
    return define(name, connector="delta", place=name, query=QueryPlan(body, (read,)))


def rule_of(bench: TimedBench, request: Request[Any]) -> str:
    """The rule by which a request is refused; empty where it is not."""
    verdict = bench.verdict(request, "asked")
    return verdict.reason.rule if isinstance(verdict, Refusal) else ""


# ------------------------------------------------------------------------------------------------ dropped and back


@pytest.mark.parametrize(("age", "back"), [(0, True), (limits.DROP_GRACE, True), (limits.DROP_GRACE + 1, False)])
def test_what_is_listed_as_dropped_comes_back_and_nothing_else(bench: TimedBench, age: int, back: bool) -> None:  # noqa: FBT001
    bench.do(define("a"))
    bench.do(DropSource("a"))
    bench.now += age
    bench.do(define("b"))  # which forgets what can't come back any more
    assert [source.name for source in bench.do(ListDropped()).sources] == (["a"] if back else [])
    assert rule_of(bench, UndropSource("a")) == ("" if back else "DROPPED_NOT_FOUND")


def test_a_change_forgets_so_many_sources_whose_time_is_over(bench: TimedBench) -> None:
    for number in range(5):
        bench.do(define(f"a{number}"))
        bench.do(DropSource(f"a{number}"))
    bench.now += limits.DROP_GRACE + 1
    with World(pages=(("DROPPED_EXPIRED", 2),)).paged():
        for left in (3, 1, 0):
            bench.do(define("b", comment=str(left)))
            assert bench.tables.total(DROPPED) == left


READ_CHANGES: dict[str, tuple[SourceColumn, ...]] = {
    "another type": (COLUMNS[0], replace(COLUMNS[1], type="BIGINT"), COLUMNS[2]),
    "another header": (replace(COLUMNS[0], header="y"), *COLUMNS[1:]),
    "another role": (replace(COLUMNS[0], role="value", header=""), *COLUMNS[1:]),
    "a column of the key": (COLUMNS[0], replace(COLUMNS[1], role="key"), COLUMNS[2]),
    "gone": COLUMNS[1:],
}
OTHER_CHANGES: dict[str, tuple[SourceColumn, ...]] = {
    "nothing": COLUMNS,
    "a comment": (replace(COLUMNS[0], comment="c"), *COLUMNS[1:]),
    "an order": COLUMNS[::-1],
    "another column": (*COLUMNS[:2], replace(COLUMNS[2], type="STRING")),
    "one column more": (*COLUMNS, SourceColumn("z", "INT")),
}


@pytest.mark.parametrize("change", READ_CHANGES | OTHER_CHANGES)
def test_a_query_comes_back_only_to_the_columns_that_it_read(bench: TimedBench, change: str) -> None:
    bench.do(define("a"))
    bench.do(select())
    bench.do(DropSource("q"))
    bench.do(define("a", *(READ_CHANGES | OTHER_CHANGES)[change]))
    assert rule_of(bench, UndropSource("q")) == ("READ_COLUMNS" if change in READ_CHANGES else "")


# --------------------------------------------------------------------------------------------------- pins of reads


@pytest.mark.parametrize("part", ["key", "value"])
def test_a_plan_over_another_schema_of_key_or_value_is_refused(bench: TimedBench, part: str) -> None:
    pins: dict[str, Any] = {}
    for name in ("key", "value"):
        subject = Subject(".", name)
        bench.do(Register(subject, toy("a?")))
        found = bench.do(GetPin(subject, LATEST))
        pins[name] = SchemaPin(*subject, found.generation, found.version.ordinal, found.version.schema_id)
    parts = {name: SourcePart("AVRO", pin=pin) for name, pin in pins.items()}
    bench.do(define("a", **parts))
    generation = bench.tables.sequence
    read: dict[str, Any] = {name: replace(pin, ordinal=pin.ordinal + (name == part)) for name, pin in pins.items()}
    assert rule_of(bench, select(generation=generation, **read)) == "READ_PIN"
    assert rule_of(bench, select(generation=generation, **pins)) == ""


# ----------------------------------------------------------------------------------------------- changes in place


def test_a_text_that_is_empty_clears_what_it_was(bench: TimedBench) -> None:
    bench.do(define("a", comment="c", properties=(("P", "x"), ("Q", "y"))))
    bench.do(ChangeSource("a", properties=(("P", ""),)))
    source = bench.tables.get(SOURCE, SourceKey("a"))
    assert source is not None
    assert (source.comment, source.properties) == ("c", (("Q", "y"),))
    bench.do(ChangeSource("a", comment=""))
    source = bench.tables.get(SOURCE, SourceKey("a"))
    assert source is not None
    assert (source.comment, source.properties) == ("", (("Q", "y"),))


@pytest.mark.parametrize(
    ("members", "counts"),
    [
        ({"columns": (SourceColumnChange("add", SourceColumn("new", "INT")),)}, 1), ({"properties": (("P", "x"),)}, 1),
        ({"properties": (("Q", "y"),)}, 0), ({"rename": "r"}, 0), ({"protect": True}, 0), ({"comment": "x"}, 0),
    ],
)  # fmt: skip
def test_a_revision_counts_changes_of_columns_and_properties_and_no_others(
    bench: TimedBench, members: dict[str, Any], counts: int
) -> None:
    bench.do(define("a", properties=(("Q", "y"),)))
    assert bench.do(ChangeSource("a", **members)).revision == 1 + counts


@pytest.mark.parametrize("part", ["key", "value"])
@pytest.mark.parametrize(("change", "counts"), [("same", 0), ("pin", 1), ("message", 1), ("registered", 1)])
def test_a_revision_counts_each_change_of_key_and_value(bench: TimedBench, part: str, change: str, counts: int) -> None:
    subject, pins = Subject(".", "s"), []
    for names in (("a?",), ("a?", "b?")):
        bench.do(Register(subject, toy(*names)))
        latest = bench.do(GetPin(subject, LATEST))
        pins.append(SchemaPin(*subject, latest.generation, latest.version.ordinal, latest.version.schema_id))
    before = SourcePart("AVRO", pin=pins[0])
    bench.do(define("a", key=before, value=before))
    changes: dict[str, dict[str, Any]] = {
        "same": {}, "pin": {"pin": pins[1]}, "message": {"full_name": "n"}, "registered": {"pin": None}
    }  # fmt: skip
    members: dict[str, Any] = {part: replace(before, **changes[change])}
    if change == "registered":
        members[f"{part}_schema"] = Register(subject, toy("c?"))
    assert bench.do(ChangeSource("a", **members)).revision == 1 + counts


def test_a_source_with_its_bad_rows_counts_twice_and_both_are_of_one_cluster(bench: TimedBench) -> None:
    bench.do(define("a"))
    request = define("b", cluster="other", bad_rows=True)
    with World(pages=(("SOURCES", 2),)).paged():
        assert rule_of(bench, request) == "SOURCES"
        assert rule_of(bench, replace(request, definition=replace(request.definition, bad_rows=False))) == ""
    bench.do(request)
    bad = bench.tables.get(SOURCE, SourceKey("b_bad"))
    assert bad is not None
    assert (bad.cluster, bad.origin) == ("other", "b")
    bench.do(DropSource("b", cascade=True, digest=bench.do(DropSource("b", cascade=True)).digest))
    with World(pages=(("SOURCES", 2),)).paged():
        assert rule_of(bench, UndropSource("b")) == "SOURCES"


@pytest.mark.parametrize("first", ["RESET", "REFRESH"])
def test_one_commit_begins_one_checkpoint_of_a_source(bench: TimedBench, first: str) -> None:
    bench.do(define("a"))
    bench.do(select())
    members = tuple(ScriptMember(change=ChangeSource("q", restart=restart)) for restart in (first, "RESET"))
    assert rule_of(bench, RunScript(members)) == "SCRIPT_RUNNING"
    assert rule_of(bench, RunScript(members[1:])) == ""


# --------------------------------------------------------------------------------------------------- lists and leases


def test_runners_are_on_the_first_page_of_the_feed_alone(bench: TimedBench) -> None:
    bench.do(define("a"))
    bench.do(select("q1"))
    bench.do(select("q2"))
    bench.do(AcquireRunner("r", "process"))
    first = bench.do(ListQueries(limit=1))
    rest = bench.do(ListQueries(after=first.last, limit=1))
    assert ([runner.name for runner in first.runners], rest.runners) == (["r"], ())


@pytest.mark.parametrize("member", ["definition", "comment", "label", "name"])
def test_a_page_of_types_has_so_many_characters(bench: TimedBench, member: str) -> None:
    for letter in "abc":
        long = {"definition": "STRUCT<a: INT COMMENT 'aaaaaaaaaaaaaaaaaaaa'>", "name": letter * 40}.get(
            member, "x" * 40
        )
        members: dict[str, Any] = {"name": letter, "definition": "INT", member: long}
        bench.do(CreateType(**members))
    with World(pages=(("SOURCES_PAGE_CHARACTERS", 60),)).paged():
        first = bench.do(ListTypes())
        rest = bench.do(ListTypes(after=first.last))
    assert (len(first.types), len(rest.types)) == (1, 1)


def test_a_lease_that_is_taken_again_has_the_root_of_its_holder(bench: TimedBench) -> None:
    bench.do(AcquireRunner("r", "process", root="one"))
    assert rule_of(bench, AcquireRunner("s", "other", root="two")) == "RUNNER_ROOT"
    bench.do(AcquireRunner("r", "process"))
    assert rule_of(bench, AcquireRunner("s", "other", root="two")) == "", "its root is not known any more"


# -------------------------------------------------------------------------------------------------------- planning


def test_a_statement_that_waits_has_every_member_of_the_rights_of_its_sender(bench: TimedBench) -> None:
    rule = AccessRule(
        ("user:a",),
        with_included(["register", "query"]),
        ("s*", "q*"),
        (".", ".x"),
        ("s*",),
        private=True,
        sources=("s*",),
    )
    bench.access = Access((rule, replace(rule, topics=None, sources=None, private=False)))
    bench.do(RequestPlan("s", SELECT))
    job = bench.tables.get(PLANNING, PlanningKey("s"))
    assert job is not None
    assert job.rules is not None
    names = [member.name for member in fields(SenderRule) if member.name != "may"]
    stored = [(frozenset(row.may), *(getattr(row, name) for name in names)) for row in job.rules]
    assert stored == [(given.may, *(getattr(given, name) for name in names)) for given in bench.access.rules]


def test_what_became_of_a_statement_says_how_often_it_was_planned(bench: TimedBench) -> None:
    bench.do(define("a"))
    bench.do(RequestPlan("q", SELECT), "asked for")
    for attempt in (1, 2):
        epoch = bench.do(TakePlanningJob("q", "p")).epoch
        create = replace(select(generation=7), replace=False)
        assert bench.do(FinishPlanningJob("q", "p", epoch, create)).attempts == attempt
    assert bench.do(GetPlan("q", "asked for")).attempts == 2
    bench.now += limits.PLANNING_SECONDS * 1000 + 1
    outcome = bench.do(GetPlan("q", "asked for"))
    assert (outcome.state, outcome.attempts) == ("expired", 2)


def test_so_many_notes_of_a_planner_are_kept(bench: TimedBench) -> None:
    bench.do(define("a"))
    bench.do(RequestPlan("q", SELECT))
    epoch = bench.do(TakePlanningJob("q", "p")).epoch
    notes = tuple(map(str, range(limits.WARNINGS + 1)))
    finish = FinishPlanningJob("q", "p", epoch, replace(select(), replace=False), notes=notes)
    stored = bench.do(finish).stored
    assert stored is not None
    assert stored.notes == notes[: limits.WARNINGS]
