"""A program as users write them, run by spark-submit on a cluster or against a Connect server: decode, encode, a view, a stream.

It finds frames below a folder and leaves what it made of them there; the tests look at that.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import treaty
from treaty.core.registry import Registry
from treaty.spark import (
    NotOnConnectError,
    Pipeline,
    decode,
    engine_of,
    explain,
    from_avro,
    make_plan,
    start,
    to_avro,
    to_registry,
    view,
)

MESSAGES = {"AVRO": "", "PROTOBUF": "shop.Order", "JSON": ""}


def whereabouts(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Where a Python worker has this library from."""
    import treaty.spark.frames as found  # noqa: PLC0415 (it is asked on the worker)

    for batch in batches:
        yield pa.RecordBatch.from_arrays([pa.array([str(found.__file__)] * batch.num_rows)], ["file"])


def main(url: str, folder: Path, *, remote: bool) -> None:
    """Do it all once; `remote` says that the session is a Connect server's, to which the library is sent."""
    spark = SparkSession.builder.getOrCreate()
    if remote:
        spark.addArtifacts(f"{folder}/treaty.zip", pyfile=True)
    told: dict[str, Any] = {"engine": engine_of(spark)}
    with treaty.connect(url) as registry:
        for name, message in MESSAGES.items():
            engine = told["engine"] if name == "AVRO" else ""
            plan = make_plan(registry, f"{name.lower()}-value", reader="union", message=message, engine=engine)
            frames = spark.read.parquet(f"{folder}/in/{name}")
            decode(frames, plan).select("place", "record", "error").write.parquet(f"{folder}/out/{name}")
            told[f"explain {name}"] = explain(plan, spark)
        encoded(spark, registry, folder)
        frames = spark.read.parquet(f"{folder}/in/AVRO")
        view(frames, registry, "avro-value", "orders")
        told["view"] = [
            tuple(row) for row in spark.sql("SELECT state, count(*) FROM orders GROUP BY 1 ORDER BY 1").collect()
        ]
        column = from_avro("value", subject="avro-value", registry=registry, options={"mode": "PERMISSIVE"})
        told["column"] = frames.select(column.alias("record")).filter("record IS NOT NULL").count()
        rows = frames.select("place", column.alias("record")).filter("record IS NOT NULL")
        written = rows.select("place", to_avro("record", F.lit("avro-value"), url).alias("value"))
        written.write.parquet(f"{folder}/out/column")
        streamed(spark, registry, folder)
        source = spark.readStream.schema(frames.schema).option("maxFilesPerTrigger", 1).parquet(f"{folder}/in/AVRO")
        tables = Pipeline("avro-value", f"{folder}/good", f"{folder}/bad", f"{folder}/checkpoint", keep=("place",))
        try:
            start(tables, source, registry, available=True).awaitTermination()
            told["pipeline"] = [spark.read.format("delta").load(f"{folder}/{name}").count() for name in ("good", "bad")]
        except NotOnConnectError as refused:
            told["refused"] = str(refused)
    found = spark.range(0, 4, 1, 4).mapInArrow(whereabouts, "file STRING").distinct().collect()
    told["library"] = sorted(row["file"] for row in found)
    (folder / "told.json").write_text(json.dumps(told), "utf-8")
    spark.stop()


def encoded(spark: SparkSession, registry: Registry, folder: Path) -> None:
    """The decoded Avro rows as frames again, and those decoded."""
    rows = spark.read.parquet(f"{folder}/out/AVRO").filter("record IS NOT NULL").select("place", "record.*")
    text = make_plan(registry, "avro-value", reader="union").reader
    columns = [name for name in rows.columns if name != "place"]
    frames = to_registry(rows, registry, "again-value", schema=text, register=True, columns=columns)
    frames.select("place", "value").write.parquet(f"{folder}/out/again")


def streamed(spark: SparkSession, registry: Registry, folder: Path) -> None:
    """A stream of one's own: once straight into files, once in batches with a plan that was made before."""
    plan = make_plan(registry, "avro-value", reader="union")
    source = spark.readStream.schema("place INT, value BINARY").option("maxFilesPerTrigger", 1)
    rows = decode(source.parquet(f"{folder}/in/AVRO"), plan, flatten=True).filter(F.col("error").isNull())
    writer = rows.writeStream.format("parquet").option("checkpointLocation", f"{folder}/straight-checkpoint")
    writer.trigger(availableNow=True).start(f"{folder}/straight").awaitTermination()
    text, out = plan.to_json(), f"{folder}/batches"

    def batch(frame: DataFrame, number: int) -> None:
        from treaty.spark import DecodePlan, decode  # noqa: PLC0415 (on Connect this runs in the server's Python)

        made = decode(frame, DecodePlan.from_json(text), flatten=True).filter("error IS NULL")
        made.withColumn("batch", F.lit(number)).write.mode("append").parquet(out)

    own = source.parquet(f"{folder}/in/AVRO").writeStream.foreachBatch(batch)
    own = own.option("checkpointLocation", f"{folder}/batches-checkpoint")
    own.trigger(availableNow=True).start().awaitTermination()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), remote=sys.argv[3] == "connect")
