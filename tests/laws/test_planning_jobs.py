"""Statements that wait for plans: edges of their time, whose job it is, and what becomes of a plan when things have changed meanwhile."""

from dataclasses import replace
from typing import Any

import pytest

from tests.laws.timed import TimedBench
from tests.laws.toy import toy
from tests.worlds.world import World
from treaty.core import limits
from treaty.core.access.rights import Access, AccessRule, with_included
from treaty.core.messages.associations import EntryRefusal
from treaty.core.messages.metastore.plans import (
    FinishPlanningJob,
    GetPlan,
    ListPlanningJobs,
    PlanOutcome,
    RequestPlan,
    TakePlanningJob,
    WithdrawPlan,
)
from treaty.core.messages.metastore.sources import (
    ChangeSource,
    CreateSource,
    CreateType,
    DropSource,
    DropType,
    ExpectedSource,
    ExpectedType,
    SourceDefinition,
)
from treaty.core.messages.names import GetPin
from treaty.core.messages.registration import Register
from treaty.core.messages.request import LATEST, Request
from treaty.core.messages.versions import DeleteVersion
from treaty.core.names import Subject
from treaty.core.refusals import Reason, Refusal
from treaty.core.sources import QueryPlan, SchemaPin, SourceColumn, SourcePart, SourceRead
from treaty.core.state.metastore.keys import SourceKey
from treaty.core.state.metastore.tables import SOURCE

COLUMNS = (SourceColumn("id", "INT"),)
TEXT = "CREATE STREAM q AS SELECT id FROM a"
VALUE = Subject(".", "v")
SILENT = limits.PLANNER_SILENT_SECONDS * 1000


def define(name: str, **members: Any) -> CreateSource:
    return CreateSource(SourceDefinition(name, "STREAM", "", COLUMNS, **{"place": name, **members}))


@pytest.fixture
def bench() -> TimedBench:
    """A source a with a value of a live version, which is not its first, and a type."""
    bench = TimedBench()
    bench.do(Register(VALUE, toy("a?")))
    bench.do(Register(VALUE, toy("b?")))
    bench.do(define("a", value=SourcePart("AVRO", pin=pin_of(bench))))
    bench.do(CreateType("T", "INT"))
    return bench


def pin_of(bench: TimedBench) -> SchemaPin:
    answer = bench.do(GetPin(VALUE, LATEST))
    return SchemaPin(*VALUE, answer.generation, answer.version.ordinal, answer.version.schema_id)


def make_plan(bench: TimedBench, name: str = "q", **members: Any) -> CreateSource:
    """The plan of the statement over what is there now."""
    source = bench.tables.get(SOURCE, SourceKey("a"))
    assert source is not None
    pin = pin_of(bench)
    read = SourceRead("a", source.generation, "a", columns=("id",), value=pin, revision=source.revision)
    create = define(name, value=SourcePart("AVRO", pin=pin), query=QueryPlan("SELECT id FROM a", (read,)))
    return replace(create, types=(ExpectedType("T", 4),), **members)


def rule_of(bench: TimedBench, request: Request[Any]) -> str:
    verdict = bench.verdict(request, "asked")
    return verdict.reason.rule if isinstance(verdict, Refusal) else ""


def finish(bench: TimedBench, create: CreateSource, **members: Any) -> PlanOutcome:
    epoch = bench.do(TakePlanningJob("q", "p")).epoch
    return bench.do(FinishPlanningJob("q", "p", epoch, create, **members))


LATE: dict[str, tuple[Request[Any], ...]] = {
    "READ_REVISION": (ChangeSource("a", properties=(("P", "x"),)),),
    "READ_GENERATION": (DropSource("a"), define("a", connector="delta")),
    "READ_NOT_FOUND": (DropSource("a"),),
    "READ_PIN": (ChangeSource("a", value=SourcePart("JSON")),),
    "PIN_NOT_LIVE": (Register(VALUE, toy("c?")), DeleteVersion(VALUE, 2)),
    "TYPE_GENERATION": (DropType("T"), CreateType("T", "INT")),
}


