"""Events with self-describing JSON, beside a job that only carries them through Python workers (`mapInArrow`)."""

from collections.abc import Iterator, Mapping
from itertools import cycle, islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from benchmarks.row import Row, against_turns
from benchmarks.spark.meter import Work, measured
from benchmarks.spark.others import through
from tests.self_describing import make_events, make_resolver
from treaty.core.registry import Registry
from treaty.spark.iglu import shred, validate_self_describing

DISTINCT = 50_000
"""Events that are made; more rows repeat them."""
BATCH = 100_000
FIGURES: Mapping[str, tuple[str, float | None, str]] = {
    "validated": (
        "validated", 3.5,
        "the column goes to Python workers twice, as the driver resolves schemas before rows are judged: finding them takes about 1.3 of the baseline, judging 0.9 beside it",
    ),
    "shredded": (
        "validated and shredded", None, "each text is parsed a second time, and 50 columns of structs are made",
    ),
}  # fmt: skip
"""By work: its title, its goal, and what limits it."""


def validated(spark: SparkSession, registry: Registry, folder: Path, count: int) -> Iterator[Row]:
    """Events of about 575 bytes with three parts over 50 schemas, 2 % of them bad: validated."""
    del registry
    frame = write(spark, folder, count)
    with make_resolver() as resolver:
        yield measured_row("validated", count, frame, lambda: validate_self_describing(frame(), resolver).rows)


def shredded(spark: SparkSession, registry: Registry, folder: Path, count: int) -> Iterator[Row]:
    """The same events, validated and shredded."""
    del registry
    frame = write(spark, folder, count)
    with make_resolver() as resolver:
        yield measured_row(
            "shredded", count, frame, lambda: shred(validate_self_describing(frame(), resolver), resolver).rows
        )


def write(spark: SparkSession, folder: Path, count: int) -> Work:
    """Write the events into a file, and return what reads them."""
    place = str(folder / "events.parquet")
    texts = cycle([text for text, _ in make_events(1, DISTINCT)])
    with pq.ParquetWriter(place, pa.schema([("value", pa.string())])) as writer:
        for begin in range(0, count, BATCH):
            writer.write_table(pa.table({"value": pa.array(islice(texts, min(BATCH, count - begin)), pa.string())}))
    return lambda: spark.read.parquet(place)


def measured_row(name: str, count: int, frame: Work, work: Work) -> Row:
    """The figure of a work, beside the baseline in the same turns."""
    costs = measured({"through": lambda: through(frame()), name: work}, count)
    title, goal, limit = FIGURES[name]
    return against_turns(
        f"{count:,} events with three parts over 50 schemas, {title}",
        costs[name],
        costs["through"],
        unit="µs CPU/row",
        goal=goal,
        limit=limit,
    )
