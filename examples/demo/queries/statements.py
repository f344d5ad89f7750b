"""The statements of the demo, and the planner that carries them out in the process that has Spark."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from examples.demo.schemas import SUBJECT
from treaty.core.registry import Registry
from treaty.metastore import Metastore, PlanningOptions
from treaty.spark.planner.bodies import BodyPlanner
from treaty.spark.planner.service.statements import StatementPlanner
from treaty.spark.runner.comparison.query_comparison import BatchComparer

ARRIVED = "events/arrived"
"""The folder of the stream: files of events come into it while the query runs."""
TABLE = "tables/delays"
STREAM = f"""CREATE STREAM flights
WITH (CONNECTOR = 'files', PATH = '{ARRIVED}', SUBJECT = '{SUBJECT}', KEY_FORMAT = 'NONE')"""
_BODY = """SELECT carrier, hour(from_utc_timestamp(scheduled, 'America/New_York')) AS hour,
  count(*) AS flights, count(dep_delay) AS departed, sum({minutes}) AS minutes, avg({minutes}) AS delay
FROM STREAM flights
GROUP BY carrier, hour(from_utc_timestamp(scheduled, 'America/New_York'))"""
QUERY = f"CREATE TABLE delays WITH (CONNECTOR = 'delta', PATH = '{TABLE}') AS\n{_BODY.format(minutes='dep_delay')}"
"""Delays by carrier and scheduled hour; a flight that leaves early has a negative delay."""
_LATE = _BODY.format(minutes="if(dep_delay < 0, 0, dep_delay)")
REPLACEMENT = (
    f"CREATE OR REPLACE TABLE delays WITH (CONNECTOR = 'delta', PATH = '{TABLE}', ON_CHANGE = 'backfill') AS\n{_LATE}"
)
"""The same, where a flight that leaves early counts as one on time: all rows are made again."""
COMPARISON = f"EXPLAIN REPLACE COMPARE {REPLACEMENT}"
ROLLBACK = "ROLLBACK delays"


def carry_out(
    spark: SparkSession, registry: Registry, root: Path, next_text: Callable[[], str], send: Callable[..., None]
) -> None:
    """Carry out statements until an empty text, and send the rows of each as a step ``statement``.

    Queries are planned and compared in this process, as `treaty sql --planner local --files` does.
    """
    planner = StatementPlanner(BodyPlanner(spark, root / "planner"))
    comparer = BatchComparer(lambda: spark, registry, root)
    metastore = Metastore(registry, planning=PlanningOptions(planner, comparer=comparer))
    while text := next_text():
        result = metastore.run_one(text)
        rows: list[Any] = [list(row) for row in result.rows]
        send("statement", kind=result.kind, message=result.message, rows=rows)
