"""Queries over files worked off once: into Delta tables, each row exactly once."""

import json
import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from treaty.client.connection import Connection
from treaty.core.messages.metastore import CreateSource, DescribeSource, SourceDefinition
from treaty.core.sources import Source
from treaty.metastore import Metastore
from treaty.metastore.records.destinations import RecordDestinations
from treaty.spark.planner.bodies import BodyPlanner
from treaty.spark.planner.questions import QueryBody, ReadableSource
from treaty.spark.runner.once import OnceRunner, QueryReport

pytestmark = pytest.mark.jvm
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

    def create(
        self, name: str, kind: str, body: str, *reads: str, key: tuple[str, ...] = (), final: bool = False
    ) -> None:
        """Create a query into a Delta table."""
        sources = tuple(self._readable(one) for one in reads)
        planned = self.planner.plan(QueryBody(name, kind, body, sources, key, final))
        definition = SourceDefinition(
            name, kind, body, planned.columns, connector="delta", place=f"tables/{name}", query=planned.plan
        )  # fmt: skip
        self.registry.ask(CreateSource(definition))

    def _readable(self, name: str) -> ReadableSource:
        source: Source = self.registry.ask(DescribeSource(name)).answer.source
        properties = dict(source.properties)
        return ReadableSource(
            source.name, source.kind, source.generation, source.columns, properties.get("WATERMARK", ""),
            tuple(filter(None, properties.get("DEDUPLICATE", "").split(", "))), source.connector == "delta",
            source.key.pin if source.key else None, source.value.pin if source.value else None, source.revision,
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


@pytest.fixture
def place(spark: SparkSession, registry: Connection, tmp_path: Path) -> Iterator[Place]:
    root = tmp_path / "data"
    root.mkdir()
    with closing(RecordDestinations(files=root)) as destination:
        metastore = Metastore(registry.registry, destination=destination)
        yield Place(registry, spark, root, metastore, BodyPlanner(spark, tmp_path / "views"))


def test_what_is_there_is_worked_off_once_and_more_after_it(place: Place) -> None:
    place.metastore.run(FLIGHTS)
    place.create(
        "late", "STREAM", "SELECT id, upper(carrier) AS carrier, delay FROM STREAM flights WHERE delay > 15", "flights"
    )
    place.create(
        "delays",
        "TABLE",
        "SELECT carrier, count(*) AS n, sum(delay) AS total FROM STREAM flights GROUP BY carrier",
        "flights",
    )
    place.create("late_counts", "TABLE", "SELECT carrier, count(*) AS n FROM STREAM late GROUP BY carrier", "late")
    place.insert("flights", ROWS)
    reports = place.run()
    assert {name: one.error for name, one in reports.items()} == {"late": "", "delays": "", "late_counts": ""}
    assert place.rows("late") == [(2, "DL", 20), (3, "AA", 30)]
    assert place.rows("delays") == [("AA", 2, 40), ("DL", 1, 20)]
    assert place.rows("late_counts") == [("AA", 1), ("DL", 1)]
    assert place.run()["late"] == QueryReport("late")
    place.insert("flights", MORE)
    assert place.run()["late"].rows == 2
    assert place.rows("late") == [(2, "DL", 20), (3, "AA", 30), (5, "AA", 50)]
    assert place.rows("delays") == [("AA", 3, 90), ("DL", 1, 20), ("UA", 1, 5)]
    assert place.rows("late_counts") == [("AA", 2), ("DL", 1)]


def test_a_batch_that_runs_again_is_written_once(place: Place) -> None:
    place.metastore.run(FLIGHTS)
    place.create("late", "STREAM", "SELECT id, delay FROM STREAM flights WHERE delay > 15", "flights")
    place.create("delays", "TABLE", "SELECT carrier, count(*) AS n FROM STREAM flights GROUP BY carrier", "flights")
    place.insert("flights", ROWS)
    place.run()
    before = {name: place.rows(name) for name in ("late", "delays")}
    commits = [*(place.root / "_checkpoints").glob("*/commits/0")]
    assert len(commits) == 2
    for commit in commits:  # as a runner leaves it that is killed after a table was written
        commit.unlink()
        shutil.rmtree(commit.parent / f".{commit.name}.crc", ignore_errors=True)
        (commit.parent / f".{commit.name}.crc").unlink(missing_ok=True)
    place.run()
    assert {name: place.rows(name) for name in ("late", "delays")} == before


@pytest.mark.soak
def test_windows_come_once_they_are_over(place: Place) -> None:
    place.metastore.run(FLIGHTS.replace("VALUE_FORMAT", "WATERMARK = 'ts DELAY OF INTERVAL 10 seconds', VALUE_FORMAT"))
    body = "SELECT window.start AS start, carrier, count(*) AS n FROM STREAM flights GROUP BY window(ts, '1 minute'), carrier"
    place.create("minutes", "STREAM", body, "flights", final=True)
    place.insert("flights", ROWS)
    place.run()
    place.insert("flights", MORE)
    place.run()
    place.run()
    assert [(one[0].minute, *one[1:]) for one in place.rows("minutes")] == [
        (0, "AA", 1),
        (0, "DL", 1),
        (1, "AA", 1),
        (2, "UA", 1),
    ]


def test_bad_rows_are_left_out_and_counted(place: Place) -> None:
    place.metastore.run(
        "CREATE STREAM lines (id BIGINT, name STRING) WITH (CONNECTOR = 'files', PATH = 'lines', VALUE_FORMAT = 'JSON', FRAMING = 'none', KEY_FORMAT = 'NONE')"
    )
    place.create("names", "STREAM", "SELECT name FROM STREAM lines WHERE id > 0", "lines")
    folder = place.root / "lines"
    folder.mkdir()
    lines = [json.dumps({"id": 1, "name": "one"}), "{nothing", json.dumps({"id": 2, "name": "two"}), '{"id": "x"}']
    (folder / "part.jsonl").write_text("\n".join(lines))
    report = place.run()["names"]
    assert (report.rows, report.bad, report.error) == (4, 2, "")
    assert place.rows("names") == [("one",), ("two",)]


def test_what_can_not_run_says_why_and_all_else_runs(place: Place) -> None:
    place.metastore.run(FLIGHTS)
    place.metastore.run("CREATE STREAM topic (id BIGINT) WITH (KAFKA_TOPIC = 't', VALUE_FORMAT = 'AVRO')")
    place.create("of_topic", "STREAM", "SELECT id FROM STREAM topic", "topic")
    place.create("ids", "STREAM", "SELECT id FROM STREAM flights", "flights")
    place.insert("flights", ROWS)
    reports = place.run()
    assert "reads files and Delta tables" in reports["of_topic"].error
    assert place.rows("ids") == [(1,), (2,), (3,)]
    assert [*place.run("ids")] == ["ids"]
