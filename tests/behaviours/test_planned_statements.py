"""CREATE … AS end to end: the statement waits, a planner of any node takes the job, and its answer ends it."""

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.behaviours.neighbours import neighbours
from tests.behaviours.nodes.crowns import realm
from tests.behaviours.nodes.lives import virtual
from tests.behaviours.served import Served
from tests.planning import PlannerThread, SelectPlanner, plan_once
from treaty import connect
from treaty.client.connection import Connection
from treaty.core import limits
from treaty.core.messages.associations import EntryRefusal
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.metastore.plans import (
    FinishPlanningJob,
    GetPlan,
    ListPlanningJobs,
    PlanOutcome,
    RequestPlan,
    TakePlanningJob,
    WithdrawPlan,
)
from treaty.core.refusals import NotFound, NotLatest, Reason, Refusal, SourceExists, TooLarge, Unavailable
from treaty.core.registry import CallOptions, run_exchange
from treaty.core.sources import Source
from treaty.metastore import AsyncMetastore, Metastore, PlanningOptions
from treaty.metastore.execution.planner import answer_job
from treaty.metastore.execution.results import InvalidStatementError
from treaty.node.node import Node
from treaty.wire.statements import StatementsBody

STREAM = "CREATE STREAM {0} (id BIGINT KEY, carrier STRING) WITH (KAFKA_TOPIC = '{0}', VALUE_FORMAT = 'AVRO')"
QUERY = "CREATE STREAM late AS SELECT carrier FROM STREAM flights"
COPY = "CREATE OR REPLACE STREAM late AS SELECT carrier FROM STREAM flights"


@pytest.fixture(params=["any", "owner"])
def pair(request: pytest.FixtureRequest) -> Iterator[tuple[Served, Served]]:
    """Two nodes of one log: where any node writes, and where the first one owns it."""
    with neighbours(2, owned=request.param == "owner") as (_, (owner, other)):
        with connect(owner.url) as it:
            Metastore(it.registry).run(STREAM.format("flights"))
        yield owner, other


@pytest.fixture
def one() -> Iterator[Connection]:
    with connect("memory:") as connection:
        Metastore(connection.registry).run(STREAM.format("flights"))
        yield connection


def source_of(it: Connection, name: str = "late") -> Source:
    return it.ask(m.DescribeSource(name)).answer.source


def ask_for(it: Connection, sql: str = QUERY, name: str = "late", **members: Any) -> PlanOutcome:
    return it.ask(RequestPlan(name, sql, **members)).answer


def test_a_planner_of_another_node_takes_the_job_and_its_plan_is_written_with_the_schema(
    pair: tuple[Served, Served],
) -> None:
    with connect(pair[1].url) as sender, connect(pair[0].url) as planners:
        with PlannerThread(planners.registry) as planner:
            (result,) = Metastore(sender.registry).run(QUERY)
        source, waiting = source_of(sender), sender.ask(ListPlanningJobs(taken=True)).answer.jobs
    assert (result.kind, result.name, result.message) == ("CREATE STREAM", "late", "Stream late created")
    assert result.warnings == ("planned by hand",)
    assert ([each.state for each in planner.outcomes], waiting) == (["stored"], ())
    assert source.query is not None
    assert source.query.plan.body == "SELECT carrier FROM STREAM flights"
    assert (source.place, source.statement) == ("late", QUERY)
    assert source.value is not None
    assert source.value.pin is not None
    assert source.value.pin.subject == "late-value"
    assert source.generation == source.query.began == source.value.pin.generation


def test_statements_over_http_wait_for_a_planner_of_another_node(pair: tuple[Served, Served]) -> None:
    sql = f"{QUERY}; DROP STREAM late"
    with connect(pair[0].url) as planners, PlannerThread(planners.registry) as planner:
        got = httpx2.post(f"{pair[1].url}/metastore/v1/statements", json={"sql": sql}, timeout=60)
    assert [each["message"] for each in got.json()["results"]] == ["Stream late created", "late dropped"]
    assert planner.planner.planned == 1


