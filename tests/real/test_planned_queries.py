"""Queries from the statement to the rows: a server, a planner, `treaty sql` and a runner, each a process of its own."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.real.running import serving

pytestmark = pytest.mark.jvm
FLIGHTS = "CREATE STREAM flights (id BIGINT KEY, carrier STRING, delay INT) WITH (CONNECTOR = 'files', PATH = 'flights', VALUE_FORMAT = 'AVRO')"
DELAYS = "TABLE delays WITH (CONNECTOR = 'delta', PATH = 'tables/delays') AS SELECT carrier, sum(delay) AS delay FROM STREAM flights GROUP BY carrier"
ENDS = 120
"""Seconds in which a program ends, on a busy machine."""


def treaty(*words: str, registry: str = "") -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "treaty.cli.main", *words, "--registry", registry]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=ENDS)


def rows_of(ended: "subprocess.CompletedProcess[str]") -> Any:
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


@contextmanager
def planning(registry: str, *words: str) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-m", "treaty.cli.main", "planner", "--json", "--registry", registry, *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def children_of(process: int) -> Sequence[int]:
    return [int(one) for one in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


REGISTRY = ("--planner", "registry")
"""The planner of the test, and not a JVM of the command itself."""


def test_a_planner_plans_for_all_and_survives_its_jvm(tmp_path: Path) -> None:
    log = f"sqlite://{tmp_path / 'log.db'}"
    with serving(tmp_path, "--log", log, "--files", str(tmp_path)) as server, planning(server.base) as planner:
        rows_of(treaty("sql", "--json", "-e", FLIGHTS, registry=server.base))
        made = rows_of(treaty("sql", *REGISTRY, "--json", "-e", f"CREATE {DELAYS}", registry=server.base))
        assert made[0]["message"] == "Table delays created"
        assert "grows with the number of keys" in made[0]["warnings"][0]
        described = rows_of(treaty("sql", "--json", "-e", "DESCRIBE delays", registry=server.base))
        assert [row[:3] for row in described[0]["rows"]] == [["carrier", "STRING", "key"], ["delay", "BIGINT", "value"]]
        refused = treaty(
            "sql", *REGISTRY, "-e", "CREATE STREAM x AS\nSELECT nobody\nFROM flights", registry=server.base
        )
        assert (refused.returncode, "line 2, column 8" in refused.stderr) == (1, True), refused.stderr
        for child in children_of(planner.pid):
            os.killpg(child, signal.SIGKILL)  # as the kernel ends a process that takes too much memory
        other = rows_of(
            treaty(
                "sql",
                *REGISTRY,
                "--json",
                "-e",
                "CREATE STREAM late AS SELECT id FROM flights WHERE delay > 15",
                registry=server.base,
            )
        )
        assert other[0]["message"] == "Stream late created"
        planner.send_signal(signal.SIGTERM)
        told, _ = planner.communicate(timeout=ENDS)
        assert planner.returncode == 0
        states = [json.loads(one)["state"] for one in told.replace("}\n{", "}\0{").split("\0")]
        assert states[0] == "stored"
        assert states[1] == "refused"
        assert states[-1] == "stored"


@pytest.mark.soak
def test_a_log_without_a_server_is_planned_and_run(tmp_path: Path) -> None:
    log, data = f"sqlite://{tmp_path / 'log.db'}", tmp_path / "data"
    data.mkdir()
    with serving(tmp_path, "--log", log, "--files", str(data)) as server:
        rows_of(treaty("sql", "--json", "-e", FLIGHTS, registry=server.base))
        rows_of(
            treaty(
                "sql",
                "--json",
                "-e",
                "INSERT INTO flights VALUES (1, 'AA', 10), (2, 'DL', 20), (3, 'AA', 30)",
                registry=server.base,
            )
        )
    made = rows_of(treaty("sql", "--json", "--planner", "local", "-e", f"CREATE {DELAYS}", registry=log))
    assert made[0]["message"] == "Table delays created"
    again = rows_of(treaty("sql", "--json", "--dry-run", "-e", f"CREATE OR REPLACE {DELAYS}", registry=log))
    assert again[0]["message"] == "Table delays unchanged", "the same query is no change"
    ran = rows_of(treaty("runner", "--once", "--json", "--files", str(data), registry=log))
    assert ran == [{"name": "delays", "rows": 3, "bad": 0, "written": 2, "batches": 1, "error": "", "note": ""}]
    rows = [row for path in (data / "tables/delays").glob("*.parquet") for row in pq.read_table(path).to_pylist()]
    assert sorted((row["carrier"], row["delay"]) for row in rows) == [("AA", 40), ("DL", 20)]
    project = tmp_path / "project"
    project.mkdir()
    project.joinpath("late.sql").write_text("CREATE STREAM late AS SELECT carrier FROM STREAM trips WHERE id > 1")
    project.joinpath("trips.sql").write_text(FLIGHTS.replace("flights", "trips"))
    applied = treaty("apply", str(project), "--yes", registry=log)
    assert (applied.returncode, applied.stdout.splitlines()[-1]) == (0, "Applied: 2 statements."), applied.stderr
