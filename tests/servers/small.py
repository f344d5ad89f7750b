"""Settings of Spark for tests, whose tables have a hundred rows: it plans less and compiles nothing.

Each plan would be made into a program of Java, compiled, and run once. The demo, the README and the soak on a cluster run
with Spark's own settings.
"""

from collections.abc import Mapping

SMALL: Mapping[str, str] = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.databricks.delta.snapshotPartitions": "1",
}

WORDS = " ".join(f"--conf {name}={value}" for name, value in SMALL.items())
"""The same as words for `spark-submit`, for sessions that a program starts itself; what it sets itself holds."""