@pytest.mark.parametrize("rule", LATE)
def test_a_plan_over_what_has_changed_is_made_again_by_whoever_takes_the_job(bench: TimedBench, rule: str) -> None:
    bench.do(RequestPlan("q", TEXT), "asked for")
    create = make_plan(bench)
    epoch = bench.do(TakePlanningJob("q", "p")).epoch
    for request in LATE[rule]:
        bench.do(request)
    if rule == "READ_PIN":  # a plan that has the new revision, and the pin of before
        assert create.definition.query is not None
        (read,) = create.definition.query.reads
        query = replace(create.definition.query, reads=(replace(read, revision=2),))
        create = replace(create, definition=replace(create.definition, query=query))
    outcome = bench.do(FinishPlanningJob("q", "p", epoch, create))
    assert (outcome.state, outcome.attempts, outcome.planner) == ("waiting", 1, "")
    assert rule_of(bench, FinishPlanningJob("q", "p", epoch, create)) == "PLANNING_JOB_LOST"
    assert [job.is_free for job in bench.do(ListPlanningJobs()).jobs] == [True]
    for attempt in range(2, limits.PLANNING_ATTEMPTS + 1):
        outcome = finish(bench, create)
        is_last = attempt == limits.PLANNING_ATTEMPTS
        assert outcome.state == ("refused" if is_last else "waiting")
    assert outcome.refusal is not None
    assert outcome.refusal.reason.rule == rule


# ------------------------------------------------------------------------------------------------- what was asked for

ASKED: dict[str, tuple[dict[str, Any], str, str]] = {
    "created": ({}, "refused", "SOURCE_EXISTS"),
    "where it is missing": ({"if_not_exists": True}, "stored", "unchanged"),
    "or replaced": ({"replace": True}, "refused", "SOURCE_REPLACE"),
}


@pytest.mark.parametrize("what", ASKED)
def test_a_source_that_came_meanwhile_is_treated_as_the_statement_says(bench: TimedBench, what: str) -> None:
    members, state, rule = ASKED[what]
    bench.do(RequestPlan("q", TEXT, **members))
    bench.do(define("q"))
    outcome = finish(bench, make_plan(bench))
    assert (outcome.state, outcome.refusal.reason.rule if outcome.refusal else "unchanged") == (state, rule)


@pytest.mark.parametrize("dry_run", [False, True])
def test_a_plan_is_carried_out_as_its_statement_was_sent(bench: TimedBench, dry_run: bool) -> None:  # noqa: FBT001
    """With its own text; what a planner says of the other members of the request does not count."""
    bench.do(RequestPlan("q", TEXT, dry_run=dry_run))
    outcome = finish(bench, make_plan(bench, assess=True, dry_run=True, replace=True, expected=ExpectedSource(7, 7)))
    assert (outcome.state, outcome.stored and outcome.stored.created) == ("stored", not dry_run)
    assert (outcome.planned is not None, outcome.stored and outcome.stored.assessment is not None) == (dry_run, dry_run)
    source = bench.tables.get(SOURCE, SourceKey("q"))
    assert (source and (source.statement, source.author)) == (None if dry_run else (TEXT, "user:a"))


@pytest.mark.parametrize("revision", [1, 2])
def test_a_plan_replaces_the_source_that_its_statement_expects(bench: TimedBench, revision: int) -> None:
    bench.do(make_plan(bench))
    generation = bench.tables.sequence
    bench.do(RequestPlan("q", TEXT, replace=True, expected=ExpectedSource(generation, 1)))
    if revision == 2:
        bench.do(ChangeSource("q", properties=(("P", "x"),)))
    outcome = finish(bench, make_plan(bench))
    assert outcome.state == ("stored" if revision == 1 else "refused")
    assert rule_of(bench, RequestPlan("q", TEXT, replace=True, expected=ExpectedSource(generation, 3))) == (
        "SOURCE_EXPECTED"
    )


@pytest.mark.parametrize("left_out", ["", "topics", "sources", "contexts", "subjects"])
def test_a_plan_is_carried_out_with_each_member_of_the_rights_of_its_sender(bench: TimedBench, left_out: str) -> None:
    own = AccessRule(("user:a",), with_included(["register"]), ("v",), (".",), ("q",), sources=("q",))
    reads = AccessRule(("user:a",), with_included(["query"]), (), (".",), ("a",), sources=("a",))
    by_subjects = replace(reads, subjects=("a", "a-value"), topics=None, sources=None)
    narrow: dict[str, AccessRule] = {
        "": reads, "topics": replace(reads, topics=("b",)), "sources": replace(reads, sources=("b",)),
        "contexts": replace(by_subjects, contexts=(".x",)), "subjects": replace(by_subjects, subjects=("a",)),
    }  # fmt: skip
    assert left_out or by_subjects != reads
    bench.access = Access((own, narrow[left_out]))
    bench.do(RequestPlan("q", TEXT))
    bench.access = None
    outcome = finish(bench, make_plan(bench))
    assert outcome.state == ("refused" if left_out else "stored")


# --------------------------------------------------------------------------------------------------------------- edges

