"""Sources of which two queries read the same rows: a range of each is recorded, read and decoded once, and what is left out is counted."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from treaty.core.column_types import lower_name
from treaty.core.column_types.tokens import print_name
from treaty.core.limits import COMPARE_BATCHES
from treaty.core.sources import QueryPlan, Source, SourceColumn
from treaty.metastore.sql.values import ComparedRange
from treaty.spark.lake.table import LakeTable
from treaty.spark.planner.leaf_columns import list_needed
from treaty.spark.planner.pseudo_columns import list_pseudo_columns, list_words
from treaty.spark.planner.views import STREAM, list_deduplicated
from treaty.spark.runner.comparison.compared_filters import filter_rows, find_conditions
from treaty.spark.runner.comparison.recorded_tables import read_snapshots, read_version
from treaty.spark.runner.comparison.row_differences import forget_rows
from treaty.spark.runner.kafka_source import PARTITIONS_OF, RecordedOffsets, record_offsets
from treaty.spark.runner.row_order import ORDER
from treaty.spark.runner.sinks import LAKES
from treaty.spark.runner.source_frames import BAD, BAD_OF, SourceOpener, count_rows, expand_columns, settle

ROW_COUNT = "row_count"
"""The name under which the rows are counted that are kept."""
ARRIVED = "_treaty_arrived"
"""When a row came: the time of its file in ms, and of a topic the share of its partition, from 0 to `COMPARE_BATCHES` - 1."""


@dataclass(frozen=True, slots=True)
class RecordedSource:
    """A source of which both queries read the same.

    `rows` are those that either query may take; they have the columns that either needs, all pseudo-columns that either names, and `ORDER` and `ARRIVED` where they are asked for. `columns`
    are all columns of the source, their types written out. `ranges` says what was read, and `counts` how many records and how many bad ones.
    `row_count` is the number of `rows`; None where both queries read them for themselves.
    """

    source: Source
    columns: tuple[SourceColumn, ...]
    rows: DataFrame
    ranges: tuple[str, ...]
    counts: str = ""
    row_count: int | None = None

    def select(self, words: Sequence[str], rows: DataFrame | None = None) -> DataFrame:
        """Return the rows, or others with their columns, with all columns of the source and the pseudo-columns that a body names.

        A column that neither query needs is null.
        """
        frame = self.rows if rows is None else rows
        present = {lower_name(name) for name in frame.columns}
        own = [
            F.col(print_name(column.name))
            if lower_name(column.name) in present
            else F.lit(None).cast(column.type).alias(column.name)
            for column in self.columns
        ]
        pseudo = [
            column.name for column in list_pseudo_columns(self.columns, words) if lower_name(column.name) in present
        ]
        return frame.select(*own, *pseudo, *([ORDER] if ORDER in frame.columns else []))

    def close(self) -> None:
        """Forget the rows that were kept."""
        forget_rows(self.rows)


@dataclass(frozen=True, slots=True)
class SourceRecorder:
    """Records the sources of two planned queries, of a range. `keeps_order` and `keeps_arrival`: whether rows have `ORDER` and `ARRIVED`."""

    opener: SourceOpener
    compared: ComparedRange
    plans: Sequence[QueryPlan]
    keeps_order: bool = False
    keeps_arrival: bool = False

    def record(self, source: Source) -> RecordedSource:
        """Return a source with its rows read. Raises `SourceNotRunnableError`, and `Invalid` for a range that there is not."""
        columns = expand_columns(self.opener.registry, source)
        if source.connector in LAKES:
            return self._record_table(source, columns)
        offsets = record_offsets(source, self.opener.clusters, self.compared) if source.connector == "kafka" else ()
        is_ordered = self.keeps_order or self.keeps_arrival
        opener = replace(self.opener, recorded=self.compared, offsets=offsets, keeps_order=is_ordered)
        properties = dict(source.properties)
        names = list_deduplicated(source)
        words = {word for plan in self.plans for word in list_words(plan.body)}
        words |= {*list_words(properties.get("WATERMARK", "")), *map(lower_name, names)}
        marked = opener.mark(source, columns=columns, words=words).observe(
            f"{BAD_OF}{source.generation}", *count_rows()
        )
        rows = settle(source, marked.where(F.col(BAD).isNull()).drop(BAD))
        if names and source.kind == STREAM and not self.keeps_arrival:
            rows = rows.dropDuplicates(names)
        if self.keeps_arrival:
            rows = rows.withColumn(ARRIVED, _share_of(offsets) if offsets else F.unix_millis(F.col(f"{ORDER}.p0")))
        pseudo = [one.name for one in list_pseudo_columns(source.columns, words)]
        needed = [*list_needed(source, [read for plan in self.plans for read in plan.reads], words), *pseudo]
        more = [name for name, keeps in ((ORDER, self.keeps_order), (ARRIVED, self.keeps_arrival)) if keeps]
        selected = self._filter_rows(source, rows.select(*map(print_name, needed), *more))
        kept_rows, observed = _keep_rows(selected.observe(ROW_COUNT, F.count(F.lit(1)).alias(ROW_COUNT)))
        counted = observed.get(f"{PARTITIONS_OF}{source.generation}", {})
        ranges = tuple(_describe_offsets(source, offsets, counted)) or (
            f"the files of {source.place} from {self.compared.start} to {self.compared.end}",
        )
        counts = _describe_counts(observed.get(f"{BAD_OF}{source.generation}", {}))
        return RecordedSource(source, columns, kept_rows, ranges, counts, observed.get(ROW_COUNT, {}).get(ROW_COUNT))

    def _filter_rows(self, source: Source, rows: DataFrame) -> DataFrame:
        """The rows that a body may take. A stream keeps all: rows that a condition on their time leaves out move its watermark."""
        if self.keeps_arrival:
            return rows
        conditions = [
            find_conditions(self.opener.spark, plan.body, read.spelling or source.name)
            for plan in self.plans
            for read in plan.reads
            if lower_name(read.source) == lower_name(source.name)
        ]
        return filter_rows(rows, [*chain(*conditions)]) if all(conditions) else rows

    def _record_table(self, source: Source, columns: tuple[SourceColumn, ...]) -> RecordedSource:
        """Rows of a table that can't change, which both queries read for themselves."""
        table = LakeTable(self.opener.folder(source), source.connector)
        read = read_snapshots if source.connector == "iceberg" else read_version
        recorded = read(self.opener.spark, source, table, self.compared, ARRIVED if self.keeps_arrival else "")
        return RecordedSource(source, columns, recorded.rows, (recorded.words,))


