"""Delta tables: the transaction that a writer names is skipped when it comes twice."""

from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from treaty.plan.ddl import quote_name
from treaty.spark.lake.ddl import COLUMN_MAPPING, TYPE_WIDENING, needs_column_mapping, print_text
from treaty.spark.lake.table import LakeTable, WriteId, is_missing, make_empty_frame, resolve_folder

MISSING = {"DELTA_TABLE_NOT_FOUND", "PATH_NOT_FOUND", "DELTA_PATH_DOES_NOT_EXIST", "TABLE_OR_VIEW_NOT_FOUND"}
WRITER, TURN = "spark.databricks.delta.write.txnAppId", "spark.databricks.delta.write.txnVersion"
"""Settings of a session: whose transaction the next statement is."""


def name(spark: SparkSession | None, table: LakeTable) -> str:
    """The table as SQL names it."""
    return f"delta.{quote_name(resolve_folder(spark, table.folder))}" if table.is_path else table.place


def read(spark: SparkSession, table: LakeTable) -> DataFrame:
    """The table as it is now."""
    return spark.read.format("delta").load(table.folder) if table.is_path else spark.table(table.place)


def schema(spark: SparkSession, table: LakeTable) -> StructType | None:
    """The columns of the table; None where there is none."""
    if table.is_path and is_missing(spark, table.folder):
        return None
    try:
        return read(spark, table).schema
    except AnalysisException as missing:
        if missing.getCondition() not in MISSING:
            raise
        return None


def make_in_empty_log(spark: SparkSession, table: LakeTable, columns: StructType, comment: str) -> None:
    """Make a table in a folder whose log has no commit, as a driver leaves it that is killed while it makes a table.

    Delta takes such a folder for a table, so CREATE TABLE IF NOT EXISTS does nothing there; an append without rows does it.
    """
    properties = {TYPE_WIDENING: "true", **({COLUMN_MAPPING: "name"} if needs_column_mapping(columns) else {})}
    writer = make_empty_frame(spark, columns).write.format("delta").mode("append").options(**properties)
    (writer.partitionBy(*table.partitions) if table.partitions else writer).save(table.folder)
    if comment:
        spark.sql(f"COMMENT ON TABLE {name(spark, table)} IS {print_text(comment)}")


def append(frame: DataFrame, table: LakeTable, batch: WriteId) -> None:
    """Append rows of one batch; a table that is not there is made."""
    options = {"txnAppId": batch.writer, "txnVersion": str(batch.number), TYPE_WIDENING: "true"}
    writer = frame.write.format("delta").mode("append").options(**options)
    if table.partitions:
        writer = writer.partitionBy(*table.partitions)
    writer.save(table.folder) if table.is_path else writer.saveAsTable(table.place)


def has_written(spark: SparkSession, table: LakeTable, batch: WriteId) -> bool:
    """Return whether a table in a folder has seen a batch of a writer, or a later one: then it ignores the batch."""
    if is_missing(spark, table.folder):
        return False
    jvm: Any = spark.sparkContext._jvm  # noqa: SLF001 (pyspark does not show the log of a table)
    log = jvm.org.apache.spark.sql.delta.DeltaLog.forTable(spark._jsparkSession, table.folder)  # noqa: SLF001
    none = jvm.scala.Option.empty()
    written = log.update(False, none, none).transactions().get(batch.writer)
    return bool(written.isDefined()) and int(written.get()) >= batch.number


def run(spark: SparkSession, table: LakeTable, statement: str, batch: WriteId) -> None:
    """Run a statement that changes rows; one whose batch the table has seen changes nothing."""
    spark.conf.set(WRITER, batch.writer)
    spark.conf.set(TURN, str(batch.number))
    try:
        spark.sql(statement)
    finally:
        spark.conf.unset(WRITER)
        spark.conf.unset(TURN)
