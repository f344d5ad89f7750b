"""A driver that tests kill: a stream over the same files into each format of tables that was named, every step told on stdout."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

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


def main(root: Path, formats: Sequence[str], *, reading: bool) -> None:
    """Go on until all files are read; then, where it is wanted, write down what the tables hold."""
    spark = session(
        "treaty kills", master="local[2]", memory="1g", iceberg=True, java_options=QUICK_START, settings=SMALL
    )
    spark.sparkContext.setLogLevel("ERROR")
    with connect(f"sqlite://{root / 'registry.db'}") as registry:

        def started(format_: str) -> object:
            def watch(step: BatchEvent) -> None:
                # In one piece: the streams tell from threads of their own, and `print` writes the end of a line apart.
                sys.stdout.write(f"{format_} {step.batch} {step.name}\n")
                sys.stdout.flush()

            return run(pipeline(root, format_), registry, spark, on_event=watch)

        for query in [started(one) for one in formats]:
            query.awaitTermination()  # type: ignore[attr-defined] # a query of Spark
    if reading:
        held = {}
        for format_ in formats:
            mine = pipeline(root, format_)
            good = tables.read(spark, mine.good_table).select("offset", "n", "version").collect()
            bad = tables.read(spark, mine.bad_table).select("offset", "code").collect()
            held[format_] = {"good": [list(row) for row in good], "bad": [list(row) for row in bad]}
        (root / "held.json").write_text(json.dumps(held), "utf-8")
    print("ended", flush=True)
    spark.stop()


if __name__ == "__main__":
    named = [one for one in sys.argv[2:] if one in FORMATS]
    main(Path(sys.argv[1]), named or FORMATS, reading="--read" in sys.argv)
