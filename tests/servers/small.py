"""Settings of Spark for tests, whose tables have a hundred rows: it plans less and compiles nothing.

Each plan would be made into a program of Java, compiled, and run once. The soak on a cluster runs with Spark's own
settings; `make soak PART=spark` runs all tests of Spark with these, by `SPARK_SETTINGS=own`.
"""

import os
from collections.abc import Mapping
from pathlib import Path

_DAEMON = {"spark.python.daemon.module": "tests.servers.daemon"} if Path.cwd() == Path(__file__).parents[2] else {}
"""The parent of Python workers is started in this folder, and found only from the root of the checkout."""
_CHEAP: Mapping[str, str] = {
    **_DAEMON,
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.databricks.delta.snapshotPartitions": "1",
}
_PATIENCE: Mapping[str, str] = {
    "spark.sql.streaming.stopTimeout": "120s",
    "spark.python.worker.tracebackDumpIntervalSeconds": "60",
    "spark.sql.execution.pyspark.udf.idleTimeoutSeconds": "120",
    "spark.sql.execution.pyspark.udf.killOnIdleTimeout": "true",
}
"""Spark waits for ever for a stream that does not stop, and for a Python worker that says nothing. In tests a stop that
takes two minutes fails, and a worker tells where it is, and is ended."""
SMALL: Mapping[str, str] = _PATIENCE if os.environ.get("SPARK_SETTINGS") == "own" else {**_CHEAP, **_PATIENCE}

WORDS = " ".join(f"--conf {name}={value}" for name, value in SMALL.items())
"""The same as words for `spark-submit`, for sessions that a program starts itself; what it sets itself holds."""
