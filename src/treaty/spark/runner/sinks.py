"""Where a query writes: a Delta table below the root, each batch once, appended or merged by key."""

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from treaty.core.column_types.tokens import print_name
from treaty.spark.lake import delta
from treaty.spark.lake.table import LakeTable, WriteId, is_missing
from treaty.spark.runner.row_order import keep_last

CHANGES = "_treaty_changes"
MERGE_SETTINGS = {"spark.sql.runSQLOnFiles": "true"}
"""Settings of the session of a batch while Treaty's own statement runs there; the query's forbid it."""


@dataclass(frozen=True, slots=True)
class DeltaSink:
    """A Delta table in a folder that a query fills. `writer` names the checkpoint: a batch of it that comes twice is written once."""

    folder: str
    writer: str
    columns: StructType
    key: tuple[str, ...] = ()

    def write(self, batch: DataFrame, number: int) -> None:
        """Write the rows of a batch: appended without a key, else in the place of the rows with their keys. Of several
        rows with one key the last one stays.
        """
        table, write = LakeTable(self.folder), WriteId(self.writer, number)
        rows = keep_last(batch, self.key) if self.key else batch
        rows = rows.select(*(print_name(one.name) for one in self.columns))
        if not self.key:
            delta.append(rows, table, write)
            return
        spark = batch.sparkSession
        for name, value in MERGE_SETTINGS.items():
            spark.conf.set(name, value)
        if is_missing(spark, self.folder):
            spark.createDataFrame([], self.columns).write.format("delta").save(self.folder)
        rows.createOrReplaceTempView(CHANGES)
        delta.run(spark, table, print_merge(delta.name(spark, table), self.key), write)


def print_merge(table: str, key: Sequence[str]) -> str:
    """Return the statement that puts changes in the place of the rows with their keys; null is a key too."""
    same = " AND ".join(f"t.{print_name(name)} <=> c.{print_name(name)}" for name in key)
    return f"MERGE INTO {table} AS t USING {CHANGES} AS c ON {same} WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
