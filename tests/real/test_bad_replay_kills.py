"""`treaty bad replay` killed with SIGKILL at each of its steps, and two at one time: each row is in its table once."""

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from tests.costs import note_killed
from tests.frames import frame
from tests.real.query_places import FLIGHTS, ROWS, Place
from tests.servers.small import SMALL
from treaty.assemble import connect
from treaty.metastore import Metastore
from treaty.metastore.records.destinations import RecordDestinations
from treaty.spark.jars import JVM_OPTIONS
from treaty.spark.planner.bodies import BodyPlanner
from treaty.spark.session import QUICK_START

pytestmark = [pytest.mark.jvm, pytest.mark.soak, pytest.mark.timeout(3_600)]
STEPS = ("decoding", "trying late", "appending to late")
LIVES, EACH = 6, 40


def start(place: Place, url: str) -> "subprocess.Popen[str]":
    settings = {**SMALL, "spark.driver.extraJavaOptions": f"{JVM_OPTIONS} {QUICK_START}"}
    words = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    command = [
        sys.executable, "-m", "treaty.cli.main", "bad", "replay", "flights", "--files", str(place.root), "--registry", url,
        "--yes", "--json", "--master", "local[2]", "--memory", "1g", *words,
    ]  # fmt: skip
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def kill_at(process: "subprocess.Popen[str]", step: str, dice: random.Random) -> None:
    """Let a process live until some time after it says that it is at a step."""
    assert process.stderr is not None
    lines: list[str] = []
    while not (lines and lines[-1].strip().endswith(step)):
        lines.append(process.stderr.readline())
        assert lines[-1], f"it ended before {step}: {''.join(lines)[-3000:]}"
    try:
        process.wait(dice.random() * 2)
    except subprocess.TimeoutExpired:
        note_killed(process.pid)
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def add_early_rows(place: Place, life: int) -> str:
    """Records of a version that is not registered yet; returns its text."""
    version = place.registry.version("flights-value", -1)
    schema = json.loads(version.text)
    schema["fields"].append({"name": f"note{life}", "type": ["null", "string"], "default": None})
    value = {field["name"]: None for field in schema["fields"]} | {"carrier": "UA"}
    newer = json.dumps(schema)
    stored = next((place.root / "flights").glob("part*.parquet"))
    record = pq.read_table(stored).to_pylist()[0]
    rows = [
        {**record, "key": key.to_bytes(8), "value": frame(version.schema_id + 1, newer, {**value, "delay": 40})}
        for key in range(1_000 * life, 1_000 * life + EACH)
    ]
    pq.write_table(pa.Table.from_pylist(rows, pq.read_schema(stored)), place.root / "flights" / f"early{life}.parquet")
    return newer


def test_a_replay_that_is_killed_at_any_step_is_completed_and_appends_each_row_once(
    spark: SparkSession, tmp_path: Path, figure: Callable[[str], None]
) -> None:
    dice = random.Random(464)
    url = f"sqlite://{tmp_path / 'registry.db'}"
    root = tmp_path / "data"
    root.mkdir()
    with connect(url) as registry:
        metastore = Metastore(registry.registry, destination=RecordDestinations(files=root))
        place = Place(registry, spark, root, metastore, BodyPlanner(spark, tmp_path / "views"))
        metastore.run(FLIGHTS.replace("VALUE_FORMAT", "BAD_ROWS = 'true', VALUE_FORMAT"))
        place.create("late", "STREAM", "SELECT id, delay FROM STREAM flights WHERE delay > 15", "flights")
        place.insert("flights", ROWS)
        expected = [(2, 20), (3, 30)]
        for life in range(1, LIVES + 1):
            newer = add_early_rows(place, life)
            place.run()
            registry.register("flights-value", newer)
            kill_at(start(place, url), STEPS[life % len(STEPS)], dice)
            expected += [(key, 40) for key in range(1_000 * life, 1_000 * life + EACH)]
        both = [start(place, url), start(place, url)]
        outputs = [one.communicate() for one in both]
        assert min(one.returncode for one in both) == 0, outputs
        final = start(place, url)
        output, _ = final.communicate()
        assert final.returncode == 0, output
        assert place.rows("late") == sorted(expected, key=repr)
        figure(f"{LIVES} replays killed, 2 at one time, {len(expected)} rows: each once")
