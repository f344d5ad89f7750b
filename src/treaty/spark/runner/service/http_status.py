"""`/status`, `/metrics` and `/healthz` of a runner, over HTTP: which members and numbers they have, and how long a client is waited for."""

import json
import sys
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import AF_INET, AF_INET6, getfqdn
from threading import Thread
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from treaty.spark.runner.service.part_status import PartStatus
from treaty.spark.runner.service.runner import RunnerStatus
from treaty.spark.runner.service.states import ENDED, STATES

OnStatus = Callable[[], RunnerStatus]
LABELS = ("query", "part")
CLIENT_SECONDS = 10
"""Seconds that a client has to send its request, and to take the answer."""
EVERY_HOST = frozenset(("0.0.0.0", "::"))  # noqa: S104 (they are recognized, and not listened on)


def make_status_members(status: RunnerStatus) -> dict[str, Any]:
    """Return the members of `/status`, to be printed as JSON.

    `since` is in ms since 1970. `queries` has an entry for each *part* of a query that this runner has, such as the query itself and its
    stream of bad rows, so a query may be there twice; `leaving` and `sweep_error` are of the last look at files that no source needs.
    """
    return {
        "name": status.name,
        "epoch": status.epoch,
        "since": status.since,
        "draining": status.is_draining,
        "registry_error": status.registry_error,
        "queries": [part.to_json() for part in status.parts],
        "leaving": [part.to_json() for part in status.leaving],
        "sweep_error": status.sweep_error,
    }


class RunnerMetrics(Collector):
    """The numbers of a runner for Prometheus, asked at every scrape."""

    def __init__(self, on_status: OnStatus) -> None:
        """Ask this function."""
        self._on_status = on_status

    def collect(self) -> Iterator[Metric]:
        """The numbers as Prometheus takes them."""
        parts = [part for part in self._on_status().parts if part.state != ENDED]
        states = GaugeMetricFamily("treaty_runner_queries", "Parts of this runner by state.", labels=["state"])
        for state in STATES:
            states.add_metric([state], sum(1 for part in parts if part.state == state))
        yield states
        for name, purpose, read in COUNTERS:
            counter = CounterMetricFamily(f"treaty_query_{name}", purpose, labels=LABELS)
            for part in parts:
                counter.add_metric([part.name, part.part], read(part))
            yield counter
        bad = CounterMetricFamily(
            "treaty_query_bad_rows", "Rows that were left out, by code.", labels=[*LABELS, "code"]
        )
        for part in parts:
            for code, count in part.bad:
                bad.add_metric([part.name, part.part, code], count)
        yield bad
        for name, purpose, read in GAUGES:
            gauge = GaugeMetricFamily(f"treaty_query_{name}", purpose, labels=LABELS)
            for part in parts:
                gauge.add_metric([part.name, part.part], read(part))
            yield gauge
        lag = GaugeMetricFamily("treaty_query_lag_records", "Records of topics that were not read yet.", labels=LABELS)
        for part in parts:
            if part.lag is not None:
                lag.add_metric([part.name, part.part], part.lag)
        yield lag


ReadNumber = Callable[[PartStatus], float]
COUNTERS: tuple[tuple[str, str, ReadNumber], ...] = (
    ("rows_in", "Rows that were read since the runner has the part.", lambda one: one.rows_in),
    ("rows_out", "Rows that were written since the runner has the part.", lambda one: one.rows_out),
    ("batches", "Batches since the runner has the part.", lambda one: one.batches),
)
GAUGES: tuple[tuple[str, str, ReadNumber], ...] = (
    ("last_batch_seconds", "Time that the last batch took.", lambda one: one.batch_ms / 1_000),
    ("state_rows", "Rows that the query keeps as state.", lambda one: one.state_rows),
    ("state_bytes", "Memory of the state.", lambda one: one.state_bytes),
    ("attempts", "Attempts at the batch that fails; 0: none fails.", lambda one: one.attempts),
)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, place: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        self.address_family = AF_INET6 if ":" in place[0] else AF_INET
        super().__init__(place, handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print nothing of clients that went away."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


def find_public_host(host: str) -> str:
    """Return the host by which others reach a program that listens on `host`: the name of the machine where it is every address."""
    return getfqdn() if host in EVERY_HOST else host


class StatusServer:
    """Answers `/status`, `/metrics` and `/healthz` in a thread until it is closed; `address` is where."""

    def __init__(self, on_status: OnStatus, host: str, port: int, public_host: str = "") -> None:
        """Listen on a port (0: a free one). Raises `OSError`."""
        registry = CollectorRegistry(auto_describe=False)
        registry.register(RunnerMetrics(on_status))
        answers: dict[str, Callable[[], tuple[str, bytes]]] = {
            "/status": lambda: ("application/json", json.dumps(make_status_members(on_status())).encode()),
            "/metrics": lambda: ("text/plain; version=0.0.4; charset=utf-8", generate_latest(registry)),
            "/healthz": lambda: ("text/plain; charset=utf-8", b"ok\n"),
        }

        class Handler(BaseHTTPRequestHandler):
            """Answers GET, and logs nothing. Who sends or reads nothing for a while is cut off."""

            timeout = CLIENT_SECONDS

            def do_GET(self) -> None:
                answer = answers.get(self.path.partition("?")[0])
                if answer is None:
                    self.send_error(404, f"there are {', '.join(answers)}")
                    return
                kind, body = answer()
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Log nothing."""

        self._server = _Server((host, port), Handler)
        reachable = public_host or host
        self.address = f"http://{f'[{reachable}]' if ':' in reachable else reachable}:{self._server.server_port}"
        self._thread = Thread(target=self._server.serve_forever, name="status of the runner", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Listen no longer."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
