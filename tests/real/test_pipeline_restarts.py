"""A stream that comes back by itself from the fault of Spark's Kafka source, and streams that fail beside others."""

from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from tests.frames import frame
from tests.real.pipeline_files import V1, Lines, put, sound
from tests.servers.kafka import Kafka
from treaty.client.connection import Connection
from treaty.spark import (
    BatchEvent,
    KafkaSource,
    LakeTable,
    Pipeline,
    PipelineQuery,
    PipelinesFailedError,
    StreamTrigger,
    run,
    wait_for_all,
)
from treaty.spark.lake import tables

pytestmark = pytest.mark.jvm


class CutOffError(Exception):
    """A batch ends in its middle."""


def cut_off(step: BatchEvent) -> None:
    if step.name == "good":
        raise CutOffError


def filled(kafka: Kafka, topic: str, schema_id: int, numbers: range) -> None:
    producer = Producer({"bootstrap.servers": kafka.bootstrap, "log_level": 0})
    for n in numbers:
        producer.produce(topic, frame(schema_id, V1, {"name": "x", "n": n}))
    producer.flush(60)


def waited(query: PipelineQuery) -> None:
    try:
        assert query.awaitTermination(120), "the stream has an end"
    finally:
        query.stop()


def test_a_pipeline_on_kafka_comes_back_by_itself_after_a_batch_that_was_cut_off(
    spark: SparkSession, kafka: Kafka, topic: str, registry: Connection, tmp_path: Path
) -> None:
    """The batch that runs again ends in the fault; the query starts anew behind it, and the rest is read."""
    schema_id = put(registry, V1, f"{topic}-value")
    filled(kafka, topic, schema_id, range(20))
    good, bad = (LakeTable(str(tmp_path / name), "parquet") for name in ("good", "bad"))
    source = KafkaSource(kafka.bootstrap, (topic,))
    pipeline = Pipeline("", good, bad, str(tmp_path / "checkpoint"), source=source, trigger=StreamTrigger("available"))
    cut = run(pipeline, registry, spark, on_event=cut_off)
    with pytest.raises(StreamingQueryException, match="CutOffError"):
        waited(cut)
    assert cut.restarts == 0, "any other error ends the stream"
    filled(kafka, topic, schema_id, range(20, 30))

    reports: list[Any] = []
    again = run(pipeline, registry, spark, on_report=reports.append)
    waited(again)
    assert (again.restarts, again.isActive, again.exception()) == (1, False, None)
    assert [one.batch for one in reports] == [0, 1]
    assert sorted(row["n"] for row in tables.read(spark, good).collect()) == list(range(30))


def test_a_stream_that_fails_interrupts_no_other(spark: SparkSession, registry: Connection, tmp_path: Path) -> None:
    lines = [Lines(spark, tmp_path / name) for name in ("one", "two")]
    schema_id = put(registry, V1, "orders-value")
    for each in lines:
        each.root.mkdir()
        for turn in range(2):
            each.write(*sound(schema_id, V1, turn))
    fails = run(lines[0].pipeline, registry, spark, on_event=cut_off)
    goes_on = run(lines[1].pipeline, registry, spark)
    with pytest.raises(PipelinesFailedError, match="1 of 2 streams failed") as caught:
        wait_for_all(fails, goes_on)
    (failure,) = caught.value.exceptions
    assert isinstance(failure, StreamingQueryException)
    assert fails.exception() is failure
    assert goes_on.exception() is None
    lines[1].check()
