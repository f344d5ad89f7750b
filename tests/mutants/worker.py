"""Runs tests with mutants, each in a process that is forked from one where everything is imported. `python -m tests.mutants.worker`.

Reads orders as JSON, one a line, and writes what came of each as JSON.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self, TypeVar

import pytest

from tests.mutants.sample import ROOT
from tests.planted.bug import Edit
from tests.planted.planting import TargetMovedError, changed

ItemT = TypeVar("ItemT")
OPTIONS = (
    "-q",
    "-x",
    "--assert=plain",
    "--tb=no",
    "--no-header",
    "--timeout=0",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:randomly",
)
HANG_SECONDS = 60
CLOCK_SECONDS = 4.0 * HANG_SECONDS
"""A mutant whose tests take more processor time, or so long by the clock, hangs."""


@dataclass(frozen=True, slots=True)
class Order:
    """Tests to run, with an edit or with none."""

    tests: Sequence[str]
    edit: Edit | None = None
    all: bool = False
    """Whether tests behind a failure are run too."""
    seconds: float = CLOCK_SECONDS
    """What is left of the time of the whole run, by the clock."""


@dataclass(slots=True)
class Came:
    """What came of an order."""

    failed: list[str] = field(default_factory=list)
    passed: int = 0
    ran: bool = False
    """Whether the changed code ran."""
    hung: bool = False
    cut: bool = False
    """Whether the time of the whole run was over before the tests had ended."""
    moved: str = ""
    """Why the edit could not be planted."""
    seconds: float = 0.0


class _Recorder:
    def __init__(self, came: Came) -> None:
        self.came = came

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and report.nodeid not in self.came.failed:
            self.came.failed.append(report.nodeid)
        self.came.passed += report.passed and report.when == "call"


class _Chosen:
    """Leaves of files the tests that were asked for: some of them may have another name by now."""

    def __init__(self, tests: Sequence[str]) -> None:
        self.order = {test: at for at, test in enumerate(tests)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted((one for one in items if one.nodeid in self.order), key=lambda one: self.order[one.nodeid])


def run(order: Order) -> Came:
    """Plant the edit here, and run the tests."""
    came = Came()
    try:
        with nullcontext(set[int]()) if order.edit is None else changed("a mutant", [order.edit]) as ran:
            options = [one for one in OPTIONS if one != "-x"] if order.all else [*OPTIONS]
            options.append("--hypothesis-profile=quick")
            if pytest.main([*options, *order.tests], plugins=[_Recorder(came)]) == pytest.ExitCode.USAGE_ERROR:
                files = dict.fromkeys(test.partition("::")[0] for test in order.tests)
                there = [file for file in files if (ROOT / file).exists()]
                pytest.main([*options, *there], plugins=[_Recorder(came), _Chosen(order.tests)])
            came.ran = bool(ran)
    except TargetMovedError as moved:
        came.moved = str(moved)
    came.seconds = round(time.process_time(), 2)
    return came


def forked(order: Order) -> Came:
    """`run` in a child that may take so long and no longer."""
    with tempfile.TemporaryFile() as answer:
        child = os.fork()
        if child == 0:
            os.setpgid(0, 0)
            resource.setrlimit(resource.RLIMIT_CPU, (HANG_SECONDS, HANG_SECONDS + 5))
            nowhere = os.open(os.devnull, os.O_RDWR)
            for one in (0, 1, 2):
                os.dup2(nowhere, one)
            try:
                answer.write(json.dumps(asdict(run(order))).encode())
                answer.flush()
            finally:
                os._exit(0)
        limit = min(order.seconds, CLOCK_SECONDS)
        ended = _ends(child, time.monotonic() + limit)
        answer.seek(0)
        text = answer.read()
    if text and ended:
        return Came(**json.loads(text))
    cut = not ended and limit < CLOCK_SECONDS
    return Came(hung=not cut, cut=cut, ran=True)


def _ends(child: int, until: float) -> bool:
    """Wait for a child; one that takes too long is ended with all that it started."""
    while time.monotonic() < until:
        done, _ = os.waitpid(child, os.WNOHANG)
        if done:
            _end_group(child)
            return True
        time.sleep(0.02)
    _end_group(child)
    os.waitpid(child, 0)
    return False


def _end_group(child: int) -> None:
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        return


class Worker:
    """A process that runs orders; it begins with the first one, and again after it was ended."""

    def __init__(self, files: Sequence[str]) -> None:
        self._files = files
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            with self._process:
                assert self._process.stdin is not None
                self._process.stdin.close()

    def ask(self, order: Order) -> Came:
        """Have an order run."""
        if self._process is None:
            command = [sys.executable, "-m", "tests.mutants.worker", *self._files]
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, text=True, cwd=ROOT, start_new_session=True
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(asdict(order)), file=self._process.stdin, flush=True)
        return Came(**json.loads(self._process.stdout.readline()))


def side_by_side(
    workers: Sequence[Worker], items: Iterable[ItemT], work: Callable[[Worker, ItemT], object], until: float
) -> None:
    """Have workers take items one after the other. After `until`, and after an error, no further one is begun."""
    waiting, lock, stopped = iter([*items]), threading.Lock(), threading.Event()

    def take(worker: Worker) -> None:
        while not stopped.is_set() and time.monotonic() < until:
            with lock:
                item = next(waiting, None)
            if item is None:
                return
            work(worker, item)

    with ThreadPoolExecutor(len(workers)) as pool:
        futures = [pool.submit(take, worker) for worker in workers]
        try:
            for future in futures:
                future.result()
        except BaseException:
            stopped.set()
            raise


def read_order(members: dict[str, Any]) -> Order:
    """An order from JSON."""
    edit = Edit(**members["edit"]) if members["edit"] else None
    return Order(members["tests"], edit, members["all"], members["seconds"])


def main() -> None:
    """Import what tests import, then answer orders until nobody asks any more."""
    os.chdir(ROOT)
    stdout = os.dup(1)
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    import treaty.assemble  # noqa: F401, PLC0415 - what most tests need, before any fork

    pytest.main([*OPTIONS, "--collect-only", *sys.argv[1:]])
    sys.stdout.flush()
    os.dup2(stdout, 1)
    for line in sys.stdin:
        print(json.dumps(asdict(forked(read_order(json.loads(line))))), flush=True)


if __name__ == "__main__":
    main()
