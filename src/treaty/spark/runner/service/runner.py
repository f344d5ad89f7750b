"""`QueryRunner`: keeps the parts of a registry running that are its own, until it is to end."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Event, Lock, Semaphore
from time import monotonic, time

from pyspark import SparkContext

from treaty.spark.runner.query_start import QueryStarter
from treaty.spark.runner.service.follower import FeedFollower
from treaty.spark.runner.service.part_status import PartStatus
from treaty.spark.runner.service.part_thread import DRAIN_SECONDS, PartHooks, PartThread
from treaty.spark.runner.service.states import ENDED
from treaty.spark.runner.service.wanted import PartKey, QuerySnapshot, WantedPart

TURN_SECONDS = 0.5
"""Seconds between two looks at the parts where nothing changes."""


class SparkEndedError(RuntimeError):
    """The JVM of Spark has ended, and with it all queries."""


@dataclass(frozen=True, slots=True)
class RunnerEvents:
    """What a runner reports while it runs: each new state of a part, and that the registry gives no answer."""

    on_state: Callable[[PartStatus], None] = lambda _: None
    on_unreachable: Callable[[str], None] = lambda _: None


@dataclass(frozen=True, slots=True)
class RunnerStatus:
    """A runner as a whole: its name, since when it runs (ms), why the registry gives no answer, and its parts by name."""

    name: str
    since: int
    registry_error: str = ""
    is_draining: bool = False
    parts: tuple[PartStatus, ...] = field(default=())


class QueryRunner:
    """Runs the queries of a registry. `run` blocks; `status` may be asked from any thread."""

    def __init__(self, name: str, starter: QueryStarter, events: RunnerEvents) -> None:
        """Run nothing yet."""
        self.name = name
        self._starter, self._events = starter, events
        self._since = int(time() * 1_000)
        self._threads: dict[PartKey, PartThread] = {}
        self._leaving: list[PartThread] = []
        self._lock = Lock()
        self._follower: FeedFollower | None = None
        self._is_draining = False
        self._hooks = PartHooks(starter, Semaphore(max(2, os.cpu_count() or 2)), events.on_state)

    def run(self, ending: Event) -> None:
        """Run until `ending` is set, then let each batch be finished. Raises `RegistryError` where the registry gives no first answer,
        and `SparkEndedError`.
        """
        self._follower = follower = FeedFollower(self._starter.registry, self._events.on_unreachable)
        try:
            self._apply(follower.snapshot)
            while not ending.is_set():
                if follower.woken.wait(TURN_SECONDS):
                    follower.woken.clear()
                    self._apply(follower.snapshot)
                self._leaving = [one for one in self._leaving if one.is_alive]
                if has_spark_ended():
                    raise SparkEndedError(
                        "the JVM of Spark has ended; start the runner again: it continues where it was"
                    )
        finally:
            follower.close()
            self._drain()

    def status(self) -> RunnerStatus:
        """Return the state of the runner and of its parts."""
        with self._lock:
            threads = [*self._threads.values(), *self._leaving]
        parts = sorted(
            (one.status for one in threads), key=lambda one: (one.name.lower(), one.part, one.state == ENDED)
        )
        reason = self._follower.reason if self._follower is not None else ""
        return RunnerStatus(self.name, self._since, reason, self._is_draining, tuple(parts))

    def _apply(self, snapshot: QuerySnapshot) -> None:
        """Run what the snapshot says, and nothing else."""
        wanted = self._choose(snapshot)
        with self._lock:
            for key in self._threads.keys() - wanted.keys():
                leaving = self._threads.pop(key)
                leaving.end()
                self._leaving.append(leaving)
            for key, part in wanted.items():
                if key in self._threads:
                    self._threads[key].change(part)
                else:
                    self._threads[key] = PartThread(part, self._hooks)

    def _choose(self, snapshot: QuerySnapshot) -> Mapping[PartKey, WantedPart]:
        """The parts that this runner runs."""
        return snapshot.parts

    def _drain(self) -> None:
        self._is_draining = True
        with self._lock:
            self._leaving += self._threads.values()
            self._threads = {}
        for thread in self._leaving:
            thread.end()
        deadline = monotonic() + 2 * DRAIN_SECONDS
        for thread in self._leaving:
            thread.join(deadline - monotonic())


def has_spark_ended() -> bool:
    """Whether the JVM that this program has started has ended."""
    process = getattr(SparkContext._gateway, "proc", None)  # noqa: SLF001 (pyspark has no other word for it)
    return process is not None and process.poll() is not None
