"""What the queries of a runner do not depend on: the order in which they start, and that somebody owns the log."""

import random
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Semaphore
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.real.query_places import FLIGHTS, MORE, PATIENCE, ROWS, Place, running, until
from tests.real.test_kafka_neighbours import counts, post, several
from tests.servers.kafka import Kafka
from treaty.assemble import connect
from treaty.core.refusals import RegistryError
from treaty.metastore import Metastore
from treaty.metastore.records.destinations import RecordDestinations
from treaty.spark.planner.bodies import BodyPlanner
from treaty.spark.runner.query_start import QueryStarter
from treaty.spark.runner.service.part_status import PartStatus
from treaty.spark.runner.service.part_thread import PartHooks, PartThread
from treaty.spark.runner.service.states import DRAINING, ENDED, FAILED, RETRYING, RUNNING, STARTING, WAITING
from treaty.spark.runner.service.wanted import WantedPart, read_snapshot

pytestmark = [pytest.mark.jvm, pytest.mark.soak, pytest.mark.timeout(3_600)]
TABLES: dict[str, list[Any]] = {
    "late": [(2, 20), (3, 30), (5, 50)],
    "delays": [("AA", 3), ("DL", 1), ("UA", 1)],
    "tens": [(20, 1), (30, 1), (50, 1)],
    "busy": [("AA", 3)],
}
BROKEN = "SELECT 1 DIV (delay - delay) AS one FROM STREAM flights"
ORDERS = 20


def create_queries(place: Place) -> None:
    """Queries that read each other's tables, and one that fails on each row."""
    place.metastore.run(FLIGHTS)
    place.insert("flights", ROWS)
    place.create("late", "STREAM", "SELECT id, delay FROM STREAM flights WHERE delay > 15", "flights")
    place.create("delays", "TABLE", "SELECT carrier, count(*) AS n FROM STREAM flights GROUP BY carrier", "flights")
    place.create("tens", "TABLE", "SELECT delay, count(*) AS n FROM STREAM late GROUP BY delay", "late")
    place.create("busy", "TABLE", "SELECT carrier, n FROM delays WHERE n > 1", "delays", key=("carrier",))
    place.create("broken", "STREAM", BROKEN, "flights")
    place.insert("flights", MORE)


def start_in_order(place: Place, parts: Sequence[WantedPart], dice: random.Random, states: list[PartStatus]) -> None:
    """Start queries in an order, some once the one before has started or waits, until their tables are whole."""
    starter = QueryStarter(place.spark, place.registry.registry, place.root, str(place.root / "_checkpoints"))
    hooks = PartHooks(starter, Semaphore(2), states.append)
    threads: list[PartThread] = []
    for part in parts:
        threads.append(PartThread(part, hooks))
        if dice.random() < 0.5:
            wait(partial(is_settled, threads[-1]))
    try:
        wait(lambda: all(place.has(name, rows) for name, rows in TABLES.items()))
        wait(lambda: any((one.name, one.state) == ("broken", RETRYING) for one in states))
    finally:
        for thread in threads:
            thread.end()
        for thread in threads:
            assert thread.join(PATIENCE)


def is_settled(thread: PartThread) -> bool:
    """Whether a query runs, or says why it does not."""
    return thread.status.state in {RUNNING, WAITING, RETRYING, FAILED}


def wait(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.1)


def test_r35_queries_that_start_in_any_order_come_to_the_same_tables(
    place: Place, figure: Callable[[str], None]
) -> None:
    """KLIP-18, R35: from rows alone; and what fails on each row fails alone."""
    create_queries(place)
    snapshot = read_snapshot(place.registry.registry)
    assert snapshot is not None
    dice, parts, orders = random.Random(35), list(snapshot.parts.values()), set[tuple[str, ...]]()
    for turn in range(ORDERS):
        dice.shuffle(parts)
        orders.add(tuple(one.source.name for one in parts))
        root, states = place.root.parent / f"turn{turn}", list[PartStatus]()
        shutil.copytree(place.root, root)
        start_in_order(replace(place, root=root), parts, dice, states)
        assert {one.name for one in states if one.state in {RETRYING, FAILED}} == {"broken"}
    figure(f"{ORDERS} starts in {len(orders)} orders: 4 tables alike, and one query fails alone")


def test_r37_queries_go_on_while_the_owner_of_the_log_is_killed(
    spark: SparkSession, kafka: Kafka, tmp_path: Path, figure: Callable[[str], None]
) -> None:
    """KLIP-18, R37: batches go on, and statements are taken again once another node owns the log."""
    root = tmp_path / "data"
    root.mkdir()
    seen: list[PartStatus] = []
    with several(tmp_path, kafka, "owner", ((), ())) as servers:
        for number, server in enumerate(servers):
            assert post(server, f"s{number}")[0] == 200
        (owner,) = (server for server in servers if counts(server)["taken"])
        (other,) = (server for server in servers if server is not owner)
        with connect(other.base) as registry, closing(RecordDestinations(files=root)) as destination:
            metastore = Metastore(registry.registry, destination=destination)
            place = Place(registry, spark, root, metastore, BodyPlanner(spark, tmp_path / "views"))
            metastore.run(FLIGHTS)
            place.create("late", "STREAM", "SELECT id, delay FROM STREAM flights WHERE delay > 15", "flights")
            place.insert("flights", ROWS)
            with running(place, seen) as runner:
                until(lambda: place.has("late", [(2, 20), (3, 30)]), runner)
                owner.kill()
                killed = time.monotonic()
                file = next((root / "flights").glob("*.parquet"))
                shutil.copy(file, file.with_name("again.parquet"))
                until(lambda: place.has("late", [(2, 20), (2, 20), (3, 30), (3, 30)]), runner)
                written = time.monotonic() - killed
                until(lambda: accepts(metastore), runner)
                taken = time.monotonic() - killed
    assert [one.state for one in seen if one.name == "late"] == [STARTING, RUNNING, DRAINING, ENDED]
    figure(
        f"after the death of the owner rows are written within {written:.1f} s, statements taken within {taken:.1f} s"
    )


def accepts(metastore: Metastore) -> bool:
    """Whether a statement that commits is taken now."""
    try:
        metastore.run(
            "CREATE OR REPLACE STREAM more (id BIGINT) WITH (CONNECTOR = 'files', PATH = 'more', VALUE_FORMAT = 'JSON', FRAMING = 'none', KEY_FORMAT = 'NONE')"
        )
    except RegistryError:
        return False
    return True
