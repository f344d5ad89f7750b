"""Where a query writes: a Delta or an Iceberg table below the root, each batch once, appended or merged by key."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

from treaty.core.column_types import lower_name
from treaty.core.column_types.tokens import print_name
from treaty.core.sources import Source
from treaty.spark.lake import delta, iceberg
from treaty.spark.lake.ddl import print_type
from treaty.spark.lake.table import LakeTable, WriteId, is_missing, make_empty_frame
from treaty.spark.runner.kafka_source import SourceNotRunnableError
from treaty.spark.runner.row_order import DELETED, keep_last

CHANGES = "_treaty_changes"
CHANGE_FEED = "delta.enableChangeDataFeed"
"""The property of a table by which queries can follow its changes."""
MERGE_SETTINGS = {"spark.sql.runSQLOnFiles": "true"}
"""Settings of the session of a batch while Treaty's own statement runs there; the query's forbid it."""


@dataclass(frozen=True, slots=True)
class SinkFormat:
    """How a format of tables writes a batch once: whether it has it, an append, a statement, its name in SQL, and a table without rows."""

    has_written: Callable[[SparkSession, LakeTable, WriteId], bool]
    append: Callable[[DataFrame, LakeTable, WriteId], None]
    run: Callable[[SparkSession, LakeTable, str, WriteId], None]
    name: Callable[[SparkSession | None, LakeTable], str]
    make: Callable[[SparkSession, LakeTable, StructType], object]
    grow: Callable[[SparkSession, LakeTable, StructType], Sequence[str]]
    """Gives a table the columns that it has not yet, those of a query that was replaced and continues; returns what it has besides."""
    takes_any_plan: bool = True
    """Whether a MERGE takes rows that were numbered; else they are computed before."""


def _make_delta(spark: SparkSession, table: LakeTable, columns: StructType) -> None:
    if is_missing(spark, f"{table.folder}/_delta_log/{0:020}.json") and delta.schema(spark, table) is None:
        # A driver that is killed while it makes the table leaves a log without a commit, which an append alone makes a table of.
        empty = make_empty_frame(spark, columns).write.format("delta").mode("append")
        empty.option(CHANGE_FEED, "true").save(table.folder)


def _list_missing(present: Iterable[StructField], columns: Iterable[StructField]) -> list[StructField]:
    """The second columns that are not among the first."""
    names = {lower_name(one.name) for one in present}
    return [one for one in columns if lower_name(one.name) not in names]


def _grow_delta(spark: SparkSession, table: LakeTable, columns: StructType) -> Sequence[str]:
    schema = None if is_missing(spark, f"{table.folder}/_delta_log") else delta.schema(spark, table)
    if schema is None:
        return ()
    if more := _list_missing(schema, columns):
        loose = StructType([StructField(one.name, one.dataType) for one in more])
        writer = make_empty_frame(spark, loose).write.format("delta").mode("append")
        writer.option("mergeSchema", "true").save(table.folder)
    return [one.name for one in _list_missing(columns, schema)]


def _grow_iceberg(spark: SparkSession, table: LakeTable, columns: StructType) -> Sequence[str]:
    schema = None if is_missing(spark, f"{table.folder}/metadata") else iceberg.schema(spark, table)
    if schema is None:
        return ()
    if more := _list_missing(schema, columns):
        texts = ", ".join(f"{print_name(one.name)} {print_type(one.dataType)}" for one in more)
        spark.sql(f"ALTER TABLE {iceberg.name(spark, table)} ADD COLUMNS ({texts})")
    return [one.name for one in _list_missing(columns, schema)]


LAKES: Mapping[str, SinkFormat] = {
    "delta": SinkFormat(delta.has_written, delta.append, delta.run, delta.name, _make_delta, _grow_delta),
    "iceberg": SinkFormat(
        iceberg.has_written,
        iceberg.append,
        iceberg.run_next,
        iceberg.name,
        iceberg.make,
        _grow_iceberg,
        takes_any_plan=False,
    ),
}
"""By connector, the tables that queries fill."""


def require_format(spark: SparkSession, source: Source) -> None:
    """Raise `SourceNotRunnableError` where the session was started without what the tables of a source need."""
    refuse_without_iceberg(source, spark.conf.get("spark.sql.extensions", "") or "")


def refuse_without_iceberg(source: Source, extensions: str) -> None:
    """Raise `SourceNotRunnableError` for an Iceberg table where these are all extensions of Spark."""
    if source.connector == "iceberg" and "iceberg" not in extensions:
        message = f"{source.name} is an Iceberg table, and Spark was started without Iceberg"
        raise SourceNotRunnableError(
            f"{message}: start this program again; `treaty runner` always loads it with --iceberg"
        )


@dataclass(frozen=True, slots=True)
class TableSink:
    """A table in a folder that a query fills. `writer` names the checkpoint: a batch of it that comes twice is written once."""

    folder: str
    writer: str
    columns: StructType
    key: tuple[str, ...] = ()
    format: str = "delta"
    skips_empty: bool = False
    """Whether a batch without rows makes no version of the table. Not for what keeps state, which has to run for its state."""

    @property
    def _table(self) -> LakeTable:
        return LakeTable(self.folder, self.format)

    def write(self, batch: DataFrame, number: int) -> None:
        """Write the rows of a batch: appended without a key, else in the place of the rows with their keys. Of several
        rows with one key the last one stays.
        """
        if LAKES[self.format].has_written(batch.sparkSession, self._table, WriteId(self.writer, number)):
            # The table ignores the batch; what keeps state has to run all the same, or the query has no state of the batch.
            batch.write.format("noop").mode("overwrite").save()
            return
        if self.skips_empty:
            self._write_some(batch, number)
            return
        rows = keep_last(batch, self.key) if self.key else batch
        rows = rows.select(*(print_name(one.name) for one in self.columns))
        if not self.key:
            LAKES[self.format].grow(rows.sparkSession, self._table, self.columns)
            LAKES[self.format].append(rows, self._table, WriteId(self.writer, number))
            return
        self._merge(rows, number, print_merge)

    def check(self, rows: DataFrame) -> None:
        """Compute rows as `write` does, and write nothing. Raises errors of Spark where one can't be computed."""
        chosen = rows.select(*(print_name(one.name) for one in self.columns))
        chosen.write.format("noop").mode("overwrite").save()

    def _write_some(self, batch: DataFrame, number: int) -> None:
        """Append the rows of a batch, if there are any. One that runs again finds the same rows, or is written for the first time."""
        rows = batch.select(*(print_name(one.name) for one in self.columns)).persist()
        try:
            if not rows.isEmpty():
                LAKES[self.format].append(rows, self._table, WriteId(self.writer, number))
        finally:
            rows.unpersist()

    def write_changes(self, result: DataFrame, keys: DataFrame, number: int) -> None:
        """Write the rows of a batch of changes: those of `result` take the place of the rows with their keys, and the rows of all other `keys` are
        deleted.
        """
        names = [print_name(one.name) for one in self.columns]
        rows = result.select(*names, F.lit(False).alias(DELETED))
        same = [keys[print_name(name)].eqNullSafe(result[print_name(name)]) for name in self.key]
        gone = keys.join(result, [*same], "left_anti").withColumn(DELETED, F.lit(True))
        self._merge(rows.unionByName(gone, allowMissingColumns=True), number, print_deleting_merge)

    def _merge(self, rows: DataFrame, number: int, print_statement: Callable[..., str]) -> None:
        spark, table, lake = rows.sparkSession, self._table, LAKES[self.format]
        before = {name: spark.conf.get(name) for name in MERGE_SETTINGS}
        for name, value in MERGE_SETTINGS.items():
            spark.conf.set(name, value)
        try:
            lake.make(spark, table, self.columns)
            unfilled = lake.grow(spark, table, self.columns)
            changes = rows if lake.takes_any_plan else rows.localCheckpoint()
            changes.createOrReplaceTempView(CHANGES)
            text = print_statement(lake.name(spark, table), self.key, self.columns.names, unfilled)
            lake.run(spark, table, text, WriteId(self.writer, number))
        finally:
            for name, setting in before.items():
                spark.conf.set(name, setting or "false")


