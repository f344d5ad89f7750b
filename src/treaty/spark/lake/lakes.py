"""Every format of tables, and what is the same for all: rows are appended once, and tables grow as they are allowed to."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from treaty.spark.lake import delta, iceberg, parquet
from treaty.spark.lake.changes import EvolutionError, changes, merged
from treaty.spark.lake.conforming import conformed
from treaty.spark.lake.table import Batch, Table

EVOLUTIONS = ("widen", "none", "fail")
"""``widen``: add columns and widen types; ``none``: keep the columns, leave others out; ``fail``: refuse other rows."""


@dataclass(frozen=True, slots=True)
class Lake:
    """One format: what a table's columns are (None: no table), its rows, and an append that happens once."""

    schema: Callable[[SparkSession, Table], StructType | None]
    read: Callable[[SparkSession, Table], DataFrame]
    append: Callable[[DataFrame, Table, Batch], None]


LAKES: Mapping[str, Lake] = {
    "delta": Lake(delta.schema, delta.read, delta.append),
    "iceberg": Lake(iceberg.schema, iceberg.read, iceberg.append),
    "parquet": Lake(parquet.schema, parquet.read, parquet.append),
}


def read(spark: SparkSession, table: Table) -> DataFrame:
    """The table as it is now."""
    return LAKES[table.format].read(spark, table)


def schema(spark: SparkSession, table: Table) -> StructType | None:
    """The columns of the table; None where there is none."""
    return LAKES[table.format].schema(spark, table)


def append(frame: DataFrame, table: Table, batch: Batch, evolution: str = "widen") -> None:
    """Append rows once, a batch that comes twice not again; the table grows before, as far as `evolution` allows.

    Columns that only the table has are null. Raises `EvolutionError` for types that no table can be brought to
    without being written anew, and where something is new and `evolution` is ``fail``.
    """
    lake = LAKES[table.format]
    have = lake.schema(frame.sparkSession, table)
    target = frame.schema if have is None else grown(table, have, frame.schema, evolution)
    lake.append(conformed(frame, target), table, batch)


def grown(table: Table, have: StructType, rows: StructType, evolution: str) -> StructType:
    """The columns that the table shall have. Raises `EvolutionError`."""
    found = changes(have, rows)
    clashes = tuple(one for one in found if one.kind == "clash")
    if clashes:
        remedy = "Choose a reader that fits the table, or write the table anew"
        raise EvolutionError(table.place, clashes, remedy)
    news = tuple(one for one in found if one.kind in {"add", "widen"})
    if news and evolution == "fail":
        raise EvolutionError(table.place, news, "Alter the table, or allow it to grow with evolution = widen")
    widened = tuple(one for one in news if one.kind == "widen")
    if widened and evolution == "none":
        raise EvolutionError(table.place, widened, "Choose a reader that fits the table, or evolution = widen")
    return have if evolution == "none" else merged(have, rows)
