"""Tables that are read without Spark, and Spark's own output while it starts."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from treaty.arrow.delta_log import NeedsSparkError
from treaty.assemble import connect
from treaty.spark import LakeTable
from treaty.spark.lake import tables
from treaty.spark.lake.local_files import read_local_table
from treaty.spark.lake.table import WriteId

pytestmark = [pytest.mark.jvm, pytest.mark.slow]
CHECKPOINT = 10
"""Commits after which Delta writes a checkpoint."""


@pytest.mark.parametrize("format_", ["delta", "parquet"])
def test_a_table_is_read_without_spark_as_spark_reads_it(spark: SparkSession, tmp_path: Path, format_: str) -> None:
    """Over a checkpoint of Delta's log, a batch that comes twice, a column that comes late and one that grows."""
    table = LakeTable(f"{tmp_path}/a table", format_)
    assert read_local_table(table, ("n",)) is None
    for batch in range(CHECKPOINT + 3):
        late = f", id AS wide, {batch} AS late" if batch > CHECKPOINT else ", CAST(id AS INT) AS wide"
        frame = spark.sql(
            f"SELECT CAST(id AS INT) AS n, concat('row ', id) AS text{late} FROM range({batch}, {batch + 3})"
        )
        tables.append(frame, table, WriteId("writer", batch))
        if batch == 4:
            tables.append(frame, table, WriteId("writer", batch))
    if format_ == "delta":
        spark.sql(f"DELETE FROM delta.`{table.folder}` WHERE n = 3")
        assert (tmp_path / "a table/_delta_log/_last_checkpoint").exists()
    columns = ("n", "text", "late", "wide")
    expected = Counter(tuple(row) for row in tables.read(spark, table).select(*columns).collect())
    rows = read_local_table(table, columns)
    assert rows is not None
    assert Counter(tuple(row.values()) for row in rows.to_pylist()) == expected


def test_what_spark_alone_reads_says_so(spark: SparkSession, tmp_path: Path) -> None:
    vectors, names, parts = (f"{tmp_path}/{name}" for name in ("vectors", "names", "parts"))
    spark.range(10).repartition(1).write.format("delta").option("delta.enableDeletionVectors", "true").save(vectors)
    spark.sql(f"DELETE FROM delta.`{vectors}` WHERE id = 3")
    spark.range(1).write.format("delta").option("delta.columnMapping.mode", "name").save(names)
    spark.range(1).selectExpr("id", "id AS day").write.format("delta").partitionBy("day").save(parts)
    reasons = {
        LakeTable(vectors): "deletion vectors",
        LakeTable(names): "other names of columns",
        LakeTable(parts): "partitioned by day",
        LakeTable("s3a://lake/table"): "not on a disk",
        LakeTable("catalog.table"): "a name in a catalog",
        LakeTable(f"{tmp_path}/ice", "iceberg"): "the format iceberg",
        LakeTable(f"{tmp_path}/other", "parquet", ("id",)): "partitioned by id",
    }
    for table, reason in reasons.items():
        with pytest.raises(NeedsSparkError, match=reason):
            read_local_table(table, ("id", "day"))
    assert read_local_table(LakeTable(parts), ("id",)).to_pylist() == [{"id": 0}]  # type: ignore[union-attr]


def test_a_start_that_fails_shows_what_the_jvm_said() -> None:
    program = "from treaty.spark import session; session(settings={'spark.driver.memory': 'nonsense'})"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "Invalid maximum heap size: -Xmxnonsense" in ended.stderr
    assert "JvmStartError: Spark's JVM did not start: install a JDK 17" in ended.stderr


def test_a_command_without_a_jdk_names_the_remedy(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "treaty.cli.main", "table", "diff", "orders-value", "--table", f"{tmp_path}/table"]
    registry = f"sqlite://{tmp_path}/log.db"
    with connect(registry) as connection:
        connection.register("orders-value", '{"type": "record", "name": "R", "fields": [{"name": "n", "type": "int"}]}')
    environment = {"PATH": "/usr/bin:/bin", "JAVA_HOME": str(tmp_path), "HOME": os.environ["HOME"]}
    ended = subprocess.run(
        [*words, "--registry", registry], capture_output=True, text=True, check=False, env=environment
    )
    assert ended.returncode == 2
    assert "Error: Spark's JVM did not start: install a JDK 17" in ended.stderr
    assert "Traceback" not in ended.stderr
