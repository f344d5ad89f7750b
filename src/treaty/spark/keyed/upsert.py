"""Which of several changes of a key wins, and whether a late one counts after a delete: changes into a table with one row per key, and into the
table beside it that remembers what was deleted.

Every step leaves of each key the greatest change and no other, so a step that runs again changes nothing; the batch's
name, which both formats keep with a commit, spares the work.
"""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from treaty.plan.ddl import quote_name
from treaty.spark.keyed.options import KeyedTableOptions
from treaty.spark.keyed.rows import DELETED, EMPTIED, VERSION
from treaty.spark.lake import tables
from treaty.spark.lake.comments import Docs, add_comments
from treaty.spark.lake.projection import project_rows
from treaty.spark.lake.table import LakeTable, WriteId
from treaty.spark.lake.tables import TABLE_FORMATS

TOMBSTONES = "-deleted"
"""What is put behind the place of a table for the table of its deleted keys."""
TURN = "_turn"


class NoMergeError(ValueError):
    """A format of tables can't replace rows."""


def tombstone_table(table: LakeTable) -> LakeTable:
    """The table of the keys that were deleted, and when; a row without a key says that all were."""
    return LakeTable(f"{table.folder}{TOMBSTONES}" if table.is_path else f"{table.place}_deleted", table.format)


def require_merge(table: LakeTable) -> None:
    """Raise `NoMergeError` where the format can't replace rows."""
    if TABLE_FORMATS[table.format].run is None:
        able = ", ".join(name for name, lake in TABLE_FORMATS.items() if lake.run is not None)
        message = (
            f"{table.place} is {table.format}: files without a log of commits can't replace rows so that readers see all or "
            f"nothing of a batch; a table with a key is one of {able}"
        )
        raise NoMergeError(message)


@dataclass(frozen=True, slots=True)
class KeyedMerge:
    """A keyed table, its key's columns, and the columns by which changes are ordered, the most significant first."""

    table: LakeTable
    keyed: KeyedTableOptions
    key: tuple[str, ...]

    @property
    def at(self) -> tuple[str, ...]:
        """The columns that order the changes of a key."""
        return (*([VERSION] if self.keyed.version else []), *self.keyed.order)

    def print_key_match(self, left: str, right: str) -> str:
        """SQL for one key on both sides."""
        return " AND ".join(f"{left}.{quote_name(one)} = {right}.{quote_name(one)}" for one in self.key)

    def place(self, side: str, columns: Sequence[str] = ()) -> str:
        """SQL for the place in the order."""
        return f"struct({', '.join(f'{side}.{quote_name(one)}' for one in columns or self.at)})"


def merge_changes(
    changes: DataFrame, into: KeyedMerge, batch: WriteId, evolution: str = "widen", docs: Docs = ()
) -> None:
    """Bring a table to the greatest change of every key. Raises `NoMergeError`, and `EvolutionError` as an append does.

    `changes` are those that `changes_of` makes. What comes later in the order than a delete brings the row back, what
    comes before it does not, whatever batch it comes in.
    """
    require_merge(into.table)
    spark = changes.sparkSession
    columns = changes.drop(DELETED, EMPTIED)
    graves = tombstone_table(into.table)
    state_columns = StructType([one for one in columns.schema.fields if one.name in {*into.key, *into.at}])

    def fit_tables() -> None:
        target = tables.fit_table(spark, columns.schema, into.table, evolution, docs)
        if tables.schema(spark, into.table) is None:
            tables.create(spark, into.table, add_comments(target, docs))
        if tables.schema(spark, graves) is None:
            tables.create(spark, graves, state_columns)
        else:
            tables.fit_table(spark, state_columns, graves)

    tables.with_retries(fit_tables)
    # Computed once, and cut off from where it comes from: Iceberg's MERGE takes no source that reads its own table.
    newest = _select_newest(changes, into).localCheckpoint()
    tables.with_retries(lambda: _write_tombstones(newest, into, WriteId(f"{batch.writer}/deleted", batch.number)))
    if into.keyed.envelope is not None:
        tables.with_retries(lambda: _truncate(spark, into, WriteId(f"{batch.writer}/emptied", batch.number)))
    tables.with_retries(lambda: _write_rows(newest, into, batch))


