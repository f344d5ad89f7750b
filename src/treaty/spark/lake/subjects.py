"""Lake tables of subjects: the columns of all versions, the statements that create the table, and its differences."""

from collections.abc import Collection
from dataclasses import dataclass

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from treaty.core.state.columns import Column, Columns
from treaty.plan.ddl import parse_type, quote_name
from treaty.plan.value import DecodePlan
from treaty.spark.lake import iceberg, tables
from treaty.spark.lake.changes import ColumnChange, list_differences
from treaty.spark.lake.comments import add_comments
from treaty.spark.lake.ddl import print_alter, print_create
from treaty.spark.lake.projection import drop_void_columns
from treaty.spark.lake.table import LakeTable
from treaty.spark.lake.tables import TABLE_FORMATS
from treaty.spark.types import spark_schema

HARMLESS = frozenset({"narrow"})
"""Kinds of changes that are no drift: the table holds more than the subject's rows need."""


@dataclass(frozen=True, slots=True)
class TableDrift:
    """The differences of a table and a subject. `missing`: the table does not exist."""

    changes: tuple[ColumnChange, ...] = ()
    missing: bool = False

    @property
    def any(self) -> bool:
        """Whether there is any difference."""
        return self.missing or bool(self.changes)


def list_table_columns(plan: DecodePlan) -> StructType:
    """The columns of a table that holds what the plan decodes, with what the schema says of them. It needs no Spark."""
    columns = [Column(name, parse_type(kind)) for name, kind in plan.columns] or [
        Column("value", parse_type(plan.type))
    ]
    return add_comments(drop_void_columns(spark_schema(Columns(tuple(columns)))), plan.docs)


def print_create_statements(plan: DecodePlan, table: LakeTable) -> tuple[str, ...]:
    """What makes the table, as SQL; for an Iceberg table at a path the settings of its catalog come first, as comments."""
    comment = f"{plan.subject}: all versions"
    if table.format == "parquet":
        name = quote_name(table.folder.rpartition("/")[2])
        return (print_create(name, table, list_table_columns(plan), comment),)
    name = TABLE_FORMATS[table.format].name(None, table)
    return (*print_settings(table), print_create(name, table, list_table_columns(plan), comment))


def print_settings(table: LakeTable) -> tuple[str, ...]:
    """What a session needs to be set to, as a comment of SQL; nothing for most tables."""
    if table.format != "iceberg" or not table.is_path:
        return ()
    catalog = iceberg.name(None, table).partition(".")[0]
    above = table.folder.rpartition("/")[0] or "/"
    return tuple(f"SET {name} = {value}" for name, value in iceberg.settings(catalog, above).items())


def create(spark: SparkSession, plan: DecodePlan, table: LakeTable) -> None:
    """Create the empty table; an existing one does not change."""
    tables.create(spark, table, list_table_columns(plan), f"{plan.subject}: all versions")


def find_drift(spark: SparkSession, plan: DecodePlan, table: LakeTable, also: Collection[str] = ()) -> TableDrift:
    """Return the differences of table and subject; columns in `also` may exist in the table only."""
    have = tables.schema(spark, table)
    if have is None:
        return TableDrift(missing=True)
    ignored = {name.lower() for name in also}
    changes = (
        change
        for change in list_differences(have, list_table_columns(plan))
        if change.kind not in HARMLESS
        and not (change.kind == "extra" and len(change.path) == 1 and change.path[0].lower() in ignored)
    )
    return TableDrift(tuple(changes))


def print_evolve_statements(spark: SparkSession, table: LakeTable, drift: TableDrift) -> tuple[str, ...]:
    """What brings the table to the subject, as SQL; a Parquet table has none, its columns are a file beside it."""
    if table.format == "parquet":
        return ()
    name = TABLE_FORMATS[table.format].name(spark, table)
    return tuple(print_alter(name, table, drift.changes))


def evolve(spark: SparkSession, plan: DecodePlan, table: LakeTable) -> None:
    """Add, widen and comment columns of the table. Raises `EvolutionError` if it would have to be rewritten."""
    have = tables.schema(spark, table)
    assert have is not None, "whether there is a table was asked before"
    changes, target = tables.plan_evolution(table, have, list_table_columns(plan), "widen")
    tables.alter(spark, table, changes, target)
