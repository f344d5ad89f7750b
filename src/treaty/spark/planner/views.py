"""Empty views made from rows of the metastore: the names that a body may read, with their columns, and nothing behind them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from treaty.core.column_types.tokens import print_name
from treaty.core.sources import Source, SourceColumn
from treaty.spark.planner.questions import BodyRefusedError, ReadableSource

STREAM = "STREAM"


def make_views(spark: SparkSession, sources: Iterable[ReadableSource], root: Path, *, streaming: bool = True) -> None:
    """Make a temporary view of each source, over an empty folder of its own below `root`.

    Streams are streaming views with their watermark and their DEDUPLICATE; all others, and with `streaming` false streams too, are
    views of an empty table.
    """
    for source in sources:
        make_frame(spark, source, root, streaming=streaming).createOrReplaceTempView(print_name(source.name))


def make_frame(spark: SparkSession, source: ReadableSource, root: Path, *, streaming: bool = True) -> DataFrame:
    """Return the empty frame of a source."""
    folder = root / f"g{source.generation}"
    folder.mkdir(parents=True, exist_ok=True)
    ddl = ", ".join(map(_print_column, source.columns))
    if not streaming or source.kind != STREAM:
        return spark.read.schema(ddl).parquet(str(folder))
    frame = spark.readStream.schema(ddl).parquet(str(folder))
    if source.watermark:
        column, delay = split_watermark(source.watermark)
        frame = frame.withWatermark(column, delay)
    if source.deduplicate:
        frame = frame.dropDuplicatesWithinWatermark(list(source.deduplicate))
    return frame


def _print_column(column: SourceColumn) -> str:
    return f"{print_name(column.name)} {column.type}{'' if column.nullable else ' NOT NULL'}"


def split_watermark(watermark: str) -> tuple[str, str]:
    """Return the column and the delay of the property WATERMARK, ``ts DELAY OF INTERVAL 10 seconds``."""
    column, _, delay = watermark.partition(" DELAY OF INTERVAL ")
    return column.strip("`").replace("``", "`"), delay


def list_deduplicated(source: Source) -> list[str]:
    """Return the columns of DEDUPLICATE."""
    words = dict(source.properties).get("DEDUPLICATE", "").split(",")
    return [word.strip().strip("`") for word in words if word.strip()]


def keep_columns(
    sources: Sequence[ReadableSource], needed: Mapping[str, set[str]], words: Collection[str] = ()
) -> tuple[ReadableSource, ...]:
    """Return the sources with the columns alone that a body needs, or whose names are among `words`, in the order of their names.

    What else a source has, and where its columns are, is nothing to the state of a query. `needed` has names of columns in
    small letters, by name of the source in small letters.
    """
    result = []
    for source in sources:
        own = {split_watermark(source.watermark)[0].lower()} if source.watermark else set()
        names = {*needed.get(source.name.lower(), ()), *words, *own, *(column.lower() for column in source.deduplicate)}
        columns = [column for column in source.columns if column.name.lower() in names]
        columns = sorted(columns, key=lambda one: one.name) or [*source.columns[:1]]
        result.append(replace(source, columns=tuple(columns)))
    return tuple(result)


def refuse_bad_watermark(source: ReadableSource) -> None:
    """Raise `BodyRefusedError` where rows are to be deduplicated within a watermark that the source has not."""
    if source.deduplicate and not source.watermark:
        raise BodyRefusedError(
            "WATERMARK_MISSING",
            f"{source.name} has DEDUPLICATE and no WATERMARK: all rows would be kept, without bound",
            "WATERMARK = 'ts DELAY OF INTERVAL 10 seconds' on the source",
        )
