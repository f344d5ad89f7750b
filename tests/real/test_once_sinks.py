"""INSERT INTO ONCE into Iceberg tables and topics: each row is there once, wherever a runner is killed, and is traced to its statement."""

import json
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pyspark.sql import SparkSession

from tests.real.query_places import FLIGHTS, MORE, ROWS, Place
from tests.real.test_query_takeovers import Killer
from tests.real.test_runner_iceberg import rows
from tests.servers.kafka import Kafka
from treaty.client.connection import Connection
from treaty.client.kafka.consumer import ReadRange, TopicRecord, read_records
from treaty.client.kafka.transactions import TransactionalSender
from treaty.core.kafka import KafkaCluster
from treaty.core.messages.metastore.sources import DescribeSource
from treaty.core.registry import run_exchange
from treaty.core.sources import Source
from treaty.metastore import Metastore, PlanningOptions
from treaty.metastore.execution.history import find_incarnation
from treaty.metastore.records.destinations import RecordDestinations
from treaty.spark.lake import iceberg
from treaty.spark.planner.bodies import BodyPlanner
from treaty.spark.planner.service.statements import StatementPlanner
from treaty.spark.runner.once import OnceRunner, QueryReport
from treaty.spark.runner.once_queries.ledger import OnceLedger
from treaty.spark.runner.once_queries.topics import OnceTopic

pytestmark = pytest.mark.jvm
OLD = "(11, 'ZA', 40, TIMESTAMP '2025-01-01 00:00:00Z'), (12, 'ZB', 50, TIMESTAMP '2025-01-02 00:00:00Z'), (12, 'ZB', 50, TIMESTAMP '2025-01-02 00:00:00Z')"
QUERIES = """
CREATE STREAM late WITH ({}) AS SELECT id, delay FROM STREAM flights WHERE delay > 15;
CREATE TABLE delays WITH ({}) AS SELECT carrier, count(*) AS n FROM STREAM flights GROUP BY carrier
"""
ONCE = """
INSERT INTO ONCE late SELECT id, delay FROM STREAM old;
INSERT INTO ONCE delays SELECT carrier, count(*) AS n FROM STREAM old GROUP BY carrier
"""
LATE = [(11, 40), (12, 50), (12, 50), (2, 20), (3, 30), (5, 50)]
DELAYS = [("AA", 3), ("DL", 1), ("UA", 1), ("ZA", 1), ("ZB", 2)]


@pytest.fixture
def on_iceberg(place: Place) -> Place:
    """Two queries into Iceberg tables, over folders of files."""
    planning = PlanningOptions(StatementPlanner(place.planner))
    place.metastore = Metastore(place.registry.registry, planning=planning, destination=place.metastore.destination)
    begin(place, *(f"CONNECTOR = 'iceberg', PATH = 'ice/{name}'" for name in ("late", "delays")))
    return place


def begin(place: Place, late: str, delays: str) -> None:
    """Two queries that have read rows, and rows that are to come once."""
    place.metastore.run(FLIGHTS)
    place.metastore.run(FLIGHTS.replace("flights", "old"))
    place.metastore.run(QUERIES.format(late, delays))
    place.insert("flights", ROWS)
    place.insert("old", OLD)
    assert run(place) == []
    place.insert("flights", MORE)


