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
from treaty.spark.lake.changes import ColumnChange, EvolutionError, list_changes, merge_columns
from treaty.spark.lake.comments import Docs, add_comments
from treaty.spark.lake.ddl import needs_column_mapping, print_alter, print_create
from treaty.spark.lake.projection import drop_void_columns, project_rows
from treaty.spark.lake.table import LakeTable, WriteId

EVOLUTIONS = ("widen", "none", "fail")
"""``widen``: add columns and widen types; ``none``: keep the columns, leave others out; ``fail``: refuse other rows."""
CONFLICTS = (
    *("DELTA_CONCURRENT", "DELTA_METADATA_CHANGED", "DELTA_PROTOCOL_CHANGED", "ConcurrentModificationException"),
    *("CommitFailedException", "FIELD_ALREADY_EXISTS", "TABLE_OR_VIEW_ALREADY_EXISTS", "AlreadyExistsException"),
    *("ValidationException: Found conflicting files", "DELTA_METADATA_ABSENT_EXISTING_CATALOG_TABLE"),
)
"""What errors say where somebody else changed the table meanwhile: after another look the same may be done."""
UNREADABLE = (PySparkException,)
"""What reading raises where nothing is there, or not what was said."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TableFormat:
    """One format: what a table's columns are (None: no table), its rows, an append that happens once, and its name in SQL.

    `run` runs a statement that changes rows, as a batch; None where the format has no such statements.
    """

    schema: Callable[[SparkSession, LakeTable], StructType | None]
    read: Callable[[SparkSession, LakeTable], DataFrame]
    append: Callable[[DataFrame, LakeTable, WriteId], None]
    name: Callable[[SparkSession | None, LakeTable], str]
    run: Callable[[SparkSession, LakeTable, str, WriteId], None] | None = None


TABLE_FORMATS: Mapping[str, TableFormat] = {
    "delta": TableFormat(delta.schema, delta.read, delta.append, delta.name, delta.run),
    "iceberg": TableFormat(iceberg.schema, iceberg.read, iceberg.append, iceberg.name, iceberg.run),
    "parquet": TableFormat(parquet.schema, parquet.read, parquet.append, parquet.name),
}


def read(spark: SparkSession, table: LakeTable) -> DataFrame:
    """The table as it is now."""
    return TABLE_FORMATS[table.format].read(spark, table)


def schema(spark: SparkSession, table: LakeTable) -> StructType | None:
    """The columns of the table; None where there is none."""
    return TABLE_FORMATS[table.format].schema(spark, table)


def append(frame: DataFrame, table: LakeTable, batch: WriteId, evolution: str = "widen", docs: Docs = ()) -> None:
    """Append rows once, a batch that comes twice not again; the table grows before, as far as `evolution` allows.

    Columns that only the table has are null, those that can hold nothing but nulls are left out. `docs` become comments of
    columns. Where somebody else changes the table meanwhile, it is looked at again and done again. Raises `EvolutionError`
    for types that no table can be brought to without being written again, and where something is new and `evolution` is ``fail``.
    """

    def append_fitted() -> None:
        target = fit_table(frame.sparkSession, frame.schema, table, evolution, docs)
        TABLE_FORMATS[table.format].append(project_rows(frame, target), table, batch)

    with_retries(append_fitted)


def fit_table(
    spark: SparkSession, rows: StructType, table: LakeTable, evolution: str = "widen", docs: Docs = ()
) -> StructType:
    """The columns of the table once it can take these rows; what it lacks is added to it. Raises `EvolutionError`.

    A table that is not there is made where its columns have what no append can say; else the first append makes it.
    """
    target_columns = add_comments(drop_void_columns(rows), docs)
    have = schema(spark, table)
    if have is None:
        twins = tuple(one for one in list_changes(StructType(), target_columns) if one.kind == "twin")
        if twins:
            raise EvolutionError(table.place, twins, "Choose a reader that names them apart")
        if any(len(path) > 1 for path, _ in docs) or needs_column_mapping(target_columns):
            create(spark, table, target_columns)
        return target_columns
    changes, target = plan_evolution(table, have, target_columns, evolution)
    alter(spark, table, changes, target)
    return target


def create(spark: SparkSession, table: LakeTable, columns: StructType, comment: str = "") -> None:
    """Make a table without rows; one that is there stays as it is."""
    if table.format == "parquet":
        if schema(spark, table) is None:
            parquet.store_columns(spark, table, columns)
        return
    spark.sql(print_create(TABLE_FORMATS[table.format].name(spark, table), table, columns, comment))
    if table.format == "delta" and table.is_path and schema(spark, table) is None:
        delta.make_in_empty_log(spark, table, columns, comment)


def alter(spark: SparkSession, table: LakeTable, changes: tuple[ColumnChange, ...], target: StructType) -> None:
    """Add, widen and comment what `changes` names; `target` are the columns that come of it."""
    if not changes:
        return
    if table.format == "parquet":
        parquet.store_columns(spark, table, target)
        return
    for statement in print_alter(TABLE_FORMATS[table.format].name(spark, table), table, changes):
        spark.sql(statement)


def plan_evolution(
    table: LakeTable, have: StructType, rows: StructType, evolution: str
) -> tuple[tuple[ColumnChange, ...], StructType]:
    """What must be done to the table, and the columns that it shall have. Raises `EvolutionError`."""
    changes = list_changes(have, rows)
    clashes = tuple(one for one in changes if one.kind in {"clash", "twin"})
    if clashes:
        remedy = "Choose a reader that fits the table, or write the table again"
        raise EvolutionError(table.place, clashes, remedy)
    news = tuple(one for one in changes if one.kind in {"add", "widen"})
    if news and evolution == "fail":
        raise EvolutionError(table.place, news, "Alter the table, or allow it to grow with evolution = widen")
    widened = tuple(one for one in news if one.kind == "widen")
    if widened and evolution == "none":
        raise EvolutionError(table.place, widened, "Choose a reader that fits the table, or evolution = widen")
    if evolution != "widen":
        return (), have
    return tuple(one for one in changes if one.kind in {"add", "widen", "comment"}), merge_columns(have, rows)


def with_retries(act: Callable[[], T]) -> T:
    """Do it again where somebody else changed the table meanwhile, `LAKE_TRIES` times in all."""
    for turn in range(LAKE_TRIES - 1):
        try:
            return act()
        except EvolutionError:
            raise
        except Exception as error:
            if not any(word in str(error) for word in CONFLICTS):
                raise
            time.sleep(min(0.1 * 2**turn, 5.0))
    return act()
