"""Iceberg tables: every snapshot says whose batch it is, and a batch that has one is not appended again.

A path is a table too: the folder above it is made a catalog of the session, which needs nothing but the files.
"""

import hashlib

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from treaty.spark.lake.table import Batch, Table
from treaty.spark.plan.ddl import quoted

BATCH = "treaty-batch"
"""The property of a snapshot that names its batch."""


def _name(spark: SparkSession, table: Table) -> str:
    if not table.is_path:
        return table.place
    above, _, name = table.folder.rpartition("/")
    catalog = f"treaty_{hashlib.sha256(above.encode()).hexdigest()[:16]}"
    if spark.conf.get(f"spark.sql.catalog.{catalog}", "") == "":
        spark.conf.set(f"spark.sql.catalog.{catalog}.type", "hadoop")
        spark.conf.set(
            f"spark.sql.catalog.{catalog}.cache-enabled", "false"
        )  # streams write through sessions of theirs
        spark.conf.set(f"spark.sql.catalog.{catalog}.warehouse", above or "/")
        spark.conf.set(f"spark.sql.catalog.{catalog}", "org.apache.iceberg.spark.SparkCatalog")
    return f"{catalog}.{quoted(name)}"


def read(spark: SparkSession, table: Table) -> DataFrame:
    """The table as it is now."""
    name = _name(spark, table)
    if not table.is_path:
        spark.catalog.refreshTable(name)
    return spark.table(name)


def schema(spark: SparkSession, table: Table) -> StructType | None:
    """The columns of the table; None where there is none."""
    try:
        return read(spark, table).schema
    except AnalysisException as missing:
        if missing.getCondition() != "TABLE_OR_VIEW_NOT_FOUND":
            raise
        return None


def append(frame: DataFrame, table: Table, batch: Batch) -> None:
    """Append rows of one batch, and add or widen what the table lacks."""
    spark, name = frame.sparkSession, _name(frame.sparkSession, table)
    if schema(spark, table) is None:
        writer = spark.createDataFrame([], frame.schema).writeTo(name).using("iceberg")
        writer = writer.tableProperty("write.spark.accept-any-schema", "true")
        if table.partitions:
            writer = writer.partitionedBy(*(F.col(quoted(one)) for one in table.partitions))
        writer.create()
    elif _written(spark, name, batch):
        return
    frame.writeTo(name).option("mergeSchema", "true").option(f"snapshot-property.{BATCH}", str(batch)).append()


def _written(spark: SparkSession, name: str, batch: Batch) -> bool:
    snapshots = spark.table(f"{name}.snapshots")
    return not snapshots.filter(F.col("summary")[BATCH] == str(batch)).isEmpty()
