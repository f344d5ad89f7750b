"""All figures of this benchmark, in one session."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.row import Row
from benchmarks.spark import avro, flows, others
from treaty.assemble import connect
from treaty.core.answers import Config
from treaty.core.requests import Scope, SetConfig
from treaty.spark import session

ROWS = 2_000_000


def run(rows: int = ROWS) -> list[Row]:
    """The rows of the table, from so many records each."""
    found = []
    for row in _all(rows):
        print(f"   {row.name}: {row.value:.4g} {row.unit}, ratio {row.ratio or 0:.2f}", file=sys.stderr, flush=True)
        found.append(row)
    return found


def _all(rows: int) -> Iterator[Row]:
    spark = session("treaty benchmark", master="local[2]", memory="3g")
    with tempfile.TemporaryDirectory(prefix="treaty-spark-") as folder, connect("memory:") as registry:
        registry.ask(SetConfig(Scope(), Config(level="NONE")))
        for part in (avro, others, flows):
            place = Path(folder, part.__name__.rpartition(".")[2])
            place.mkdir()
            yield from part.rows(spark, registry, place, rows)
    spark.stop()
