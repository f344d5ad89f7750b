"""What a change of a body is, cell by cell: what continues, what is refused before a checkpoint is touched, and what Spark would have taken."""

from pathlib import Path
from typing import NamedTuple

import pytest
from pyspark.sql import SparkSession

from tests.query_bodies import make_body
from treaty.core.handlers.metastore.checkpoints.incarnations import compare_plans
from treaty.core.sources import QueryPlan
from treaty.spark.planner.bodies import BodyPlanner

pytestmark = pytest.mark.jvm
LESS = "SELECT id, carrier FROM STREAM flights"
GROUPED = "SELECT carrier, count(*) AS n FROM STREAM flights GROUP BY carrier"
SUMMED = "SELECT carrier, count(*) AS n, sum(delay) AS total FROM STREAM flights GROUP BY carrier"
WINDOW = (
    "SELECT window.start AS start, carrier, count(*) AS n FROM STREAM flights WATERMARK ts DELAY OF INTERVAL {} SECONDS "
    "GROUP BY window(ts, '{} minutes'), carrier"
)
JOINED = "SELECT g.id, g.gate, b.seat FROM STREAM gates AS g JOIN STREAM bookings AS b ON g.id = b.id AND b.ts BETWEEN g.ts AND g.ts + INTERVAL {} MINUTES"


class Cell(NamedTuple):
    """A change: kinds and bodies, what it is, and words of the reason. `taken` says that Spark takes the old checkpoint for it."""

    old: str
    new: str
    change: str
    reason: str = ""
    kinds: tuple[str, str] = ("TABLE", "TABLE")
    taken: bool = False


STREAMS = ("STREAM", "STREAM")
CELLS = {
    "stateless: a column more": Cell(LESS, "SELECT id, carrier, delay FROM STREAM flights", "compatible", kinds=STREAMS, taken=True),
    "stateless: a filter": Cell(LESS, f"{LESS} WHERE delay > 3", "compatible", kinds=STREAMS, taken=True),
    "stateless: to groups": Cell(LESS, GROUPED, "stateful change", "the new query keeps state, and the one that runs keeps none", ("STREAM", "TABLE")),
    "stateless: a second source": Cell(LESS, f"{LESS} UNION ALL SELECT id, gate FROM STREAM gates", "source change", "the changes of gates are read", STREAMS),
    "stateless: another source": Cell(LESS, "SELECT id, gate AS carrier FROM STREAM gates", "source change", "the changes of flights are not read any more", STREAMS),
    "groups: an aggregate more": Cell(GROUPED, SUMMED, "stateful change", "aggregate: none → sum(flights.delay)"),
    "groups: sum for count": Cell(GROUPED, GROUPED.replace("count(*)", "sum(delay)"), "stateful change", "aggregate: count(1) → sum(flights.delay)"),
    "groups: another type of key": Cell(GROUPED, GROUPED.replace("carrier", "delay"), "stateful change", "key: flights.carrier → flights.delay"),
    "groups: another key of the same type": Cell(
        GROUPED, "SELECT upper(carrier) AS carrier, count(*) AS n FROM STREAM flights GROUP BY upper(carrier)", "stateful change",
        "key: flights.carrier → upper(flights.carrier)", taken=True,
    ),
    "groups: a filter before": Cell(GROUPED, GROUPED.replace("GROUP", "WHERE delay > 3 GROUP"), "stateful change", "filter: none → (flights.delay > 3)", taken=True),
    "groups: another argument": Cell(SUMMED, SUMMED.replace("sum(delay)", "sum(delay + 1)"), "stateful change", "aggregate: sum(flights.delay) → sum((flights.delay + 1))", taken=True),
    "groups: a projection above": Cell(GROUPED, f"SELECT carrier, n + 1 AS n FROM ({GROUPED})", "compatible", taken=True),
    "groups: aggregates in another order": Cell(
        SUMMED, "SELECT carrier, sum(delay) AS total, count(*) AS n FROM STREAM flights GROUP BY carrier", "stateful change", "aggregate in another order"
    ),
    "groups: to stateless": Cell(GROUPED, LESS, "stateful change", "the new query keeps no state", ("TABLE", "STREAM")),
    "windows: longer": Cell(WINDOW.format(10, 1), WINDOW.format(10, 2), "stateful change", "window: 1 minute of flights.ts → 2 minutes of flights.ts", taken=True),
    "windows: a longer delay": Cell(WINDOW.format(10, 1), WINDOW.format(20, 1), "stateful change", "watermark: flights.ts with a delay of 10 seconds → flights.ts with a delay of 20 seconds", taken=True),
    "joins: another bound in time": Cell(JOINED.format(5), JOINED.format(6), "stateful change", "join: inner join", STREAMS, taken=True),
}  # fmt: skip


@pytest.fixture(scope="module")
def planner(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> BodyPlanner:
    root: Path = tmp_path_factory.mktemp("views")
    return BodyPlanner(spark, root)


@pytest.mark.parametrize("name", CELLS)
def test_a_change_is_what_its_plans_say(planner: BodyPlanner, name: str) -> None:
    cell = CELLS[name]
    old, new = (plan(planner, text, kind) for text, kind in zip((cell.old, cell.new), cell.kinds, strict=True))
    change, reasons = compare_plans(old, new)
    assert change == cell.change, reasons
    assert any(cell.reason in one for one in reasons), reasons
    if cell.taken and change != "compatible":  # Spark sees the stores alone, and they are the same
        assert old.fingerprint.plan != new.fingerprint.plan


def plan(planner: BodyPlanner, text: str, kind: str) -> QueryPlan:
    return planner.plan(make_body(text, kind)).plan