def run(place: Place, notes: list[str] | None = None) -> list[str]:
    """Run all queries; return what is said of them, in the list that is given."""
    notes = [] if notes is None else notes
    reports: list[QueryReport] = []
    OnceRunner(
        place.spark, place.registry.registry, place.root, place.root / "_checkpoints", place.clusters, lambda _, text: notes.append(text)
    ).run(reports.append)  # fmt: skip
    assert [one.error for one in reports] == [""] * len(reports)
    return notes


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(1, 30))])
def test_rows_are_once_in_iceberg_tables_wherever_a_runner_is_killed(
    on_iceberg: Place, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    on_iceberg.metastore.run(ONCE)
    killer = Killer(monkeypatch)
    for name in ("make", "has_snapshot", "_find_snapshot", "_publish"):
        killer._wrap(monkeypatch, iceberg, name)  # type: ignore[arg-type]
    killer.left = random.Random(seed).randint(1, 60)
    with suppress(RuntimeError):
        run(on_iceberg)
    killer.left = -1
    for _ in range(2):
        assert run(on_iceberg) == []
        assert (rows(on_iceberg, "late"), rows(on_iceberg, "delays")) == (LATE, DELAYS)


# ---------------------------------------------------------------------------------------------------------------- topics


class KilledError(BaseException):
    """What ends a runner at once, as a kill does."""


@pytest.fixture
def on_topics(spark: SparkSession, registry: Connection, kafka: Kafka, tmp_path: Path) -> Iterator[Place]:
    """Two queries into topics, over folders of files."""
    clusters = {"main": KafkaCluster(kafka.bootstrap)}
    planner = BodyPlanner(spark, tmp_path / "views")
    with closing(RecordDestinations(clusters, tmp_path)) as destination:
        planning = PlanningOptions(StatementPlanner(planner))
        metastore = Metastore(registry.registry, planning=planning, destination=destination)
        place = Place(registry, spark, tmp_path, metastore, planner, clusters)
        topics = [kafka.topic(f"{name}-{uuid4().hex[:8]}", partitions=2) for name in ("late", "delays")]
        begin(place, *(f"KAFKA_TOPIC = '{topic}', VALUE_FORMAT = 'JSON'" for topic in topics))
        yield place


def describe(place: Place, name: str) -> Source:
    source: Source = place.registry.ask(DescribeSource(name)).answer.source
    return source


def read_once(place: Place, name: str, *, committed: bool = True) -> list[TopicRecord]:
    """The records of the queries that are run once, of the topic of a source."""
    source = describe(place, name)
    numbers = {str(one.began).encode() for one in source.once}
    records = read_records(place.clusters["main"], source.place, ReadRange(committed=committed))
    return [one for one in records if one is not None and dict(one.headers)["treaty-incarnation"] in numbers]


def read_values(records: list[TopicRecord]) -> list[tuple[Any, ...]]:
    return sorted(tuple(json.loads((one.value or b"")[5:]).values()) for one in records)


def list_attempts(records: list[TopicRecord]) -> list[int]:
    return sorted({int(dict(one.headers)["treaty-attempt"]) for one in records})


def kill_while_sending(patch: pytest.MonkeyPatch) -> None:
    """At the second record: nobody aborts what was sent."""
    inner = OnceTopic._list_records

    def list_some(topic: OnceTopic, result: Any) -> Iterator[Any]:
        yield next(inner(topic, result))
        raise KilledError

    patch.setattr(OnceTopic, "_list_records", list_some)
    patch.setattr(TransactionalSender, "_abort", lambda sender: sender._producer.flush(30))


def kill_behind_commit(patch: pytest.MonkeyPatch) -> None:
    """All was sent, and nobody has noted it."""

    def note(*_: Any) -> None:
        raise KilledError

    patch.setattr(OnceLedger, "note_written", note)


def test_rows_are_once_in_a_topic_wherever_a_runner_is_killed(
    on_topics: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_topics.insert("old", "(13, NULL, 60, TIMESTAMP '2025-01-03 00:00:00Z')")
    late, delays = on_topics.metastore.run(ONCE)
    assert all("in one transaction" in " ".join(one.warnings) for one in (late, delays))
    notes: list[str] = []
    for kill in (kill_while_sending, kill_behind_commit):
        with monkeypatch.context() as patch:
            kill(patch)
            with pytest.raises(KilledError):
                run(on_topics, notes)
    run(on_topics, notes)
    assert len(notes) == 1, notes
    assert "1 rows of INSERT INTO ONCE" in notes[0]
    assert "NULL_KEY" in notes[0]
    assert run(on_topics) == []
    assert read_values(read_once(on_topics, "late")) == [(11, 40), (12, 50), (12, 50), (13, 60)]
    records, whole = read_once(on_topics, "delays"), read_once(on_topics, "delays", committed=False)
    assert Counter(one.key for one in records) == {b"ZA": 1, b"ZB": 1}
    assert len(whole) == len(records) + 1, "what was cut off is there for who reads all"
    attempts = list_attempts(whole)
    assert (len(attempts), attempts[-1:]) == (2, list_attempts(records))
    (once,) = describe(on_topics, "late").once
    row = run_exchange(on_topics.registry.registry, find_incarnation("late", once.began))
    assert "INSERT INTO ONCE late" in str(row["statement"])


@pytest.mark.soak
def test_a_runner_that_wakes_sends_nothing_twice(on_topics: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is frozen in mid transaction; another one has sent all meanwhile."""
    on_topics.metastore.run(ONCE)
    inner = OnceTopic._list_records

    def list_some(topic: OnceTopic, result: Any) -> Iterator[Any]:
        records = inner(topic, result)
        yield next(records)
        monkeypatch.setattr(OnceTopic, "_list_records", inner)
        assert run(on_topics) == []
        yield from records

    monkeypatch.setattr(OnceTopic, "_list_records", list_some)
    (note,) = run(on_topics)
    assert "is tried again at the next start" in note
    assert run(on_topics) == []
    assert read_values(read_once(on_topics, "late")) == [(11, 40), (12, 50), (12, 50)]
    assert Counter(one.key for one in read_once(on_topics, "delays")) == {b"ZA": 1, b"ZB": 1}