def refuse_lost_checkpoint(spark: SparkSession, source: Source, table: LakeTable, checkpoint: str) -> None:
    """Raise `SourceNotRunnableError` where a table has rows of a query whose checkpoint is not there: batches of another one would be ignored
    as ones that it has.
    """
    writer = checkpoint.rpartition("/")[2]
    if LAKES[table.format].has_written(spark, table, WriteId(f"treaty-{writer}", 0)):
        message = f"the checkpoint of {source.name} is not at {checkpoint}, and its table has rows of it"
        remedy = f"start the runner with the --root, or the --checkpoints, that it had; or RESET CHECKPOINT {print_name(source.name)} KEEP DATA reads all again into the rows that are there"
        raise SourceNotRunnableError(f"{message}: {remedy}")


def print_merge(table: str, key: Sequence[str], columns: Sequence[str], unfilled: Sequence[str] = ()) -> str:
    """Return the statement that puts changes in the place of the rows with their keys; null is a key too. `others` are columns of the table that
    the changes have not: they are null in rows that are changed.
    """
    same = " AND ".join(f"t.{print_name(name)} <=> c.{print_name(name)}" for name in key)
    update, insert = _print_update(columns, unfilled), _print_insert(columns)
    return f"MERGE INTO {table} AS t USING {CHANGES} AS c ON {same} WHEN MATCHED THEN {update} WHEN NOT MATCHED THEN {insert}"


def print_deleting_merge(table: str, key: Sequence[str], columns: Sequence[str], unfilled: Sequence[str] = ()) -> str:
    """Return the statement that puts changes in the place of the rows with their keys, and deletes the rows of those that say so; else as
    `print_merge`.
    """
    same = " AND ".join(f"t.{print_name(name)} <=> c.{print_name(name)}" for name in key)
    update, insert = _print_update(columns, unfilled), _print_insert(columns)
    return (
        f"MERGE INTO {table} AS t USING {CHANGES} AS c ON {same} WHEN MATCHED AND c.{DELETED} THEN DELETE WHEN MATCHED THEN {update} "
        f"WHEN NOT MATCHED AND NOT c.{DELETED} THEN {insert}"
    )


def _print_update(columns: Sequence[str], unfilled: Sequence[str]) -> str:
    values = [f"t.{print_name(name)} = c.{print_name(name)}" for name in columns]
    return f"UPDATE SET {', '.join([*values, *(f't.{print_name(name)} = NULL' for name in unfilled)])}"


def _print_insert(columns: Sequence[str]) -> str:
    names = ", ".join(map(print_name, columns))
    values = ", ".join(f"c.{print_name(name)}" for name in columns)
    return " ".join(("INSERT", f"({names})", "VALUES", f"({values})"))
