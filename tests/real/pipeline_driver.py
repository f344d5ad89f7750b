"""A driver that tests kill: a stream over the same files into each format of tables that was named, every step told on stdout."""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from subprocess import Popen
from typing import Any

from pyspark import SparkContext
from pyspark.sql import SparkSession

from tests.servers.small import SMALL
from treaty.assemble import connect
from treaty.spark import BatchEvent, FilesSource, LakeTable, Pipeline, StreamTrigger, run, session
from treaty.spark.lake import tables
from treaty.spark.lake.table import FORMATS
from treaty.spark.session import QUICK_START


def pipeline(root: Path, format_: str) -> Pipeline:
    good, bad = (LakeTable(str(root / format_ / name), format_) for name in ("good", "bad"))
    source = FilesSource(str(root / "in"), schema="offset BIGINT, value BINARY", most=1)
    checkpoint = str(root / format_ / "checkpoint")
    trigger = StreamTrigger("available")
    return Pipeline(
        "orders-value", good, bad, checkpoint, keep=("offset",), with_version="version", source=source, trigger=trigger
    )


def run_streams(
    spark: SparkSession, root: Path, formats: Sequence[str], on_step: Callable[[str, BatchEvent], None]
) -> None:
    """Run a stream into each of the formats, side by side, until all files are read."""
    with connect(f"sqlite://{root / 'registry.db'}") as registry:
        queries = [run(pipeline(root, one), registry, spark, on_event=partial(on_step, one)) for one in formats]
        for query in queries:
            query.awaitTermination()


def read_tables(spark: SparkSession, root: Path, formats: Sequence[str]) -> dict[str, dict[str, list[list[Any]]]]:
    """What the tables hold once all there is has been read: good and bad rows by format."""
    run_streams(spark, root, formats, lambda *_: None)
    rows = {}
    for format_ in formats:
        stream = pipeline(root, format_)
        good = tables.read(spark, stream.good_table).select("offset", "n", "version").collect()
        bad = tables.read(spark, stream.bad_table).select("offset", "code").collect()
        rows[format_] = {"good": [list(row) for row in good], "bad": [list(row) for row in bad]}
    return rows


def main(root: Path, formats: Sequence[str], *, reading: bool) -> None:
    """Go on until all files are read; then, where it is wanted, read the tables."""
    spark = session(
        "treaty kills", master="local[2]", memory="1g", iceberg=True, java_options=QUICK_START, settings=SMALL
    )
    spark.sparkContext.setLogLevel("ERROR")

    def tell(format_: str, step: BatchEvent) -> None:
        # In one piece: the streams tell from threads of their own, and `print` writes the end of a line apart.
        sys.stdout.write(f"{format_} {step.batch} {step.name}\n")
        sys.stdout.flush()

    run_streams(spark, root, formats, tell)
    if reading:
        read_tables(spark, root, formats)
    print("ended", flush=True)
    spark.stop()
    wait_for_jvm()


def wait_for_jvm() -> None:
    """Let the JVM end in order, and wait for it: it leaves its archive of classes when it ends, and whoever started this program kills it after."""
    process: Popen[bytes] = getattr(SparkContext._gateway, "proc")  # noqa: B009 (the type of the gateway has no process)
    if process.stdin is not None:
        process.stdin.close()  # it ends with its stdin
    process.wait()


if __name__ == "__main__":
    named = [one for one in sys.argv[2:] if one in FORMATS]
    main(Path(sys.argv[1]), named or FORMATS, reading="--read" in sys.argv)
