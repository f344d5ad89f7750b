"""Many queries: on one runner, which is started, started again and killed, and on two runners through kills and drains."""

import json
import os
import random
import resource
import signal
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.costs import used_by
from tests.real.query_places import PATIENCE, Place
from tests.real.runner_process import Process, kill, print_command, started
from tests.real.test_runner_process import LINES
from treaty.arrow.delta_log import NoTableError, list_delta_files, read_columns
from treaty.assemble import connect
from treaty.core.messages.metastore.query_feed import ListQueries
from treaty.metastore import Metastore
from treaty.spark.planner.bodies import BodyPlanner

pytestmark = [pytest.mark.jvm, pytest.mark.soak, pytest.mark.timeout(14_400)]
SECONDS = 20
"""How long an idle and a busy runner is watched."""
TRIGGER = (("TRIGGER", "1 second"),)


@dataclass
class ManyQueries:
    """A registry with queries over a folder of lines, and where their runners are."""

    place: Place
    url: str
    names: list[str]
    ids: list[int] = field(default_factory=list)

    def write_line(self) -> None:
        """One more file with one line."""
        number = len(self.ids) + 1
        draft = self.place.root / f"{number}.draft"
        draft.write_text(f'{{"id": {number}, "name": "a"}}\n')
        draft.rename(self.place.root / "lines" / f"{number}.jsonl")
        self.ids.append(number)

    def lacks(self, name: str) -> bool:
        """Whether a table has not come to the last line."""
        return len(self.read(name)) < len(self.ids)

    def read(self, name: str) -> list[tuple[int, int]]:
        """The rows of a table, read without Spark; none while it is not there."""
        folder = self.place.root / "tables" / name
        with suppress(NoTableError, FileNotFoundError):
            columns = read_columns(list_delta_files(folder, frozenset(("id", "n"))), ("id", "n"))
            return sorted(zip(*(one.to_pylist() for one in columns.columns), strict=True))
        return []

    def wait_for_rows(self) -> None:
        """Wait until each table has each row, and see that it has each once."""
        wait(lambda: not any(map(self.lacks, self.names)))
        for number, name in enumerate(self.names):
            assert self.read(name) == [(one, number) for one in self.ids], name

    def command(self, name: str, *options: str) -> list[str]:
        root = self.place.root.parent
        return print_command(root / "shared", self.place.root, self.url, "--name", name, *options)


@contextmanager
def many_queries(spark: SparkSession, folder: Path, count: int) -> Iterator[ManyQueries]:
    """So many queries without state, and a first line."""
    url, data = f"sqlite://{folder / 'registry.db'}", folder / "data"
    (data / "lines").mkdir(parents=True)
    with connect(url) as registry:
        metastore = Metastore(registry.registry)
        metastore.run(LINES)
        place = Place(registry, spark, data, metastore, BodyPlanner(spark, folder / "views"))
        queries = ManyQueries(place, url, [f"q{number}" for number in range(count)])
        for number, name in enumerate(queries.names):
            body = f"SELECT id, {number} AS n FROM STREAM lines"
            place.create(name, "STREAM", body, "lines", properties=TRIGGER)
        queries.write_line()
        yield queries


def wait(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 4 * PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.5)


class Clock:
    """Seconds since something, for a runner that is read line by line."""

    def __init__(self) -> None:
        self._began = time.monotonic()

    def read(self, process: Process, *names: str) -> str:
        """Say when the first of these queries ran, and when all did."""
        assert process.stdout is not None
        assert process.stderr is not None
        waiting, first = {*names}, 0.0
        for line in process.stdout:
            event = json.loads(line)
            if event.get("state") == "RUNNING":
                waiting.discard(event["name"])
                first = first or time.monotonic() - self._began
            if not waiting:
                return f"the first runs after {first:.1f} s, all after {time.monotonic() - self._began:.1f} s"
        raise AssertionError(process.stderr.read()[-3000:])


def measure(process: Process, action: Callable[[], None]) -> str:
    """The CPU and the memory of a runner with its JVM while something is done again and again."""
    before, began = _cpu(process), time.monotonic()
    while (seconds := time.monotonic() - began) < SECONDS:
        action()
        time.sleep(1)
    return f"{(_cpu(process) - before) / seconds:.2f} s of CPU a second, {_memory(process) / 1e6:,.0f} MB"


def _group(process: Process) -> list[int]:
    found = [int(one.name) for one in Path("/proc").iterdir() if one.name.isdecimal()]
    group = []
    for one in found:
        with suppress(ProcessLookupError):
            if os.getpgid(one) == process.pid:
                group.append(one)
    return group


def _cpu(process: Process) -> float:
    return used_by(process.pid)


def _memory(process: Process) -> int:
    pages = [int(Path(f"/proc/{one}/statm").read_text().split()[1]) for one in _group(process)]
    return sum(pages) * resource.getpagesize()


