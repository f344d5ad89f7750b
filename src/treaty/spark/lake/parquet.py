"""Plain Parquet: one folder per batch, written over when the batch runs again, and the table's columns kept beside them."""

import hashlib
import json
from functools import reduce

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.types import StructType

from treaty.plan.ddl import quote_name
from treaty.spark.lake.changes import merge_columns
from treaty.spark.lake.table import LakeTable, WriteId, is_missing

ROWS, COLUMNS, BATCH = "rows", "_columns", "_batch"
KEPT = f"{COLUMNS}/version=*"
"""All sets of columns. Spark warns of a path that ends in the name of a hidden folder, and not of those inside.

It is asked for twice at a time: of a single path Spark looks for the log of a sink, and where that is a pattern it logs a
stack trace. What is read twice is put together all the same.
"""


def name(spark: SparkSession | None, table: LakeTable) -> str:
    """The folder of the rows as SQL names it, which reads what is there without the table's columns."""
    return f"parquet.{quote_name(f'{table.folder}/{ROWS}')}"


def read(spark: SparkSession, table: LakeTable) -> DataFrame:
    """The rows of all batches, in the columns that the table has now; older files lack some, or have smaller types."""
    columns = schema(spark, table)
    if columns is None:
        return spark.read.parquet(table.folder)  # whose error says what is not there
    try:
        rows = spark.read.schema(columns).parquet(f"{table.folder}/{ROWS}")
    except AnalysisException as missing:
        if missing.getCondition() != "PATH_NOT_FOUND":
            raise
        return spark.createDataFrame([], columns)  # made, and nothing written yet
    return rows.select(*map(quote_name, columns.names))


def schema(spark: SparkSession, table: LakeTable) -> StructType | None:
    """The columns of the table; None where there is none.

    All sets of columns that were ever kept are put together, so that of two writers at one time none loses its columns.
    """
    rows = _read_kept(spark, table)
    column_texts = sorted((row["number"], row["columns"]) for row in rows if row["columns"])
    return (
        reduce(merge_columns, (StructType.fromJson(json.loads(text)) for _, text in column_texts))
        if column_texts
        else None
    )


def store_columns(spark: SparkSession, table: LakeTable, columns: StructType) -> None:
    """Keep the columns that the table shall have, beside those it had."""
    now = columns.json()
    name_ = hashlib.sha256(now.encode()).hexdigest()[:16]
    number = 1 + max((row["number"] or 0 for row in _read_kept(spark, table)), default=0)
    row = spark.createDataFrame([(number, now)], "number INT, columns STRING").coalesce(1)
    row.write.mode("overwrite").json(f"{table.folder}/{COLUMNS}/version={number}-{name_}")


def _read_kept(spark: SparkSession, table: LakeTable) -> list[Row]:
    """Number and columns of every set of columns that was kept; one that is being written has neither."""
    if is_missing(spark, f"{table.folder}/{COLUMNS}"):
        return []
    try:
        return spark.read.schema("number INT, columns STRING").json([f"{table.folder}/{KEPT}"] * 2).collect()
    except AnalysisException as missing:
        if missing.getCondition() != "PATH_NOT_FOUND":
            raise
        return []


def append(frame: DataFrame, table: LakeTable, batch: WriteId) -> None:
    """Write the rows of one batch into its folder; a table that is not there gets the frame's columns."""
    if schema(frame.sparkSession, table) is None:
        store_columns(frame.sparkSession, table, frame.schema)
    writer = frame.write.mode("overwrite")
    if table.partitions:
        writer = writer.partitionBy(*table.partitions)
    name_ = hashlib.sha256(batch.writer.encode()).hexdigest()[:16]
    writer.parquet(f"{table.folder}/{ROWS}/{BATCH}={name_}-{batch.number:012}")
