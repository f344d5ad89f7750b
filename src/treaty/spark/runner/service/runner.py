"""`QueryRunner`: keeps the parts of a registry running that are its own, until it is to end."""

import os
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from threading import Event, Lock, Semaphore
from time import monotonic, time

from pyspark import SparkContext

from treaty.core.refusals import RegistryError
from treaty.metastore.execution.assignment import PartKey
from treaty.spark.runner.file_records import QueryFileRecord
from treaty.spark.runner.leftovers import LeavingFiles
from treaty.spark.runner.query_start import QueryStarter
from treaty.spark.runner.service.follower import FeedFollower
from treaty.spark.runner.service.lease import LeaseLostError, OwnLease, RunnerPlace, acquire_lease
from treaty.spark.runner.service.part_process import PartProcess
from treaty.spark.runner.service.part_status import PartStatus
from treaty.spark.runner.service.part_thread import DRAIN_SECONDS, PartHooks, PartThread
from treaty.spark.runner.service.states import ENDED
from treaty.spark.runner.service.sweep_thread import FileSweep, SweepReport
from treaty.spark.runner.service.wanted import QuerySnapshot, WantedPart

__all__ = ["LeaseLostError", "QueryRunner", "RunnerEvents", "RunnerPlace", "RunnerStatus", "SparkEndedError"]
AnyPart = PartThread | PartProcess
TURN_SECONDS = 0.5
"""Seconds between two looks at the parts where nothing changes."""


class SparkEndedError(RuntimeError):
    """The JVM of Spark has ended, and with it all queries."""


@dataclass(frozen=True, slots=True)
class RunnerEvents:
    """What a runner reports while it runs: each new state of a part, that the registry gives no answer, what its start waits for, and that it has its lease (name and address), and files that it has removed."""

    on_state: Callable[[PartStatus], None] = lambda _: None
    on_unreachable: Callable[[str], None] = lambda _: None
    on_wait: Callable[[str], None] = lambda _: None
    on_ready: Callable[[str, str], None] = lambda _name, _address: None
    on_removed: Callable[[QueryFileRecord], None] = lambda _: None


@dataclass(frozen=True, slots=True)
class RunnerStatus:
    """A runner as a whole: its name and the epoch of its lease (0: it waits for it), since when it runs (ms), why the registry gives no answer, and its parts by name."""

    name: str
    epoch: int
    since: int
    registry_error: str = ""
    is_draining: bool = False
    parts: tuple[PartStatus, ...] = field(default=())
    leaving: tuple[LeavingFiles, ...] = ()
    """Files that no source needs any more; of the one runner that removes them."""
    sweep_error: str = ""


