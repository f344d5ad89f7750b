"""A table without an aggregate keeps the last row of each key, also where one batch has several."""

import json
import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from treaty.client.connection import Connection
from treaty.core.messages.metastore.sources import CreateSource, DescribeSource, SourceDefinition
from treaty.core.sources import QueryPlan, SourceColumn, SourceRead
from treaty.metastore import Metastore
from treaty.metastore.records.destinations import RecordDestinations
from treaty.spark.runner.once import OnceRunner, QueryReport

pytestmark = pytest.mark.jvm
RECORDS = """CREATE STREAM records (id INT KEY, v INT, note STRING) WITH (CONNECTOR = 'files', PATH = 'records', VALUE_FORMAT = 'AVRO')"""
LINES = """CREATE STREAM lines (id INT, v INT) WITH (CONNECTOR = 'files', PATH = 'lines', VALUE_FORMAT = 'JSON', FRAMING = 'none',
KEY_FORMAT = 'NONE')"""
COLUMNS = (SourceColumn("id", "INT", role="key"), SourceColumn("w", "INT"))


@pytest.fixture
def metastore(registry: Connection, tmp_path: Path) -> Iterator[Metastore]:
    with closing(RecordDestinations(files=tmp_path)) as destination:
        yield Metastore(registry.registry, destination=destination)


def create(registry: Connection, name: str, source: str, body: str) -> None:
    read = SourceRead(source, registry.ask(DescribeSource(source)).answer.source.generation, source)
    plan = QueryPlan(body, (read,))
    defined = SourceDefinition(name, "TABLE", "CREATE", COLUMNS, connector="delta", place=name, query=plan)
    registry.ask(CreateSource(defined))


def test_the_last_of_several_rows_with_a_key_stays(
    spark: SparkSession, registry: Connection, metastore: Metastore, tmp_path: Path
) -> None:
    metastore.run(f"{RECORDS}; {LINES}")
    create(registry, "kept", "records", "SELECT id, v + 0 AS w FROM records WHERE v < 900 AND note IS NOT NULL")
    create(registry, "kept_lines", "lines", "SELECT id, v AS w FROM (SELECT * FROM lines) AS l")
    create(registry, "both", "records", "SELECT id, v AS w FROM records UNION ALL SELECT id, v FROM records")
    files = 6
    for number in range(files):  # the first files are the largest ones, which Spark reads first or last
        rows = ", ".join(f"({key}, {number * 10 + at}, '{'x' * 50}')" for at in range(9 - number) for key in (1, 2))
        metastore.run(f"INSERT INTO records VALUES {rows}, (3, {number}, 'once'), (1, {900 + number}, 'left out')")
        (tmp_path / "lines").mkdir(exist_ok=True)
        lines = [{"id": key, "v": number * 10 + at} for at in range(9 - number) for key in (1, 2)]
        (tmp_path / f"lines/{9 - number}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
        for folder in ("records", "lines"):
            newest = max((tmp_path / folder).iterdir(), key=lambda one: one.stat().st_mtime_ns)
            os.utime(newest, (1_700_000_000 + number, 1_700_000_000 + number))
    reports = list[QueryReport]()
    assert OnceRunner(spark, registry.registry, tmp_path, tmp_path / "_checkpoints").run(reports.append), reports
    last = (files - 1) * 10 + 9 - files
    for name, expected in (("kept", {1: last, 2: last, 3: files - 1}), ("kept_lines", {1: last, 2: last})):
        table = spark.read.format("delta").load(str(tmp_path / name)).collect()
        assert {row.id: row.w for row in table} == expected, name
        assert len(table) == len(expected)
    assert spark.read.format("delta").load(str(tmp_path / "both")).count() == 3
