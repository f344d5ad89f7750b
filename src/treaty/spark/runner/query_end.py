"""Queries that end by themselves: they are waited for, past a fault of Spark's Kafka source, and their batches are reported."""

import json
from collections.abc import Callable
from typing import Any

from pyspark.errors import PySparkException, StreamingQueryException
from pyspark.sql.streaming.query import StreamingQuery

from treaty.core.limits import SOURCE_RESTARTS
from treaty.spark.pipelines.restarts import is_source_fault
from treaty.spark.pipelines.runner import ENDED as BATCH_LEFT

OUT = "treaty_out"
"""The name under which the rows of a result are counted (`observe`)."""


class NewVersionError(Exception):
    """A subject has a version that the running query does not know: the query starts again, before anything of the batch is written."""


def is_left(error: PySparkException) -> bool:
    """Whether a query ended before a batch on purpose: the next start continues with it."""
    return BATCH_LEFT in str(error) or NewVersionError.__name__ in str(error)


def work_off(start: Callable[[], StreamingQuery], *, again: bool = True) -> list[dict[str, Any]]:
    """Start a query that ends by itself, wait for its end, and return what Spark says of its batches.

    The fault in the figures of Spark's Kafka source (`is_source_fault`) ends a query behind a batch that is whole. The query is
    started `again` then, unless that batch is all that is wanted. Raises `StreamingQueryException`.
    """
    progress: list[dict[str, Any]] = []
    for restarts in range(SOURCE_RESTARTS + 1):
        query = start()
        try:
            query.awaitTermination()
        except StreamingQueryException:
            if not is_source_fault(query) or restarts == SOURCE_RESTARTS:
                raise
            progress += (*_list_progress(query), read_whole_batch(query))
            if again:
                continue
            break
        progress += _list_progress(query)
        break
    return progress


def _list_progress(query: StreamingQuery) -> list[dict[str, Any]]:
    return [json.loads(one.json) for one in query.recentProgress]


def read_whole_batch(query: StreamingQuery) -> dict[str, Any]:
    """Return the progress of the last batch of a query that the fault in the figures of Spark's Kafka source has ended (`is_source_fault`).

    The batch is whole, but Spark has made no progress of it: its number and its observed metrics are in the execution itself. Rows
    that came in are those that were counted of its sources, which excludes those of the result (`OUT`).
    """
    execution = query._jsq.streamingQuery().lastExecution()  # noqa: SLF001 (no progress was made of it)
    metrics = execution.observedMetrics()
    names = metrics.keysIterator()
    observed: dict[str, dict[str, Any]] = {}
    while names.hasNext():
        name = names.next()
        observed[name] = json.loads(metrics.apply(name).json())
    rows = sum(int(one.get("rows") or 0) for name, one in observed.items() if name != OUT)
    return {"batchId": execution.currentBatchId(), "numInputRows": rows, "observedMetrics": observed}