def test_a_refused_query_comes_back_with_all_errors_at_their_places(one: Connection) -> None:
    metastore = Metastore(one.registry)
    with PlannerThread(one.registry), pytest.raises(InvalidStatementError) as refused:
        metastore.run("SHOW STREAMS;\nCREATE STREAM late AS\n  SELECT * FROM STREAM flights")
    (wrong,) = refused.value.diagnostics
    assert (wrong.code, wrong.line, wrong.column, wrong.start) == ("QUERY_REFUSED", 3, 3, 38)
    assert one.ask(ListPlanningJobs(taken=True)).answer.jobs == ()


def test_what_exists_is_decided_before_anything_is_planned(one: Connection) -> None:
    metastore = Metastore(one.registry)
    (there,) = metastore.run("CREATE STREAM IF NOT EXISTS flights AS SELECT carrier FROM STREAM flights")
    assert (there.message, there.warnings) == ("Stream flights unchanged", ("There is a stream flights already",))
    with pytest.raises(SourceExists):
        metastore.run("CREATE STREAM Flights AS SELECT carrier FROM STREAM flights")


def test_a_retry_with_the_same_command_finds_the_outcome(one: Connection) -> None:
    call = CallOptions(command_id="again")
    with PlannerThread(one.registry) as planner:
        first = Metastore(one.registry, call).run(QUERY)
        assert Metastore(one.registry, call).run(QUERY)[0].message == first[0].message
    assert planner.planner.planned == 1
    refused = Metastore(one.registry, CallOptions(command_id="wrong"))
    with PlannerThread(one.registry), pytest.raises(InvalidStatementError) as wrong:
        refused.run("CREATE STREAM x AS SELECT 1")
    with pytest.raises(InvalidStatementError) as again:
        refused.run("CREATE STREAM x AS SELECT 1")
    assert again.value.diagnostics == wrong.value.diagnostics


def test_a_retry_while_the_statement_waits_does_not_wait_twice(one: Connection) -> None:
    call = CallOptions(command_id="again")
    first, second = (one.ask(RequestPlan("late", QUERY), call) for _ in range(2))
    assert (first.answer.state, first.answer.command) == ("waiting", "again")
    assert second.answer == first.answer
    with pytest.raises(SourceExists) as taken:
        ask_for(one)
    assert taken.value.reason.rule == "PLANNING_TAKEN"


def test_a_plan_that_comes_too_late_is_made_anew_three_times_at_most(one: Connection) -> None:
    planner, states = SelectPlanner(), []
    outcome = ask_for(one)
    for _ in range(3):
        jobs = one.ask(ListPlanningJobs()).answer.jobs
        assert [job.name for job in jobs] == ["late"]
        taken = one.ask(TakePlanningJob("late", "p")).answer
        answer = run_exchange(one.registry, answer_job(planner, jobs[0], taken))
        Metastore(one.registry).run(f"DROP STREAM flights; {STREAM.format('flights')}")
        states.append(one.ask(answer).answer)
    assert [(each.state, each.attempts) for each in states] == [("waiting", 1), ("waiting", 2), ("refused", 2)]
    ended = one.ask(GetPlan("late", outcome.command)).answer
    assert ended.refusal is not None
    assert ended.refusal.reason.rule == "READ_GENERATION"


def test_a_source_that_was_made_meanwhile_refuses_the_plan(one: Connection) -> None:
    outcome = ask_for(one)
    Metastore(one.registry).run(STREAM.format("late"))
    assert plan_once(one.registry, SelectPlanner()) is not None
    ended = one.ask(GetPlan("late", outcome.command)).answer
    assert ended.refusal is not None
    assert ended.refusal.reason.rule == "SOURCE_EXISTS"
    assert source_of(one).query is None


def test_a_dry_run_is_planned_and_writes_no_source(one: Connection) -> None:
    with PlannerThread(one.registry):
        (result,) = Metastore(one.registry).run(QUERY, dry_run=True)
    assert result.message == "Stream late would be created"
    with pytest.raises(NotFound):
        source_of(one)


def test_a_planner_of_this_process_plans_without_a_row(one: Connection) -> None:
    planner = SelectPlanner()
    metastore = Metastore(one.registry, planning=PlanningOptions(planner))
    (result,) = metastore.run(QUERY)
    assert (result.message, planner.planned) == ("Stream late created", 1)
    (again,) = metastore.run(COPY)
    assert (again.message, planner.planned) == ("Stream late unchanged", 2)
    with pytest.raises(InvalidStatementError):
        metastore.run("CREATE STREAM x AS SELECT 1")


