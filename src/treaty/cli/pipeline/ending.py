"""How the command of a stream ends where a signal to its whole process group has ended Spark's JVM too."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from subprocess import TimeoutExpired
from threading import Event

from treaty.cli.terminal import screen

JVM_SECONDS = 10
"""Seconds in which a JVM that was told to end has ended."""
STOPPED = "Stopped: Spark ended by the same signal; a batch that it cut off runs again."


@contextmanager
def end_with_spark(ending: Event) -> Iterator[None]:
    """Say that the stream was stopped, instead of an error of the block, where `ending` is set and Spark's JVM has ended.

    Spark's own reports of calls that such a JVM can't answer are left out.
    """
    before = logging.root.manager.disable
    try:
        yield
    except Exception:
        if not (ending.is_set() and _has_spark_ended()):
            raise
        screen.say(STOPPED, "yellow", err=True)
    finally:
        logging.disable(before)


def hush_reports() -> None:
    """Leave out what libraries report from now on of a JVM that is gone; `end_with_spark` lets their logs speak again."""
    from pyspark import SparkContext  # noqa: PLC0415 (loads Spark, which --help must not need)

    logging.disable(logging.ERROR)
    server = getattr(SparkContext._active_spark_context, "_accumulatorServer", None)  # noqa: SLF001 (it has no log, and writes on stderr)
    if server is not None:
        server.handle_error = lambda *_: None


def _has_spark_ended() -> bool:
    """Whether the JVM that this process has started ends by itself."""
    from pyspark import SparkContext  # noqa: PLC0415 (loads Spark, which --help must not need)

    process = getattr(SparkContext._gateway, "proc", None)  # noqa: SLF001 (pyspark has no other word for it)
    try:
        return process is not None and process.wait(JVM_SECONDS) is not None
    except TimeoutExpired:
        return False
