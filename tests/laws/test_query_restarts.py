"""A stream that is started again after the one fault of Spark's Kafka source, and after nothing else. No Spark runs here."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql.streaming.query import StreamingQuery

from treaty.core.limits import SOURCE_RESTARTS
from treaty.spark import PipelineQuery, PipelinesFailedError, wait_for_all
from treaty.spark.pipelines.restarts import FAULTY_CLASS, FAULTY_METHOD

NULL = "java.lang.NullPointerException"
FAULT = (NULL, FAULTY_CLASS, FAULTY_METHOD)
WAIT = 20.0


@dataclass
class Jvm:
    """A query in the JVM that ends with a failure (class, and class and method on top of its stack), without one, or when it is stopped."""

    end: tuple[str, ...] | None = ()
    stopped: threading.Event = field(default_factory=threading.Event)

    def awaitTermination(self) -> None:  # noqa: N802 - so it is called there, as all others
        if self.end is None:
            self.stopped.wait(WAIT)
        elif self.end:
            raise StreamingQueryException(message=f"it ended: {self.end}")

    def processAllAvailable(self) -> None:  # noqa: N802
        self.awaitTermination()

    def stop(self) -> None:
        self.stopped.set()

    def name(self) -> str:
        return "a query"

    def exception(self) -> Any:
        return Failure(self.end or ())


@dataclass
class Failure:
    """Why a query in the JVM ended, with its cause, and the stack of that."""

    end: tuple[str, ...]

    def isDefined(self) -> bool:  # noqa: N802
        return bool(self.end)

    def get(self) -> Any:
        return self

    getClass = getCause = get  # noqa: N815

    def getName(self) -> str:  # noqa: N802
        return self.end[0]

    def getStackTrace(self) -> list[Any]:  # noqa: N802
        return [self] if len(self.end) > 1 else []

    def getClassName(self) -> str:  # noqa: N802
        return f"{self.end[1]}$"

    def getMethodName(self) -> str:  # noqa: N802
        return self.end[2]


def start(ends: Sequence[tuple[str, ...] | None]) -> tuple[PipelineQuery, list[Jvm], list[int]]:
    """A query whose starts end so, its queries in the JVM, and after how many of them it was closed."""
    begun: list[Jvm] = []
    closed: list[int] = []

    def begin() -> StreamingQuery:
        begun.append(Jvm(ends[len(begun)]))
        return StreamingQuery(begun[-1])

    return PipelineQuery(begin, lambda: closed.append(len(begun))), begun, closed


OTHERS = [
    ("java.lang.IllegalStateException", FAULTY_CLASS, FAULTY_METHOD), (NULL, FAULTY_CLASS, "latestOffset"),
    (NULL, "org.apache.spark.Other", FAULTY_METHOD), (NULL,),
]  # fmt: skip


@pytest.mark.parametrize(
    ("ends", "restarts", "fails"),
    [
        ([()], 0, False), ([FAULT, ()], 1, False), ([FAULT, FAULT, ()], 2, False), ([FAULT] * SOURCE_RESTARTS + [()], SOURCE_RESTARTS, False),
        ([FAULT] * (SOURCE_RESTARTS + 1), SOURCE_RESTARTS, True), *(([one], 0, True) for one in OTHERS), *(([FAULT, one], 1, True) for one in OTHERS),
    ],
)  # fmt: skip
def test_a_query_comes_back_from_the_one_fault_so_often_and_from_no_other(
    ends: list[tuple[str, ...]], restarts: int, *, fails: bool
) -> None:
    query, begun, closed = start(ends)
    if fails:
        with pytest.raises(StreamingQueryException) as failed:
            query.awaitTermination(WAIT)
        assert query.exception() is failed.value
        assert str(ends[-1]) in str(failed.value)
    else:
        assert query.awaitTermination(WAIT)
        assert query.awaitTermination() is None
        assert query.exception() is None
    assert (query.restarts, len(begun), query.isActive) == (restarts, restarts + 1, False)
    assert closed == [restarts + 1], "once, behind the last start"


def test_a_query_that_is_stopped_is_active_until_then_and_not_started_again() -> None:
    query, begun, closed = start([FAULT, None])
    assert query.awaitTermination(0.0) is False
    assert (query.isActive, query.exception(), closed) == (True, None, [])
    query.stop()
    assert (query.isActive, closed) == (False, [len(begun)])
    assert query.exception() is None or not begun[1:]


def test_who_waits_for_all_rows_waits_for_the_next_start_and_is_told_of_the_last_failure() -> None:
    query, _, _ = start([FAULT, FAULT, ()])
    query.processAllAvailable()
    failed, _, _ = start([FAULT, OTHERS[0]])
    with pytest.raises(StreamingQueryException, match="IllegalStateException"):
        failed.processAllAvailable()


def test_each_of_several_streams_is_waited_for_and_each_failure_is_told() -> None:
    queries = [start(ends)[0] for ends in ([OTHERS[0]], [FAULT, ()], [OTHERS[1]])]
    with pytest.raises(PipelinesFailedError, match="2 of 3 streams failed") as failed:
        wait_for_all(*queries)
    assert list(failed.value.exceptions) == [queries[0].exception(), queries[2].exception()]
    assert not any(query.isActive for query in queries)
    wait_for_all(*(start([()])[0] for _ in range(2)))


def test_what_can_not_begin_again_ends_the_query_with_its_error() -> None:
    closed: list[str] = []
    attempts = [FAULT]

    def begin() -> StreamingQuery:
        return StreamingQuery(Jvm(attempts.pop()))

    query = PipelineQuery(begin, lambda: closed.append("closed"))
    with pytest.raises(IndexError):
        query.awaitTermination(WAIT)
    assert (query.isActive, closed, query.exception()) == (False, ["closed"], None)
