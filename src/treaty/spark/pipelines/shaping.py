"""The table of good rows is made to grow ahead of the rows, with the words of the schemas as comments on its columns."""

from pyspark.sql import DataFrame

from treaty.spark.lake import lakes
from treaty.spark.lake.changes import changes
from treaty.spark.lake.conforming import storable
from treaty.spark.lake.documents import Docs, documented
from treaty.spark.lake.table import Table


def shape(rows: DataFrame, table: Table, evolution: str, docs: Docs) -> None:
    """Bring a table to the columns of rows, if it has to grow for them, before they come. Raises `EvolutionError`."""
    told, spark = documented(rows.schema, docs), rows.sparkSession
    have = lakes.schema(spark, table)
    if have is None:
        lakes.make(spark, table, storable(told))
    elif any(one.kind in {"add", "widen"} for one in changes(have, told)):
        lakes.fitting(spark, told, table, evolution)
