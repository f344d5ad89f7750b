"""Events with self-describing JSON, beside a job that only carries them through Python workers (`mapInArrow`)."""

from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from benchmarks.row import Row, against_turns
from benchmarks.spark.meter import Work, measured
from benchmarks.spark.others import through
from tests.self_describing import make_events, make_resolver
from treaty.core.registry import Registry
from treaty.spark.iglu import shred, validate_self_describing

DISTINCT = 50_000
"""Events that are made; more rows repeat them."""
BATCH = 100_000
GOAL = 3.5
LIMIT = "each text is decoded as the types of its schemas; the search for names carries the column to Python workers once more, about as dear as the baseline"


def validated(spark: SparkSession, registry: Registry, folder: Path, count: int) -> Iterator[Row]:
    """Events of about 575 bytes with three parts over 50 schemas, 2 % of them bad: validated, and shredded besides."""
    del registry
    place = str(folder / "events.parquet")
    texts = cycle([text for text, _ in make_events(1, DISTINCT)])
    with pq.ParquetWriter(place, pa.schema([("value", pa.string())])) as writer:
        for begin in range(0, count, BATCH):
            writer.write_table(pa.table({"value": pa.array(islice(texts, min(BATCH, count - begin)), pa.string())}))

    def frame() -> DataFrame:
        return spark.read.parquet(place)

    with make_resolver() as resolver:
        works: dict[str, Work] = {
            "through": lambda: through(frame()),
            "validated": lambda: validate_self_describing(frame(), resolver).rows,
            "shredded": lambda: shred(validate_self_describing(frame(), resolver), resolver).rows,
        }
        found = measured(works, count)
    title = "Events with three parts over 50 schemas"
    yield against_turns(
        f"{title}, validated", found["validated"], found["through"], unit="µs CPU/row", goal=GOAL, limit=LIMIT
    )
    yield against_turns(
        f"{title}, validated and shredded", found["shredded"], found["through"], unit="µs CPU/row",
        limit="each text is parsed a second time, and 50 columns of structs are made",
    )  # fmt: skip
