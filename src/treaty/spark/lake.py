"""Delta tables that evolve: appends that add columns, widen types and happen once per batch."""

from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Batch:
    """Who writes, and which turn it is: Delta skips an append whose turn it has seen from the same writer."""

    writer: str
    number: int


def append(frame: DataFrame, path: str, batch: Batch) -> None:
    """Append rows once; columns that the table lacks are added (nested ones too) and types widened.

    A column that the frame lacks is null. A type that can't be widened to hold the new one is an error of Delta.
    """
    options = {
        "txnAppId": batch.writer,
        "txnVersion": str(batch.number),
        "mergeSchema": "true",
        "delta.enableTypeWidening": "true",
    }
    frame.write.format("delta").mode("append").options(**options).save(path)


def read(spark: SparkSession, path: str) -> DataFrame:
    """The table as it is now."""
    return spark.read.format("delta").load(path)