@pytest.mark.parametrize("count", [10, 50])
def test_many_queries_are_started_again_and_taken_over(
    spark: SparkSession, tmp_path: Path, count: int, figure: Callable[[str], None]
) -> None:
    """KLIP-18, R31 and R35: from rows alone, by one process after the other; no row is lost or twice."""
    with many_queries(spark, tmp_path, count) as queries, ExitStack() as lives:
        command = queries.command("r1", "--memory", "4g")
        begun = Clock()
        first = lives.enter_context(started(command))
        figure(f"{count} queries at their first start: {begun.read(first, *queries.names)}")
        queries.wait_for_rows()
        figure(f"{count} idle queries: {measure(first, lambda: None)}")
        figure(f"{count} busy queries: {measure(first, queries.write_line)}")
        first.send_signal(signal.SIGTERM)
        first.communicate(timeout=PATIENCE)
        assert first.returncode == 0
        queries.write_line()
        begun = Clock()
        again = lives.enter_context(started(command))
        figure(f"{count} queries at a start after a drain: {begun.read(again, *queries.names)}")
        reserve = lives.enter_context(started(command))  # of the same name: it waits until the first one is gone
        queries.wait_for_rows()
        assert reserve.stdout is not None
        assert "waiting" in reserve.stdout.readline()
        queries.write_line()
        begun = Clock()
        kill(again)
        figure(f"{count} queries after a SIGKILL, by a process in reserve: {begun.read(reserve, *queries.names)}")
        queries.wait_for_rows()


# -------------------------------------------------------------------------------------------------------- two runners


@dataclass
class Owners:
    """Looks at two runners until it is closed: which queries each says it runs, and whether two ever have one."""

    queries: ManyQueries
    looks: int = 0
    twice: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._ending = Event()
        self._thread = Thread(target=self._look)
        self._thread.start()

    def close(self) -> None:
        self._ending.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ending.wait(0.1):
            runners = self.queries.place.registry.ask(ListQueries()).answer.runners
            answers = {one.name: _running(one.address) for one in runners}
            for one in runners:
                # What it runs before and after another one was asked, it has run all the time.
                for name, since in answers[one.name].items() & _running(one.address).items():
                    others = [two for two, runs in answers.items() if two != one.name and name in runs]
                    self.twice += [f"{name}: {one.name} since {since}, and {two}" for two in others]
            self.looks += 1


def _running(address: str) -> dict[str, int]:
    """The queries that a runner says it runs, with since when; none where it does not answer."""
    try:
        with urllib.request.urlopen(f"{address}/status", timeout=2) as answer:
            status: dict[str, Any] = json.loads(answer.read())
    except OSError:
        return {}
    return {one["name"]: one["since"] for one in status["queries"] if one["state"] == "RUNNING"}


@pytest.mark.parametrize("ends", [5, 50])
def test_queries_of_two_runners_have_one_owner_through_kills_and_drains(
    spark: SparkSession, tmp_path: Path, ends: int, figure: Callable[[str], None]
) -> None:
    """KLIP-18, R31: 20 queries; each end of a runner is a SIGKILL, a drain or a silence, at a seeded time."""
    dice, kinds = random.Random(4646), Counter[str]()
    with many_queries(spark, tmp_path, 20) as queries, ExitStack() as closing:
        lives: dict[str, tuple[Process, ExitStack]] = {}

        def start(name: str) -> None:
            stack = closing.enter_context(ExitStack())
            lives[name] = stack.enter_context(started(queries.command(name), tmp_path / f"{name}.log")), stack

        for name in ("r1", "r2"):
            start(name)
        owners = Owners(queries)
        closing.callback(owners.close)
        for _ in range(ends):
            wait(lambda: _shares(queries) == [10, 10])
            queries.write_line()
            time.sleep(dice.random() * 2)
            name = dice.choice(sorted(lives))
            process, stack = lives[name]
            kind = dice.choice(("killed", "drained", "frozen"))
            kinds[kind] += 1
            if kind == "drained":
                process.send_signal(signal.SIGTERM)
                process.communicate(timeout=PATIENCE)
            elif kind == "frozen":
                os.killpg(process.pid, signal.SIGSTOP)
                wait(lambda gone=name: gone not in _leases(queries))  # type: ignore[misc]
                os.killpg(process.pid, signal.SIGCONT)
                process.communicate(timeout=PATIENCE)
            else:
                kill(process)
            stack.close()
            start(name)
        queries.wait_for_rows()
        owners.close()
        assert owners.twice == []
        assert owners.looks > ends
        figure(
            f"20 queries, 2 runners, {ends} ends ({dict(kinds)}): one owner each at {owners.looks:,} looks, {len(queries.ids)} rows once in each table"
        )


def _leases(queries: ManyQueries) -> list[str]:
    return [one.name for one in queries.place.registry.ask(ListQueries()).answer.runners]


def _shares(queries: ManyQueries) -> list[int]:
    """How many queries each runner runs."""
    runners = queries.place.registry.ask(ListQueries()).answer.runners
    return sorted(len(_running(one.address)) for one in runners)
