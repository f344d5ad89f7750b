"""`treaty runner` as users start it: lines of JSON, what others see of it, and its end by SIGTERM."""

import json
import signal
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

from tests.real.query_places import Place
from tests.real.runner_process import print_command, read_until_running, started
from treaty.assemble import connect
from treaty.cli.main import group
from treaty.core.messages.metastore.query_feed import ListQueries
from treaty.metastore import Metastore
from treaty.spark.planner.bodies import BodyPlanner

pytestmark = pytest.mark.jvm
LINES = "CREATE STREAM lines (id BIGINT, name STRING) WITH (CONNECTOR = 'files', PATH = 'lines', VALUE_FORMAT = 'JSON', FRAMING = 'none', KEY_FORMAT = 'NONE')"
MEMBERS = {"time", "event", "name", "part", "state", "reason", "remedy", "command", "attempts", "next_attempt", "incarnation"}  # fmt: skip


def test_a_runner_says_what_it_does_in_json_and_ends_with_its_batches_by_sigterm(
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
        root = f"file://{tmp_path}/shared"  # a URL: its files are reached by Hadoop's file systems
        with started(print_command(root, f"file://{data}", url, "--name", "r1")) as process:
            lines = read_until_running(process, "names")
            while not place.has("names", [("a",)]):
                time.sleep(0.2)
            assert (lines[0]["event"], lines[0]["runner"]) == ("ready", "r1")
            states = [one for one in lines if one["event"] == "state"]
            assert [set(one) for one in states] == [MEMBERS] * len(states)
            watched = CliRunner().invoke(group, ["query", "watch", "--once", "--registry", url])
            assert watched.exit_code == 0, watched.output
            assert watched.output.splitlines()[0].split()[:4] == ["query", "part", "state", "runner"]
            assert [line.split()[:4] for line in watched.output.splitlines()[1:]] == [
                ["names", "query", "RUNNING", "r1"]
            ]
            process.send_signal(signal.SIGTERM)
            out, err = process.communicate(timeout=120)
            assert process.returncode == 0, err
            last = [json.loads(line) for line in out.splitlines()]
            assert [one.get("state", one["event"]) for one in last][-3:] == ["DRAINING", "ENDED", "ended"]
            assert registry.ask(ListQueries()).answer.runners == ()
        written = sorted(
            str(one.relative_to(tmp_path)) for one in (tmp_path / "shared").glob("*/*") if one.name[0] != "."
        )
        assert [one.split("/")[1] for one in written] == ["checkpoints", "checkpoints"]  # the heartbeat is gone
        assert (tmp_path / "shared" / "runners" / ".root").exists()
