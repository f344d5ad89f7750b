"""Which bad rows a query has read, and by which of its plans: the place of a row against the offsets of the query's checkpoint."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from treaty.core.sources import Source
from treaty.spark.pipelines.reports.lag import parse_offsets
from treaty.spark.runner.decode_ledger import DecodeEntry

ENTRY = "_treaty_entry"
"""The place of an entry of the ledger, or one of these."""
BEFORE, UNREAD = -1, -2
"""The query began to read behind the row, or has not come to it."""
_AT = "_treaty_at"
_FILES = "path STRING, batchId BIGINT"


@dataclass(frozen=True, slots=True)
class QueryReadRange:
    """What a query has read of a source: the entries of its ledger, and up to which offsets; `at` is the place of the source among those of its checkpoint."""

    entries: Sequence[DecodeEntry]
    end: Sequence[str] | None
    at: int
    log: str
    """Spark's log of the files of the source in the checkpoint."""
    places: Sequence[str] = ()
    """The checkpoints whose rows are in what the query fills: its own, and those of the queries before that it continues."""


def locate_rows(rows: DataFrame, source: Source, read_range: QueryReadRange) -> DataFrame:
    """Return the rows with the column `ENTRY`: the entry by which the query has read each."""
    if read_range.end is None or read_range.at >= len(read_range.end) or not read_range.entries:
        return rows.withColumn(ENTRY, F.lit(UNREAD))
    starts = [_offset_of(one.offsets, read_range.at) for one in read_range.entries]
    end = read_range.end[read_range.at]
    if source.connector == "kafka":
        place, partition = F.col("_offset"), F.col("_partition")
        reached = [place >= _kafka_offset(one, source.place, partition) for one in starts]
        is_read = place < _kafka_offset(end, source.place, partition)
    else:
        rows = rows.join(
            _list_files(rows.sparkSession, read_range.log), _name_file(rows["_topic"]) == F.col("path"), "left"
        ).drop("path")
        place = F.col(_AT)
        reached = [place > _file_offset(one) for one in starts]
        is_read = F.coalesce(place <= _file_offset(end), F.lit(False))
    count = sum((F.coalesce(one, F.lit(False)).cast("int") for one in reached), F.lit(0))
    return rows.withColumn(ENTRY, F.when(~F.coalesce(is_read, F.lit(False)), UNREAD).otherwise(count - 1)).drop(_AT)


def _offset_of(offsets: Sequence[str], at: int) -> str:
    return offsets[at] if at < len(offsets) else ""


def _kafka_offset(text: str, topic: str, partition: Column) -> Column:
    """The offset in a text of Spark's for the partition of a row; 0 for a partition that came later."""
    offsets: Mapping[int, int] = parse_offsets(text).get(topic, {})
    if not offsets:
        return F.lit(0)
    pairs = [F.lit(one) for pair in offsets.items() for one in pair]
    return F.coalesce(F.element_at(F.create_map(*pairs), partition), F.lit(0))


def _file_offset(text: str) -> int:
    try:
        return int(json.loads(text)["logOffset"])
    except (ValueError, TypeError, KeyError):
        return -1


def _list_files(spark: SparkSession, log: str) -> DataFrame:
    """The files that a query has seen, with their places in its log."""
    lines = spark.read.text(log).where("value LIKE '{%'")
    entries = lines.select(F.from_json("value", _FILES).alias("file")).select(
        _name_file(F.col("file.path")).alias("path"), F.col("file.batchId").alias(_AT)
    )
    return entries.groupBy("path").agg(F.min(_AT).alias(_AT))


def _name_file(path: Column) -> Column:
    """The URL of a file as it is compared: Spark writes those of a disk with one slash, or with three."""
    return F.regexp_replace(path, "^file:/+", "file:/")
