"""Delta tables: the transaction that a writer names is skipped when it comes twice."""

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from treaty.spark.lake.table import Batch, Table

MISSING = {"DELTA_TABLE_NOT_FOUND", "PATH_NOT_FOUND", "DELTA_PATH_DOES_NOT_EXIST", "TABLE_OR_VIEW_NOT_FOUND"}


def read(spark: SparkSession, table: Table) -> DataFrame:
    """The table as it is now."""
    return spark.read.format("delta").load(table.folder) if table.is_path else spark.table(table.place)


def schema(spark: SparkSession, table: Table) -> StructType | None:
    """The columns of the table; None where there is none."""
    try:
        return read(spark, table).schema
    except AnalysisException as missing:
        if missing.getCondition() not in MISSING:
            raise
        return None


def append(frame: DataFrame, table: Table, batch: Batch) -> None:
    """Append rows of one batch, and add or widen what the table lacks."""
    options = {
        "txnAppId": batch.writer,
        "txnVersion": str(batch.number),
        "mergeSchema": "true",
        "delta.enableTypeWidening": "true",
    }
    writer = frame.write.format("delta").mode("append").options(**options)
    if table.partitions:
        writer = writer.partitionBy(*table.partitions)
    writer.save(table.folder) if table.is_path else writer.saveAsTable(table.place)
