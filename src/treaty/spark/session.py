"""`session()`: a local Spark with exactly the packages that Treaty is proven with."""

import os
import sys
from collections.abc import Mapping
from contextlib import nullcontext
from subprocess import Popen, TimeoutExpired
from typing import Any

from pyspark import SparkContext
from pyspark.sql import SparkSession

from treaty.spark.jars import IVY_JARS, JVM_OPTIONS, fetch_token_jar, jar_name, packages, read_jar_list, write_jar_list
from treaty.spark.jvm_start import has_jvm, quiet_start

QUICK_START = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=160m -XX:MetaspaceSize=192m -XX:+UseSerialGC"
"""JVM options for short runs on a small machine: starting costs a third less, long runs are slower.

With one compiler the JVM keeps room for 48 MB of code alone. A program of a hundred plans fills that, and is
interpreted from then on. Each time that classes take more room than `MetaspaceSize`, the JVM looks through all objects.
"""

JVM_SECONDS = 10
"""Seconds in which a JVM that is asked to end has ended."""
_ENDED_BY_SIGNAL = frozenset({143, -15, 130, -2})
"""Exit codes of a JVM after SIGTERM and SIGINT."""


class NotOnConnectError(RuntimeError):
    """Something needs the driver itself, and this session has only a connection to it; says what to do instead."""


def is_on_connect(spark: SparkSession) -> bool:
    """Whether a session is a Spark Connect server's."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def session(
    name: str = "treaty",
    *,
    master: str = "local[*]",
    memory: str = "2g",
    delta: bool = True,
    iceberg: bool = False,
    kafka: bool = False,
    java_options: str = "",
    settings: Mapping[str, str] | None = None,
    verbose: bool = False,
) -> SparkSession:
    """Start Spark, or return the session that runs; `settings` and `java_options` are added to Treaty's own.

    What the JVM, Spark's loggers and Ivy print while Spark starts is shown only if the start fails, and always with
    `verbose`.

    The JVM packages are fetched by Spark's Ivy at the first start (about 50 MB), which is said on stderr; later starts
    take the same jars from the disk. `kafka` adds Spark's own source and sink for topics. Raises `NotFetchedError`
    where the one jar that Ivy must be given is not available, and `NotOnConnectError` where the environment variable
    ``SPARK_REMOTE`` names a Spark Connect server.
    """
    if os.environ.get("SPARK_REMOTE"):  # noqa: TID251 (Spark's own variable, which its builder reads too)
        text = "session() starts a Spark of its own, and SPARK_REMOTE names a Spark Connect server"
        remedy = "take that server's session by SparkSession.builder.getOrCreate(), or unset SPARK_REMOTE"
        raise NotOnConnectError(f"{text}: {remedy}")
    # Python workers run in this interpreter, with its libraries; Spark has no other way of being told.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # noqa: TID251
    needed = packages(delta=delta, iceberg=iceberg, kafka=kafka)
    own_settings = settings or {}
    # Only a JVM that starts here looks at packages, and a person's own settings may want other jars.
    needs_jars = not has_jvm() and not any(key.startswith(("spark.jars", "spark.submit.")) for key in own_settings)
    listed_jars = read_jar_list(needed) if needs_jars else ()
    own = {
        "spark.app.name": name,
        "spark.master": master,
        "spark.driver.memory": memory,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        # Spark would note the line of Python for each column that is made: five calls to the JVM instead of one.
        "spark.python.sql.dataFrameDebugging.enabled": "false",
        "spark.databricks.delta.snapshotPartitions": "2",
    }
    driver = {"spark.driver.extraJavaOptions": f"{JVM_OPTIONS} {java_options}".strip()}
    ivy = {"spark.jars.packages": ",".join(needed.coordinates), "spark.jars.excludes": ",".join(needed.excludes)}
    # Spark makes of all that Ivy finds jars of the JVM and archives of Python's, as some have modules of both. Python 3.11 and
    # 3.12 read the directory of each archive anew before each task, and Iceberg's has 25,000 files.
    jars = {"spark.submit.pyFiles": ",".join(one.path for one in listed_jars if one.has_python)} if listed_jars else ivy
    options: dict[str, bool | float | int | str | None] = {**own, **jars, **needed.settings, **driver, **own_settings}
    if kafka or listed_jars:
        tokens = (str(fetch_token_jar()),) if kafka else ()
        all_jars = (*tokens, *(one.path for one in listed_jars), own_settings.get("spark.jars", ""))
        options["spark.jars"] = ",".join(filter(None, all_jars))
    missing = list_missing_packages(delta=delta, iceberg=iceberg, kafka=kafka)
    if missing and SparkSession.getActiveSession() is None:
        sys.stderr.write(f"Spark fetches its packages (once, about 50 MB): {', '.join(missing)}\n")
    builder = SparkSession.builder.config(map=options)
    with nullcontext() if verbose else quiet_start(options):
        started = builder.getOrCreate()
    if needs_jars and not listed_jars:
        write_jar_list(needed, started.sparkContext.getConf().get("spark.submit.pyFiles", "").split(","))
    return started


def has_jvm_ended_by_signal() -> bool:
    """Whether the JVM that this process has started ends by SIGTERM or SIGINT, within `JVM_SECONDS`; not if it was killed."""
    process = getattr(SparkContext._gateway, "proc", None)  # noqa: SLF001 (pyspark has no other word for it)
    return process is not None and ends_by_signal(process)


def ends_by_signal(process: Popen[Any]) -> bool:
    """Whether a process ends by SIGTERM or SIGINT, within `JVM_SECONDS`."""
    try:
        return process.wait(JVM_SECONDS) in _ENDED_BY_SIGNAL
    except TimeoutExpired:
        return False


def silence_accumulators() -> None:
    """Let pyspark's server of accumulators, which has no log, print nothing when its JVM is gone."""
    server = getattr(SparkContext._active_spark_context, "_accumulatorServer", None)  # noqa: SLF001 (there is no other way to it)
    if server is not None:
        server.handle_error = lambda *_: None


def is_running() -> bool:
    """Whether this program has a session already."""
    return SparkSession.getActiveSession() is not None


def list_missing_packages(*, delta: bool = True, iceberg: bool = False, kafka: bool = False) -> tuple[str, ...]:
    """The packages that Ivy has not fetched yet into its usual folder."""
    return tuple(
        coordinate
        for coordinate in packages(delta=delta, iceberg=iceberg, kafka=kafka).coordinates
        if not (IVY_JARS / jar_name(coordinate)).exists()
    )
