"""A driver that tests kill: a stream over files into a table with one row per key, every step told on stdout."""

import json
import sys
from dataclasses import asdict
from pathlib import Path

from pyspark.sql import SparkSession

from tests.servers.small import SMALL
from treaty.assemble import connect
from treaty.spark import (
    BatchEvent,
    FilesSource,
    KeyedTableOptions,
    LakeTable,
    Pipeline,
    StreamTrigger,
    run,
    session,
    status,
)
from treaty.spark.keyed.upsert import tombstone_table
from treaty.spark.lake import tables
from treaty.spark.pipelines.batch_history import sum_topics
from treaty.spark.session import QUICK_START


def pipeline(root: Path) -> Pipeline:
    source = FilesSource(str(root / "in"), schema="offset BIGINT, id INT, value BINARY", most=1)
    return Pipeline(
        "orders-value", LakeTable(str(root / "good")), LakeTable(str(root / "bad")), str(root / "checkpoint"), keep=("offset", "id"),
        source=source, trigger=StreamTrigger("available"), keyed=KeyedTableOptions(("id",), version="rev"),
    )  # fmt: skip


def told(step: BatchEvent) -> None:
    print(step.batch, step.name, flush=True)


def write(spark: SparkSession, root: Path) -> None:
    """Write down what the tables hold (that of deleted keys too), and what was counted."""
    mine = pipeline(root)
    parts = {
        "good": tables.read(spark, mine.good_table).select("id", "offset", "name", "rev"),
        "dead": tables.read(spark, tombstone_table(mine.good_table)).select("id", "offset"),
        "bad": tables.read(spark, mine.bad_table).select("offset", "code"),
    }
    held = {name: [list(row) for row in one.collect()] for name, one in parts.items()}
    last = status(mine, spark).last
    assert last is not None
    (root / "held.json").write_text(json.dumps({**held, "counted": asdict(sum_topics(last.total))}), "utf-8")


def main(root: Path, *, reading: bool) -> None:
    """Go on until all files are read; then, where it is wanted, write down what came of them."""
    spark = session("treaty kills", master="local[2]", memory="1g", java_options=QUICK_START, settings=SMALL)
    spark.sparkContext.setLogLevel("ERROR")
    with connect(f"sqlite://{root / 'registry.db'}") as registry:
        run(pipeline(root), registry, spark, on_event=told).awaitTermination()
    if reading:
        write(spark, root)
    print("ended", flush=True)
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), reading="--read" in sys.argv)
