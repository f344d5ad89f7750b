"""Events with self-describing JSON on Spark, a million of them."""

from benchmarks.row import Row
from benchmarks.spark import events
from benchmarks.spark.run import run as run_parts

ROWS = 1_000_000


def run(rows: int = ROWS) -> list[Row]:
    """The rows of the table, from so many events each."""
    return run_parts(rows, (events.validated, events.shredded))
