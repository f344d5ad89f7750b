"""Metrics for Prometheus at `/metrics`: a scrape of any worker returns the numbers of all workers. Each has its name (`NAMES`) and help (`HELP`) here; a worker
has ENTRIES numbers at most, and a route or status beyond them is missing.
"""

import mmap
import struct
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

_TAB = "\t"
"""Between the kind of a number, its name and its labels, in the key of the number."""
_UPDATES_DROPPED = f"count{_TAB}updates_dropped"
_KEY = 120
_ENTRY = _KEY + 8
_VALUE = struct.Struct("<d")
ENTRIES = 4096
"""Numbers that one worker may have. Updates of further ones are dropped, and counted as `updates_dropped`."""


@dataclass(slots=True)
class WorkerNumbers:
    """The numbers of one worker. Open with `open_numbers`."""

    memory: mmap.mmap
    places: dict[str, int] = field(default_factory=dict)

    def add(self, key: str, amount: float = 1.0) -> None:
        """Add to a number; at the limit of numbers a new one is dropped."""
        place = self._place(key)
        if place is None:
            self.add(_UPDATES_DROPPED)
        else:
            _VALUE.pack_into(self.memory, place, _VALUE.unpack_from(self.memory, place)[0] + amount)

    def put(self, key: str, value: float) -> None:
        """Set a number; at the limit of numbers a new one is dropped."""
        place = self._place(key)
        if place is None:
            self.add(_UPDATES_DROPPED)
        else:
            _VALUE.pack_into(self.memory, place, value)

    def _place(self, key: str) -> int | None:
        """Return where the value of a number is; None for a new one that there is no room for."""
        place = self.places.get(key)
        if place is None:
            raw = key.encode()
            if len(self.places) >= ENTRIES or len(raw) > _KEY:
                return None
            start = len(self.places) * _ENTRY
            self.memory[start + 1 : start + len(raw)] = raw[1:]
            self.memory[start] = raw[0]  # last, because others read while this is written
            place = self.places[key] = start + _KEY
        return place


def open_numbers(path: Path | None) -> WorkerNumbers:
    """Open a worker's file, made where it is not there; None keeps the numbers in this process."""
    size = ENTRIES * _ENTRY
    if path is None:
        memory = mmap.mmap(-1, size)
    else:
        with path.open("a+b") as file:
            if file.seek(0, 2) < size:
                file.truncate(size)
            memory = mmap.mmap(file.fileno(), size)
    numbers = WorkerNumbers(memory, {key: place for key, place, _ in _entries(memory)})
    numbers.add(_UPDATES_DROPPED, 0)  # it has its place before others take all
    return numbers


def _entries(memory: mmap.mmap | bytes) -> Iterator[tuple[str, int, float]]:
    for start in range(0, len(memory), _ENTRY):
        if not memory[start]:
            return
        raw = bytes(memory[start : start + _KEY]).rstrip(b"\0")
        place = start + _KEY
        yield raw.decode("utf-8", "replace"), place, _VALUE.unpack_from(memory, place)[0]


def read_numbers(numbers: WorkerNumbers, folder: Path | None) -> dict[str, dict[str, float]]:
    """Read the numbers of all workers by worker: from `folder`, or where there is none those of this one."""
    if folder is None:
        return {"0": {key: value for key, _, value in _entries(numbers.memory)}}
    files = sorted(folder.glob("worker-*"))
    return {
        file.name.removeprefix("worker-"): {key: value for key, _, value in _entries(file.read_bytes())}
        for file in files
    }


# -------------------------------------------------------------------------------------------------------------- metrics


BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)
"""Upper bounds of the latency histogram, in seconds."""
OTHER = "other"
"""The route label of requests without a route."""


