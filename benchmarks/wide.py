"""Wide records of many versions on Spark; a JVM for each width."""

from functools import partial

from benchmarks.row import Row
from benchmarks.spark import wide
from benchmarks.spark.run import run as run_parts

ROWS = 1_000_000


def run(rows: int = ROWS, width: tuple[int, ...] = wide.WIDTHS) -> list[Row]:
    """The rows of the table, from so many records of up to 61 fields for each cell, and fewer of wider ones."""
    return run_parts(rows, [partial(wide.rows, fields) for fields in width])
