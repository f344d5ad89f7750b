"""Runners that are killed with SIGKILL: what their tables hold in the end is every row once."""

import os
import random
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.real.query_places import FLIGHTS, Place, running, until
from tests.real.runner_process import print_command, read_until_running, started
from treaty.assemble import connect
from treaty.metastore import Metastore
from treaty.metastore.records.destinations import RecordDestinations
from treaty.spark.planner.bodies import BodyPlanner

pytestmark = pytest.mark.jvm
FILES, ROWS = 4, 20
"""Files that come in each life, and the rows of each."""
CARRIERS = ("AA", "DL", "UA")


class Flights:
    """Rows of flights, and what each query must come to."""

    def __init__(self, dice: random.Random) -> None:
        self.dice, self.rows = dice, list[tuple[int, str, int]]()

    def insert(self, place: Place) -> None:
        """One more file of rows."""
        rows = [(len(self.rows) + turn, self.dice.choice(CARRIERS), self.dice.randrange(60)) for turn in range(ROWS)]
        self.rows += rows
        place.insert("flights", ", ".join(f"({id_}, '{carrier}', {delay}, NULL)" for id_, carrier, delay in rows))

    def late(self) -> list[tuple[object, ...]]:
        return sorted(((id_, delay) for id_, _, delay in self.rows if delay > 15), key=repr)

    def delays(self) -> list[tuple[object, ...]]:
        totals = {carrier: [delay for _, name, delay in self.rows if name == carrier] for carrier in CARRIERS}
        return sorted((carrier, len(some), sum(some)) for carrier, some in totals.items() if some)

    def fewer(self) -> list[tuple[object, ...]]:
        counts = {delay: sum(1 for _, _, one in self.rows if one == delay) for _, _, delay in self.rows if delay > 15}
        return sorted(counts.items(), key=repr)


@contextmanager
def living(place: Place, url: str) -> Iterator["subprocess.Popen[str]"]:
    """A runner of its own process, from the time when its queries run to its death by SIGKILL."""
    with started(print_command(place.root, place.root, url, "--name", "other")) as process:
        read_until_running(process, "late", "delays")
        yield process
        os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.soak  # in each run the same is shown over topics: test_runner_kafka_kills
def test_three_queries_survive_kills_and_are_taken_over_and_no_row_is_lost_or_twice(
    spark: SparkSession, tmp_path: Path, figure: Callable[[str], None]
) -> None:
    dice = random.Random(46)
    url = f"sqlite://{tmp_path / 'registry.db'}"
    root = tmp_path / "data"
    root.mkdir()
    flights = Flights(dice)
    with connect(url) as registry:
        destination = RecordDestinations(files=root)
        metastore = Metastore(registry.registry, destination=destination)
        place = Place(registry, spark, root, metastore, BodyPlanner(spark, tmp_path / "views"))
        metastore.run(FLIGHTS)
        flights.insert(place)
        place.create("late", "STREAM", "SELECT id, delay FROM STREAM flights WHERE delay > 15", "flights")
        body = "SELECT carrier, count(*) AS n, sum(delay) AS total FROM STREAM flights GROUP BY carrier"
        place.create("delays", "TABLE", body, "flights")
        place.create("fewer", "TABLE", "SELECT delay, count(*) AS n FROM STREAM late GROUP BY delay", "late")
        with living(place, url) as process:  # it dies in batches: files come all the time
            for _ in range(FILES):
                flights.insert(place)
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(dice.random() * 3)
        with ExitStack() as lives, ExitStack() as life:
            life.enter_context(living(place, url))  # it has the lease of the dead one at once, whose process has ended
            runner = lives.enter_context(running(place, checkpoints="checkpoints"))
            until(lambda: any(one.state == "RUNNING" for one in runner.status().parts), runner)  # they share
            for _ in range(FILES):
                flights.insert(place)
            life.close()
            flights.insert(place)
            until(lambda: place.has("late", flights.late()), runner)
            until(lambda: place.has("delays", flights.delays()), runner)
            until(lambda: place.has("fewer", flights.fewer()), runner)
        figure(f"2 kills, {len(flights.rows)} rows: three tables equal to a computation, no row twice")
