"""Bad events as Snowplow's bad rows."""

import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

import pyarrow as pa
from pyspark.sql import DataFrame

from treaty.arrow.iglu.bad_rows import make_bad_rows
from treaty.distribution import VERSION
from treaty.spark.iglu.validate import FAILURES


def to_snowplow_bad_rows(bad: DataFrame, *, columns: Iterable[str] | str = "value") -> DataFrame:
    """Bad events as texts in a column ``value``: self-describing JSON by Snowplow's schema ``schema_violations`` 2-0-1.

    `bad` is `ValidatedEvents.bad`, `columns` are those that were validated. The events lie in the payload.
    """
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    program = VERSION

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            held = {name: batch.column(name) for name in names}
            made = make_bad_rows(held, batch.column(FAILURES), _read_clock, program)
            yield pa.RecordBatch.from_arrays([made], names=["value"])

    return bad.select(*names, FAILURES).mapInArrow(work, "value STRING")


def _read_clock() -> str:
    now = datetime.fromtimestamp(time.time(), UTC)
    return now.isoformat(timespec="milliseconds").replace("+00:00", "Z")