def _share_of(offsets: Sequence[RecordedOffsets]) -> Column:
    """The share of its partition that a record of a topic is in."""
    partition, offset = F.col(f"{ORDER}.p0"), F.col(f"{ORDER}.p1")
    shares = [
        (
            partition == bounds.partition,
            F.floor((offset - bounds.start) * COMPARE_BATCHES / (bounds.end - bounds.start)),
        )
        for bounds in offsets
        if bounds.end > bounds.start
    ]
    return reduce(lambda rest, share: F.when(share[0], share[1]).otherwise(rest), shares, F.lit(0)).cast("long")


def _keep_rows(rows: DataFrame) -> tuple[DataFrame, Mapping[str, Mapping[str, Any]]]:
    """Read rows and keep them, in memory and then on the disks of the executors; return them, and what was counted of them."""
    kept_rows = rows.localCheckpoint()
    metrics = rows._jdf.queryExecution().observedMetrics()  # noqa: SLF001 (pyspark shows them of streams alone)
    names = metrics.keysIterator()
    observed: dict[str, Mapping[str, Any]] = {}
    while names.hasNext():
        name = names.next()
        observed[name] = json.loads(metrics.apply(name).json())
    return kept_rows, observed


def _describe_offsets(source: Source, offsets: Sequence[RecordedOffsets], counted: Mapping[str, Any]) -> Iterator[str]:
    """What was read of each partition, and what is not there any more."""
    for bounds in offsets:
        records = int(counted.get(f"p{bounds.partition}") or 0)
        text = f"the topic {source.place}, partition {bounds.partition}: offsets {bounds.start} to before {bounds.end}, {records:,} records"
        if gone := bounds.end - bounds.start - records:
            text = f"{text}; {gone:,} offsets have no record: compacted away, or of transactions"
        if bounds.start == bounds.first > 0:
            text = f"{text}; records before offset {bounds.first} were deleted"
        yield text


def _describe_counts(counted: Mapping[str, Any]) -> str:
    rows, bad = (int(counted.get(name) or 0) for name in ("rows", "bad"))
    codes = [
        f"{number:,} {name.removeprefix(BAD_OF)}"
        for name, number in counted.items()
        if name.startswith(BAD_OF) and number
    ]
    left = f", {bad:,} of them bad and left out of both: {', '.join(codes)}" if bad else ", none of them bad"
    return f"{rows:,} record{'s' * (rows != 1)}{left}"
