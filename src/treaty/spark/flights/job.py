"""The demo's streaming jobs: events from files into two Delta tables a topic."""

from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from treaty.core.registry import Registry
from treaty.spark.flights.dimensions import DIMENSIONS
from treaty.spark.flights.places import Places
from treaty.spark.flights.schemas import SUBJECT
from treaty.spark.pipelines.running import start
from treaty.spark.pipelines.value import Pipeline, Watch


def run(spark: SparkSession, registry: Registry, places: Places, watch: Watch) -> StreamingQuery:
    """Start the stream of flights, or go on from its checkpoint."""
    return _start(spark, registry, places, SUBJECT, watch=watch)


def dimensions(spark: SparkSession, registry: Registry, root: Path) -> dict[str, int]:
    """Read the topics that flights are joined with, all at once and to their ends; the number of events of each."""
    begun = {
        one.name: _start(spark, registry, Places(root, one.name), one.subject, available=True) for one in DIMENSIONS
    }
    for query in begun.values():
        query.awaitTermination()  # raises what the stream died of
    return {name: spark.read.parquet(Places(root, name).truth).count() for name in begun}


def _start(
    spark: SparkSession,
    registry: Registry,
    places: Places,
    subject: str,
    *,
    watch: Watch = lambda _: None,
    available: bool = False,
) -> StreamingQuery:
    frames = spark.readStream.schema("offset BIGINT, value BINARY")
    source = frames.option("maxFilesPerTrigger", 1).parquet(places.events)
    pipeline = Pipeline(
        subject,
        places.good,
        places.bad,
        places.checkpoint,
        keep=("offset",),
        with_id="schema_id",
        with_version="schema_version",
    )
    return start(pipeline, source, registry, watch=watch, available=available)