def test_planners_of_the_registry_are_asked_before_the_one_of_this_process(one: Connection) -> None:
    planner = SelectPlanner()
    metastore = Metastore(one.registry, planning=PlanningOptions(planner, ask_seconds=1))
    (alone,) = metastore.run(QUERY)
    assert (alone.message, planner.planned) == ("Stream late created", 1)
    assert one.ask(ListPlanningJobs(taken=True)).answer.jobs == ()
    with PlannerThread(one.registry) as other:
        (asked,) = metastore.run(QUERY.replace("late", "later"))
    assert (asked.message, planner.planned, other.planner.planned) == ("Stream later created", 1, 1)


def test_a_node_that_waits_hears_of_the_plan_at_once(one: Connection) -> None:
    outcome, heard = ask_for(one), list[str]()
    waiting = threading.Thread(target=lambda: heard.append(one.ask(GetPlan("late", outcome.command, 15)).answer.state))
    waiting.start()
    plan_once(one.registry, SelectPlanner())
    waiting.join(10)
    assert heard == ["stored"]


def test_another_statement_under_the_same_command_is_refused(one: Connection) -> None:
    call = CallOptions(command_id="c")
    one.ask(RequestPlan("late", QUERY), call)
    with pytest.raises(Refusal) as refused:
        one.ask(RequestPlan("late", COPY), call)
    assert refused.value.reason.rule == "COMMAND_ID_USED"


# ------------------------------------------------------------------------------------------------------------- time


async def request_at(node: Node, **members: Any) -> PlanOutcome:
    return (await node.ask(RequestPlan("late", QUERY, **members))).answer


@virtual
async def test_without_a_planner_the_answer_is_503_at_the_deadline_and_nothing_is_left() -> None:
    async with realm("ab") as it:
        began = asyncio.get_running_loop().time()
        for name, node in it.nodes.items():
            with pytest.raises(Unavailable, match="planner unavailable: no planner took the statement within 60 s"):
                await AsyncMetastore(node).run(f"CREATE STREAM {name} AS SELECT 1")
        assert 120 <= asyncio.get_running_loop().time() - began < 135
        for node in it.nodes.values():
            assert (await node.ask(ListPlanningJobs(taken=True))).answer.jobs == ()
            assert (await node.ask(m.ListSources())).answer.sources == ()


@virtual
async def test_a_planner_that_is_silent_loses_the_job_and_its_answer_does_not_count() -> None:
    async with realm("ab") as it:
        a, b = it.nodes.values()
        asked = await request_at(a)
        first = (await b.ask(TakePlanningJob("late", "p1"))).answer
        await asyncio.sleep(9)
        with pytest.raises(NotLatest, match="Planner p1 has the job"):
            await a.ask(TakePlanningJob("late", "p2"))
        assert (await b.ask(TakePlanningJob("late", "p1", first.epoch))).answer.epoch == first.epoch
        await asyncio.sleep(9)
        with pytest.raises(NotLatest):
            await a.ask(TakePlanningJob("late", "p2"))
        await asyncio.sleep(2)
        second = (await a.ask(TakePlanningJob("late", "p2"))).answer
        assert second.epoch > first.epoch
        lost = (TakePlanningJob("late", "p1", first.epoch), refusing(first.epoch, "p1"), refusing(first.epoch, "p2"))
        for late in lost:
            with pytest.raises(NotLatest, match="Another planner has the job now"):
                await b.ask(late)
        assert (await b.ask(refusing(second.epoch, "p2"))).answer.state == "refused"
        assert (await a.ask(GetPlan("late", asked.command))).answer.state == "refused"


def refusing(epoch: int, planner: str) -> FinishPlanningJob:
    return FinishPlanningJob("late", planner, epoch, refusal=EntryRefusal("invalid", Reason("NO", "no")))


