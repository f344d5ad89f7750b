"""A registry with queries over files, and what tests do with them."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import Any

from pyspark.sql import SparkSession

from treaty.client.connection import Connection
from treaty.core.kafka import KafkaCluster
from treaty.core.messages.metastore.sources import CreateSource, DescribeSource, SourceDefinition
from treaty.core.sources import Source
from treaty.metastore import Metastore
from treaty.spark.planner.bodies import BodyPlanner
from treaty.spark.planner.pseudo_columns import RECORDS
from treaty.spark.planner.questions import QueryBody, ReadableSource
from treaty.spark.runner.once import OnceRunner, QueryReport
from treaty.spark.runner.query_start import QueryStarter
from treaty.spark.runner.service.part_status import PartStatus
from treaty.spark.runner.service.runner import QueryRunner, RunnerEvents, RunnerPlace
from treaty.spark.runner.service.shared_files import LocalFiles

PATIENCE = 300
"""Seconds until a test gives up waiting for what must come; no result depends on it."""
FLIGHTS = """CREATE STREAM flights (id BIGINT KEY, carrier STRING, delay INT, ts TIMESTAMP)
WITH (CONNECTOR = 'files', PATH = 'flights', VALUE_FORMAT = 'AVRO')"""
ROWS = "(1, 'AA', 10, TIMESTAMP '2026-01-01 00:00:10Z'), (2, 'DL', 20, TIMESTAMP '2026-01-01 00:00:20Z'), (3, 'AA', 30, TIMESTAMP '2026-01-01 00:01:10Z')"
MORE = "(4, 'UA', 5, TIMESTAMP '2026-01-01 00:02:00Z'), (5, 'AA', 50, TIMESTAMP '2026-01-01 00:05:00Z')"


@dataclass
class Place:
    """A registry with sources below a root, a planner, and a runner."""

    registry: Connection
    spark: SparkSession
    root: Path
    metastore: Metastore
    planner: BodyPlanner
    clusters: Mapping[str, KafkaCluster] = field(default_factory=dict)

    def create(
        self,
        name: str,
        kind: str,
        body: str,
        *reads: str,
        key: tuple[str, ...] = (),
        final: bool = False,
        properties: tuple[tuple[str, str], ...] = (),
        replace: bool = False,
        on_change: str = "",
    ) -> None:
        """Create a query into a Delta table."""
        definition = self.define(name, kind, body, *reads, key=key, final=final, properties=properties)
        self.registry.ask(CreateSource(definition, replace=replace, on_change=on_change))

    def define(
        self,
        name: str,
        kind: str,
        body: str,
        *reads: str,
        key: tuple[str, ...] = (),
        final: bool = False,
        properties: tuple[tuple[str, str], ...] = (),
    ) -> SourceDefinition:
        """Plan a query into a Delta table, and create nothing."""
        sources = tuple(self._readable(one) for one in reads)
        planned = self.planner.plan(QueryBody(name, kind, body, sources, key, final))
        return SourceDefinition(
            name, kind, body, planned.columns, connector="delta", place=f"tables/{name}", query=planned.plan, properties=properties
        )  # fmt: skip

    def _readable(self, name: str) -> ReadableSource:
        source: Source = self.registry.ask(DescribeSource(name)).answer.source
        properties = dict(source.properties)
        return ReadableSource(
            source.name, source.kind, source.generation, source.columns, properties.get("WATERMARK", ""),
            tuple(filter(None, properties.get("DEDUPLICATE", "").split(", "))), source.connector == "delta",
            source.key.pin if source.key else None, source.value.pin if source.value else None, source.revision, source.connector in RECORDS,
        )  # fmt: skip

    def insert(self, name: str, rows: str) -> None:
        self.metastore.run(f"INSERT INTO {name} VALUES {rows}")

    def run(self, *names: str) -> dict[str, QueryReport]:
        reports: list[QueryReport] = []
        OnceRunner(self.spark, self.registry.registry, self.root, self.root / "_checkpoints").run(reports.append, names)
        return {one.name: one for one in reports}

    def rows(self, name: str) -> list[Any]:
        return sorted(
            map(tuple, self.spark.read.format("delta").load(str(self.root / "tables" / name)).collect()), key=repr
        )

    def bad_rows(self, name: str) -> list[Any]:
        """Rows of a stream of bad rows, by their places; none before its first row has made the table."""
        folder = self.root / "_bad" / str(self.registry.ask(DescribeSource(name)).answer.source.generation)
        if not any((folder / "_delta_log").glob("*.json")):
            return []
        return self.spark.read.format("delta").load(str(folder)).orderBy("_offset", "payload").collect()

    def has(self, name: str, rows: list[Any]) -> bool:
        """Whether a table is there and has these rows."""
        log = self.root / "tables" / name / "_delta_log"
        return any(log.glob("*.json")) and self.rows(name) == rows


def until(condition: Callable[[], bool], runner: QueryRunner) -> None:
    """Wait until something holds."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, runner.status()
        time.sleep(0.1)


@contextmanager
def running(
    place: Place, seen: list[PartStatus] | None = None, checkpoints: str = "_checkpoints", name: str = "one"
) -> Iterator[QueryRunner]:
    """A runner that works until the block ends, and then has drained."""
    states: list[PartStatus] = [] if seen is None else seen
    starter = QueryStarter(
        place.spark, place.registry.registry, place.root, str(place.root / checkpoints), clusters=place.clusters
    )
    runner = QueryRunner(starter, RunnerEvents(states.append))
    ending = Event()
    thread = Thread(target=runner.run, args=(RunnerPlace(name, LocalFiles(place.root)), ending))
    thread.start()
    try:
        yield runner
    finally:
        ending.set()
        thread.join()


def status_of(runner: QueryRunner, name: str) -> PartStatus:
    """What a runner knows of a query; a status without a reason where it does not have it yet."""
    return next((one for one in runner.status().parts if one.name == name), PartStatus(name, "query", 0, 0))
