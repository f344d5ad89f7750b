"""Two queries run as streams over the same batches in the same order, so that watermarks, late rows and open windows count in their results."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from treaty.core.column_types import lower_name
from treaty.core.column_types.tokens import print_name
from treaty.core.limits import COMPARE_BATCHES
from treaty.core.sources import CHANGES, QueryPlan, Source
from treaty.spark.lake.table import make_empty_frame
from treaty.spark.planner.pseudo_columns import list_words
from treaty.spark.planner.views import STREAM, list_deduplicated, split_watermark
from treaty.spark.runner.comparison.recorded_sources import ARRIVED, RecordedSource
from treaty.spark.runner.row_order import ORDER, keep_last, propagate_order

BATCH = "_treaty_batch"
BATCHES = "as batches: no query keeps state within a watermark, so that streams come to the same rows"
FIRST_TIME = 1_600_000_000
"""The time of the file of the first batch, in seconds since the epoch; Spark reads files in the order of their times."""
LOOK_SECONDS = 1
"""Seconds after which a wait for a stream looks whether the comparison is given up."""


@dataclass(frozen=True, slots=True)
class ComparedWay:
    """How two queries are run, as streams or as batches, and why in words."""

    is_streaming: bool
    words: str


def choose_way(plans: Sequence[QueryPlan], sources: Mapping[str, Source]) -> ComparedWay:
    """Return how queries are compared: as streams where one keeps state over a source with a watermark or DEDUPLICATE.

    `sources` are by their names in small letters. A query that follows a table can't run as a stream here.
    """
    limited = dict.fromkeys(
        sources[lower_name(read.source)].name
        for plan in plans
        for read in plan.reads
        if plan.fingerprint.plan and _has_bound(sources[lower_name(read.source)])
    )
    followed = [sources[lower_name(read.source)] for plan in plans for read in plan.reads if read.mode == CHANGES]
    table = next((one.name for one in followed if one.kind != STREAM), "")
    if not limited:
        return ComparedWay(is_streaming=False, words=BATCHES)
    bound = f"{', '.join(limited)} {'has' if len(limited) == 1 else 'have'} a watermark"
    if table:
        why = f"as batches, although {bound}: the changes of the table {table} are no stream that is read again"
        return ComparedWay(
            is_streaming=False,
            words=f"{why}; late rows, and windows that a stream has not closed yet, are in both results",
        )
    return ComparedWay(
        is_streaming=True,
        words=f"as streams, since {bound}: late rows are left out, and windows come once they are over",
    )


def _has_bound(source: Source) -> bool:
    names = dict(source.properties)
    return source.kind == STREAM and bool(names.get("WATERMARK") or names.get("DEDUPLICATE"))


@dataclass(frozen=True, slots=True)
class StreamedRows:
    """All rows that a stream came to; of a table the last one of each key. `late` and `open` are rows of its state: left out, and still there."""

    rows: DataFrame
    late: int
    open: int


@dataclass(frozen=True, slots=True)
class ComparedStreams:
    """Runs queries as streams over recorded sources, whose batches are files below an empty folder. `ending` gives up."""

    session: SparkSession
    recorded: Mapping[str, RecordedSource]
    folder: Path
    ending: Event

    def write_batches(self) -> int:
        """Write the rows of all streams as batches in the order in which they came, and return their number."""
        streams = {name: recorded for name, recorded in self.recorded.items() if recorded.source.kind == STREAM}
        times: set[int] = set()
        for recorded in streams.values():
            if recorded.source.connector != "kafka":
                times.update(row[0] for row in recorded.rows.select(ARRIVED).distinct().collect())
        cuts = cut_times(sorted(times), COMPARE_BATCHES)
        has_topics = any(recorded.source.connector == "kafka" for recorded in streams.values())
        number = COMPARE_BATCHES if has_topics else len(cuts) + 1
        for name, recorded in streams.items():
            own = range(1, COMPARE_BATCHES) if recorded.source.connector == "kafka" else cuts
            batch = sum(((F.col(ARRIVED) >= cut).cast("int") for cut in own), F.lit(0))
            numbered = recorded.rows.withColumn(BATCH, batch)
            for place in range(number):
                rows = numbered.where(F.col(BATCH) == place).drop(BATCH, ARRIVED).coalesce(1)
                ordered = rows.sortWithinPartitions(ORDER) if ORDER in rows.columns else rows
                self._write(ordered, name, place)
        return number

    def _write(self, rows: DataFrame, name: str, place: int) -> None:
        folder = self._place(name) / f"{place:05}"
        rows.write.parquet(str(folder))
        for file in folder.glob("*.parquet"):
            os.utime(file, (FIRST_TIME + place,) * 2)

    def _place(self, name: str) -> Path:
        return self.folder / f"s{[*self.recorded].index(name)}"

    def run(self, plan: QueryPlan, key: tuple[str, ...], name: str) -> StreamedRows:
        """Return the rows of a query, whose files and state are kept under a name. Raises `StreamingQueryException`."""
        words = list_words(plan.body)
        for read in plan.reads:
            frame = self._open(lower_name(read.source), words)
            frame.drop(ORDER).createOrReplaceTempView(print_name(read.spelling or read.source))
        result = self.session.sql(plan.body)
        ordered = propagate_order(result) if key else result
        out = self.folder / f"{name}-rows"

        def write(batch: DataFrame, number: int) -> None:
            batch.withColumn(BATCH, F.lit(number)).write.mode("append").parquet(str(out))

        writer = ordered.writeStream.outputMode(plan.output_mode).trigger(availableNow=True).foreachBatch(write)
        query = writer.option("checkpointLocation", str(self.folder / f"{name}-checkpoint")).start()
        while not query.awaitTermination(LOOK_SECONDS):
            if self.ending.is_set():
                query.stop()
        states = [json.loads(one.json)["stateOperators"] for one in query.recentProgress]
        late = sum(int(one.get("numRowsDroppedByWatermark", 0)) for state in states for one in state)
        left = (
            sum(int(one.get("numRowsTotal", 0)) for one in states[-1]) if states and plan.output_mode == "append" else 0
        )
        rows = make_empty_frame(self.session, ordered.withColumn(BATCH, F.lit(0)).schema)
        if out.exists():
            rows = self.session.read.schema(rows.schema).parquet(str(out))
        if not key:
            return StreamedRows(rows.drop(BATCH), late, left)
        order = F.struct(BATCH, *([ORDER] if ORDER in rows.columns else []))
        return StreamedRows(keep_last(rows.withColumn(ORDER, order).drop(BATCH), key), late, left)

    def _open(self, name: str, words: Sequence[str]) -> DataFrame:
        """The batches of a stream with its watermark and its DEDUPLICATE, or the rows of a table."""
        recorded = self.recorded[name]
        if recorded.source.kind != STREAM:
            return recorded.select(words)
        reader = self.session.readStream.schema(recorded.rows.drop(ARRIVED).schema).option("maxFilesPerTrigger", 1)
        named = {*words, *list_words(watermark := dict(recorded.source.properties).get("WATERMARK", ""))}
        names = list_deduplicated(recorded.source)
        files = reader.option("recursiveFileLookup", "true").parquet(str(self._place(name)))
        frame = recorded.select([*named, *map(lower_name, names)], files)
        if watermark:
            frame = frame.withWatermark(*split_watermark(watermark))
        return frame.dropDuplicatesWithinWatermark(names) if names else frame


def cut_times(times: Sequence[int], limit: int) -> list[int]:
    """Return the times at which the second and each later batch begins, of `limit` batches at most; `times` are sorted, each is there once."""
    if len(times) <= limit:
        return [*times[1:]]
    return [times[len(times) * number // limit] for number in range(1, limit)]
