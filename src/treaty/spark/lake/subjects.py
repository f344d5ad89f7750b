"""A subject as a table: the columns of the union of its versions, the statements that make it, and where a table differs."""

from collections.abc import Collection
from dataclasses import dataclass

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from treaty.core.state.columns import Column, Columns
from treaty.plan.ddl import parse_type, quote_name
from treaty.plan.value import DecodePlan
from treaty.spark.lake import iceberg, lakes
from treaty.spark.lake.changes import Change, drift
from treaty.spark.lake.conforming import storable
from treaty.spark.lake.ddl import alter_sql, create_sql
from treaty.spark.lake.documents import documented
from treaty.spark.lake.lakes import LAKES
from treaty.spark.lake.table import Table
from treaty.spark.types import spark_schema

HARMLESS = frozenset({"narrow"})
"""Kinds of changes that are no drift: the table holds more than the subject's rows need."""


@dataclass(frozen=True, slots=True)
class Drift:
    """Where a table and a subject differ. `missing`: there is no table at all."""

    changes: tuple[Change, ...] = ()
    missing: bool = False

    @property
    def any(self) -> bool:
        """Whether there is something to do, or to look at."""
        return self.missing or bool(self.changes)


def columns_of(plan: DecodePlan) -> StructType:
    """The columns of a table that holds what the plan decodes, with what the schema says of them. It needs no Spark."""
    made = [Column(name, parse_type(kind)) for name, kind in plan.columns] or [Column("value", parse_type(plan.type))]
    return documented(storable(spark_schema(Columns(tuple(made)))), plan.docs)


def create_statements(plan: DecodePlan, table: Table) -> tuple[str, ...]:
    """What makes the table, as SQL; for an Iceberg table at a path the settings of its catalog come first, as comments."""
    said = f"{plan.subject}: all versions"
    if table.format == "parquet":
        name = quote_name(table.folder.rpartition("/")[2])
        return (create_sql(name, table, columns_of(plan), said),)
    name = LAKES[table.format].name(None, table)
    return (*settings_told(table), create_sql(name, table, columns_of(plan), said))


def settings_told(table: Table) -> tuple[str, ...]:
    """What a session needs to be set to, as a comment of SQL; nothing for most tables."""
    if table.format != "iceberg" or not table.is_path:
        return ()
    catalog = iceberg.name(None, table).partition(".")[0]
    above = table.folder.rpartition("/")[0] or "/"
    return tuple(f"SET {name} = {value}" for name, value in iceberg.settings(catalog, above).items())


def create(spark: SparkSession, plan: DecodePlan, table: Table) -> None:
    """Make the table, empty; one that is there stays as it is."""
    lakes.make(spark, table, columns_of(plan), f"{plan.subject}: all versions")


def drifted(spark: SparkSession, plan: DecodePlan, table: Table, also: Collection[str] = ()) -> Drift:
    """Where the table differs from the subject; columns named in `also` may be in the table alone."""
    have = lakes.schema(spark, table)
    if have is None:
        return Drift(missing=True)
    mine = {one.lower() for one in also}
    found = (
        one
        for one in drift(have, columns_of(plan))
        if one.kind not in HARMLESS and not (one.kind == "extra" and len(one.path) == 1 and one.path[0].lower() in mine)
    )
    return Drift(tuple(found))


def evolve_statements(spark: SparkSession, table: Table, found: Drift) -> tuple[str, ...]:
    """What brings the table to the subject, as SQL; a Parquet table has none, its columns are a file beside it."""
    if table.format == "parquet":
        return ()
    name = LAKES[table.format].name(spark, table)
    return tuple(alter_sql(name, table, found.changes))


def evolve(spark: SparkSession, plan: DecodePlan, table: Table) -> None:
    """Add, widen and comment what the table lacks. Raises `EvolutionError` where it would have to be written anew."""
    have = lakes.schema(spark, table)
    assert have is not None, "whether there is a table was asked before"
    found, target = lakes.grown(table, have, columns_of(plan), "widen")
    lakes.alter(spark, table, found, target)
