"""Queries over and into Iceberg tables: appended exactly once, merged by key, and what can't be done by its name."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.real.query_places import FLIGHTS, MORE, ROWS, Place
from treaty.core.messages.metastore.sources import CreateSource, DescribeSource, SourceDefinition
from treaty.core.sources import QueryPlan
from treaty.spark.lake import iceberg
from treaty.spark.lake.table import LakeTable, WriteId
from treaty.spark.runner.kafka_source import SourceNotRunnableError
from treaty.spark.runner.once import OnceRunner
from treaty.spark.runner.sinks import refuse_without_iceberg

pytestmark = pytest.mark.jvm


def create(place: Place, name: str, kind: str, body: str, read: str) -> None:
    """Create a query as `Place.create` does, into an Iceberg table."""
    place.create(name, kind, body, read)
    source = place.registry.ask(DescribeSource(name)).answer.source
    place.metastore.run(f"DROP {kind} {name}")
    assert source.query is not None
    definition = SourceDefinition(
        name, kind, body, source.columns, connector="iceberg", place=f"ice/{name}", query=replace(source.query.plan)
    )
    assert isinstance(definition.query, QueryPlan)
    place.registry.ask(CreateSource(definition))


def rows(place: Place, name: str) -> list[tuple[object, ...]]:
    frame = iceberg.read(place.spark, LakeTable(str(place.root / "ice" / name), "iceberg"))
    return sorted(map(tuple, frame.collect()), key=repr)


def notes_of_a_new_query(place: Place, name: str) -> list[str]:
    """What is said before the start of a new query over the table."""
    place.create(name, "STREAM", "SELECT id FROM STREAM late", "late")
    notes: list[str] = []
    runner = OnceRunner(
        place.spark, place.registry.registry, place.root, place.root / "_checkpoints", on_note=lambda _, text: notes.append(text)
    )  # fmt: skip
    runner.run(lambda _: None, (name,))
    return notes


def test_iceberg_tables_are_appended_merged_and_read_and_a_batch_is_there_once(place: Place) -> None:
    place.metastore.run(FLIGHTS)
    create(place, "late", "STREAM", "SELECT id, delay FROM STREAM flights WHERE delay > 15", "flights")
    create(place, "delays", "TABLE", "SELECT carrier, count(*) AS n FROM STREAM flights GROUP BY carrier", "flights")
    place.create("tens", "TABLE", "SELECT delay, count(*) AS n FROM STREAM late GROUP BY delay", "late")
    place.create("busy", "TABLE", "SELECT carrier, n FROM delays WHERE n > 1", "delays", key=("carrier",))
    place.insert("flights", ROWS)
    reports = place.run()
    assert {name: one.error for name, one in reports.items() if name != "busy"} == dict.fromkeys(
        ("late", "delays", "tens"), ""
    )
    assert "delays is an Iceberg table, whose changes can't be followed: CONNECTOR = 'delta'" in reports["busy"].error
    place.insert("flights", MORE)
    place.run()
    late, delays = [(2, 20), (3, 30), (5, 50)], [("AA", 3), ("DL", 1), ("UA", 1)]
    assert (rows(place, "late"), rows(place, "delays")) == (late, delays)
    assert place.rows("tens") == [(20, 1), (30, 1), (50, 1)]
    for commit in (place.root / "_checkpoints").glob(
        "*/*/commits/1"
    ):  # as a runner leaves it that is killed behind a table
        commit.unlink()
        (commit.parent / f".{commit.name}.crc").unlink(missing_ok=True)
    assert {one.error for name, one in place.run().items() if name != "busy"} == {""}
    assert (rows(place, "late"), rows(place, "delays")) == (late, delays)
    assert notes_of_a_new_query(place, "first") == []
    table = iceberg.name(place.spark, LakeTable(str(place.root / "ice" / "late"), "iceberg"))
    catalog = table.split(".", 1)[0]
    place.spark.sql(
        f"CALL {catalog}.system.expire_snapshots(table => 'late', older_than => TIMESTAMP '2999-01-01', retain_last => 1)"
    )
    (note,) = notes_of_a_new_query(place, "second")
    assert "late has expired snapshots, and what these had added is not read" in note
    assert place.rows("first") == [(2,), (3,), (5,)]
    source = place.registry.ask(DescribeSource("late")).answer.source
    record = place.root / "_checkpoints" / "records" / f"table-{source.generation}.json"
    assert json.loads(record.read_text())["place"] == "ice/late"


def test_a_batch_that_several_write_at_one_time_is_appended_once(spark: SparkSession, tmp_path: Path) -> None:
    """As by a runner that wakes in mid append, while another one has taken its query over."""
    table = LakeTable(str(tmp_path / "ice" / "t"), "iceberg")
    iceberg.make(spark, table, spark.range(1).schema)
    for number in range(3):
        batch = WriteId("treaty-1", number)
        frames = [spark.newSession().range(10 * number, 10 * number + 10) for _ in range(3)]
        with ThreadPoolExecutor(len(frames)) as threads:
            list(threads.map(lambda frame, batch=batch: iceberg.append(frame, table, batch), frames))
    iceberg.append(spark.range(0), table, WriteId("treaty-1", 3))
    assert sorted(row[0] for row in iceberg.read(spark, table).collect()) == [*range(30)]
    snapshots = spark.table(f"{iceberg.name(spark, table)}.snapshots").select("operation").collect()
    assert {row[0] for row in snapshots} == {"append"}, "streams over the table read these alone"


MERGE = (
    "MERGE INTO {0} AS t USING (SELECT explode(array(1, 2)) AS id, {1} AS n) AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET n = s.n "
    "WHEN NOT MATCHED THEN INSERT *"
)


@pytest.mark.parametrize("place_of_pause", ["_find_snapshot", "_setting", "_publish"])
def test_a_runner_that_wakes_brings_no_row_of_an_earlier_batch_back(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place_of_pause: str
) -> None:
    """It is frozen behind its look for the batch, before its statement or before it publishes; another one writes this batch and the next."""
    table, other = LakeTable(str(tmp_path / "ice" / "t"), "iceberg"), spark.newSession()
    iceberg.make(spark, table, spark.range(1).selectExpr("id", "0 AS n").schema)
    merge = MERGE.format(iceberg.name(spark, table), "{}")
    iceberg.name(other, table)
    iceberg.run_next(spark, table, merge.format(0), WriteId("treaty-1", 0))
    real = getattr(iceberg, place_of_pause)

    def pause(session: SparkSession, *rest: Any) -> Any:
        monkeypatch.setattr(iceberg, place_of_pause, real)
        result = real(session, *rest) if place_of_pause == "_find_snapshot" else None
        for number in (1, 2):
            iceberg.run_next(other, table, merge.format(number), WriteId("treaty-1", number))
        return result if place_of_pause == "_find_snapshot" else real(session, *rest)

    monkeypatch.setattr(iceberg, place_of_pause, pause)
    iceberg.run_next(spark, table, merge.format(1), WriteId("treaty-1", 1))
    assert sorted(map(tuple, iceberg.read(spark, table).collect())) == [(1, 2), (2, 2)]
    assert [iceberg.has_written(spark, table, WriteId("treaty-1", number)) for number in (2, 3)] == [True, False]


def test_a_runner_that_wakes_adds_no_row_of_new_keys_a_second_time(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A merge that only adds rows is an append for Iceberg, which it would pick behind any snapshot."""
    table, other = LakeTable(str(tmp_path / "ice" / "t"), "iceberg"), spark.newSession()
    iceberg.make(spark, table, spark.range(1).selectExpr("id", "0 AS n").schema)
    merge = MERGE.format(iceberg.name(spark, table), "{0}").replace("array(1, 2)", "array({0}, {0} + 1)")
    iceberg.name(other, table)
    publish = iceberg._publish

    def pause(*arguments: Any) -> bool:
        monkeypatch.setattr(iceberg, "_publish", publish)
        for number in (0, 1):
            iceberg.run_next(other, table, merge.format(10 * number), WriteId("treaty-1", number))
        return publish(*arguments)

    monkeypatch.setattr(iceberg, "_publish", pause)
    iceberg.run_next(spark, table, merge.format(0), WriteId("treaty-1", 0))
    assert sorted(map(tuple, iceberg.read(spark, table).collect())) == [(0, 0), (1, 0), (10, 10), (11, 10)]
    refs = spark.table(f"{iceberg.name(spark, table)}.refs").select("name").collect()
    assert [row[0] for row in refs] == [iceberg.MAIN]


def test_a_runner_without_iceberg_says_how_to_have_it(place: Place) -> None:
    place.metastore.run("CREATE STREAM ice (id BIGINT) WITH (CONNECTOR = 'iceberg', PATH = 'ice')")
    source = place.registry.ask(DescribeSource("ice")).answer.source
    with pytest.raises(SourceNotRunnableError, match=r"ice is an Iceberg table.*--iceberg"):
        refuse_without_iceberg(source, "io.delta.sql.DeltaSparkSessionExtension")
