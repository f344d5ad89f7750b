"""Streams of one's own learn ids as pipelines do; keys and values in one call; frames that nobody looks at before they run."""

from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.frames import frame, header, record
from tests.real.pipeline_files import put
from treaty.client.connection import Connection
from treaty.spark import BatchDecoder, Names, PlanError, decode, from_topic, make_plan
from treaty.spark.encoding.headers import HEADERS_TYPE
from treaty.spark.pipelines.plan_store import NeverRanError

pytestmark = pytest.mark.jvm

V1 = record(("n", "int"))
V2 = record(("n", "long"), ("note", "string", ""))


class _Batches:
    """A program with a stream of its own: each batch of frames becomes a list of numbers and codes."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark, self.folder = spark, folder
        self.made: dict[int, list[tuple[int | None, str | None]]] = {}
        self.asked: list[int] = []
        self.fails = False

    def put(self, *values: bytes) -> None:
        rows = self.spark.createDataFrame([(value,) for value in values], "value BINARY").coalesce(1)
        rows.write.mode("append").parquet(str(self.folder / "in"))

    def run(self, decoder: BatchDecoder) -> None:
        def write(rows: DataFrame, number: int) -> None:
            self.asked.append(number)
            found = decoder.decode(rows, number).select("record.n", "error.code").collect()
            self.made[number] = sorted(((row["n"], row["code"]) for row in found), key=str)
            if self.fails:
                message = "the program ends here"
                raise RuntimeError(message)

        source = self.spark.readStream.schema("value BINARY").option("maxFilesPerTrigger", 1)
        writer = source.parquet(str(self.folder / "in")).writeStream.foreachBatch(write)
        writer = writer.option("checkpointLocation", str(self.folder / "checkpoint"))
        writer.trigger(availableNow=True).start().awaitTermination()

    def decoder(self, registry: Connection) -> BatchDecoder:
        return BatchDecoder(registry, "n-value", str(self.folder / "checkpoint"))


def test_a_stream_of_ones_own_learns_ids_and_repeats_a_batch_as_it_was(
    spark: SparkSession, registry: Connection, tmp_path: Path
) -> None:
    stream, one = _Batches(spark, tmp_path), put(registry, V1, "n-value")
    stream.put(frame(one, V1, {"n": 1}))
    stream.run(stream.decoder(registry))
    two = put(registry, V2, "n-value")
    ahead = (two + 1).to_bytes(5, "big") + b"\2"
    stream.put(frame(two, V2, {"n": 2**40, "note": ""}), ahead)
    stream.fails = True
    with pytest.raises(StreamingQueryException, match="the program ends here"):
        stream.run(stream.decoder(registry))
    assert stream.made == {0: [(1, None)], 1: [(2**40, None), (None, "UNKNOWN_ID")]}

    # The id is known by now, and the batch that runs again must not say so: its rows may be written.
    before, stream.fails = stream.made[1], False
    assert put(registry, record(("n", "int"), name="Other"), "elsewhere") == two + 1
    stream.run(stream.decoder(registry))
    assert stream.made[1] == before
    stream.put(ahead, frame(one, V1, {"n": 3}))
    stream.run(stream.decoder(registry))
    assert stream.made[2] == [(3, None), (None, "WRONG_SUBJECT")]
    assert stream.asked == [0, 1, 1, 2]
    frames = spark.createDataFrame([(ahead,)], "value BINARY")
    with pytest.raises(NeverRanError):
        BatchDecoder(registry, "n-value", str(tmp_path / "nowhere")).plan(frames, 0)


def test_keys_and_values_in_one_call(spark: SparkSession, registry: Connection) -> None:
    key, value = put(registry, '"int"', "n-key"), put(registry, V1, "n-value")
    rows = [(frame(key, '"int"', 7), frame(value, V1, {"n": 1})), (b"", None), (None, b"oops!")]
    found = from_topic(spark.createDataFrame(rows, "key BINARY, value BINARY"), registry, "n")
    assert found.columns == ["key", "value", "key_record", "key_error", "record", "error"]
    picked = found.select("key_record", "key_error.code", "record.n", "error.code").collect()
    assert [tuple(row) for row in picked] == [
        (7, None, 1, None),
        (None, "TOO_SHORT", None, None),
        (None, None, None, "BAD_MAGIC"),
    ]
    plain = from_topic(spark.createDataFrame(rows, "key BINARY, value BINARY"), registry, "n", key="", reader=1)
    assert plain.columns == ["key", "value", "record", "error"]


def test_a_frame_is_decoded_without_a_look_at_its_columns(
    spark: SparkSession, registry: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = put(registry, V1, "n-value"), put(registry, V2, "n-value")
    document = put(registry, '{"type": "object", "properties": {"n": {"type": "integer"}}}', "j-value", "JSON")
    values = [frame(one, V1, {"n": 1}), frame(two, V2, {"n": 2, "note": "x"}), b"oops!", None]
    frames = spark.createDataFrame([(at, value) for at, value in enumerate(values)], "at INT, `value` BINARY")
    documents = spark.createDataFrame([(header(document) + b'{"n": 5}',)], "value BINARY")
    plan = make_plan(registry, "n-value", reader="union")
    wished = [Names(version="v", schema_id="id"), Names(prefix="n_")]
    expected = [decode(frames, plan, names=one, flatten=bool(one.prefix)).orderBy("at").collect() for one in wished]
    stamped = make_plan(registry, "n-value", framing="header")
    workers = make_plan(registry, "n-value", engine="fastavro")

    def refuse(_: DataFrame) -> None:
        raise AssertionError("the frame is analysed")

    with monkeypatch.context() as patch:
        for name in ("schema", "columns", "dtypes"):
            patch.setattr(type(frames), name, property(refuse))
        made = [decode(frames, plan, names=one, flatten=bool(one.prefix), analyze=False) for one in wished]
        read = decode(documents, make_plan(registry, "j-value", engine="spark"), analyze=False)
        with pytest.raises(PlanError, match=r"AVRO by fastavro has to know .* make the plan with engine = 'spark'"):
            decode(frames, workers, analyze=False)
        headed = frames.select("value", F.lit(None).cast(HEADERS_TYPE).alias("headers"))
        prefixed = decode(headed, stamped, analyze=False)
    assert [one.orderBy("at").collect() for one in made] == expected
    assert [one.columns for one in made] == [
        ["at", "value", "record", "error", "id", "v"], ["at", "value", "error", "n_n", "n_note"],
    ]  # fmt: skip
    assert read.select("record.n", "error").collect() == [(5, None)]
    assert prefixed.filter("record IS NOT NULL").count() == 2
