"""Changes into a table with one row per key, and into the table beside it that remembers what was deleted.

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
from treaty.spark.keyed.rows import DELETED, EMPTIED, VERSION
from treaty.spark.keyed.value import Keyed
from treaty.spark.lake import lakes
from treaty.spark.lake.conforming import conformed
from treaty.spark.lake.documents import Docs, documented
from treaty.spark.lake.lakes import LAKES
from treaty.spark.lake.table import Batch, Table

GRAVES = "-deleted"
"""What is put behind the place of a table for the table of its deleted keys."""
TURN = "_turn"


class NoMergeError(ValueError):
    """A format of tables can't replace rows."""


def graves_of(table: Table) -> Table:
    """The table of the keys that were deleted, and when; a row without a key says that all were."""
    return Table(f"{table.folder}{GRAVES}" if table.is_path else f"{table.place}_deleted", table.format)


def refuse(table: Table) -> None:
    """Raise `NoMergeError` where the format can't replace rows."""
    if LAKES[table.format].run is None:
        able = ", ".join(name for name, lake in LAKES.items() if lake.run is not None)
        message = (
            f"{table.place} is {table.format}: files without a log of commits can't replace rows so that readers see all or "
            f"nothing of a batch; a table with a key is one of {able}"
        )
        raise NoMergeError(message)


@dataclass(frozen=True, slots=True)
class Merge:
    """A keyed table, its key's columns, and the columns by which changes are ordered, the most telling first."""

    table: Table
    keyed: Keyed
    key: tuple[str, ...]

    @property
    def at(self) -> tuple[str, ...]:
        """The columns that order the changes of a key."""
        return (*([VERSION] if self.keyed.version else []), *self.keyed.order)

    def same(self, left: str, right: str) -> str:
        """SQL for one key on both sides."""
        return " AND ".join(f"{left}.{quote_name(one)} = {right}.{quote_name(one)}" for one in self.key)

    def place(self, side: str, columns: Sequence[str] = ()) -> str:
        """SQL for the place in the order."""
        return f"struct({', '.join(f'{side}.{quote_name(one)}' for one in columns or self.at)})"


def merge(changes: DataFrame, into: Merge, batch: Batch, evolution: str = "widen", docs: Docs = ()) -> None:
    """Bring a table to the greatest change of every key. Raises `NoMergeError`, and `EvolutionError` as an append does.

    `changes` are those that `changes_of` makes. What comes later in the order than a delete brings the row back, what comes
    before it does not, whatever batch it comes in.
    """
    refuse(into.table)
    spark = changes.sparkSession
    columns = changes.drop(DELETED, EMPTIED)
    graves = graves_of(into.table)
    kept = StructType([one for one in columns.schema.fields if one.name in {*into.key, *into.at}])

    def tried() -> None:
        target = lakes.fitting(spark, columns.schema, into.table, evolution, docs)
        if lakes.schema(spark, into.table) is None:
            lakes.make(spark, into.table, documented(target, docs))
        if lakes.schema(spark, graves) is None:
            lakes.make(spark, graves, kept)
        else:
            lakes.fitting(spark, kept, graves)

    lakes.patiently(tried)
    # Computed once, and cut off from where it comes from: Iceberg's MERGE takes no source that reads its own table.
    newest = _newest(changes, into).localCheckpoint()
    lakes.patiently(lambda: _bury(newest, into, Batch(f"{batch.writer}/deleted", batch.number)))
    if into.keyed.envelope is not None:
        lakes.patiently(lambda: _empty(spark, into, Batch(f"{batch.writer}/emptied", batch.number)))
    lakes.patiently(lambda: _write(newest, into, batch))


def _newest(changes: DataFrame, into: Merge) -> DataFrame:
    """The greatest change of every key."""
    keys = [F.col(quote_name(one)) for one in into.key]
    if into.keyed.version:
        before = Window.partitionBy(*keys).orderBy(*(F.col(quote_name(one)) for one in into.keyed.order))
        known = _known(changes, into)
        seen = F.greatest(F.max(VERSION).over(before), F.max(f"_known_{VERSION}").over(before))
        changes = known.withColumn(VERSION, F.coalesce(VERSION, seen)).drop(f"_known_{VERSION}")
    last = Window.partitionBy(*keys).orderBy(*(F.desc(quote_name(one)) for one in into.at))
    return changes.withColumn(TURN, F.row_number().over(last)).filter(F.col(TURN) == 1).drop(TURN)


def _known(changes: DataFrame, into: Merge) -> DataFrame:
    """The changes with the newest version that the tables have of their keys from before them."""
    spark, names = changes.sparkSession, [*into.key, *into.at]
    both = [lakes.read(spark, table).select(*map(quote_name, names)) for table in (into.table, graves_of(into.table))]
    state = both[0].unionByName(both[1]).select(
        *(F.col(quote_name(one)).alias(f"_known_{one}") for one in names)
    )  # fmt: skip
    same = [F.col(quote_name(one)) == F.col(quote_name(f"_known_{one}")) for one in into.key]
    earlier = F.struct(*(quote_name(f"_known_{one}") for one in into.keyed.order)) < F.struct(
        *map(quote_name, into.keyed.order)
    )
    found = changes.join(state, [*same, earlier], "left")
    newest = Window.partitionBy(*(F.col(quote_name(one)) for one in (*into.key, *into.keyed.order))).orderBy(
        F.desc_nulls_last(f"_known_{VERSION}")
    )
    one = found.withColumn(TURN, F.row_number().over(newest)).filter(F.col(TURN) == 1).drop(TURN)
    return one.drop(*(f"_known_{name}" for name in names if name != VERSION))


