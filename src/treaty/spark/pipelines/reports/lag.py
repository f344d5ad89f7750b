"""How far a stream is behind the ends of its topics: by Spark's own progress while it runs, by Kafka's answers else."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from treaty.client.kafka.topics import find_end_offsets
from treaty.core.kafka import KafkaCluster, translate_setting
from treaty.spark.pipelines.source import KafkaSource, read_client_settings

Offsets = Mapping[str, Mapping[int, int]]
"""Topic and partition to the next offset."""


@dataclass(frozen=True, slots=True)
class StreamProgress:
    """How much of its source a stream has read: offsets of a topic, from where it began to where the topic ended."""

    read: int
    total: int

    @property
    def lag(self) -> int:
        """What is left."""
        return max(0, self.total - self.read)


def parse_offsets(text: object) -> dict[str, dict[int, int]]:
    """Offsets as Spark reports them; nothing where they are not those of topics."""
    parsed = text
    if isinstance(text, str):
        try:
            parsed = json.loads(text)
        except ValueError:
            return {}
    if not isinstance(parsed, dict) or not all(isinstance(one, dict) for one in parsed.values()):
        return {}
    parts = {topic: {int(number): offset for number, offset in some.items()} for topic, some in parsed.items()}
    return parts if all(isinstance(one, int) for some in parts.values() for one in some.values()) else {}


def count_behind(read: Offsets, end: Offsets) -> StreamProgress:
    """The records of `end` that were not read; partitions that `read` lacks count from their beginning."""
    pairs = [(read.get(topic, {}).get(number, 0), last) for topic, some in end.items() for number, last in some.items()]
    return StreamProgress(sum(min(done, last) for done, last in pairs), sum(last for _, last in pairs))


def measure_progress(query: StreamingQuery) -> StreamProgress | None:
    """The progress of a running stream; None where its source is no topic, and before its first batch."""
    last = query.lastProgress
    sources = json.loads(last.json)["sources"] if last is not None else []
    if len(sources) != 1:
        return None
    read, end = parse_offsets(sources[0].get("endOffset")), parse_offsets(sources[0].get("latestOffset"))
    return count_behind(read, end) if end else None


def read_last_offsets(spark: SparkSession, checkpoint: str, batch: int) -> dict[str, dict[int, int]]:
    """The offsets up to which a batch read, from the checkpoint."""
    try:
        lines = spark.read.text(f"{checkpoint}/offsets/{batch}").collect()
    except AnalysisException:
        return {}
    return parse_offsets(lines[-1]["value"]) if lines else {}


def ask_end_offsets(source: KafkaSource, read: Offsets) -> dict[str, dict[int, int]]:
    """The ends of the source's topics now. Raises `KafkaClientError` or `KafkaMissingError`."""
    settings = [
        pair
        for name, value in read_client_settings(source).items()
        for pair in translate_setting(name, value, "the pipeline")
    ]
    cluster = KafkaCluster(source.servers, tuple(settings))
    return {topic: find_end_offsets(cluster, topic) for topic in source.topics or sorted(read)}
