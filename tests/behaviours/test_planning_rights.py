"""By whose rights a statement is planned and written, and what its sender learns of a refusal."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.behaviours.test_planned_statements import QUERY, STREAM
from tests.planning import SelectPlanner, plan_once
from treaty import connect
from treaty.client.connection import Connection
from treaty.core.access.rights import Access, AccessRule, Permission, with_included
from treaty.core.messages.groups import CreateSubject, GroupSettings
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.metastore.plans import GetPlan, ListPlanningJobs, RequestPlan, TakePlanningJob
from treaty.core.messages.names import GetPin
from treaty.core.messages.registration import Register
from treaty.core.names import Subject, subject_of
from treaty.core.refusals import Forbidden
from treaty.core.registry import CallOptions, Exchange, request_answer, run_exchange
from treaty.core.schema import Draft
from treaty.metastore import Metastore
from treaty.metastore.execution.planner import PlannedQuery, answer_job
from treaty.metastore.execution.results import InvalidStatementError
from treaty.metastore.sql.diagnostics import SqlDiagnostic
from treaty.metastore.sql.statements import CreateSourceStatement


@pytest.fixture
def one() -> Iterator[Connection]:
    with connect("memory:") as connection:
        Metastore(connection.registry).run(STREAM.format("flights"))
        yield connection


def rule(may: Permission, sources: tuple[str, ...], subjects: tuple[str, ...], topics: tuple[str, ...]) -> AccessRule:
    return AccessRule(("user:a",), with_included([may]), subjects, (".",), topics, sources=sources)


SENDER = (
    rule("register", ("late",), ("late-*",), ("late",)),
    rule("query", ("flights",), ("flights-*",), ("flights",)),
)
PLANNER = Access((AccessRule(("user:p",), with_included(["plan", "read"]), sources=("*",)),))
PLANS = CallOptions(principal="user:p", access=PLANNER)


@pytest.mark.parametrize("left_out", [None, 0, 1, "subjects"])
def test_the_source_is_written_with_the_rights_of_who_sent_the_statement(
    one: Connection, left_out: int | str | None
) -> None:
    rules = tuple(each for place, each in enumerate(SENDER) if place != left_out)
    if left_out == "subjects":
        rules = (replace(SENDER[0], subjects=("other-*",)), SENDER[1])
    call = CallOptions(principal="user:a", access=Access(rules))
    if left_out == 0:
        with pytest.raises(Forbidden):
            one.ask(RequestPlan("late", QUERY, place="late"), call)
        return
    outcome = one.ask(RequestPlan("late", QUERY, place="late"), call).answer
    (job,) = one.ask(ListPlanningJobs(), PLANS).answer.jobs
    taken = one.ask(TakePlanningJob("late", "p"), PLANS).answer
    one.ask(run_exchange(one.registry, answer_job(SelectPlanner(), job, taken), PLANS), PLANS)
    ended = one.ask(GetPlan("late", outcome.command), call).answer
    if left_out is None:
        assert ended.state == "stored"
        assert one.ask(m.DescribeSource("late")).answer.source.author == "user:a"
    else:
        assert ended.refusal is not None
        assert (ended.refusal.kind, ended.refusal.reason.rule) == ("forbidden", "RIGHTS")


@pytest.mark.parametrize("there", [False, True])
@pytest.mark.parametrize(
    ("may", "makes", "adds"), [("bump", False, True), ("create", True, True), ("read", False, False)]
)
def test_the_subject_of_a_planned_source_is_made_by_who_may_make_subjects_and_gets_a_version_of_who_may_add_one(
    one: Connection, may: Permission, *, makes: bool, adds: bool, there: bool
) -> None:
    subject = Subject(".", "late-value")
    if there:
        one.ask(CreateSubject(subject, GroupSettings("confluent")))
    rules = (replace(SENDER[0], subjects=()), rule(may, (), ("late-*",), ()), SENDER[1])
    call = CallOptions(principal="user:a", access=Access(rules))
    outcome = one.ask(RequestPlan("late", QUERY, place="late"), call).answer
    plan_once(one.registry, SelectPlanner())
    ended = one.ask(GetPlan("late", outcome.command), call).answer
    assert (ended.state == "stored") is (adds if there else makes), ended.refusal


class TellingPlanner(SelectPlanner):
    """Refuses each query with the columns of what it reads, as an analyser of SQL does."""

    def __init__(self, *subjects: str) -> None:
        super().__init__()
        self.subjects = subjects

    def plan(self, statement: CreateSourceStatement) -> Exchange[PlannedQuery]:
        source = (yield from request_answer(m.DescribeSource("flights"))).source
        for name in self.subjects:
            yield from request_answer(GetPin(subject_of(name)))
        text = f"no such column; there are {', '.join(one.name for one in source.columns)}"
        raise InvalidStatementError.by([SqlDiagnostic("COLUMN_UNKNOWN", text, 0, 6, 1, 1)])


@pytest.mark.parametrize("dry_run", [False, True])
@pytest.mark.parametrize(
    ("rules", "subjects", "rule_"),
    [
        (SENDER, (), ""),
        (SENDER, ("flights-value",), ""),
        (SENDER[:1], (), "RIGHTS"),
        ((SENDER[0], replace(SENDER[1], topics=("other",))), (), "RIGHTS"),
        ((SENDER[0], replace(SENDER[1], subjects=("other",))), ("flights-value",), "REFUSAL_HIDDEN"),
    ],
)
def test_why_a_query_is_refused_is_told_to_who_may_read_what_it_reads(
    one: Connection, *, rules: tuple[AccessRule, ...], subjects: tuple[str, ...], rule_: str, dry_run: bool
) -> None:
    call = CallOptions(principal="user:a", access=Access(rules))
    outcome = one.ask(RequestPlan("late", QUERY, place="late", dry_run=dry_run), call).answer
    plan_once(one.registry, TellingPlanner(*subjects))
    ended = one.ask(GetPlan("late", outcome.command), call).answer
    assert ended.refusal is not None
    assert ended.refusal.reason.rule == (rule_ or ended.refusal.reason.rule)
    assert ended.refusal.kind == ("forbidden" if rule_ else "invalid")
    assert ("carrier" in str(ended)) is (not rule_)
    assert bool(ended.faults) is (not rule_)


def test_a_source_that_is_not_there_and_one_that_may_not_be_read_are_refused_alike(one: Connection) -> None:
    call, refusals = CallOptions(principal="user:a", access=Access(SENDER[:1])), []
    for name in ("flights", "nowhere"):
        sql = f"CREATE STREAM late AS SELECT carrier FROM STREAM {name}"
        outcome = one.ask(RequestPlan("late", sql, place="late"), call).answer
        plan_once(one.registry, SelectPlanner())
        ended = one.ask(GetPlan("late", outcome.command), call).answer
        assert ended.refusal is not None
        refusals.append(str(ended.refusal).replace(name, "NAME"))
    assert refusals[0] == refusals[1]
    assert "it needs the permission query on source 'NAME'" in refusals[0]


def test_planners_see_the_statements_that_they_may_plan(one: Connection) -> None:
    one.ask(RequestPlan("late", QUERY))
    other = replace(PLANS, access=Access((AccessRule(("user:p",), with_included(["plan"]), sources=("x",)),)))
    assert one.ask(ListPlanningJobs(), other).answer.jobs == ()
    assert [job.name for job in one.ask(ListPlanningJobs(), PLANS).answer.jobs] == ["late"]
    with pytest.raises(Forbidden):
        one.ask(TakePlanningJob("late", "p"), other)


def test_a_plan_writes_nothing_into_a_subject_that_is_private_to_its_planner(one: Connection) -> None:
    private = Subject(".", "late-value")
    one.ask(CreateSubject(private, GroupSettings("confluent"), private=True))
    one.ask(Register(private, Draft('{"type": "record", "name": "SECRETWORD", "fields": []}', "AVRO")))
    call = CallOptions(principal="user:a", access=Access(tuple(replace(each, subjects=("*",)) for each in SENDER)))
    rule_of_planner = replace(PLANNER.rules[0], private=True, contexts=("*",))
    plans = replace(PLANS, access=Access((rule_of_planner,)))
    outcome = one.ask(RequestPlan("late", QUERY, place="late"), call).answer
    (job,) = one.ask(ListPlanningJobs(), plans).answer.jobs
    taken = one.ask(TakePlanningJob("late", "p"), plans).answer
    answer = run_exchange(one.registry, answer_job(SelectPlanner(), job, taken), plans)
    assert answer.create is not None
    one.ask(answer, plans)
    ended = one.ask(GetPlan("late", outcome.command), call).answer
    assert ended.refusal is not None
    assert (ended.state, ended.refusal.kind, "SECRETWORD" in str(ended)) == ("refused", "forbidden", False)
    assert one.versions("late-value") == (1,)
