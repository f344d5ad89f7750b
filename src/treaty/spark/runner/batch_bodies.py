"""Bodies without state that run over each batch as a table of its own: over the changes of a table, and beside tables that are files."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from treaty.core.column_types.tokens import print_name
from treaty.core.sources import Source
from treaty.spark.planner.settings import RESTRICTED
from treaty.spark.runner.kafka_sink import KafkaSink
from treaty.spark.runner.row_order import DELETED, ORDER, keep_last, propagate_order
from treaty.spark.runner.sinks import TableSink
from treaty.spark.stream_words import blank_streams


@dataclass(frozen=True, slots=True)
class BatchRead:
    """A source that a body reads, and the name of its view."""

    source: Source
    view: str


@dataclass(frozen=True, slots=True)
class BatchBody:
    """A body over the rows of a batch.

    `followed` is the source whose batches come, `tables` are those whose newest rows are looked up: `open_table` opens one in a session.
    `key` are the columns of the result that hold the key of a followed table, in the order of its key; empty for a stream.
    """

    text: str
    followed: BatchRead
    tables: Sequence[BatchRead]
    open_table: Callable[[SparkSession, Source], DataFrame]
    key: tuple[str, ...] = ()

    def write(self, batch: DataFrame, number: int, open_sink: Callable[[DataFrame], TableSink | KafkaSink]) -> None:
        """Write the result of the body over a batch.

        Of a table the last change of each key counts; a key that the result lacks, since it was deleted or no longer fits, is deleted.
        """
        session = batch.sparkSession
        for name, value in RESTRICTED.items():
            session.conf.set(name, value)
        own = [column.name for column in self.followed.source.columns if column.role == "key"] if self.key else []
        latest = keep_last(batch, tuple(own), keep_order=True) if own else batch
        rows = latest.where(~F.col(DELETED)) if DELETED in latest.columns else latest
        rows.drop(DELETED, ORDER).createOrReplaceTempView(print_name(self.followed.view))
        for read in self.tables:
            self.open_table(session, read.source).createOrReplaceTempView(print_name(read.view))
        result = session.sql(blank_streams(session, self.text))
        sink = open_sink(result)
        if not self.key:
            sink.write(propagate_order(result) if sink.key else result, number)
            return
        keys = latest.select(*(F.col(print_name(old)).alias(new) for old, new in zip(own, self.key, strict=True)))
        sink.write_changes(result, keys, number)
