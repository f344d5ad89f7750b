"""A part of a source in a thread of its own: it is started, watched, ended, and started again, whatever becomes of others."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from queue import SimpleQueue
from threading import Event, Lock, Semaphore, Thread
from time import monotonic, time

from pyspark.errors import StreamingQueryException
from pyspark.sql.streaming.query import StreamingQuery

from treaty.core.sources import PAUSED as DESIRED_PAUSED
from treaty.spark.pipelines.restarts import is_source_fault
from treaty.spark.pipelines.runner import ENDED as BATCH_LEFT
from treaty.spark.pipelines.runner import StopRequestedError
from treaty.spark.pipelines.trigger import StreamTrigger
from treaty.spark.runner.query_end import is_left, read_whole_batch
from treaty.spark.runner.query_start import QueryRun, QueryStarter, SchemaWatch
from treaty.spark.runner.service.failures import LOOK_SECONDS, SPARK_ERRORS, QueryFailure, describe_failure, pause_after
from treaty.spark.runner.service.part_status import PartStatus, add_bad, add_progress, list_reads, read_progress
from treaty.spark.runner.service.states import DRAINING, ENDED, FAILED, PAUSED, RETRYING, RUNNING, STARTING, WAITING
from treaty.spark.runner.service.wanted import WantedPart

WATCH_SECONDS = 0.5
"""Seconds between two looks at a running query; a change is looked at once it is there."""
DRAIN_SECONDS = 30.0
"""Seconds that a batch has to end before it is cut off; it runs again then, and is written once."""
DEFAULT_TRIGGER = "1 second"


@dataclass(frozen=True, slots=True)
class PartHooks:
    """What a part is run with: who starts queries, how many may start at once, and who gets each new state."""

    starter: QueryStarter
    starts: Semaphore
    on_state: Callable[[PartStatus], None]
    may_write: Callable[[], bool] = lambda: True
    """Whether this runner may be sure that no other one has its parts."""


class PartThread:
    """Keeps one part as it is wanted. `change` says what is wanted now, `end` that it shall end; neither blocks."""

    def __init__(self, part: WantedPart, hooks: PartHooks) -> None:
        """Start the thread."""
        self._hooks = hooks
        self._wanted: WantedPart | None = part
        self._changed, self._lock = Event(), Lock()
        self._status = _first_status(part)
        self._name = part.source.name
        self._counts_unknown = False
        self._unwritten: SimpleQueue[tuple[str, int]] = SimpleQueue()
        self._thread = Thread(target=self._work, name=f"query {part.source.name}", daemon=True)
        self._thread.start()

    @property
    def status(self) -> PartStatus:
        """What is known of the part now."""
        return replace(self._status, name=self._name)  # a source may be renamed while its query runs

    @property
    def is_alive(self) -> bool:
        """Whether the part runs, or may run again."""
        return self._thread.is_alive()

    def change(self, part: WantedPart) -> None:
        """Run the part as it is wanted from now on."""
        with self._lock:
            if self._wanted is None or self._wanted == part:
                return
            self._wanted, self._name = part, part.source.name
        self._changed.set()

    def end(self) -> None:
        """End the part once its batch is finished."""
        with self._lock:
            self._wanted = None
        self._changed.set()

    def join(self, seconds: float) -> bool:
        """Wait until the part has ended, so many seconds at most; return whether it has."""
        self._thread.join(max(0.0, seconds))
        return not self._thread.is_alive()

    def _work(self) -> None:
        while (part := self._wanted) is not None:
            if part.source.desired == DESIRED_PAUSED:
                self._set_state(PAUSED)
                self._wait(part, None)
                continue
            try:
                self._run(part)
            except Exception as error:  # noqa: BLE001 (a fault of one query is not to end others, nor its own thread)
                self._fail(part, error)
        self._set_state(ENDED)

    def _run(self, part: WantedPart) -> None:
        """Start the query, and watch it until it has ended."""
        if part.source.query is not None and part.source.query.began != self._status.began:
            self._status = _first_status(part)
        self._set_state(STARTING)
        ending = Event()
        properties = dict(part.source.properties)
        starter, watch, planned = self._hooks.starter, None, -1
        if self._counts_unknown:
            planned = starter.find_planned_batch(
                part.source
            )  # its records were there before the versions that are read now
            watch = SchemaWatch(starter.registry, part.upstreams)

        def before_batch(number: int) -> None:
            if ending.is_set() or self._is_other(part) or not self._hooks.may_write():
                raise StopRequestedError(BATCH_LEFT)
            if watch is not None and number != planned:
                watch.check()

        trigger = StreamTrigger("every", properties.get("TRIGGER", DEFAULT_TRIGGER))
        run = QueryRun(
            trigger, before_batch, self._counts_unknown, lambda code, rows: self._unwritten.put((code, rows))
        )
        query = self._start(part, run)
        if query is None:
            return
        try:
            self._set_state(RUNNING)
            while query.isActive and not self._is_other(part):
                self._changed.wait(WATCH_SECONDS)
                self._changed.clear()
                self._note_progress(query)
            self._drain(query, ending)
        finally:
            query.stop()
        self._note_progress(query)
        self._raise_failure(query)

    def _start(self, part: WantedPart, run: QueryRun) -> StreamingQuery | None:
        """Start the query; None where something else is wanted meanwhile. A takeover, which may take hours, keeps no other from its start."""
        try:
            self._hooks.starter.take_over(part.source, run)
            with self._hooks.starts:
                return None if self._is_other(part) else self._hooks.starter.start(part.source, run)
        except StreamingQueryException as error:
            if is_left(error):
                return None
            raise

    def _drain(self, query: StreamingQuery, ending: Event) -> None:
        """Let the batch that runs be finished, and no other begin."""
        if not query.isActive:
            return
        self._set_state(DRAINING)
        ending.set()
        deadline = monotonic() + DRAIN_SECONDS
        while _is_in_batch(query) and monotonic() < deadline:
            self._changed.wait(WATCH_SECONDS / 10)

    def _raise_failure(self, query: StreamingQuery) -> None:
        """Raise the error with which a query has ended, unless the next start continues where it was."""
        error = query.exception()
        if error is None:
            return
        if is_source_fault(query):  # the batch is whole, and Spark says nothing of it
            self._status = add_progress(self._status, read_whole_batch(query), _now())
        elif not is_left(error):
            raise error

    def _note_progress(self, query: StreamingQuery) -> None:
        while not self._unwritten.empty():
            self._status = add_bad(self._status, *self._unwritten.get())
        for progress in read_progress(query, self._status.batch):
            self._status = add_progress(self._status, progress, _now())
            if self._status.attempts:
                self._status = replace(self._status, attempts=0, reason="", remedy="", next_attempt=0)

    def _fail(self, part: WantedPart, error: Exception) -> None:
        """Say what went wrong, and wait until the next attempt, or a change."""
        before = self._status.attempts
        if isinstance(error, SPARK_ERRORS):
            failure = describe_failure(error, before + 1)
        else:
            failure = QueryFailure(RETRYING, f"{type(error).__name__}: {error}"[:1_000])
        attempts = before if failure.state == WAITING else before + 1  # to wait is no attempt at a batch
        seconds = pause_after(attempts)
        if failure.is_unknown_id and not self._counts_unknown:
            self._counts_unknown, seconds = True, 0.0
        elif failure.state == WAITING:
            seconds = LOOK_SECONDS
        now = _now()
        self._status = replace(
            self._status,
            attempts=attempts,
            last_error=failure.reason,
            last_error_time=now,
            next_attempt=0 if failure.state == FAILED else now + int(seconds * 1_000),
        )
        self._set_state(failure.state, failure.reason, failure.remedy)
        self._wait(part, None if failure.state == FAILED else seconds)
        if self._wanted != part:
            self._status = replace(self._status, attempts=0, next_attempt=0)

    def _wait(self, part: WantedPart, seconds: float | None) -> None:
        """Wait until something else is wanted, so many seconds at most."""
        deadline = None if seconds is None else monotonic() + seconds
        while self._wanted == part:
            left = None if deadline is None else deadline - monotonic()
            if left is not None and left <= 0:
                return
            self._changed.wait(left)
            self._changed.clear()

    def _is_other(self, part: WantedPart) -> bool:
        """Whether the part shall no longer run as it runs."""
        now = self._wanted
        return now is None or now.source.desired == DESIRED_PAUSED or now.definition != part.definition

    def _set_state(self, state: str, reason: str = "", remedy: str = "") -> None:
        before = self._status
        is_new = (before.state, before.reason) != (state, reason)
        since = _now() if before.state != state or not before.since else before.since
        self._status = replace(before, state=state, since=since, reason=reason, remedy=remedy)
        if is_new or before.since == 0:
            with suppress(OSError):  # who listens may be gone: what is printed into has no reader any more
                self._hooks.on_state(self.status)


def _is_in_batch(query: StreamingQuery) -> bool:
    return query.isActive and bool(query.status["isTriggerActive"])


def _first_status(part: WantedPart) -> PartStatus:
    source, query = part.source, part.source.query
    began = query.began if query is not None else 0
    return PartStatus(source.name, part.part, source.generation, began, reads=list_reads(source, part.upstreams))


def _now() -> int:
    return int(time() * 1_000)
