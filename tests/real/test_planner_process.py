"""A planner in a process of its own: it answers, it is ended where it hangs, and the next body gets another one."""

import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from threading import Timer
from typing import cast

import pytest

from tests.query_bodies import make_body
from treaty.spark.planner.questions import BodyRefusedError, PlannerEndedError
from treaty.spark.planner.service.supervisor import PlannerProcess

pytestmark = pytest.mark.jvm
COUNT = make_body("SELECT carrier, count(*) AS n FROM STREAM flights GROUP BY carrier", "TABLE")
LEVELS = 24
"""Structs in structs, each of which has the one below twice: the type has 2 ** LEVELS parts, and the text few."""


@pytest.fixture
def planner() -> Iterator[PlannerProcess]:
    started = PlannerProcess(seconds=60)
    yield started
    started.close()


def test_a_planner_tells_its_faults_is_started_anew_where_it_hangs_and_stopped_at_once(planner: PlannerProcess) -> None:
    """One after the other, since each of its starts is one of a JVM."""
    left = Path(tempfile.mkdtemp(prefix="treaty-planner-"))
    (left / "lock").touch()  # as a program leaves it that was killed
    check_a_fault(planner)
    assert (planner.starts, left.exists()) == (1, False)
    check_a_hang(planner)
    folder = planner.folder
    assert folder.exists()
    check_a_stop(planner)
    planner.close()
    assert not folder.exists()


def check_a_fault(planner: PlannerProcess) -> None:
    """A fault of the planner is no fault of the body, and it goes on."""
    assert planner.list_reads("SELECT * FROM STREAM flights JOIN carriers ON carrier = code") == ("flights", "carriers")
    with pytest.raises(BodyRefusedError, match="a fault of the planner and not of the query") as refused:
        planner.list_reads(cast("str", {"no": "text"}))
    assert refused.value.code == "PLANNER_FAILED"
    assert planner.plan(COUNT).plan.key == ("carrier",)
    with pytest.raises(BodyRefusedError, match="no stream or table nobody"):
        planner.plan(make_body("SELECT * FROM nobody", "STREAM"))


def check_a_hang(planner: PlannerProcess) -> None:
    """One that hangs is ended, and the next body gets another one."""
    first = planner.pid
    os.killpg(first, signal.SIGSTOP)
    planner.seconds = 1
    with pytest.raises(BodyRefusedError) as refused:
        planner.plan(COUNT)
    assert refused.value.code == "PLAN_TOO_COSTLY"
    planner.seconds = 60
    assert planner.plan(COUNT).plan.key == ("carrier",)
    assert (planner.starts, planner.pid != first) == (2, True)


def check_a_stop(planner: PlannerProcess) -> None:
    """Who waits for a planner that is to end waits no longer."""
    os.killpg(planner.pid, signal.SIGSTOP)
    Timer(0.5, planner.ending.set).start()
    with pytest.raises(PlannerEndedError, match="stopped"):
        planner.plan(COUNT)


@pytest.mark.soak
@pytest.mark.parametrize(
    "text",
    [
        f"{'SELECT struct(x, x) AS x FROM (' * LEVELS}SELECT id AS x FROM flights{')' * LEVELS}",
        "SELECT id, length(repeat('x', 2000 * 1000 * 1000)) AS n FROM flights",
    ],
    ids=["doubled", "repeated"],
)
def test_what_costs_too_much_ends_the_planner_and_nothing_else(planner: PlannerProcess, text: str) -> None:
    planner.seconds = 20
    with pytest.raises(BodyRefusedError) as refused:
        planner.plan(make_body(text, "STREAM"))
    assert refused.value.code == "PLAN_TOO_COSTLY"
    planner.seconds = 60
    assert planner.plan(COUNT).plan.key == ("carrier",)
