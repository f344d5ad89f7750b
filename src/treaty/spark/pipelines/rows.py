"""Rows of a batch as the tables of a pipeline have them."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from treaty.spark.decode import Names, decode
from treaty.spark.pipelines.value import Pipeline
from treaty.spark.plan.value import DecodePlan

RECORD, ERROR = "_record", "_error"
BAD_ID, BATCH = "bad_id", "batch"
"""Columns of the table of bad rows: a name for each of them, and the batch that brought it."""


def decoded_rows(pipeline: Pipeline, frame: DataFrame, plan: DecodePlan) -> DataFrame:
    """The rows with their record and their error, beside the columns that are kept."""
    kept = frame.select(pipeline.column, *pipeline.keep)
    names = Names(RECORD, ERROR, schema_id=pipeline.with_id, version=pipeline.with_version)
    return decode(kept, plan, column=pipeline.column, names=names)


def good_rows(pipeline: Pipeline, decoded: DataFrame, plan: DecodePlan) -> DataFrame:
    """The good rows as their table has them."""
    extra = [*pipeline.keep, *(name for name in (pipeline.with_id, pipeline.with_version) if name)]
    fields = [F.col(RECORD)[name].alias(name) for name, _ in plan.columns] or [F.col(RECORD).alias("value")]
    return decoded.filter(F.col(RECORD).isNotNull()).select(*extra, *fields)


def bad_rows(pipeline: Pipeline, decoded: DataFrame, number: int) -> DataFrame:
    """The bad rows of a batch as their table has them."""
    names = [F.uuid().alias(BAD_ID), F.lit(number).cast("bigint").alias(BATCH)]
    return decoded.filter(F.col(ERROR).isNotNull()).select(*pipeline.keep, f"{ERROR}.*", *names)
