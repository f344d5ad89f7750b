"""Queries of tests carried out as streams: each GIVEN of a source is a batch of its own, and windows come once the watermark has passed them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession

from treaty.core.column_types.tokens import print_name
from treaty.spark.planner.questions import BodyPlan, ReadableSource
from treaty.spark.planner.views import split_watermark

APPEND = "append"


@dataclass(frozen=True, slots=True)
class StreamBatches:
    """A stream that a query reads: the source, and the rows of each of its batches, one frame at least."""

    source: ReadableSource
    batches: Sequence[DataFrame]


def run_stream(
    spark: SparkSession, plan: BodyPlan, streams: Mapping[str, StreamBatches], folder: Path, kind: str = "STREAM"
) -> DataFrame:
    """Return all rows that a query has given once its batches are worked off: of a table the last row of each key.

    `streams` are by the names of their views; views of tables are there already. `folder` is an empty folder for the batches and the state.
    """
    for place, (view, stream) in enumerate(streams.items()):
        _open_stream(spark, stream, folder / f"s{place}").createOrReplaceTempView(print_name(view))
    result = spark.sql(plan.plan.body)
    rows: list[Row] = []
    writer = result.writeStream.outputMode(plan.plan.output_mode).trigger(availableNow=True)
    query = (
        writer.option("checkpointLocation", str(folder / "checkpoint"))
        .foreachBatch(lambda batch, _number: rows.extend(batch.collect()))
        .start()
    )
    query.awaitTermination()
    if kind != "STREAM" and plan.plan.key:
        newest: dict[tuple[Any, ...], Row] = {tuple(repr(row[name]) for name in plan.plan.key): row for row in rows}
        rows = [*newest.values()]
    return spark.createDataFrame(rows, result.schema)


def _open_stream(spark: SparkSession, stream: StreamBatches, folder: Path) -> DataFrame:
    """The stream of batches: each is a file, and files come one by one in the order in which they were written."""
    for number, batch in enumerate(stream.batches):
        batch.coalesce(1).write.parquet(str(folder / f"{number:05}"))
    reader = spark.readStream.schema(stream.batches[0].schema).option("maxFilesPerTrigger", 1)
    frame = reader.option("recursiveFileLookup", "true").parquet(str(folder))
    if stream.source.watermark:
        frame = frame.withWatermark(*split_watermark(stream.source.watermark))
    names = list(stream.source.deduplicate)
    return frame.dropDuplicatesWithinWatermark(names) if names else frame
