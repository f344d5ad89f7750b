"""Every format of tables, and what is the same for all: rows are appended once, and tables grow as they are allowed to."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from treaty.core.limits import LAKE_TRIES
from treaty.spark.lake import delta, iceberg, parquet
from treaty.spark.lake.changes import Change, EvolutionError, changes, merged
from treaty.spark.lake.conforming import conformed, storable
from treaty.spark.lake.ddl import alter_sql, create_sql, unplain
from treaty.spark.lake.documents import Docs, documented
from treaty.spark.lake.table import Batch, Table

EVOLUTIONS = ("widen", "none", "fail")
"""``widen``: add columns and widen types; ``none``: keep the columns, leave others out; ``fail``: refuse other rows."""
RIVALS = (
    *("DELTA_CONCURRENT", "DELTA_METADATA_CHANGED", "DELTA_PROTOCOL_CHANGED", "ConcurrentModificationException"),
    *("CommitFailedException", "FIELD_ALREADY_EXISTS", "TABLE_OR_VIEW_ALREADY_EXISTS", "AlreadyExistsException"),
    *("ValidationException: Found conflicting files", "DELTA_METADATA_ABSENT_EXISTING_CATALOG_TABLE"),
)
"""What errors say where somebody else changed the table meanwhile: after another look the same may be done."""
UNREADABLE = (PySparkException,)
"""What reading raises where nothing is there, or not what was said."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Lake:
    """One format: what a table's columns are (None: no table), its rows, an append that happens once, and its name in SQL.

    `run` runs a statement that changes rows, as a batch; None where the format has no such statements.
    """

    schema: Callable[[SparkSession, Table], StructType | None]
    read: Callable[[SparkSession, Table], DataFrame]
    append: Callable[[DataFrame, Table, Batch], None]
    name: Callable[[SparkSession | None, Table], str]
    run: Callable[[SparkSession, Table, str, Batch], None] | None = None


LAKES: Mapping[str, Lake] = {
    "delta": Lake(delta.schema, delta.read, delta.append, delta.name, delta.run),
    "iceberg": Lake(iceberg.schema, iceberg.read, iceberg.append, iceberg.name, iceberg.run),
    "parquet": Lake(parquet.schema, parquet.read, parquet.append, parquet.name),
}


def read(spark: SparkSession, table: Table) -> DataFrame:
    """The table as it is now."""
    return LAKES[table.format].read(spark, table)


def schema(spark: SparkSession, table: Table) -> StructType | None:
    """The columns of the table; None where there is none."""
    return LAKES[table.format].schema(spark, table)


def append(frame: DataFrame, table: Table, batch: Batch, evolution: str = "widen", docs: Docs = ()) -> None:
    """Append rows once, a batch that comes twice not again; the table grows before, as far as `evolution` allows.

    Columns that only the table has are null, those that can hold nothing but nulls are left out. `docs` become comments of
    columns. Where somebody else changes the table meanwhile, it is looked at again and done again. Raises `EvolutionError`
    for types that no table can be brought to without being written anew, and where something is new and `evolution` is ``fail``.
    """

    def tried() -> None:
        target = fitting(frame.sparkSession, frame.schema, table, evolution, docs)
        LAKES[table.format].append(conformed(frame, target), table, batch)

    patiently(tried)


def fitting(
    spark: SparkSession, rows: StructType, table: Table, evolution: str = "widen", docs: Docs = ()
) -> StructType:
    """The columns of the table once it can take these rows; what it lacks is added to it. Raises `EvolutionError`.

    A table that is not there is made where its columns have what no append can say; else the first append makes it.
    """
    told = documented(storable(rows), docs)
    have = schema(spark, table)
    if have is None:
        twins = tuple(one for one in changes(StructType(), told) if one.kind == "twin")
        if twins:
            raise EvolutionError(table.place, twins, "Choose a reader that names them apart")
        if any(len(path) > 1 for path, _ in docs) or unplain(told):
            make(spark, table, told)
        return told
    found, target = grown(table, have, told, evolution)
    alter(spark, table, found, target)
    return target


def make(spark: SparkSession, table: Table, columns: StructType, comment: str = "") -> None:
    """Make a table without rows; one that is there stays as it is."""
    if table.format == "parquet":
        if schema(spark, table) is None:
            parquet.keep(spark, table, columns)
        return
    spark.sql(create_sql(LAKES[table.format].name(spark, table), table, columns, comment))
    if table.format == "delta" and table.is_path and schema(spark, table) is None:
        delta.make_in_empty_log(spark, table, columns, comment)


def alter(spark: SparkSession, table: Table, found: tuple[Change, ...], target: StructType) -> None:
    """Add, widen and comment what `found` names; `target` are the columns that come of it."""
    if not found:
        return
    if table.format == "parquet":
        parquet.keep(spark, table, target)
        return
    for statement in alter_sql(LAKES[table.format].name(spark, table), table, found):
        spark.sql(statement)


def grown(table: Table, have: StructType, rows: StructType, evolution: str) -> tuple[tuple[Change, ...], StructType]:
    """What must be done to the table, and the columns that it shall have. Raises `EvolutionError`."""
    found = changes(have, rows)
    clashes = tuple(one for one in found if one.kind in {"clash", "twin"})
    if clashes:
        remedy = "Choose a reader that fits the table, or write the table anew"
        raise EvolutionError(table.place, clashes, remedy)
    news = tuple(one for one in found if one.kind in {"add", "widen"})
    if news and evolution == "fail":
        raise EvolutionError(table.place, news, "Alter the table, or allow it to grow with evolution = widen")
    widened = tuple(one for one in news if one.kind == "widen")
    if widened and evolution == "none":
        raise EvolutionError(table.place, widened, "Choose a reader that fits the table, or evolution = widen")
    if evolution != "widen":
        return (), have
    return tuple(one for one in found if one.kind in {"add", "widen", "comment"}), merged(have, rows)


def patiently(act: Callable[[], T]) -> T:
    """Do it again where somebody else changed the table meanwhile, `LAKE_TRIES` times in all."""
    for turn in range(LAKE_TRIES - 1):
        try:
            return act()
        except EvolutionError:
            raise
        except Exception as error:
            if not any(word in str(error) for word in RIVALS):
                raise
            time.sleep(min(0.1 * 2**turn, 5.0))
    return act()