@virtual
async def test_an_answer_after_the_deadline_does_not_count() -> None:
    async with realm("a") as it:
        node = it.nodes["a"]
        asked = await request_at(node, seconds=5)
        taken = (await node.ask(TakePlanningJob("late", "p"))).answer
        await asyncio.sleep(6)
        with pytest.raises(NotFound, match="No statement that creates late waits for its plan"):
            await node.ask(refusing(taken.epoch, "p"))
        assert (await node.ask(GetPlan("late", asked.command))).answer.state == "expired"
        again = await request_at(node)
        assert again.state == "waiting"
        assert (await node.ask(GetPlan("late", asked.command))).answer.state == "expired"
        assert (await node.ask(WithdrawPlan("late", again.command))).answer.state == "expired"


@virtual
async def test_expired_statements_make_room_and_their_number_is_limited() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "PLANNING_WAITING", 3)
        async with realm("a") as it:
            node = it.nodes["a"]
            for name in "abc":
                await node.ask(RequestPlan(name, QUERY, seconds=5))
            with pytest.raises(TooLarge, match="Too many statements wait for their plans"):
                await node.ask(RequestPlan("d", QUERY))
            await asyncio.sleep(6)
            assert (await node.ask(RequestPlan("d", QUERY))).answer.state == "waiting"
            jobs = (await node.ask(ListPlanningJobs(taken=True, limit=10))).answer.jobs
            assert [job.name for job in jobs] == ["d"]


def test_a_body_over_http_waits_as_long_as_any_statement() -> None:
    assert StatementsBody("").planning_seconds == limits.PLANNING_SECONDS


# ------------------------------------------------------------------------------------------------------- EXPLAIN

EXPLAINED = (
    ("kind", "", "STREAM"),
    ("reads", "flights", "its changes: carrier"),
    ("column", "carrier", "STRING"),
    ("output mode", "", "append"),
    ("state", "", "none"),
    ("engine", "", "test"),
)


@pytest.mark.parametrize("sql", [f"EXPLAIN {QUERY}", "EXPLAIN SELECT carrier FROM STREAM flights"])
def test_explain_plans_as_a_dry_run_by_a_planner_of_any_node_and_here(pair: tuple[Served, Served], sql: str) -> None:
    with connect(pair[1].url) as sender, connect(pair[0].url) as planners:
        with PlannerThread(planners.registry):
            (result,) = Metastore(sender.registry).run(sql)
        (here,) = Metastore(sender.registry, planning=PlanningOptions(SelectPlanner())).run(sql)
        names = [each.name for each in sender.ask(m.ListSources()).answer.sources]
        waiting = sender.ask(ListPlanningJobs(taken=True)).answer.jobs
    assert (result.columns, result.rows, result.warnings) == (
        ("part", "name", "detail"),
        EXPLAINED,
        ("planned by hand",),
    )
    assert (here.rows, here.warnings) == (result.rows, result.warnings)
    assert (names, waiting) == (["flights"], ())


def test_explain_shows_the_plan_of_a_source(one: Connection) -> None:
    metastore = Metastore(one.registry, planning=PlanningOptions(SelectPlanner()))
    metastore.run(QUERY)
    assert metastore.run_one("EXPLAIN late").rows == EXPLAINED
    with pytest.raises(Refusal) as refused:
        metastore.run("EXPLAIN flights")
    assert (refused.value.reason.rule, refused.value.reason.allowed) == ("QUERY_ABSENT", "DESCRIBE flights EXTENDED")


def test_explain_of_a_head_shows_the_columns_that_it_comes_to(one: Connection) -> None:
    got = Metastore(one.registry).run_one(f"EXPLAIN {STREAM.format('trips')}")
    assert (got.name, got.rows) == (
        "trips",
        (("kind", "", "STREAM"), ("column", "id", "BIGINT KEY"), ("column", "carrier", "STRING")),
    )
    with pytest.raises(NotFound):
        source_of(one, "trips")


def test_errors_of_an_explained_query_are_at_their_places_of_the_text_that_was_sent(one: Connection) -> None:
    with PlannerThread(one.registry), pytest.raises(InvalidStatementError) as refused:
        Metastore(one.registry).run("EXPLAIN\n  SELECT * FROM STREAM flights")
    (wrong,) = refused.value.diagnostics
    assert (wrong.code, wrong.line, wrong.column) == ("QUERY_REFUSED", 2, 3)
    with pytest.raises(SourceExists):
        Metastore(one.registry).run(f"EXPLAIN {QUERY.replace('late', 'flights')}")
