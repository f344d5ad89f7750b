"""Events with self-describing JSON on Spark, a million of them."""

from collections.abc import Mapping, Sequence

from benchmarks.row import Row
from benchmarks.spark import events
from benchmarks.spark.run import Part
from benchmarks.spark.run import run as run_parts

ROWS = 1_000_000
PARTS: Mapping[str, Part] = {"validated": events.validated, "shredded": events.shredded}


def run(rows: int = ROWS, part: Sequence[str] = tuple(PARTS)) -> list[Row]:
    """The rows of the table, from so many events each."""
    return run_parts(rows, [PARTS[name] for name in part])
