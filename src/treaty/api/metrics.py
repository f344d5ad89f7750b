"""What is counted, and how Prometheus is told: one scrape of any worker tells of all of them."""

import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from treaty.api.board import Board, numbers, open_board

BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)
"""Upper bounds of the latency histogram, in seconds."""
_BAR = "\t"
OTHER = "other"
"""The route of a request that no route took."""


@dataclass(slots=True)
class Metrics:
    """The numbers of this worker, and where those of the others are."""

    folder: Path | None = None
    worker: int = 0
    in_flight: int = 0
    gone: int = 0
    """Requests whose clients went away before their answers were there."""
    board: Board = field(init=False)
    counted: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Open this worker's numbers."""
        self.board = open_board(self.folder and self.folder / f"worker-{self.worker}")
        self.board.put(_key("gauge", "start_time_seconds"), time.time())
        self.board.add(_key("count", "starts"))

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one answer of the slow path."""
        add = self.board.add
        add(_key("requests", method, route, str(status)))
        add(_key("sum", route), seconds)
        bound = next((bound for bound in BUCKETS if seconds <= bound), "+Inf")
        add(_key("bucket", route, str(bound)))

    def hot(self, hits: int) -> None:
        """Take over the number of answers from memory so far."""
        self.total("hot_hits", hits)

    def total(self, name: str, so_far: int) -> None:
        """Take over a number that this worker has counted since its start."""
        before = self.counted.get(name)
        if so_far != before:
            self.board.add(_key("count", name), so_far - (before or 0))
            self.counted[name] = so_far

    def gauge(self, name: str, value: float) -> None:
        """Set a number that is shown for each worker."""
        self.board.put(_key("gauge", name), value)

    def workers(self) -> dict[str, dict[str, float]]:
        """Return the gauges of all workers by worker, as of their last beat."""
        found = numbers(self.board, self.folder)
        return {
            worker: {key.partition(_BAR)[2]: value for key, value in known.items() if key.startswith(f"gauge{_BAR}")}
            for worker, known in found.items()
        }

    def page(self) -> bytes:
        """Print the numbers of all workers in Prometheus' text format."""
        registry = CollectorRegistry(auto_describe=False)
        registry.register(_Told(numbers(self.board, self.folder)))
        return generate_latest(registry)


def _key(*parts: str) -> str:
    return _BAR.join(parts)


HELP = {
    "hot_hits": "Answers given from memory without parsing the request",
    "credentials_refused": "Requests whose credentials were missing or wrong",
    "clients_gone": "Requests whose clients closed the connection before their answers were there",
    "connections": "Open connections",
    "connections_refused": "Connections that were refused because there was no room for them",
    "connections_closed": "Connections without a request that were closed to make room for others",
    "connections_cut_off": "Connections that were cut off because their clients left answers unread",
    "unread_bytes": "Bytes of answers that clients have not taken yet",
    "audit_lines": "Lines of the audit log that were written",
    "audit_lost": "Lines of the audit log that could not be written and are lost",
    "starts": "Times that a worker was started",
    "start_time_seconds": "When the worker started, in seconds since the epoch",
    "sequence": "Last sequence of the log that the worker has applied",
    "behind": "Commits between the worker's tables and the last tip that it saw",
    "looked": "Seconds since the worker last looked at the log",
    "queue": "Commands that wait to be written",
    "read_only": "1 where the worker does not write now",
    "refusing": "1 where the log took no write when the worker tried one last",
    "trouble": "1 where the worker can't reach its log now",
    "wrong_root": "1 where the rows of the log do not come to the state root that it states",
    "quarantined": "Rows of the log that the worker can't read",
    "strangers": "Records of the log's topic that nobody of Treaty's wrote, and that are ignored",
    "state_file_age": "Seconds since the worker's state file was written",
    "subjects": "Subjects that the worker holds, deleted softly or not",
    "versions": "Versions that the worker holds, deleted softly or not",
    "schemas": "Schemas that the worker holds",
    "contexts": "Contexts, the default one included",
    "in_flight": "Requests being answered",
}


def help_of(name: str) -> str:
    """The sentence that goes with a number."""
    return HELP.get(name, f"{name.removeprefix('node_').replace('_', ' ')}, counted by the node since its start")


@dataclass(frozen=True, eq=False)
class _Told(Collector):
    """Numbers of all workers as metric families."""

    workers: dict[str, dict[str, float]]

    def collect(self) -> Iterator[Metric]:
        """Yield the families."""
        yield self._requests()
        yield self._seconds()
        totals: dict[str, float] = defaultdict(float)
        gauges: dict[str, GaugeMetricFamily] = {}
        for worker, kind, names, value in self._numbers():
            if kind == "count":
                totals[names[0]] += value
            elif kind == "gauge":
                family = GaugeMetricFamily(f"treaty_{names[0]}", help_of(names[0]), labels=["worker"])
                gauges.setdefault(names[0], family).add_metric([worker], value)
        for name, total in totals.items():
            yield CounterMetricFamily(f"treaty_{name}", help_of(name), value=total)
        yield from gauges.values()

    def _numbers(self) -> Iterator[tuple[str, str, list[str], float]]:
        for worker, known in self.workers.items():
            for key, value in known.items():
                kind, *names = key.split(_BAR)
                yield worker, kind, names, value

    def _requests(self) -> Metric:
        labels = ["method", "route", "status"]
        family = CounterMetricFamily("treaty_http_requests", "Requests answered by a route", labels=labels)
        totals: dict[tuple[str, ...], float] = defaultdict(float)
        for _, kind, names, value in self._numbers():
            if kind == "requests":
                totals[tuple(names)] += value
        for values, total in totals.items():
            family.add_metric(list(values), total)
        return family

    def _seconds(self) -> Metric:
        family = HistogramMetricFamily("treaty_http_seconds", "Time to answer, in seconds", labels=["route"])
        sums: dict[str, float] = defaultdict(float)
        buckets: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        for _, kind, names, value in self._numbers():
            if kind == "sum":
                sums[names[0]] += value
            elif kind == "bucket":
                buckets[names[0]][names[1]] += value
        for route, counted in buckets.items():
            running, rising = 0.0, []
            for bound in (*map(str, BUCKETS), "+Inf"):
                running += counted.get(bound, 0.0)
                rising.append((bound, running))
            family.add_metric([route], rising, sums[route])
        return family