REQUESTS: dict[str, tuple[RequestPlan, str]] = {
    "a long statement": (RequestPlan("q", "x" * limits.STATEMENT_BYTES), ""),
    "a longer one": (RequestPlan("q", "x" * (limits.STATEMENT_BYTES + 1)), "STATEMENT_BYTES"),
    "many properties": (RequestPlan("q", TEXT, (("P", "x"),) * limits.SOURCE_PROPERTIES), ""),
    "more properties": (RequestPlan("q", TEXT, (("P", "x"),) * (limits.SOURCE_PROPERTIES + 1)), "SOURCE_PROPERTIES"),
    "a second": (RequestPlan("q", TEXT, seconds=1), ""),
    "no time": (RequestPlan("q", TEXT, seconds=0), "PLANNING_SECONDS"),
    "the longest time": (RequestPlan("q", TEXT, seconds=limits.PLANNING_SECONDS), ""),
    "a longer time": (RequestPlan("q", TEXT, seconds=limits.PLANNING_SECONDS + 1), "PLANNING_SECONDS"),
    "a name that is there": (RequestPlan("A", TEXT), "SOURCE_EXISTS"),
    "a name that is there, if it is not": (RequestPlan("A", TEXT, replace=True, if_not_exists=True), ""),
    "a name that Spark takes for another": (RequestPlan("É", TEXT), "SOURCE_TAKEN"),
    "a name that is none": (RequestPlan(" q", TEXT), "SOURCE_NAME"),
    "a name for which a statement waits": (RequestPlan("W", TEXT), "PLANNING_TAKEN"),
    "what is not there": (RequestPlan("q", TEXT, expected=ExpectedSource(1, 1)), "SOURCE_EXPECTED"),
}


@pytest.mark.parametrize("what", REQUESTS)
def test_what_needs_no_plan_to_be_refused_is_refused_at_once(bench: TimedBench, what: str) -> None:
    bench.do(define("é"))
    bench.do(RequestPlan("w", TEXT))
    request, rule = REQUESTS[what]
    assert rule_of(bench, request) == rule


def test_so_many_statements_wait_and_so_many_sources_there_are(bench: TimedBench) -> None:
    bench.do(RequestPlan("w", TEXT, seconds=5))
    for name, number, rule in (("PLANNING_WAITING", 1, "PLANNING_WAITING"), ("SOURCES", 1, "SOURCES")):
        for limit, refused in ((number, rule), (number + 1, "")):
            with World(pages=((name, limit),)).paged():
                assert rule_of(bench, RequestPlan("q", TEXT)) == refused
    bench.now += 5_001
    with World(pages=(("PLANNING_WAITING", 1),)).paged():
        assert rule_of(bench, RequestPlan("q", TEXT)) == "", "the one whose time is over makes room"


@pytest.mark.parametrize("name", ["q", "r"])
@pytest.mark.parametrize("late", [0, 1])
def test_a_statement_waits_to_the_end_of_its_time_and_no_longer(bench: TimedBench, late: int, name: str) -> None:
    """The next statement, of the same name or of another one, settles what became of it."""
    waiting = bench.do(RequestPlan("q", TEXT, seconds=5), "asked for")
    bench.now += 5_000 + late
    names = [job.name for job in bench.do(ListPlanningJobs()).jobs]
    assert (names, bench.do(GetPlan("q", "asked for")).state) == ((["q"], "waiting"), ([], "expired"))[late]
    assert rule_of(bench, TakePlanningJob("q", "p")) == ("", "PLANNING_JOB_NOT_FOUND")[late]
    assert waiting.deadline == bench.now - late
    if not late and name == "q":
        assert rule_of(bench, RequestPlan(name, TEXT)) == "PLANNING_TAKEN"
        return
    bench.do(RequestPlan(name, TEXT))
    assert bench.do(GetPlan("q", "asked for")).state == ("waiting", "expired")[late]
    assert {job.name for job in bench.do(ListPlanningJobs(limit=9)).jobs} == {name, *(("q",) if not late else ())}


def test_only_who_sent_a_statement_hears_of_it_and_ends_its_wait(bench: TimedBench) -> None:
    bench.do(RequestPlan("q", TEXT), "asked for")
    for sender, command in (("user:b", "asked for"), ("user:a", "other")):
        bench.principal = sender
        for request in (GetPlan("q", command), WithdrawPlan("q", command)):
            assert rule_of(bench, request) == "OUTCOME_UNKNOWN"
    bench.principal = "user:a"
    assert bench.do(GetPlan("q", "asked for")).state == "waiting"
    for _ in range(2):
        assert bench.do(WithdrawPlan("q", "asked for")).state == "expired"
    assert bench.do(GetPlan("q", "asked for")).state == "expired"


