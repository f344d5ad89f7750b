"""The streams of the demo. Each reads the events of a topic from files, and writes two Delta tables: good rows and bad rows."""

from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from examples.demo.dimensions import DIMENSIONS
from examples.demo.paths import DemoPaths
from examples.demo.schemas import SUBJECT
from treaty.core.registry import Registry
from treaty.spark.pipelines.runner import start
from treaty.spark.pipelines.value import OnEvent, Pipeline


def run(spark: SparkSession, registry: Registry, paths: DemoPaths, on_event: OnEvent) -> StreamingQuery:
    """Start the stream of flights, or continue from its checkpoint."""
    return _start(spark, registry, paths, SUBJECT, on_event=on_event)


def start_dimensions(spark: SparkSession, registry: Registry, root: Path) -> dict[str, StreamingQuery]:
    """Start a stream for each topic that flights are joined with; it ends at the end of the topic."""
    return {
        dimension.name: _start(spark, registry, DemoPaths(root, dimension.name), dimension.subject, available=True)
        for dimension in DIMENSIONS
    }


def finish_dimensions(spark: SparkSession, root: Path, queries: Mapping[str, StreamingQuery]) -> dict[str, int]:
    """Wait for the ends of these streams. Return the number of events of each topic."""
    for query in queries.values():
        query.awaitTermination()  # raises the error that ended the stream
    return {name: spark.read.parquet(DemoPaths(root, name).truth).count() for name in queries}


def _start(
    spark: SparkSession,
    registry: Registry,
    paths: DemoPaths,
    subject: str,
    *,
    on_event: OnEvent = lambda _: None,
    available: bool = False,
) -> StreamingQuery:
    # Any stream with a binary column will do: here files, one a batch; elsewhere spark.readStream.format("kafka").
    frames = spark.readStream.schema("offset BIGINT, value BINARY")
    source = frames.option("maxFilesPerTrigger", 1).parquet(paths.events)
    pipeline = Pipeline(
        subject,
        paths.good,
        paths.bad,
        paths.checkpoint,
        keep=("offset",),
        with_id="schema_id",
        with_version="schema_version",
    )
    return start(pipeline, source, registry, on_event=on_event, available=available)
