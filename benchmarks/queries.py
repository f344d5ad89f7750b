"""What the runner's own work costs beside the body of a query: see `benchmarks.spark.queries`."""

from functools import partial

from benchmarks.row import Row
from benchmarks.spark import queries
from benchmarks.spark import run as run_parts

ROWS = 1_000_000


def run(rows: int = ROWS) -> list[Row]:
    """The figures of all counts of ids; each has a JVM of its own."""
    return run_parts(rows, [partial(queries.rows, ids) for ids in queries.COUNTS])
