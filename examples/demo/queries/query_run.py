"""The steps of the second half: create a query, kill its runner in mid batch, replace it while it runs, go back."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from examples.demo.events import SPARK_SETTINGS
from examples.demo.processes import ChildProcess
from examples.demo.queries.expected import Delay, DelayRow, ExpectedDelays, count_all, count_late, read_delays
from examples.demo.queries.statements import ARRIVED, COMPARISON, QUERY, REPLACEMENT, ROLLBACK, STREAM, TABLE
from treaty.spark.jars import JVM_OPTIONS
from treaty.spark.session import QUICK_START

PATIENCE_SECONDS = 300.0
LOOK_SECONDS = 0.02
READ_SECONDS = 0.25
"""Seconds between two looks at all rows of the table, which cost as much as a hundred at names of files."""
SHARED = "shared"
"""The folder of the runner: its checkpoints."""


@dataclass(frozen=True, slots=True)
class CheckedTable:
    """The table after a step, beside the computation: the statement that was carried out, the version, and its rows."""

    statement: str
    version: int
    rows: list[DelayRow]
    expected: list[DelayRow]

    @property
    def holds(self) -> bool:
        """Whether both have the same rows."""
        return self.rows == self.expected


@dataclass(slots=True)
class QueryResult:
    """What became of the query, for the report."""

    killed: list[int] = field(default_factory=list)
    """Batches in which the runner was killed."""
    states: list[str] = field(default_factory=list)
    """The states of the query, and why, as the runner said them."""
    comparison: list[list[Any]] = field(default_factory=list)
    tables: list[CheckedTable] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def holds(self) -> bool:
        """Whether the runner was killed in mid batch, and the table had the computed rows after each step."""
        return bool(self.killed) and len(self.tables) == 3 and all(table.holds for table in self.tables)


@dataclass(slots=True)
class QueryDemo:
    """The second half of a demo in `folder`, against the registry at `url`. `execute` carries out a statement, `say` reports a step."""

    folder: Path
    url: str
    total: int
    execute: Callable[[str], list[list[Any]]]
    say: Callable[[str], None]
    result: QueryResult = field(default_factory=QueryResult)
    files: list[str] = field(default_factory=list)
    """The files of events that have come."""
    runner: ChildProcess | None = None
    expected: ExpectedDelays = field(init=False)

    def start(self) -> None:
        """Start the runner, and read the flights for the computation while it starts."""
        self.runner = self._start_runner()
        self.expected = ExpectedDelays.read(self.folder, self.total)

    def stop(self) -> None:
        """Stop the runner, if it was started."""
        if self.runner is not None:
            self.runner.stop()

    def run(self) -> QueryResult:
        """Carry out all steps. Raises RuntimeError where the query does not go on."""
        left = iter(sorted(path.name for path in (self.folder / "events" / "flights").glob("[!.]*.parquet")))
        self._bring(left, 2)
        try:
            self._kill_in_batch(left)
            self._check(QUERY, count_all)
            self.result.comparison = self.execute(COMPARISON)
            self.execute(REPLACEMENT)
            self.say("[b]CREATE OR REPLACE[/b] while it runs: a flight that left early counts as one on time")
            self._bring(left, 1)
            self._check(REPLACEMENT, count_late)
            self.execute(ROLLBACK)
            self.say("[b]ROLLBACK[/b]: the query before it goes on where it was")
            self._check(ROLLBACK, count_all)
        finally:
            self.stop()
            self.result.states += list(_read_states(self.folder / "runner.jsonl"))
        return self.result

    def _kill_in_batch(self, left: Iterator[str]) -> None:
        """Start the query, kill its runner with SIGKILL in mid batch, and start it again."""
        assert self.runner is not None, "`start` was called before"
        self.execute(STREAM)
        self.execute(QUERY)
        self.say("[b]CREATE STREAM[/b] flights, [b]CREATE TABLE[/b] delays AS SELECT: `treaty runner` runs the query")
        self._wait("the first batch", lambda: self._batches("commits"))
        self._bring(left, 1)
        self._wait("a second batch", lambda: self._batches("offsets") - self._batches("commits"))
        self.runner.kill()
        self.result.killed = sorted(self._batches("offsets") - self._batches("commits"))
        if not self.result.killed:
            raise RuntimeError("the batch was committed before the kill: run the demo again")
        self.say(f"[b red]SIGKILL[/] of the runner in mid batch {self.result.killed[0]}; it starts again")
        self.runner = self._start_runner()

    def _start_runner(self) -> ChildProcess:
        """Start `treaty runner`, which ends the batches of one that was killed."""
        words = ["runner", "--root", str(self.folder / SHARED), "--files", str(self.folder), "--registry", self.url]
        settings = {"spark.driver.extraJavaOptions": f"{JVM_OPTIONS} {QUICK_START}", **SPARK_SETTINGS}
        options = [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
        command = [sys.executable, "-m", "treaty.cli.main", *words, "--name", "demo", "--json", *options]
        lines = (self.folder / "runner.jsonl").open("a", encoding="utf-8")
        with lines, (self.folder / "runner.log").open("a", encoding="utf-8") as log:
            # The words are our own program and its options.
            started = subprocess.Popen(command, stdout=lines, stderr=log, text=True, start_new_session=True)  # noqa: S603
        return ChildProcess(started)

    def _bring(self, left: Iterator[str], count: int) -> None:
        """Let the next files of events come; the stream sees each one as a whole."""
        target = self.folder / ARRIVED
        target.mkdir(parents=True, exist_ok=True)
        for name in islice(left, count):
            os.link(self.folder / "events" / "flights" / name, target / name)
            self.files.append(name)

    def _batches(self, kind: str) -> set[int]:
        """The numbers of the batches of the query in a log of its checkpoint: ``offsets`` when planned, ``commits`` when done."""
        logs = (self.folder / SHARED / "checkpoints").glob(f"*/*/{kind}/*")
        return {int(path.name) for path in logs if path.name.isdecimal()}

    def _check(self, statement: str, count: Delay) -> None:
        """Wait until the table has the computed rows; keep both, and say so, where it does not."""
        rows = self.expected.compute(self.files, count)
        self._wait(
            "the computed rows", lambda: read_delays(self.folder / TABLE)[1] == rows, must=False, look=READ_SECONDS
        )
        version, stored = read_delays(self.folder / TABLE)
        self.result.tables.append(CheckedTable(statement, version, stored, rows))
        flights = sum(row[2] for row in rows)
        sign = "[green]equal[/]" if stored == rows else "[red]NOT EQUAL[/]"
        self.say(f"delays has {len(stored):,} rows of {flights:,} flights: {sign} to a computation without Spark")

    def _wait(self, what: str, condition: Callable[[], Any], *, must: bool = True, look: float = LOOK_SECONDS) -> None:
        """Wait until something holds. Raises RuntimeError where it `must` and does not in time, or the runner has ended."""
        end = time.monotonic() + PATIENCE_SECONDS
        while not condition():
            ended = self.runner is not None and self.runner.popen.poll() is not None
            if ended or (must and time.monotonic() > end):
                raise RuntimeError(
                    f"{what} did not come; see {self.folder / 'runner.log'} and {self.folder / 'runner.jsonl'}"
                )
            if time.monotonic() > end:
                return
            time.sleep(look)


def _read_states(file: Path) -> Iterator[str]:
    for line in file.read_text("utf-8").splitlines():
        event = json.loads(line)
        if event.get("event") == "state":
            yield f"{event['state']}: {event['reason']}" if event["reason"] else event["state"]
