"""Plain Parquet: one folder per batch, written over when the batch runs again, and the table's columns kept beside them."""

import hashlib
import json

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from treaty.spark.lake.table import Batch, Table

ROWS, COLUMNS, BATCH = "rows", "_columns", "_batch"


def read(spark: SparkSession, table: Table) -> DataFrame:
    """The rows of all batches, in the columns that the table has now; older files lack some, or have smaller types."""
    found = schema(spark, table)
    if found is None:
        return spark.read.parquet(table.folder)  # whose error says what is not there
    return spark.read.schema(found).parquet(f"{table.folder}/{ROWS}").select(*found.names)


def schema(spark: SparkSession, table: Table) -> StructType | None:
    """The columns of the table; None where there is none."""
    kept = _kept(spark, table)
    return StructType.fromJson(kept[1]) if kept else None


def _kept(spark: SparkSession, table: Table) -> tuple[int, dict[str, object]] | None:

    try:
        rows = spark.read.schema("number INT, columns STRING").json(f"{table.folder}/{COLUMNS}").collect()
    except AnalysisException as missing:
        if missing.getCondition() != "PATH_NOT_FOUND":
            raise
        return None
    found = max(((row["number"], row["columns"]) for row in rows if row["columns"]), default=None)
    return (found[0], json.loads(found[1])) if found else None


def append(frame: DataFrame, table: Table, batch: Batch) -> None:
    """Write the rows of one batch into its folder, and keep the columns first where they are other ones now."""
    spark, kept = frame.sparkSession, _kept(frame.sparkSession, table)
    now = frame.schema.json()
    if kept is None or StructType.fromJson(kept[1]) != frame.schema:
        number = kept[0] + 1 if kept else 1
        row = spark.createDataFrame([(number, now)], "number INT, columns STRING").coalesce(1)
        row.write.mode("overwrite").json(f"{table.folder}/{COLUMNS}/version={number}")
    writer = frame.write.mode("overwrite")
    if table.partitions:
        writer = writer.partitionBy(*table.partitions)
    name = hashlib.sha256(batch.writer.encode()).hexdigest()[:16]
    writer.parquet(f"{table.folder}/{ROWS}/{BATCH}={name}-{batch.number:012}")
