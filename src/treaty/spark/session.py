"""`session()`: a local Spark with exactly the packages that Treaty is proven with."""

import sys
from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import SparkSession

from treaty.spark.packages import packages

IVY_JARS = Path.home() / ".ivy2.5.2" / "jars"
"""Where Spark 4.1's Ivy puts what it fetched."""


def session(
    name: str = "treaty",
    *,
    master: str = "local[*]",
    memory: str = "2g",
    delta: bool = True,
    settings: Mapping[str, str] | None = None,
) -> SparkSession:
    """Start Spark, or return the session that runs; `settings` are added to Treaty's own.

    The JVM packages are fetched by Spark's Ivy at the first start (about 50 MB), which is said on stderr.
    """
    wanted = packages(delta=delta)
    builder = (
        SparkSession.builder.appName(name)
        .master(master)
        .config("spark.driver.memory", memory)
        .config("spark.jars.packages", ",".join(wanted.coordinates))
        .config("spark.jars.excludes", ",".join(wanted.excludes))
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.ansi.enabled", "true")
    )
    for key, value in {**wanted.settings, **(settings or {})}.items():
        builder = builder.config(key, value)
    missing = [one for one in wanted.coordinates if not _fetched(one)]
    if missing and SparkSession.getActiveSession() is None:
        sys.stderr.write(f"Spark fetches its packages (once, about 50 MB): {', '.join(missing)}\n")
    return builder.getOrCreate()


def _fetched(coordinate: str) -> bool:
    group, artifact, version = coordinate.split(":")
    return (IVY_JARS / f"{group}_{artifact}-{version}.jar").exists()
