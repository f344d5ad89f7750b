"""A driver that tests kill: streams of events over the same files into tables of each kind, every write told on stdout."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from tests.self_describing import CONFIG
from tests.servers.small import SMALL
from treaty.client.iglu import Resolver, embedded_registry
from treaty.spark import FilesSource, LakeTable, StreamTrigger, session
from treaty.spark.iglu import EventPipeline, run_events
from treaty.spark.lake import tables
from treaty.spark.lake.table import FORMATS, WriteId
from treaty.spark.session import QUICK_START

SHAPES = ("columns", "models")
"""One good table with a column for each model, or a table for each model."""
STREAMS = tuple(f"{format_}-{shape}" for format_ in FORMATS for shape in SHAPES)


def pipeline(root: Path, stream: str) -> EventPipeline:
    """The pipeline of a stream, named by the format of its tables and their shape."""
    format_, shape = stream.split("-")
    place = root / stream
    good = LakeTable(str(place / ("{model}" if shape == "models" else "good")), format_)
    source = FilesSource(str(root / "in"), schema="number BIGINT, value STRING", most=1)
    return EventPipeline(
        good, LakeTable(str(place / "bad"), format_), str(place / "checkpoint"), keep=("number",), source=source,
        trigger=StreamTrigger("available"), patience=0.0,
    )  # fmt: skip


def open_resolver(root: Path) -> Resolver:
    """The resolver of all streams: the schemas are files, which a test adds to."""
    return Resolver(CONFIG, registries=(embedded_registry("files", root / "iglu"),))


def finish(spark: SparkSession, root: Path, streams: Sequence[str]) -> None:
    """Go on with streams, side by side, until they have read all files."""
    with open_resolver(root) as resolver:
        for query in [run_events(pipeline(root, one), resolver, spark) for one in streams]:
            query.awaitTermination()


def held(spark: SparkSession, root: Path, stream: str, models: Sequence[str]) -> dict[str, list[list[Any]]]:
    """What the tables of a stream hold: number, version, id and count of each part by model; number and code of bad events."""
    mine = pipeline(root, stream)
    found: dict[str, list[list[Any]]] = {}
    for model in models:
        if "{model}" in mine.good_table.place:
            table = LakeTable(mine.good_table.place.replace("{model}", model), mine.good_table.format)
            rows = tables.read(spark, table)
        else:
            rows = tables.read(spark, mine.good_table).selectExpr("number", f"inline({model})")
        found[model] = [list(row) for row in rows.select("number", "_schema_version", "id", "count").collect()]
    bad = tables.read(spark, mine.bad_table).selectExpr("number", "failures[0].code")
    return {**found, "bad": [list(row) for row in bad.collect()]}


def tell_writes(root: Path) -> None:
    """Tell the begin and the end of every write of a table, of the stored schemas of a batch too."""
    append = tables.append

    def write(frame: DataFrame, table: LakeTable, batch: WriteId, *rest: Any) -> None:
        stream, _, name = table.place.removeprefix(f"{root}/").partition("/")
        for word in ("begins", "wrote"):
            # In one piece: the streams tell from threads of their own, and `print` writes the end of a line apart.
            sys.stdout.write(f"{stream} {batch.number} {name} {word}\n")
            sys.stdout.flush()
            if word == "begins":
                append(frame, table, batch, *rest)

    vars(tables)["append"] = write


def main(root: Path, streams: Sequence[str]) -> None:
    """Go on until all files are read."""
    formats = {one.split("-")[0] for one in streams}
    spark = session(
        "treaty kills", master="local[2]", memory="1g", delta="delta" in formats, iceberg="iceberg" in formats,
        java_options=QUICK_START, settings=SMALL,
    )  # fmt: skip
    spark.sparkContext.setLogLevel("ERROR")
    tell_writes(root)
    finish(spark, root, streams)
    print("ended", flush=True)
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
