"""`treaty pipeline` from a file to tables: planned, stopped and gone on with, told, replayed, failed."""

import json
import os
import signal
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from pyspark.sql import SparkSession

from tests.real.pipeline_files import V1, V2, Lines, put, sound
from treaty.assemble import connect
from treaty.cli.main import group
from treaty.client.connection import Connection

pytestmark = pytest.mark.jvm


@dataclass
class Commands:
    """`treaty pipeline` over a file, in this process and its session."""

    lines: Lines
    root: Path

    @property
    def file(self) -> Path:
        return self.root / "orders.toml"

    def describe(self, log: str, more: str = "") -> None:
        root = self.root
        self.file.write_text(
            f'registry = "{log}"\ncheckpoint = "{root}/checkpoint"\nsubject = "orders-value"\nkeep = ["offset"]\n'
            f'[source.files]\npath = "{root}/in"\nschema = "offset BIGINT, value BINARY"\nmax_files = 1\n'
            f'[good]\nplace = "{root}/good"\nformat = "parquet"\n[trigger]\nkind = "available"\n'
            f'[bad]\nplace = "{root}/bad"\nformat = "parquet"\n{more}\n'
        )

    def __call__(self, name: str, code: int, *words: str) -> Result:
        done = CliRunner().invoke(group, ["pipeline", name, str(self.file), *words])
        assert done.exit_code == code, done.output
        return done

    def told(self, name: str, code: int) -> Any:
        return json.loads(self(name, code, "--json").stdout)


def test_commands_plan_run_tell_and_replay(spark: SparkSession, tmp_path: Path) -> None:
    lines, log = Lines(spark, tmp_path), f"sqlite://{tmp_path / 'log.db'}"
    command = Commands(lines, tmp_path)
    command.describe(log)
    assert "orders-value" in command.told("plan", 1)["subjects"][0]["refused"][0]
    with connect(log) as registry:
        first = put(registry, V1, "orders-value")
        for turn in range(4):
            lines.write(*sound(first, V1, turn))
        lines.write(*((value, "UNKNOWN_ID") for value, _ in sound(first + 1, V2, 7)))
        (planned,) = command.told("plan", 0)["subjects"]
        assert (planned["creates"], planned["ids"][0]["id"]) == (True, first)
        assert planned["columns"][1] == {"name": "n", "type": "INT"}
        assert "would be made" in command("plan", 0).stdout
        stop_and_go_on(command)
        tell_and_replay(command, registry, first)
        command.describe(log, "most = 0")
        lines.write((b"oops!", "BAD_MAGIC"))
        failed = command("run", 1)
        assert "TooManyBadRowsError: batch 5 of orders-value: 1 of 1 rows are bad, allowed are 0" in failed.stderr


def stop_and_go_on(command: Commands) -> None:
    """SIGTERM ends the stream after the running batch; the next run has the rest."""
    commits = command.root / "checkpoint" / "commits"
    terminated = threading.Thread(target=_terminate_after, args=(commits / "0",))
    terminated.start()
    stopped = command("run", 0, "--metrics-port", "0")
    terminated.join()
    assert "metrics on http://127.0.0.1:" in stopped.stderr
    assert "Stopped: " in stopped.stderr
    assert len(list(commits.glob("[0-9]*"))) < 5
    batches = [json.loads(line) for line in command("run", 0, "--json").stdout.splitlines()]
    assert [one["bad"] for one in batches][-1] == 1
    assert batches[-1]["by"] == [{"topic": "", "id": -1, "code": "UNKNOWN_ID", "rows": 1}]
    command.lines.check()


def tell_and_replay(command: Commands, registry: Connection, first: int) -> None:
    """What is still bad is told; after a fix it is not bad any more."""
    seen = command.told("status", 0)
    assert (seen["last"]["batch"], seen["no_lag"], seen["plans"][0]["ids"]) == (4, "the source is no topic", [first])
    assert {(one["id"], one["code"]): one["rows"] for one in seen["total"]} == {(first, ""): 4, (-1, "UNKNOWN_ID"): 1}
    assert [(one["code"], one["rows"]) for one in seen["still_bad"]] == [("UNKNOWN_ID", 1)]
    assert "still bad: 1 UNKNOWN_ID" in command("status", 0).stdout
    assert command.told("replay", 1)["reasons"] == {"UNKNOWN_ID": 1}
    put(registry, V2, "orders-value")
    assert "1 bad row, 1 are good now" in command("replay", 0).stdout
    assert command.told("status", 0)["still_bad"] == []


def _terminate_after(commit: Path) -> None:
    """Tell this very process to end, as soon as a stream has ended its first batch."""
    while not commit.exists():
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGTERM)
