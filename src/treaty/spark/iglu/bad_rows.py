"""`to_snowplow_bad_rows`: bad events of a frame as a column of texts, and which columns they came from; each text is made in `arrow/iglu/bad_rows.py`."""

import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from treaty.arrow.iglu.bad_rows import make_bad_rows
from treaty.distribution import VERSION
from treaty.plan.ddl import quote_name
from treaty.plan.errors import PlanError
from treaty.spark.iglu.validate import FAILURES, VALIDATED_COLUMNS


def to_snowplow_bad_rows(bad: DataFrame, *, columns: Iterable[str] | str | None = None) -> DataFrame:
    """Bad events as texts in a column ``value``: self-describing JSON by Snowplow's schema ``schema_violations`` 2-0-1.

    `bad` is `ValidatedEvents.bad` or `ShreddedEvents.bad`. The payload holds the columns that were validated: the frame
    carries their names. `columns` names them for rows that lost them, such as rows from a file of JSON. Raises `PlanError`
    where neither says them, and for a column that the frame does not have.
    """
    names = _read_columns(bad, columns)

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            events = {name: batch.column(name) for name in names}
            texts = make_bad_rows(events, batch.column(FAILURES), _read_clock, VERSION)
            yield pa.RecordBatch.from_arrays([texts], names=["value"])

    return bad.select(*(F.col(quote_name(name)) for name in names), FAILURES).mapInArrow(work, "value STRING")


def _read_columns(bad: DataFrame, columns: Iterable[str] | str | None) -> tuple[str, ...]:
    """The columns that hold the events: those that are named, or else those that the frame carries."""
    fields = {field.name: field for field in bad.schema.fields}
    if FAILURES not in fields:
        raise PlanError(f"the frame has no column {FAILURES!r}: give it the `bad` of validated events")
    if columns is None:
        columns = fields[FAILURES].metadata.get(VALIDATED_COLUMNS, ())
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    if not names:
        raise PlanError("the frame does not say which columns were validated: name them, as in columns=('value',)")
    missing = [name for name in names if name not in fields]
    if missing:
        raise PlanError(f"the frame has no column {missing[0]!r}; there are {', '.join(fields)}")
    return names


def _read_clock() -> str:
    now = datetime.fromtimestamp(time.time(), UTC)
    return now.isoformat(timespec="milliseconds").replace("+00:00", "Z")