@dataclass(slots=True)
class ServerMetrics:
    """The metrics of this worker, and the folder with those of the others."""

    folder: Path | None = None
    worker: int = 0
    in_flight: int = 0
    gone: int = 0
    """Requests whose clients disconnected before the answer."""
    numbers: WorkerNumbers = field(init=False)
    counters: dict[str, int] = field(default_factory=dict)
    """Counters of this worker since it began, by name, as they were last set."""

    def __post_init__(self) -> None:
        """Open this worker's numbers."""
        self.numbers = open_numbers(self.folder and self.folder / f"worker-{self.worker}")
        self.numbers.put(_key("gauge", "start_time_seconds"), time.time())
        self.numbers.add(_key("count", "starts"))

    def count_answer(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answer that is not from the response cache."""
        add = self.numbers.add
        add(_key("requests", method, route, str(status)))
        add(_key("sum", route), seconds)
        bound = next((bound for bound in BUCKETS if seconds <= bound), "+Inf")
        add(_key("bucket", route, str(bound)))

    def set_cache_hits(self, hits: int) -> None:
        """Set the number of answers from the response cache."""
        self.set_counter("hot_hits", hits)

    def set_counter(self, name: str, value: int) -> None:
        """Set a counter of this worker to what it has counted since it began."""
        before = self.counters.get(name)
        if value != before:
            self.numbers.add(_key("count", name), value - (before or 0))
            self.counters[name] = value

    def set_gauge(self, name: str, value: float) -> None:
        """Set a gauge of this worker."""
        self.numbers.put(_key("gauge", name), value)

    def workers(self) -> dict[str, dict[str, float]]:
        """Return the gauges of all workers by worker, as of their last beat."""
        numbers_by_worker = read_numbers(self.numbers, self.folder)
        return {
            worker: {key.partition(_TAB)[2]: value for key, value in numbers.items() if key.startswith(f"gauge{_TAB}")}
            for worker, numbers in numbers_by_worker.items()
        }

    def page(self) -> bytes:
        """Print the numbers of all workers in Prometheus' text format."""
        registry = CollectorRegistry(auto_describe=False)
        registry.register(_MetricsCollector(read_numbers(self.numbers, self.folder)))
        return generate_latest(registry)


def _key(*parts: str) -> str:
    return _TAB.join(parts)


REQUESTS_HELP = "Requests answered by a route"
SECONDS_HELP = "Time to answer a request, in seconds"
HELP = {
    "hot_hits": "Requests answered from the response cache",
    "credentials_refused": "Requests with missing or wrong credentials; a rise may be an attack",
    "clients_gone": "Requests whose clients closed the connection before the answer was sent",
    "connections": "Open connections",
    "connections_refused": "Connections refused at the limits CONNECTIONS or CONNECTIONS_EACH",
    "connections_closed": "Idle connections closed to make room for others",
    "connections_cut_off": "Connections closed because their clients did not read answers",
    "unread_bytes": "Bytes of answers that clients have not read yet",
    "audit_lines": "Lines of the audit log that were written",
    "audit_lost": "Lines of the audit log that could not be written and are lost; check the disk",
    "updates_dropped": "Updates of metrics that were dropped since a worker has as many numbers as it may have; if it rises, /metrics lacks routes or statuses",
    "starts": "Starts of workers; a rise means that a worker died",
    "start_time_seconds": "Start of the worker, in seconds since the epoch",
    "sequence": "Sequence of the last commit that the worker has applied",
    "behind": "Commits in the log that the worker has not applied; alert if it stays above 0",
    "looked": "Seconds since the worker last read the end of the log; alert above 40",
    "queue": "Commands that wait to be written; the limit is QUEUE",
    "read_only": "1 if the worker writes nothing now, for whatever reason; /readyz has it",
    "refusing": "1 if the log rejected the last write; /status has the reason",
    "trouble": "1 if the worker cannot reach its log; /status has the reason",
    "wrong_root": "1 if the rows of the log do not match its state root: rows were changed outside of Treaty",
    "quarantined": "Rows that this version cannot read; upgrade the server if it is above 0",
    "foreign_records": "Foreign records in the topic of the log, which are ignored; check who else writes there",
    "state_file_age": "Seconds since the state file of the worker was written",
    "subjects": "Subjects, soft-deleted ones included",
    "versions": "Versions, soft-deleted ones included",
    "schemas": "Schemas",
    "contexts": "Contexts, the default context included",
    "topics_open": "Topics that are to be created, set or deleted and are not yet; alert if it stays above 0",
    "in_flight": "Requests that the worker is answering; the limit is IN_FLIGHT",
    "node_looks": "Reads of the end of the log; concurrent requests share one",
    "node_reads": "Reads of new commits from the log",
    "node_reloads": "Full replays of the log, because the known history had diverged",
    "node_wrong_roots": "Reads of the log that did not match its state root",
    "node_queries": "Queries answered",
    "node_commands": "Commands accepted",
    "node_appends": "Appends accepted by the log",
    "node_commits": "Commits of this node in the log",
    "node_conflicts": "Appends rejected by the log because another node appended first",
    "node_unknown": "Appends whose result was unknown and had to be settled",
    "node_held": "Batches decided under the log lock",
    "node_refused": "Commands refused by a rule",
    "node_repeated": "Retries answered from the stored outcome of their command",
    "node_unavailable": "Commands rejected with nothing written: full queue, read-only, or past their deadline",
    "node_outcome_unknown": "Commands that passed their deadline while the result of their append was unknown",
    "node_handed": "Commands forwarded to another node",
    "node_lost": "Forwarded commands whose answer did not arrive",
    "node_taken": "Commands received from other nodes",
    "node_parked": "Decisions that waited for the schema service",
}


COUNTERS = frozenset({
    "hot_hits", "credentials_refused", "clients_gone", "connections_refused", "connections_closed", "connections_cut_off",
    "audit_lines", "audit_lost", "starts", "updates_dropped", *(name for name in HELP if name.startswith("node_")),
})  # fmt: skip
"""Numbers that only rise; the others are gauges, one for each worker."""

NAMES = {
    "hot_hits": "response_cache_hits",
    "updates_dropped": "metric_updates_dropped",
    "behind": "log_lag_commits",
    "looked": "log_last_read_age_seconds",
    "queue": "pending_commands",
    "refusing": "log_write_failing",
    "trouble": "log_unreachable",
    "wrong_root": "log_root_mismatch",
    "quarantined": "unreadable_rows",
    "foreign_records": "log_foreign_records",
    "state_file_age": "state_file_age_seconds",
    "node_looks": "log_end_reads",
    "node_reads": "log_reads",
    "node_reloads": "log_replays",
    "node_wrong_roots": "log_root_mismatches",
    "node_queries": "queries",
    "node_commands": "commands",
    "node_appends": "log_appends",
    "node_commits": "log_commits",
    "node_conflicts": "log_append_conflicts",
    "node_unknown": "log_appends_unknown",
    "node_held": "log_locks",
    "node_refused": "commands_refused",
    "node_repeated": "commands_deduplicated",
    "node_unavailable": "commands_unavailable",
    "node_outcome_unknown": "commands_outcome_unknown",
    "node_handed": "commands_forwarded",
    "node_lost": "forward_failures",
    "node_taken": "commands_received",
    "node_parked": "decisions_deferred",
}
"""Names for Prometheus of numbers that the status page and the files of workers call otherwise."""


def metric_name(name: str) -> str:
    """The name of a number for Prometheus: a noun and its unit; a counter gets ``_total`` as its ending."""
    return f"treaty_{NAMES.get(name, name)}"


def help_of(name: str) -> str:
    """The sentence that goes with a number."""
    return HELP.get(name, f"{name.removeprefix('node_').replace('_', ' ').capitalize()}, since the start of the worker")


@dataclass(frozen=True, eq=False)
class _MetricsCollector(Collector):
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
                family = GaugeMetricFamily(metric_name(names[0]), help_of(names[0]), labels=["worker"])
                gauges.setdefault(names[0], family).add_metric([worker], value)
        for name, total in totals.items():
            yield CounterMetricFamily(metric_name(name), help_of(name), value=total)
        yield from gauges.values()

    def _numbers(self) -> Iterator[tuple[str, str, list[str], float]]:
        for worker, numbers in self.workers.items():
            for key, value in numbers.items():
                kind, *names = key.split(_TAB)
                yield worker, kind, names, value

    def _requests(self) -> Metric:
        labels = ["method", "route", "status"]
        family = CounterMetricFamily("treaty_http_requests", REQUESTS_HELP, labels=labels)
        totals: dict[tuple[str, ...], float] = defaultdict(float)
        for _, kind, names, value in self._numbers():
            if kind == "requests":
                totals[tuple(names)] += value
        for values, total in totals.items():
            family.add_metric(list(values), total)
        return family

    def _seconds(self) -> Metric:
        family = HistogramMetricFamily("treaty_http_request_duration_seconds", SECONDS_HELP, labels=["route"])
        sums: dict[str, float] = defaultdict(float)
        buckets: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        for _, kind, names, value in self._numbers():
            if kind == "sum":
                sums[names[0]] += value
            elif kind == "bucket":
                buckets[names[0]][names[1]] += value
        for route, counts in buckets.items():
            running, rising = 0.0, []
            for bound in (*map(str, BUCKETS), "+Inf"):
                running += counts.get(bound, 0.0)
                rising.append((bound, running))
            family.add_metric([route], rising, sums[route])
        return family