# ------------------------------------------------------------------------------------------------------------ planners


def test_a_planner_has_a_job_as_long_as_it_is_heard_of(bench: TimedBench) -> None:
    bench.do(RequestPlan("q", TEXT))
    epoch = bench.do(TakePlanningJob("q", "p")).epoch
    for _ in range(2):
        bench.now += SILENT
        assert rule_of(bench, TakePlanningJob("q", "other")) == "PLANNING_JOB_TAKEN"
        assert ([job.is_free for job in bench.do(ListPlanningJobs(taken=True)).jobs], bench.do(ListPlanningJobs()).jobs) == ([False], ())  # fmt: skip
        bench.do(TakePlanningJob("q", "p", epoch))
    bench.now += SILENT + 1
    assert [job.is_free for job in bench.do(ListPlanningJobs()).jobs] == [True]
    assert bench.do(TakePlanningJob("q", "other")).epoch > epoch
    for planner in ("p", "other"):
        assert rule_of(bench, TakePlanningJob("q", planner, epoch)) == "PLANNING_JOB_LOST"


def test_a_page_of_jobs_has_the_nearest_deadlines_and_at_least_one(bench: TimedBench) -> None:
    for place, name in enumerate("xyz"):
        bench.do(RequestPlan(name, TEXT, seconds=9 - place, dry_run=name == "x", replace=name == "y"))
    bench.do(TakePlanningJob("z", "p"))
    pages = {
        limit: [job.name for job in bench.do(ListPlanningJobs(limit=limit, taken=True)).jobs]
        for limit in (-1, 0, 1, 2, 9)
    }
    assert pages == {-1: ["z"], 0: ["z"], 1: ["z"], 2: ["z", "y"], 9: ["z", "y", "x"]}
    jobs = [(job.name, job.replace, job.dry_run) for job in bench.do(ListPlanningJobs(limit=2)).jobs]
    assert jobs == [("y", True, False), ("x", False, True)], "what is taken takes no place"
    with World(pages=(("PLANNING_CHARACTERS", 2 * len(TEXT) - 1),)).paged():
        assert len(bench.do(ListPlanningJobs(limit=9, taken=True)).jobs) == 2


@pytest.mark.parametrize(
    ("planner", "rule"),
    [("p" * limits.PLANNER_NAME, ""), ("p" * (limits.PLANNER_NAME + 1), "PLANNER_NAME"), ("", "PLANNER_NAME"), ("p\n", "PLANNER_NAME")],
)  # fmt: skip
def test_a_planner_has_a_printable_name(bench: TimedBench, planner: str, rule: str) -> None:
    bench.do(RequestPlan("q", TEXT))
    assert rule_of(bench, TakePlanningJob("q", planner)) == rule


def test_an_answer_is_a_source_of_the_name_or_a_refusal(bench: TimedBench) -> None:
    bench.do(RequestPlan("q", TEXT))
    epoch = bench.do(TakePlanningJob("Q", "p")).epoch
    refusal = EntryRefusal("invalid", Reason("NO", "no"))
    answer = FinishPlanningJob("q", "p", epoch)
    answers = {
        "PLANNING_ANSWER": (
            answer, replace(answer, create=make_plan(bench), refusal=refusal), replace(answer, create=make_plan(bench, "r")),
        ),
        "": (replace(answer, refusal=refusal), replace(answer, create=make_plan(bench, "Q")), replace(answer, create=make_plan(bench))),
    }  # fmt: skip
    for rule, requests in answers.items():
        assert [rule_of(bench, request) for request in requests] == [rule] * 3


@pytest.mark.parametrize("member", ["sources", "subjects"])
def test_who_was_asked_about_more_than_counts_is_told_as_if_one_was_hidden(bench: TimedBench, member: str) -> None:
    may = AccessRule(("user:a",), with_included(["register", "query"]), ("*",), ("*",), ("*",), sources=("*",))
    refusal = EntryRefusal("invalid", Reason("NO", "no"))
    for more, rule in ((0, "NO"), (1, "REFUSAL_HIDDEN")):
        bench.access = Access((may,))
        bench.do(RequestPlan("q", TEXT))
        bench.access = None
        epoch = bench.do(TakePlanningJob("q", "p")).epoch
        names: dict[str, Any] = {member: ("a" if member == "sources" else "v",) * (limits.PLANNER_ASKED + more)}
        outcome = bench.do(FinishPlanningJob("q", "p", epoch, refusal=refusal, **names))
        assert outcome.refusal is not None
        assert outcome.refusal.reason.rule == rule