class QueryRunner:
    """Runs its share of the queries of a registry. `run` blocks; `status` may be asked from any thread."""

    def __init__(
        self, starter: QueryStarter, events: RunnerEvents, start_part: Callable[[WantedPart], AnyPart] | None = None
    ) -> None:
        """Run nothing yet. `start_part` starts a part elsewhere than in a thread of this process."""
        self._start_part = start_part or (lambda part: PartThread(part, self._hooks))
        self._starter, self._events = starter, events
        self._since = int(time() * 1_000)
        self._threads: dict[PartKey, AnyPart] = {}
        self._leaving: dict[PartKey, AnyPart] = {}
        self._lock = Lock()
        self._follower: FeedFollower | None = None
        self._lease: OwnLease | None = None
        self._sweep: FileSweep | None = None
        self._is_draining = False
        self._hooks = PartHooks(starter, Semaphore(max(2, os.cpu_count() or 2)), events.on_state, self._may_write)

    def run(self, place: RunnerPlace, ending: Event) -> None:
        """Run as the runner of this place until `ending` is set, then let each batch be finished, and give the lease back.

        Raises `RegistryError` where the registry gives no first answer, `LeaseLostError`, and `SparkEndedError`.
        """
        registry = self._starter.registry
        lease = acquire_lease(registry, place, ending, self._events.on_wait)
        if lease is None:
            return
        self._lease = lease
        try:
            self._events.on_ready(place.name, place.address)
            self._follower = FeedFollower(registry, self._events.on_unreachable)
            leftovers = self._starter.find_leftovers()
            self._sweep = FileSweep(leftovers.sweep, self._may_sweep, self._events.on_removed)
            with closing(self._follower) as follower, closing(self._sweep):
                self._follow(lease, follower, ending)
        finally:
            lease.close()

    def _follow(self, lease: OwnLease, follower: FeedFollower, ending: Event) -> None:
        try:
            while not ending.is_set():
                self._apply(lease, follower.snapshot)
                follower.woken.wait(TURN_SECONDS)
                follower.woken.clear()
                if has_spark_ended():
                    raise SparkEndedError(
                        "the JVM of Spark has ended; start the runner again: it continues where it was"
                    )
        finally:
            self._drain()

    def status(self) -> RunnerStatus:
        """Return the state of the runner and of its parts."""
        with self._lock:
            threads = [*self._threads.values(), *self._leaving.values()]
        parts = sorted(
            (part.status for part in threads), key=lambda part: (part.name.lower(), part.part, part.state == ENDED)
        )
        lease = self._lease
        name, epoch = (lease.name, lease.epoch) if lease is not None else ("", 0)
        reason = self._follower.reason if self._follower is not None else ""
        swept = self._sweep.report if self._sweep is not None else SweepReport()
        return RunnerStatus(
            name, epoch, self._since, reason, self._is_draining, tuple(parts), swept.leaving, swept.error
        )

    def _apply(self, lease: OwnLease, snapshot: QuerySnapshot) -> None:
        """Run the parts that are this runner's, and nothing else."""
        ended = {key for key, thread in self._leaving.items() if not thread.is_alive}
        try:
            parts = lease.choose_parts(snapshot, ended)
        except RegistryError:
            self._say_alive()  # the follower says so, and queries run on
            return
        with self._lock:
            self._leaving = {
                key: thread for key, thread in self._leaving.items() if key not in ended or self._has(snapshot, key)
            }
            for key in self._threads.keys() - parts.keys():
                thread = self._leaving[key] = self._threads.pop(key)
                thread.end()
            for key, part in parts.items():
                if key in self._threads:
                    self._threads[key].change(part)
                elif key not in self._leaving or key in ended:  # else it is drained first
                    self._leaving.pop(key, None)
                    self._threads[key] = self._start_part(part)

    def _say_alive(self) -> None:
        """Say to the processes of parts that the lease is alive, though the registry gives no answer: else they would end their batches."""
        with self._lock:
            processes = [process for process in self._threads.values() if isinstance(process, PartProcess)]
        if self._may_write():
            for process in processes:
                process.say_alive()

    def _has(self, snapshot: QuerySnapshot, key: PartKey) -> bool:
        part = snapshot.parts.get(key)
        return (
            part is not None
            and part.assigned is not None
            and self._lease is not None
            and part.assigned.runner == self._lease.name
        )

    def _may_sweep(self) -> bool:
        """Whether this runner is the one that removes files: the first one by name."""
        names = [one.name for one in self._follower.snapshot.runners] if self._follower is not None else []
        return self._may_write() and self._lease is not None and min(names, default="") == self._lease.name

    def _may_write(self) -> bool:
        return self._lease is not None and not self._lease.heartbeat.is_lost

    def _drain(self) -> None:
        self._is_draining = True
        with self._lock:
            self._leaving |= self._threads
            self._threads = {}
        for thread in self._leaving.values():
            thread.end()
        deadline = monotonic() + 2 * DRAIN_SECONDS
        for thread in self._leaving.values():
            thread.join(deadline - monotonic())


def has_spark_ended() -> bool:
    """Whether the JVM that this program has started has ended."""
    process = getattr(SparkContext._gateway, "proc", None)  # noqa: SLF001 (pyspark has no other word for it)
    return process is not None and process.poll() is not None