def _select_newest(changes: DataFrame, into: KeyedMerge) -> DataFrame:
    """The greatest change of every key."""
    keys = [F.col(quote_name(one)) for one in into.key]
    if into.keyed.version:
        before = Window.partitionBy(*keys).orderBy(*(F.col(quote_name(one)) for one in into.keyed.order))
        joined = _join_versions(changes, into)
        last_version = F.greatest(F.max(VERSION).over(before), F.max(f"_known_{VERSION}").over(before))
        changes = joined.withColumn(VERSION, F.coalesce(VERSION, last_version)).drop(f"_known_{VERSION}")
    last = Window.partitionBy(*keys).orderBy(*(F.desc(quote_name(one)) for one in into.at))
    return changes.withColumn(TURN, F.row_number().over(last)).filter(F.col(TURN) == 1).drop(TURN)


def _join_versions(changes: DataFrame, into: KeyedMerge) -> DataFrame:
    """The changes with the newest version that the tables have of their keys from before them."""
    spark, names = changes.sparkSession, [*into.key, *into.at]
    both = [
        tables.read(spark, table).select(*map(quote_name, names)) for table in (into.table, tombstone_table(into.table))
    ]
    state = both[0].unionByName(both[1]).select(
        *(F.col(quote_name(one)).alias(f"_known_{one}") for one in names)
    )  # fmt: skip
    same = [F.col(quote_name(one)) == F.col(quote_name(f"_known_{one}")) for one in into.key]
    earlier = F.struct(*(quote_name(f"_known_{one}") for one in into.keyed.order)) < F.struct(
        *map(quote_name, into.keyed.order)
    )
    joined = changes.join(state, [*same, earlier], "left")
    newest = Window.partitionBy(*(F.col(quote_name(one)) for one in (*into.key, *into.keyed.order))).orderBy(
        F.desc_nulls_last(f"_known_{VERSION}")
    )
    newest_row = joined.withColumn(TURN, F.row_number().over(newest)).filter(F.col(TURN) == 1).drop(TURN)
    return newest_row.drop(*(f"_known_{name}" for name in names if name != VERSION))


def _write_tombstones(newest: DataFrame, into: KeyedMerge, batch: WriteId) -> None:
    """Remember the keys that were deleted, and that all were."""
    gone = newest.filter(F.col(DELETED) | F.col(EMPTIED))
    if gone.isEmpty():
        return
    graves, names = tombstone_table(into.table), (*into.key, *into.at)
    with _temporary_view(
        project_rows(gone.select(*map(quote_name, names)), _read_schema(gone.sparkSession, graves))
    ) as view:
        same = " AND ".join(f"t.{quote_name(one)} <=> s.{quote_name(one)}" for one in into.key)
        sets = ", ".join(f"t.{quote_name(one)} = s.{quote_name(one)}" for one in into.at)
        head = f"MERGE INTO {_table_name(newest.sparkSession, graves)} t USING {view} s ON {same}"
        later = f"WHEN MATCHED AND {into.place('s')} > {into.place('t')} THEN UPDATE SET {sets}"
        fresh = f"WHEN NOT MATCHED THEN INSERT ({_print_columns(names)}) VALUES ({_print_columns(names, 's')})"  # noqa: S608 - names are quoted
        _run_statement(newest.sparkSession, graves, f"{head} {later} {fresh}", batch)


