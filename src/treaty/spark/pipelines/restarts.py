"""The stream of a pipeline as a query that comes back by itself from one fault of Spark's Kafka source.

Spark 4.1.1's source fails in its own figures (`KafkaMicroBatchStream.metrics`) at the end of a batch that is run again:
it has not asked for the newest offsets yet, and takes their absence for offsets (SPARK-55271). The batch is complete by
then, so the next start continues after it.
"""

from collections.abc import Callable
from threading import Event, Lock

from pyspark import InheritableThread
from pyspark.errors import StreamingQueryException
from pyspark.sql.streaming.query import StreamingQuery

from treaty.core.limits import SOURCE_RESTARTS

FAULTY_CLASS, FAULTY_METHOD = "org.apache.spark.sql.kafka010.KafkaMicroBatchStream", "metrics"
"""Where the fault is: on top of the stack of a `NullPointerException`."""
PAUSE = 0.05
"""Seconds between two looks at a query that is being started again."""


def is_source_fault(query: StreamingQuery) -> bool:
    """Whether a query ended because of the fault in the figures of Spark's Kafka source, and for no other reason."""
    failure = query._jsq.exception()  # noqa: SLF001 (the cause and its stack; Python's copy of the error has them as one text)
    cause = failure.get().getCause() if failure.isDefined() else None
    if cause is None or cause.getClass().getName() != "java.lang.NullPointerException":
        return False
    stack = cause.getStackTrace()
    if not len(stack):
        return False
    return (stack[0].getClassName().rstrip("$"), stack[0].getMethodName()) == (FAULTY_CLASS, FAULTY_METHOD)


class PipelineQuery(StreamingQuery):
    """A query of Spark that is started again after the fault of `is_source_fault`, up to `SOURCE_RESTARTS` times; any
    other failure ends it.

    Between two starts it counts as active. ``runId``, `status` and the progress are those of the last start.
    """

    def __init__(self, begin: Callable[[], StreamingQuery], close: Callable[[], None]) -> None:
        """`begin` starts the stream, the first time and again, each time as if no run had been before; `close` is
        called behind the last one.
        """
        started = begin()
        super().__init__(started._jsq)  # noqa: SLF001 (the one thing that a query is made of)
        self.restarts = 0
        """How often it was started again."""
        self._begin, self._close = begin, close
        self._lock, self._stopping, self._ended = Lock(), False, Event()
        self._failure: Exception | None = None
        thread = InheritableThread(target=self._supervise, name=f"restarts of {self.name}", daemon=True)
        thread.start()

    @property
    def isActive(self) -> bool:  # noqa: N802 - so it is called there
        """Whether it runs, or is being started again."""
        return not self._ended.is_set()

    def awaitTermination(self, timeout: float | None = None) -> bool | None:  # noqa: N802 - so it is called there
        """Wait until it ends for good; with a `timeout` in seconds, whether it has. Raises `StreamingQueryException`
        where it failed.
        """
        if not self._ended.wait(timeout):
            return False
        if self._failure is not None:
            raise self._failure
        return None if timeout is None else True

    def exception(self) -> StreamingQueryException | None:
        """Why it failed; None while it runs, and where it did not."""
        failure = self._failure if self._ended.is_set() else None
        return failure if isinstance(failure, StreamingQueryException) else None

    def processAllAvailable(self) -> None:  # noqa: N802 - so it is called there
        """Wait until all that is there now has been read. Raises `StreamingQueryException` where it failed."""
        while True:
            turn = self.restarts
            try:
                return super().processAllAvailable()
            except StreamingQueryException:
                while self.restarts == turn and not self._ended.wait(PAUSE):
                    pass
                if self._failure is not None:
                    raise

    def stop(self) -> None:
        """Stop it, at once and for good."""
        with self._lock:
            self._stopping = True
            super().stop()
        self._ended.wait()

    def _supervise(self) -> None:
        """Wait for the end, and start again where it is the fault."""
        try:
            while self._has_failed() and self._restart():
                pass
        except Exception as failure:  # noqa: BLE001 (whoever waits for the query gets it)
            self._failure = failure
        finally:
            self._close()
            self._ended.set()

    def _has_failed(self) -> bool:
        """Wait for the end of this start; return whether it failed, and keep that."""
        try:
            super().awaitTermination()
        except StreamingQueryException as failure:
            self._failure = failure
        else:
            return False
        return True

    def _restart(self) -> bool:
        """Restart the stream if its end was a fault of the source; return whether it was."""
        with self._lock:
            if self._stopping or self.restarts >= SOURCE_RESTARTS or not is_source_fault(self):
                return False
            super().__init__(self._begin()._jsq)  # noqa: SLF001 (from now on this is that query)
            self._failure = None
            self.restarts += 1
            return True


class PipelinesFailedError(ExceptionGroup[Exception]):
    """Streams that failed; the others ran on to their ends."""


def wait_for_all(*queries: StreamingQuery) -> None:
    """Wait until each of several streams has ended; one that fails interrupts no other.

    Spark's own ``awaitAnyTermination``, or waiting for one query after the other, leaves the program at the first
    failure, and all other streams end with it. Raises `PipelinesFailedError` with every failure once all have ended.
    """
    failures: list[Exception] = []
    for query in queries:
        try:
            query.awaitTermination()
        except StreamingQueryException as failure:
            failures.append(failure)
    if failures:
        raise PipelinesFailedError(f"{len(failures)} of {len(queries)} streams failed", failures)
