"""A pipeline's numbers for Prometheus: rows by topic, schema id and error, batches, their time, and what is left to
read.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from threading import Lock

from prometheus_client import CollectorRegistry, generate_latest, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from treaty.spark.pipelines.batch_history import BatchReport


def no_lag() -> int | None:
    """An unknown lag of a stream."""
    return None


@dataclass(slots=True, eq=False)
class PipelineMetrics(Collector):
    """Counts the reports of batches for Prometheus; `lag` is asked at every scrape. Rows count on through restarts of
    the stream.
    """

    name: str
    lag: Callable[[], int | None] = no_lag
    batches: int = 0
    seconds: float = 0.0
    last: BatchReport | None = None
    _lock: Lock = field(default_factory=Lock)

    def add_report(self, report: BatchReport) -> None:
        """Take over a batch."""
        with self._lock:
            self.batches += 1
            self.seconds += report.seconds
            self.last = report

    def collect(self) -> Iterator[Metric]:
        """The numbers as Prometheus takes them."""
        with self._lock:
            batches, seconds, last = self.batches, self.seconds, self.last
        labels = ["pipeline"]
        rows = CounterMetricFamily(
            "treaty_pipeline_rows",
            "Rows by schema id and error code; good rows have no code, delete markers DELETE.",
            labels=[*labels, "topic", "schema_id", "code"],
        )
        for topic, counts in sorted(last.total.items()) if last else ():
            for (number, code), count in sorted(counts.items()):
                rows.add_metric([self.name, topic, str(number) if number >= 0 else "", code], count)
        yield rows
        family = CounterMetricFamily(
            "treaty_pipeline_batches", "Batches since the start of this process.", labels=labels
        )
        family.add_metric([self.name], batches)
        yield family
        spent = CounterMetricFamily("treaty_pipeline_batch_seconds", "Time that batches took.", labels=labels)
        spent.add_metric([self.name], seconds)
        yield spent
        if last:
            yield from self._collect_last(last, labels)
        lag = self.lag()
        if lag is not None:
            left = GaugeMetricFamily("treaty_pipeline_lag_records", "Records that were not read yet.", labels=labels)
            left.add_metric([self.name], lag)
            yield left

    def _collect_last(self, last: BatchReport, labels: list[str]) -> Iterator[Metric]:
        pairs = (
            ("batch", "The number of the last batch.", last.batch),
            ("last_batch_seconds", "Time that the last batch took.", last.seconds),
            ("last_batch_ended_seconds", "When the last batch ended, in seconds since 1970.", last.ended),
        )
        for name, help_text, value in pairs:
            gauge = GaugeMetricFamily(f"treaty_pipeline_{name}", help_text, labels=labels)
            gauge.add_metric([self.name], value)
            yield gauge

    def text(self) -> bytes:
        """The numbers in Prometheus' text format."""
        return generate_latest(self._registry())

    def serve(self, port: int, host: str = "127.0.0.1") -> tuple[Callable[[], None], int]:
        """Answer scrapes on a port (0: a free one) in a thread; returns what ends it, and the port. Raises `OSError`."""
        server, thread = start_http_server(port, host, self._registry())

        def end() -> None:
            server.shutdown()
            server.server_close()
            thread.join()

        return end, server.server_port

    def _registry(self) -> CollectorRegistry:
        registry = CollectorRegistry(auto_describe=False)
        registry.register(self)
        return registry
