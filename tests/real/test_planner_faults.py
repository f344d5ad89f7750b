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
from treaty.client.exchanges import Exchange
from treaty.core.messages.metastore import DescribeSource
from treaty.core.messages.plans import ListPlanningJobs, PlanOutcome, WaitingStatement
from treaty.core.refusals import NotFound, RegistryError
from treaty.core.sources import Source
from treaty.metastore import Metastore
from treaty.metastore.execution.planner import PlannedQuery
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
