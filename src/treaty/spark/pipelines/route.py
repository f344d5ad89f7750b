"""`TopicRoute`: the way of one subject's rows through a pipeline, from a topic (or all of the source) into its tables."""

from dataclasses import dataclass, replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from treaty.spark.lake.table import LakeTable
from treaty.spark.pipelines.source import KafkaSource
from treaty.spark.pipelines.value import TOPIC, Pipeline


@dataclass(frozen=True, slots=True)
class TopicRoute:
    """A pipeline of one subject: `topic` is "" where a pipeline has one subject for all that its source has."""

    pipeline: Pipeline
    topic: str = ""

    @property
    def is_one_of_many(self) -> bool:
        """Whether the same pipeline has topics of other subjects too, which may be of another format."""
        source = self.pipeline.source
        return bool(self.topic) and isinstance(source, KafkaSource) and source.many

    def writer(self, query: str) -> str:
        """Whose batches these are: the query's, and the topic's where there may be several."""
        return f"{query}/{self.topic}" if self.topic else query

    def select_rows(self, frame: DataFrame) -> DataFrame:
        """The rows of a frame that go this way."""
        return frame.filter(F.col("topic") == self.topic) if self.topic else frame


def make_route(pipeline: Pipeline, topic: str) -> TopicRoute:
    """The way of a topic's rows: its own subject, and tables with its name in their places."""
    topic_pipeline = replace(
        pipeline,
        subject=f"{topic}-{pipeline.part}",
        good=_with_topic(pipeline.good_table, topic),
        bad=_with_topic(pipeline.bad_table, topic),
    )
    return TopicRoute(topic_pipeline, topic)


def list_routes(pipeline: Pipeline) -> tuple[TopicRoute, ...] | None:
    """The ways that are known before a row is read; None where a pattern says them."""
    if not pipeline.by_topic:
        return (TopicRoute(pipeline),)
    source = pipeline.source
    assert isinstance(source, KafkaSource), "without a subject the source is Kafka"
    return tuple(make_route(pipeline, one) for one in source.topics) or None


def _with_topic(table: LakeTable, topic: str) -> LakeTable:
    return replace(table, place=table.place.replace(TOPIC, topic))