def _bury(newest: DataFrame, into: Merge, batch: Batch) -> None:
    """Remember the keys that were deleted, and that all were."""
    gone = newest.filter(F.col(DELETED) | F.col(EMPTIED))
    if gone.isEmpty():
        return
    graves, names = graves_of(into.table), (*into.key, *into.at)
    with _shown(conformed(gone.select(*map(quote_name, names)), _schema(gone.sparkSession, graves))) as view:
        same = " AND ".join(f"t.{quote_name(one)} <=> s.{quote_name(one)}" for one in into.key)
        sets = ", ".join(f"t.{quote_name(one)} = s.{quote_name(one)}" for one in into.at)
        head = f"MERGE INTO {_name(newest.sparkSession, graves)} t USING {view} s ON {same}"
        later = f"WHEN MATCHED AND {into.place('s')} > {into.place('t')} THEN UPDATE SET {sets}"
        fresh = f"WHEN NOT MATCHED THEN INSERT ({_list(names)}) VALUES ({_list(names, 's')})"  # noqa: S608 - names are quoted
        _run(newest.sparkSession, graves, f"{head} {later} {fresh}", batch)


def _empty(spark: SparkSession, into: Merge, batch: Batch) -> None:
    """Delete what was there when all was emptied last."""
    floor = _floor(spark, into)
    if floor is None:
        return
    rows = lakes.read(spark, into.table)
    if rows.filter(F.struct(*map(quote_name, into.at)) <= floor).isEmpty():
        return
    with _shown(spark.range(1).select(floor.alias("floor"))) as view:
        where = " AND ".join(("s.floor IS NOT NULL", f"{into.place('t')} <= s.floor"))
        statement = f"MERGE INTO {_name(spark, into.table)} t USING {view} s ON {where} WHEN MATCHED THEN DELETE"
        _run(spark, into.table, statement, batch)


def _floor(spark: SparkSession, into: Merge) -> Column | None:
    """The place in the order of the last change that deleted all rows."""
    graves = lakes.read(spark, graves_of(into.table)).filter(
        " AND ".join(f"{quote_name(one)} IS NULL" for one in into.key)
    )
    row = graves.select(*map(quote_name, into.at)).first()
    if row is None:
        return None
    kinds = graves.schema
    return F.struct(*(F.lit(row[one]).cast(kinds[one].dataType).alias(one) for one in into.at))


def _write(newest: DataFrame, into: Merge, batch: Batch) -> None:
    """Replace, add and delete rows, but none whose key was deleted later."""
    spark = newest.sparkSession
    target = _schema(spark, into.table)
    graves = lakes.read(spark, graves_of(into.table)).select(*map(quote_name, (*into.key, *into.at))).alias("g")
    alive = newest.filter(~F.col(EMPTIED)).alias("s")
    same = F.expr(into.same("g", "s"))
    beaten = F.expr(
        f"{into.place('g')} > {into.place('s')} OR ({into.place('g')} = {into.place('s')} AND NOT s.{DELETED})"
    )
    left = alive.join(graves, same & beaten, "left_anti")
    if into.keyed.envelope is not None:
        floor = _floor(spark, into)
        if floor is not None:
            left = left.filter(F.struct(*map(quote_name, into.at)) > floor)
    wanted = StructType([*target.fields, newest.schema[DELETED]])
    with _shown(conformed(left.drop(EMPTIED), wanted).localCheckpoint()) as view:
        names = target.names
        sets = ", ".join(f"t.{quote_name(one)} = s.{quote_name(one)}" for one in names)
        head = f"MERGE INTO {_name(spark, into.table)} t USING {view} s ON {into.same('t', 's')}"
        ours = f"s.{DELETED} AND {into.place('s')}"
        gone = f"WHEN MATCHED AND {ours} >= {into.place('t')} THEN DELETE"
        later = f"WHEN MATCHED AND NOT {ours} > {into.place('t')} THEN UPDATE SET {sets}"
        fresh = f"WHEN NOT MATCHED AND NOT s.{DELETED} THEN INSERT ({_list(names)}) VALUES ({_list(names, 's')})"  # noqa: S608 - names are quoted
        _run(spark, into.table, f"{head} {gone} {later} {fresh}", batch)


def _run(spark: SparkSession, table: Table, statement: str, batch: Batch) -> None:
    run = LAKES[table.format].run
    assert run is not None, "`refuse` comes first"
    run(spark, table, statement, batch)


def _schema(spark: SparkSession, table: Table) -> StructType:
    found = lakes.schema(spark, table)
    assert found is not None, "it was made before"
    return found


def _name(spark: SparkSession, table: Table) -> str:
    return LAKES[table.format].name(spark, table)


def _list(names: Sequence[str], side: str = "") -> str:
    return ", ".join(f"{side}.{quote_name(one)}" if side else quote_name(one) for one in names)


@contextmanager
def _shown(frame: DataFrame) -> Iterator[str]:
    """The frame as a view while a statement runs."""
    name = f"treaty_{hashlib.sha256(str(id(frame)).encode()).hexdigest()[:16]}"
    frame.createOrReplaceTempView(name)
    try:
        yield name
    finally:
        frame.sparkSession.catalog.dropTempView(name)
