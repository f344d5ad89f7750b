"""Starts Spark's JVM, and finds classes of it; what it prints until a session is ready is shown only where the start fails.

Spark, its loggers and Ivy write some fifty lines to stderr at each start, warnings about the name of the host among them.
A person who asks for a table should read about the table.
"""

import os
import sys
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO

from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

JVM_ENDED = "Spark's JVM did not start: install a JDK 17, and put its java on the PATH or name its folder in JAVA_HOME"
KEPT_LINES = 500
"""Lines of a start that are kept for the case that it fails."""


def has_jvm() -> bool:
    """Whether this process has a JVM already, or was started by one."""
    return SparkContext._gateway is not None or "PYSPARK_GATEWAY_PORT" in os.environ  # noqa: SLF001, TID251 (pyspark has no other word for it)


def find_class(spark: SparkSession, name: str) -> Any:
    """Return a class of the JVM of a session by its name with its packages: the JVM is asked once, and not for each part of the name."""
    return getattr(spark._jvm, name)  # noqa: SLF001 (pyspark has no other way to the JVM)


@contextmanager
def quiet_start(options: Mapping[str, bool | float | int | str | None]) -> Iterator[None]:
    """Start the JVM with these settings of Spark, and hold its output back for the block.

    If the block fails, the last `KEPT_LINES` lines are written to stderr; after the block all output goes there as it
    comes. Nothing is done where there is a JVM already.
    """
    if has_jvm():
        yield
        return
    read_end, write_end = os.pipe()
    output = _JvmOutput(os.fdopen(read_end, "rb"))
    try:
        try:
            gateway = launch_gateway(
                SparkConf(loadDefaults=False).setAll([(name, str(value)) for name, value in options.items()]),
                {"stderr": write_end},
            )  # type: ignore[no-untyped-call]
        finally:
            os.close(write_end)  # the JVM has its own copy; reading ends when that is closed
        SparkContext._ensure_initialized(gateway=gateway)  # noqa: SLF001 (the one way to give a context a JVM before it is made)
        yield
    except PySparkRuntimeError as error:
        output.show()
        if error.getCondition() != "JAVA_GATEWAY_EXITED":
            raise
        raise JvmStartError(JVM_ENDED) from error
    except BaseException:
        output.show()
        raise
    output.pass_on()


class JvmStartError(RuntimeError):
    """Spark's JVM ended before it could be used; the message has the remedy, and stderr what the JVM said."""


class _JvmOutput:
    """Reads what a JVM writes to stderr: keeps the lines, until they are passed on. Reading ends with the JVM."""

    def __init__(self, pipe: BinaryIO) -> None:
        self._pipe = pipe
        self._lines: deque[bytes] = deque(maxlen=KEPT_LINES)
        self._held = True
        self._lock = threading.Lock()
        self._reader = threading.Thread(target=self._read, name="stderr of Spark's JVM", daemon=True)
        self._reader.start()

    def show(self) -> None:
        """Write what was kept to stderr, and pass on what follows."""
        self._reader.join(0.2)  # of a JVM that has ended, the last lines are on their way
        with self._lock:
            self._held = False
            _write(b"".join(self._lines))
            self._lines.clear()

    def pass_on(self) -> None:
        """Forget what was kept, and pass on what follows."""
        with self._lock:
            self._held = False
            self._lines.clear()

    def _read(self) -> None:
        with self._pipe as pipe:
            for line in pipe:
                with self._lock:
                    if self._held:
                        self._lines.append(line)
                    else:
                        _write(line)


def _write(data: bytes) -> None:
    """Write to the process's stderr, whatever `sys.stderr` is now; a closed one takes nothing."""
    try:
        os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, data)
    except (OSError, ValueError):
        return