def _truncate(spark: SparkSession, into: KeyedMerge, batch: WriteId) -> None:
    """Delete what was there when all was emptied last."""
    floor = _read_truncation(spark, into)
    if floor is None:
        return
    rows = tables.read(spark, into.table)
    if rows.filter(F.struct(*map(quote_name, into.at)) <= floor).isEmpty():
        return
    with _temporary_view(spark.range(1).select(floor.alias("floor"))) as view:
        where = " AND ".join(("s.floor IS NOT NULL", f"{into.place('t')} <= s.floor"))
        statement = f"MERGE INTO {_table_name(spark, into.table)} t USING {view} s ON {where} WHEN MATCHED THEN DELETE"
        _run_statement(spark, into.table, statement, batch)


def _read_truncation(spark: SparkSession, into: KeyedMerge) -> Column | None:
    """The place in the order of the last change that deleted all rows."""
    graves = tables.read(spark, tombstone_table(into.table)).filter(
        " AND ".join(f"{quote_name(one)} IS NULL" for one in into.key)
    )
    row = graves.select(*map(quote_name, into.at)).first()
    if row is None:
        return None
    kinds = graves.schema
    return F.struct(*(F.lit(row[one]).cast(kinds[one].dataType).alias(one) for one in into.at))


def _write_rows(newest: DataFrame, into: KeyedMerge, batch: WriteId) -> None:
    """Replace, add and delete rows, but none whose key was deleted later."""
    spark = newest.sparkSession
    target = _read_schema(spark, into.table)
    graves = tables.read(spark, tombstone_table(into.table)).select(*map(quote_name, (*into.key, *into.at))).alias("g")
    alive = newest.filter(~F.col(EMPTIED)).alias("s")
    same = F.expr(into.print_key_match("g", "s"))
    beaten = F.expr(
        f"{into.place('g')} > {into.place('s')} OR ({into.place('g')} = {into.place('s')} AND NOT s.{DELETED})"
    )
    left = alive.join(graves, same & beaten, "left_anti")
    if into.keyed.envelope is not None:
        floor = _read_truncation(spark, into)
        if floor is not None:
            left = left.filter(F.struct(*map(quote_name, into.at)) > floor)
    columns = StructType([*target.fields, newest.schema[DELETED]])
    with _temporary_view(project_rows(left.drop(EMPTIED), columns).localCheckpoint()) as view:
        names = target.names
        sets = ", ".join(f"t.{quote_name(one)} = s.{quote_name(one)}" for one in names)
        head = f"MERGE INTO {_table_name(spark, into.table)} t USING {view} s ON {into.print_key_match('t', 's')}"
        ours = f"s.{DELETED} AND {into.place('s')}"
        gone = f"WHEN MATCHED AND {ours} >= {into.place('t')} THEN DELETE"
        later = f"WHEN MATCHED AND NOT {ours} > {into.place('t')} THEN UPDATE SET {sets}"
        fresh = f"WHEN NOT MATCHED AND NOT s.{DELETED} THEN INSERT ({_print_columns(names)}) VALUES ({_print_columns(names, 's')})"  # noqa: S608 - names are quoted
        _run_statement(spark, into.table, f"{head} {gone} {later} {fresh}", batch)


def _run_statement(spark: SparkSession, table: LakeTable, statement: str, batch: WriteId) -> None:
    run = TABLE_FORMATS[table.format].run
    assert run is not None, "`refuse` comes first"
    run(spark, table, statement, batch)


def _read_schema(spark: SparkSession, table: LakeTable) -> StructType:
    columns = tables.schema(spark, table)
    assert columns is not None, "it was made before"
    return columns


def _table_name(spark: SparkSession, table: LakeTable) -> str:
    return TABLE_FORMATS[table.format].name(spark, table)


def _print_columns(names: Sequence[str], side: str = "") -> str:
    return ", ".join(f"{side}.{quote_name(one)}" if side else quote_name(one) for one in names)


@contextmanager
def _temporary_view(frame: DataFrame) -> Iterator[str]:
    """The frame as a view while a statement runs."""
    name = f"treaty_{hashlib.sha256(str(id(frame)).encode()).hexdigest()[:16]}"
    frame.createOrReplaceTempView(name)
    try:
        yield name
    finally:
        frame.sparkSession.catalog.dropTempView(name)
