"""A planner that is killed, that is late, or whose plan is wrong or out of date: a source is written whole with its plan, or not at all."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event
from time import sleep
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.real.running import serving
from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.core.messages.metastore.plans import (
    FinishPlanningJob,
    GetPlan,
    ListPlanningJobs,
    PlanOutcome,
    RequestPlan,
    TakePlanningJob,
    WaitingStatement,
)
from treaty.core.messages.metastore.sources import DescribeSource
from treaty.core.refusals import NotFound, RegistryError
from treaty.core.registry import Exchange, run_exchange
from treaty.core.sources import Source
from treaty.metastore import Metastore, PlanningOptions
from treaty.metastore.execution.planner import PlannedQuery, answer_job
from treaty.metastore.execution.results import InvalidStatementError
from treaty.metastore.sql.statements import CreateSourceStatement
from treaty.spark.planner.bodies import BodyPlanner
from treaty.spark.planner.service.jobs import PlanningLoop
from treaty.spark.planner.service.statements import StatementPlanner

pytestmark = pytest.mark.jvm
FLIGHTS = "CREATE STREAM flights (id BIGINT KEY, carrier STRING, delay INT) WITH (KAFKA_TOPIC = 'flights', VALUE_FORMAT = 'AVRO')"
DELAYS = "CREATE TABLE delays AS SELECT carrier, sum(delay) AS delay FROM STREAM flights GROUP BY carrier"
PATIENCE = 240
"""Seconds until a test gives up waiting for what must come; no result depends on it."""
Change = Callable[[PlannedQuery], PlannedQuery]


class ChangedPlanner:
    """Plans by another planner, and changes what that has planned."""

    def __init__(self, planner: StatementPlanner, change: Change) -> None:
        self._planner, self._change = planner, change

    def plan(self, statement: CreateSourceStatement) -> Exchange[PlannedQuery]:
        return self._change((yield from self._planner.plan(statement)))


@contextmanager
def sent(registry: Connection, statement: str) -> Iterator["Future[Any]"]:
    """A statement that waits for its plan."""
    with ThreadPoolExecutor(1) as pool:
        outcome = pool.submit(Metastore(registry.registry).run, statement)
        while not registry.ask(ListPlanningJobs()).answer.jobs and not outcome.done():
            sleep(0.05)
        yield outcome


def find(registry: Connection, name: str) -> Source | None:
    try:
        return registry.ask(DescribeSource(name)).answer.source
    except NotFound:
        return None


def work(registry: Connection, planner: Any) -> list[PlanOutcome | None]:
    """What becomes of the statements that wait, with this planner."""
    outcomes: list[PlanOutcome | None] = []

    def add(_job: WaitingStatement, outcome: PlanOutcome | None) -> None:
        outcomes.append(outcome)

    PlanningLoop(registry.registry, planner, "here", on_outcome=add, on_unreachable=print).run(Event(), once=True)
    return outcomes


@pytest.fixture
def planner(spark: SparkSession, tmp_path: Path) -> StatementPlanner:
    return StatementPlanner(BodyPlanner(spark, tmp_path / "views"))


def test_r21_what_a_query_reads_must_be_there_when_it_is_written(
    registry: Connection, planner: StatementPlanner
) -> None:
    metastore = Metastore(registry.registry)
    metastore.run(FLIGHTS)
    with sent(registry, DELAYS.replace("FROM STREAM flights", "FROM STREAM flihgts")) as waiting:
        work(registry, planner)
        with pytest.raises(InvalidStatementError, match="no stream or table flihgts"):
            waiting.result(PATIENCE)

    def drop(planned: PlannedQuery) -> PlannedQuery:
        if find(registry, "flights") is not None:
            metastore.run("DROP STREAM flights")
        return planned

    with sent(registry, DELAYS) as waiting:
        outcomes = work(registry, ChangedPlanner(planner, drop))
        with pytest.raises(RegistryError, match="flights"):
            waiting.result(PATIENCE)
    assert [one.state for one in outcomes if one is not None][-1] == "refused"
    assert find(registry, "delays") is None


def test_a_plan_over_another_source_is_made_again_and_never_written(
    registry: Connection, planner: StatementPlanner
) -> None:
    Metastore(registry.registry).run(FLIGHTS)
    plans: list[PlannedQuery] = []

    def spoil(planned: PlannedQuery) -> PlannedQuery:
        plans.append(planned)
        reads = tuple(replace(one, revision=one.revision + 7) for one in planned.plan.reads)
        return replace(planned, plan=replace(planned.plan, reads=reads)) if len(plans) < 2 else planned

    with sent(registry, DELAYS) as waiting:
        work(registry, ChangedPlanner(planner, spoil))
        assert waiting.result(PATIENCE)[0].message == "Table delays created"
    written = find(registry, "delays")
    assert written is not None
    assert written.query is not None
    assert (len(plans), written.query.plan.reads) == (2, plans[1].plan.reads)


def take_and_plan(registry: Connection, planner: StatementPlanner, name: str) -> FinishPlanningJob:
    """The answer of a planner that has taken the only job and has not sent it yet."""
    (job,) = registry.ask(ListPlanningJobs()).answer.jobs
    taken = registry.ask(TakePlanningJob(job.name, name)).answer
    return run_exchange(registry.registry, answer_job(planner, job, taken))


def test_r21_an_answer_after_the_row_of_a_source_has_changed_is_planned_again(
    registry: Connection, planner: StatementPlanner
) -> None:
    metastore = Metastore(registry.registry)
    metastore.run(FLIGHTS)
    with sent(registry, DELAYS) as waiting:
        late = take_and_plan(registry, planner, "slow")
        metastore.run("ALTER STREAM flights ADD COLUMNS (gate STRING)")
        assert registry.ask(late).answer.state == "waiting"
        assert find(registry, "delays") is None
        work(registry, planner)
        assert waiting.result(PATIENCE)[0].message == "Table delays created"
    flights, delays = find(registry, "flights"), find(registry, "delays")
    assert flights is not None
    assert delays is not None
    assert delays.query is not None
    assert [one.revision for one in delays.query.plan.reads] == [flights.revision]
    with pytest.raises(NotFound, match="No statement that creates delays waits"):
        registry.ask(late)
    assert find(registry, "delays") == delays


def test_r5_an_answer_after_the_deadline_or_after_that_of_another_planner_writes_nothing(
    registry: Connection, planner: StatementPlanner
) -> None:
    Metastore(registry.registry).run(FLIGHTS)
    asked = registry.ask(RequestPlan("delays", DELAYS, seconds=1)).answer
    late = take_and_plan(registry, planner, "slow")
    while registry.ask(GetPlan("delays", asked.command)).answer.state == "waiting":
        sleep(0.2)
    with pytest.raises(NotFound, match="No statement that creates delays waits"):
        registry.ask(late)
    assert find(registry, "delays") is None
    with sent(registry, DELAYS) as waiting:
        silent = take_and_plan(registry, planner, "silent")
        while not waiting.done():  # the job of a planner that is silent is given to another one after 10 s
            work(registry, planner)
            sleep(0.5)
        waiting.result()
    before = find(registry, "delays")
    for answer in (late, silent):
        with pytest.raises(NotFound):
            registry.ask(answer)
    assert find(registry, "delays") == before


def test_r5_a_wrong_answer_ends_in_a_refusal_and_writes_no_part_of_a_source(
    registry: Connection, planner: StatementPlanner
) -> None:
    Metastore(registry.registry).run(FLIGHTS)

    def spoil(answer: FinishPlanningJob, **changes: Any) -> FinishPlanningJob:
        assert answer.create is not None
        return replace(answer, create=replace(answer.create, definition=replace(answer.create.definition, **changes)))

    with sent(registry, DELAYS) as waiting:
        right = take_and_plan(registry, planner, "wrong")
        assert right.create is not None
        query = right.create.definition.query
        assert query is not None
        for bad in (spoil(right, name="others"), replace(right, create=None), replace(right, epoch=right.epoch + 1)):
            with pytest.raises(RegistryError):
                registry.ask(bad)
        assert find(registry, "delays") is None
        assert registry.ask(spoil(right, query=replace(query, reads=()))).answer.state == "refused"
        with pytest.raises(RegistryError, match="reads nothing"):
            waiting.result(PATIENCE)
    for columns in ((), (*right.create.definition.columns, right.create.definition.columns[0])):
        with sent(registry, DELAYS) as waiting:
            registry.ask(spoil(take_and_plan(registry, planner, "wrong"), columns=columns))
            with pytest.raises(RegistryError):
                waiting.result(PATIENCE)
    assert (find(registry, "delays"), find(registry, "others")) == (None, None)
    assert "delays-value" not in {str(one) for one in registry.subjects()}


@pytest.mark.soak
@pytest.mark.parametrize("when", ["before", "after"])
def test_r5_a_planner_that_is_killed_leaves_a_source_with_its_plan_or_none(
    spark: SparkSession, tmp_path: Path, when: str
) -> None:
    log = f"sqlite://{tmp_path / 'log.db'}"
    with serving(tmp_path, "--log", log) as server, connect(server.base) as registry:
        Metastore(registry.registry).run(FLIGHTS)
        command = [sys.executable, "-m", "tests.real.planner_driver", server.base, when]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as killed:
            assert killed.stdout is not None
            assert killed.stdout.readline() == "ready\n"
            with sent(registry, DELAYS) as waiting:
                assert killed.wait(PATIENCE) == -9
                before = find(registry, "delays")
                assert (before is not None) == (when == "after")
                planner = StatementPlanner(BodyPlanner(spark, tmp_path / "views"))
                while not waiting.done():  # the job of a planner that is silent is given to another one after 10 s
                    work(registry, planner)
                    sleep(0.5)
                assert waiting.result()[0].message == "Table delays created"
        written = find(registry, "delays")
        assert written is not None
        assert written.query is not None
        assert [one.source for one in written.query.plan.reads] == ["flights"]
        assert before in {None, written}


def test_a_stream_without_the_key_of_what_it_reads_says_how_to_keep_it(
    registry: Connection, planner: StatementPlanner
) -> None:
    metastore = Metastore(registry.registry, planning=PlanningOptions(planner))
    metastore.run(
        "CREATE STREAM `lost bags` (id BIGINT KEY, `to` STRING) WITH (KAFKA_TOPIC = 'bags', VALUE_FORMAT = 'AVRO')"
    )
    note = "its records have no key, and id is the key of lost bags: (id BIGINT KEY) before AS keeps it"
    noted = {
        statement: note in metastore.run_one(statement, dry_run=True).warnings
        for statement in (
            "CREATE STREAM far AS SELECT id, `to` FROM STREAM `lost bags`",
            "CREATE STREAM far WITH (SINK = 'delta') AS SELECT id, `to` FROM STREAM `lost bags`",
            "CREATE STREAM far (id BIGINT KEY) AS SELECT id, `to` FROM STREAM `lost bags`",
            "CREATE STREAM far AS SELECT id + 1 AS other FROM STREAM `lost bags`",
        )
    }
    assert [*noted.values()] == [True, False, False, False]
