"""Many queries on one runner: started, started again, and taken over by a process in reserve after SIGKILL."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.costs import note_killed
from tests.real.query_places import PATIENCE, Place
from tests.real.runner_process import print_command, read_until_running, started
from tests.real.test_runner_process import LINES
from treaty.assemble import connect
from treaty.metastore import Metastore
from treaty.spark.planner.bodies import BodyPlanner

pytestmark = pytest.mark.jvm


@pytest.mark.soak
@pytest.mark.parametrize("count", [5, 50])
def test_many_queries_are_started_and_taken_over(
    spark: SparkSession, tmp_path: Path, count: int, figure: Callable[[str], None]
) -> None:
    """KLIP-18, R31 and R35: from rows alone, by one process after the other; no row is lost or twice."""
    url, data = f"sqlite://{tmp_path / 'registry.db'}", tmp_path / "data"
    (data / "lines").mkdir(parents=True)
    (data / "lines" / "1.jsonl").write_text('{"id": 1, "name": "a"}\n')
    names = [f"q{number}" for number in range(count)]
    with connect(url) as registry:
        metastore = Metastore(registry.registry)
        metastore.run(LINES)
        place = Place(registry, spark, data, metastore, BodyPlanner(spark, tmp_path / "views"))
        for number, name in enumerate(names):
            place.create(
                name,
                "STREAM",
                f"SELECT id, {number} AS n FROM STREAM lines",
                "lines",
                properties=(("TRIGGER", "1 second"),),
            )
        command = print_command(tmp_path / "shared", data, url, "--name", "r1", "--memory", "4g")
        began = time.monotonic()
        with started(command) as first, started(command) as reserve:
            read_until_running(first, *names)
            figure(f"{count} queries: all run {time.monotonic() - began:.1f} s after the start of their process")
            wait(lambda: all(place.has(name, [(1, number)]) for number, name in enumerate(names)))
            (data / "lines" / "2.jsonl").write_text('{"id": 2, "name": "b"}\n')
            killed = time.monotonic()
            note_killed(first.pid)
            os.killpg(first.pid, signal.SIGKILL)
            read_until_running(reserve, names[0])
            one = time.monotonic() - killed
            wait(lambda: all(place.has(name, [(1, number), (2, number)]) for number, name in enumerate(names)))
            figure(
                f"{count} queries: {names[0]} runs {one:.1f} s after a SIGKILL, all rows are there after {time.monotonic() - killed:.1f} s"
            )


def wait(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 4 * PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.5)
