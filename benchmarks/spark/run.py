"""All figures of this benchmark. Each part has a JVM of its own: what a JVM has compiled for one part makes the next one dearer."""

import multiprocessing
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks.row import Row
from benchmarks.spark import avro, flows, others
from treaty.assemble import connect
from treaty.core.messages.settings import Config, Scope, SetConfig
from treaty.core.registry import Registry
from treaty.spark import session

ROWS = 2_000_000
Part = Callable[[SparkSession, Registry, Path, int], Iterator[Row]]
PARTS: Sequence[Part] = (
    *(partial(avro.rows, ids) for ids in avro.COUNTS),
    *(partial(others.decoded, name) for name in others.FORMATS),
    others.encoded,
    flows.rows,
)


def run(rows: int = ROWS, parts: Sequence[Part] = PARTS) -> list[Row]:
    """The rows of the table, from so many records each."""
    spawn, figures = multiprocessing.get_context("spawn"), []
    for part in parts:
        with ProcessPoolExecutor(1, spawn) as alone:
            figures += alone.submit(_measured, part, rows).result()
    return figures


def _measured(part: Part, rows: int) -> list[Row]:
    """The figures of one part, told as they come."""
    figures = []
    spark = session("treaty benchmark", master="local[2]", memory="3g")
    with tempfile.TemporaryDirectory(prefix="treaty-spark-") as folder, connect("memory:") as registry:
        registry.ask(SetConfig(Scope(), Config(level="NONE")))
        for row in part(spark, registry, Path(folder), rows):
            print(
                f"   {row.name}: {row.value:.4g} {row.unit}, ratio {row.ratio or 0:.2f} {row.interval or ()}",
                file=sys.stderr,
                flush=True,
            )
            figures.append(row)
    spark.stop()
    return figures
