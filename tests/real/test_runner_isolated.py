"""`treaty runner --isolate`: a process for each query. One that is killed ends no other, and is started again."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.real.query_places import PATIENCE, Place
from tests.real.runner_process import print_command, read_until_running, started
from tests.real.test_runner_process import LINES
from tests.shares import REST
from treaty.assemble import connect
from treaty.metastore import Metastore
from treaty.spark.planner.bodies import BodyPlanner

pytestmark = [pytest.mark.jvm, *REST]  # `test_part_processes` has what a runner does with the processes of its parts


def find_child(parent: int, generation: int) -> int:
    """The process of a part."""
    listed = subprocess.run(
        ["ps", "-ww", "-o", "pid=,args=", "--ppid", str(parent)], stdout=subprocess.PIPE, text=True, check=True
    )
    (found,) = (line for line in listed.stdout.splitlines() if f"--isolated-part {generation}/query" in line)
    return int(found.split()[0])


def wait(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.2)


def test_a_query_that_is_killed_ends_no_other_and_all_end_with_their_runner(
    spark: SparkSession, tmp_path: Path
) -> None:
    url = f"sqlite://{tmp_path / 'registry.db'}"
    data = tmp_path / "data"
    (data / "lines").mkdir(parents=True)
    (data / "lines" / "1.jsonl").write_text('{"id": 1, "name": "a"}\n')
    with connect(url) as registry:
        metastore = Metastore(registry.registry)
        metastore.run(LINES)
        place = Place(registry, spark, data, metastore, BodyPlanner(spark, tmp_path / "views"))
        place.create("names", "STREAM", "SELECT name FROM STREAM lines", "lines")
        place.create("ids", "STREAM", "SELECT id FROM STREAM lines", "lines")
        with started(print_command(tmp_path / "shared", data, url, "--name", "r1", "--isolate")) as process:
            lines = read_until_running(process, "names", "ids")
            numbers = {one["name"]: one["incarnation"] for one in lines if "name" in one}
            wait(lambda: place.has("names", [("a",)]) and place.has("ids", [(1,)]))
            first, other = (find_child(process.pid, numbers[name]) for name in ("names", "ids"))
            os.kill(first, signal.SIGKILL)
            again = read_until_running(process, "names")
            killed = next(one for one in again if one.get("name") == "names")
            assert (killed["state"], "ended by signal 9" in killed["reason"]) == ("RETRYING", True)
            (data / "lines" / "2.jsonl").write_text('{"id": 2, "name": "b"}\n')
            wait(lambda: place.has("names", [("a",), ("b",)]) and place.has("ids", [(1,), (2,)]))
            assert find_child(process.pid, numbers["ids"]) == other
            children = [other, find_child(process.pid, numbers["names"])]
            process.send_signal(signal.SIGTERM)
            out, err = process.communicate(timeout=PATIENCE)
            assert process.returncode == 0, err
            assert json.loads(out.splitlines()[-1])["event"] == "ended"
        for one in children:
            with pytest.raises(ProcessLookupError):
                os.kill(one, 0)
