"""Plain Parquet: one folder per batch, written over when the batch runs again, and the table's columns kept beside them."""

import hashlib
import json
from functools import reduce

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from treaty.plan.ddl import quote_name
from treaty.spark.lake.changes import merge_columns
from treaty.spark.lake.table import LakeTable, WriteId, is_missing

ROWS, COLUMNS, BATCH = "rows", "_columns", "_batch"


def name(spark: SparkSession | None, table: LakeTable) -> str:
    """The folder of the rows as SQL names it, which reads what is there without the table's columns."""
    return f"parquet.{quote_name(f'{table.folder}/{ROWS}')}"


def read(spark: SparkSession, table: LakeTable) -> DataFrame:
    """The rows of all batches, in the columns that the table has now; older files lack some, or have smaller types."""
    found = schema(spark, table)
    if found is None:
        return spark.read.parquet(table.folder)  # whose error says what is not there
    try:
        rows = spark.read.schema(found).parquet(f"{table.folder}/{ROWS}")
    except AnalysisException as missing:
        if missing.getCondition() != "PATH_NOT_FOUND":
            raise
        return spark.createDataFrame([], found)  # made, and nothing written yet
    return rows.select(*map(quote_name, found.names))


def schema(spark: SparkSession, table: LakeTable) -> StructType | None:
    """The columns of the table; None where there is none.

    All sets of columns that were ever kept are put together, so that of two writers at one time none loses its columns.
    """
    if is_missing(spark, f"{table.folder}/{COLUMNS}"):
        return None
    try:
        rows = spark.read.schema("number INT, columns STRING").json(f"{table.folder}/{COLUMNS}").collect()
    except AnalysisException as missing:
        if missing.getCondition() != "PATH_NOT_FOUND":
            raise
        return None
    kept = sorted((row["number"], row["columns"]) for row in rows if row["columns"])
    return reduce(merge_columns, (StructType.fromJson(json.loads(text)) for _, text in kept)) if kept else None


def store_columns(spark: SparkSession, table: LakeTable, columns: StructType) -> None:
    """Keep the columns that the table shall have, beside those it had."""
    now = columns.json()
    name_ = hashlib.sha256(now.encode()).hexdigest()[:16]
    number = _read_last_version(spark, table) + 1
    row = spark.createDataFrame([(number, now)], "number INT, columns STRING").coalesce(1)
    row.write.mode("overwrite").json(f"{table.folder}/{COLUMNS}/version={number}-{name_}")


def _read_last_version(spark: SparkSession, table: LakeTable) -> int:
    if is_missing(spark, f"{table.folder}/{COLUMNS}"):
        return 0
    try:
        rows = spark.read.schema("number INT").json(f"{table.folder}/{COLUMNS}").collect()
    except AnalysisException as missing:
        if missing.getCondition() != "PATH_NOT_FOUND":
            raise
        return 0
    return max((row["number"] for row in rows if row["number"] is not None), default=0)


def append(frame: DataFrame, table: LakeTable, batch: WriteId) -> None:
    """Write the rows of one batch into its folder; a table that is not there gets the frame's columns."""
    if schema(frame.sparkSession, table) is None:
        store_columns(frame.sparkSession, table, frame.schema)
    writer = frame.write.mode("overwrite")
    if table.partitions:
        writer = writer.partitionBy(*table.partitions)
    name_ = hashlib.sha256(batch.writer.encode()).hexdigest()[:16]
    writer.parquet(f"{table.folder}/{ROWS}/{BATCH}={name_}-{batch.number:012}")
