"""Runners over topics of a real broker that are killed at seeded places: what the sinks hold in the end is what a model says."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any
from uuid import uuid4

import pyarrow.parquet as pq
import pytest
from confluent_kafka import Producer
from pyspark.sql import SparkSession

from tests.costs import note_killed
from tests.real.kafka_kill_model import PARTITIONS, FlightTopic, TopicSchema, list_versions
from tests.real.query_places import PATIENCE, Place, running, until
from tests.servers.kafka import Kafka
from tests.servers.small import SMALL
from treaty.arrow.delta_log import NoTableError, list_delta_files, read_columns
from treaty.assemble import connect
from treaty.core.kafka import KafkaCluster
from treaty.core.messages.metastore.query_feed import ListQueries
from treaty.core.messages.metastore.sources import DescribeSource
from treaty.metastore import Metastore, PlanningOptions
from treaty.metastore.records.destinations import RecordDestinations
from treaty.spark.jars import JVM_OPTIONS
from treaty.spark.planner.bodies import BodyPlanner
from treaty.spark.planner.service.statements import StatementPlanner
from treaty.spark.session import QUICK_START

pytestmark = [pytest.mark.jvm, pytest.mark.timeout(1_800)]
SETUP = """
CREATE STREAM flights (id BIGINT KEY, carrier STRING, delay INT, ts TIMESTAMP)
WITH (KAFKA_TOPIC = '{0}-flights', VALUE_FORMAT = 'AVRO', BAD_ROWS = true, WATERMARK = 'ts DELAY OF INTERVAL 30 seconds');
CREATE TABLE people (id BIGINT PRIMARY KEY, name STRING) WITH (KAFKA_TOPIC = '{0}-people', VALUE_FORMAT = 'AVRO');
CREATE STREAM late WITH (CONNECTOR = 'delta', PATH = 'tables/late') AS SELECT id, delay FROM STREAM flights WHERE delay > 15;
CREATE STREAM minutes WITH (CONNECTOR = 'delta', PATH = 'tables/minutes')
AS SELECT unix_seconds(window.start) AS start, carrier, count(*) AS n FROM STREAM flights GROUP BY window(ts, '1 minute'), carrier EMIT FINAL;
CREATE TABLE names WITH (CONNECTOR = 'delta', PATH = 'tables/names') AS SELECT id, upper(name) AS name FROM people
"""
QUERIES = ("late", "minutes", "names", "flights_bad")
IN_BATCH, BETWEEN, STARTING, LEASE = (
    "in mid batch",
    "between sink and offset",
    "while it is planned",
    "while its lease is taken",
)
PLACES = (IN_BATCH, BETWEEN, STARTING, LEASE)
LOOK_SECONDS = 0.005


@dataclass
class World:
    """Topics, tables and checkpoints of the queries."""

    place: Place
    url: str
    bootstrap: str
    topic: FlightTopic
    dice: random.Random

    @property
    def checkpoints(self) -> list[Path]:
        """The folders of checkpoints that have begun."""
        return [one.parent for one in (self.place.root / "checkpoints").glob("*/*/offsets")]

    def is_in_batch(self) -> bool:
        """Whether a batch is planned and not committed."""
        return any(_numbers(one / "offsets") - _numbers(one / "commits") for one in self.checkpoints)

    def is_between(self) -> bool:
        """Whether a batch is in its table and not committed in its checkpoint."""
        for log in self.place.root.glob("*/*/_delta_log"):
            for commit in sorted(log.glob("*.json"))[-1:]:
                for line in commit.read_text().splitlines():
                    txn = json.loads(line).get("txn") if '"txn"' in line else None
                    if txn and not (self._checkpoint(txn["appId"]) / "commits" / str(txn["version"])).exists():
                        return True
        return False

    def _checkpoint(self, writer: str) -> Path:
        number = writer.removeprefix("treaty-")
        return next((self.place.root / "checkpoints").glob(f"*/{number}"), self.place.root / "checkpoints" / number)

    def batches(self, name: str) -> list[dict[int, int]]:
        """The offsets by partition at the end of each batch of a query."""
        query = self.place.registry.ask(DescribeSource(name)).answer.source.query
        assert query is not None
        folder = self._checkpoint(str(query.began)) / "offsets"
        ends = []
        for number in sorted(_numbers(folder)):
            last = (folder / str(number)).read_text().splitlines()[-1]
            (offsets,) = json.loads(last).values()
            ends.append({int(partition): end for partition, end in offsets.items()})
        return ends


def _numbers(folder: Path) -> set[int]:
    return {int(one.name) for one in folder.glob("*") if one.name.isdecimal()}


class RunnerLife:
    """A runner in a process of its own, with its JVM; what it says is read as it comes."""

    def __init__(self, world: World, name: str = "other") -> None:
        """Start it."""
        settings = {**SMALL, "spark.driver.extraJavaOptions": f"{JVM_OPTIONS} {QUICK_START}"}
        words = [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
        root = str(world.place.root)
        command = [
            sys.executable, "-m", "treaty.cli.main", "runner", "--json", "--root", root, "--files", root, "--registry", world.url,
            "--cluster", f"main=kafka://{world.bootstrap}", "--master", "local[2]", "--memory", "1g", "--name", name, *words,
        ]  # fmt: skip
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        self.states: dict[str, str] = {}
        self.thread = Thread(target=self._read)
        self.thread.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            event = json.loads(line)
            self.states[event.get("name", "")] = event.get("state", "")

    def until(self, condition: Callable[[], bool]) -> None:
        """Wait for something; fail where the runner has ended."""
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, self.states
            assert self.process.poll() is None, self.process.stderr and self.process.stderr.read()[-3000:]
            time.sleep(LOOK_SECONDS)

    def kill_driver(self) -> None:
        """End the JVM alone: the runner ends by itself then, with an error."""
        (driver,) = [one for one in children_of(self.process.pid) if _is_java(one)]
        note_killed(self.process.pid)
        os.kill(driver, signal.SIGKILL)
        assert self.process.wait(PATIENCE) == 1

    def close(self) -> None:
        """End the runner and its JVM by SIGKILL."""
        if self.process.poll() is None:
            note_killed(self.process.pid)
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()
        self.thread.join()


def _is_java(process: int) -> bool:
    return Path(f"/proc/{process}/exe").resolve().name == "java"


def children_of(process: int) -> list[int]:
    """The processes that a process has started."""
    tasks = Path(f"/proc/{process}/task").glob("*/children")
    return [int(one) for task in tasks for one in task.read_text().split()]


@contextmanager
def living(world: World, name: str = "other") -> Iterator[RunnerLife]:
    """A runner that is killed at the end of the block."""
    life = RunnerLife(world, name)
    try:
        yield life
    finally:
        life.close()


@pytest.fixture
def world(spark: SparkSession, kafka: Kafka, tmp_path: Path) -> Iterator[World]:
    url, root = f"sqlite://{tmp_path / 'registry.db'}", tmp_path / "data"
    root.mkdir()
    clusters = {"main": KafkaCluster(kafka.bootstrap)}
    planner = BodyPlanner(spark, tmp_path / "views")
    name, dice = f"k{uuid4().hex[:8]}", random.Random(46)
    for topic in ("flights", "people"):
        kafka.topic(f"{name}-{topic}", PARTITIONS)
    with connect(url) as registry, closing(RecordDestinations(clusters, root)) as destination:
        planning = PlanningOptions(StatementPlanner(planner))
        metastore = Metastore(registry.registry, planning=planning, destination=destination)
        place = Place(registry, spark, root, metastore, planner, clusters)
        metastore.run(SETUP.format(name))
        subject = f"{name}-flights-value"
        texts = list_versions(registry.version(subject, -1).text)
        versions = [TopicSchema(registry.register(subject, text).version.schema_id, text) for text in texts]
        own = registry.version(f"{name}-people-value", -1)
        producer = Producer({"bootstrap.servers": kafka.bootstrap, "linger.ms": 20})
        person = TopicSchema(own.schema_id, own.text)
        topic_of = FlightTopic(producer, f"{name}-flights", f"{name}-people", versions, person, dice)
        yield World(place, url, kafka.bootstrap, topic_of, dice)


def kill_once(world: World, where: str, rows: int) -> None:
    """Let a runner live until it is at a place, while records come, and end it there."""
    with living(world) as life:
        if where == STARTING:
            life.until(lambda: "STARTING" in life.states.values())
            time.sleep(world.dice.random())
            return
        life.until(lambda: all(life.states.get(one) == "RUNNING" for one in QUERIES))
        world.topic.send(rows)
        if where == LEASE:
            os.killpg(life.process.pid, signal.SIGSTOP)
            with living(world, "thief") as thief:
                thief.until(lambda: not has_runner(world, "other"))
                time.sleep(world.dice.random() * 0.2)
            return
        life.until(world.is_between if where == BETWEEN else world.is_in_batch)
        if where == IN_BATCH and world.dice.random() < 0.5:
            life.kill_driver()


def has_runner(world: World, name: str) -> bool:
    """Whether a runner has a lease."""
    return any(one.name == name for one in world.place.registry.ask(ListQueries()).answer.runners)


COLUMNS = {"late": ("id", "delay"), "minutes": ("start", "carrier", "n"), "names": ("id", "name")}


def read_rows(world: World, name: str) -> list[tuple[Any, ...]]:
    """The rows of a table, read without Spark; none while it is not there."""
    folder = world.place.root / "tables" / name
    with suppress(NoTableError):
        files = list_delta_files(folder, frozenset(COLUMNS[name]))
        columns = read_columns(files, COLUMNS[name])
        return sorted(zip(*(one.to_pylist() for one in columns.columns), strict=True))
    return []


def count_late(world: World) -> int:
    """How many rows the query without state has written, by what its files say."""
    with suppress(NoTableError):
        files = list_delta_files(world.place.root / "tables" / "late", frozenset(COLUMNS["late"]))
        return sum(pq.read_metadata(one).num_rows for one in files)
    return 0


def has_grown(world: World, rows: int) -> bool:
    """Whether the query without state has written more rows than these."""
    return count_late(world) > rows


def check_sinks(world: World) -> None:
    """Work off what is left, and compare all tables with the model."""
    place, topic = world.place, world.topic
    topic.end()
    late, names, bad = topic.late(), topic.names(), topic.bad()
    with running(place, checkpoints="checkpoints", name="last") as runner:
        while (rows := count_late(world)) < len(late):  # it may take long, while it goes on
            until(partial(has_grown, world, rows), runner)
        until(lambda: read_rows(world, "late") == late, runner)
        until(lambda: read_rows(world, "names") == names, runner)
        until(lambda: read_rows(world, "minutes") == topic.windows(world.batches("minutes")), runner)
        until(lambda: any(world.place.root.glob("_bad/*/_delta_log/*.json")), runner)
        until(lambda: len(place.bad_rows("flights_bad")) >= len(bad), runner)
    assert (read_rows(world, "late"), read_rows(world, "names")) == (late, names)
    assert read_rows(world, "minutes") == topic.windows(world.batches("minutes"))
    found = [(one["_partition"], one["_offset"], one.code) for one in place.bad_rows("flights_bad")]
    assert sorted(found) == bad, "each bad row once"


@pytest.mark.parametrize("where", [IN_BATCH, BETWEEN])
def test_sinks_are_what_a_model_says_whatever_was_killed(
    world: World, figure: Callable[[str], None], where: str
) -> None:
    world.topic.send(300)
    kill_once(world, where, 300)
    with living(world) as life:  # frozen, and robbed by the runner that works off the rest; then it is killed
        life.until(lambda: life.states.get("late") == "RUNNING")
        os.killpg(life.process.pid, signal.SIGSTOP)
        world.topic.send(300)
        check_sinks(world)
    figure(f"2 kills, the first {where}, {len(world.topic.sent)} records: 4 tables equal to the model")


@pytest.mark.soak
@pytest.mark.timeout(14_400)
@pytest.mark.parametrize(("kills", "records"), [(5, 100_000), (30, 1_000_000)])
def test_sinks_are_what_a_model_says_after_many_kills(
    world: World, figure: Callable[[str], None], kills: int, records: int
) -> None:
    seen = Counter[str]()
    for _ in range(kills):
        where = world.dice.choice(PLACES)
        kill_once(world, where, records // kills)
        seen[where] += 1
    world.topic.send(records - len(world.topic.sent))
    check_sinks(world)
    figure(f"{kills} kills ({dict(seen)}), {len(world.topic.sent):,} records: 4 tables equal to the model")
