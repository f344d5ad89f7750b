"""Runs tests with a bug planted, each bug in a process of its own that is forked from one where everything is imported.

`python -m tests.planted.forge` reads bugs as JSON, one a line, and writes one line of JSON for each.
"""

import atexit
import inspect
import json
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings

import treaty.assemble  # noqa: F401 - what most tests need is imported once, before any fork
from tests.planted.bug import Bug, ByTests, Edit
from tests.planted.planting import TargetMovedError, planted
from tests.planted.table import BUGS

ROOT = Path(__file__).parents[2]
OPTIONS = (
    "-q",
    "--assert=plain",
    "--no-header",
    "--tb=short",
    "--timeout=300",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:randomly",
    "-W",
    "ignore:Generating overly large repr",  # an example that is not made small may be long
)
ONCE = [Phase.explicit, Phase.reuse, Phase.generate]
"""An example that breaks a law is enough here: nobody reads the smallest one."""


@dataclass
class Failure:
    """How a test failed: in which phase, by which error, in which file."""

    phase: str
    kind: str
    message: str
    file: str


@dataclass
class Found:
    """What came of the tests of one bug."""

    passed: list[str] = field(default_factory=list)
    failed: dict[str, Failure] = field(default_factory=dict)
    ran: bool = False
    """Whether all of the planted code ran."""
    seconds: float = 0.0
    moved: str = ""
    """What `TargetMovedError` says, if the bug could not be planted."""
    output: str = ""
    """The end of what pytest printed."""

    @staticmethod
    def read(line: str) -> "Found":
        """From a line of JSON."""
        members = json.loads(line)
        members["failed"] = {name: Failure(**one) for name, one in members["failed"].items()}
        return Found(**members)


class Recorder:
    """A plugin that keeps what became of each test, and lets hypothesis stop at its first example."""

    def __init__(self) -> None:
        self.found = Found()

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        for item in items:
            test = getattr(item, "obj", None)
            test = getattr(test, "__func__", test)
            if test is not None and hasattr(test, "hypothesis"):
                mine = getattr(test, "_hypothesis_internal_use_settings", None)
                test._hypothesis_internal_use_settings = settings(mine, phases=ONCE, report_multiple_bugs=False)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
        yield
        if call.excinfo is not None:
            crash = call.excinfo._getreprcrash()
            message = str(call.excinfo.value)
            where = "" if crash is None else os.path.relpath(crash.path, ROOT)
            self.found.failed[item.nodeid] = Failure(call.when, call.excinfo.type.__name__, message[:500], where)
        elif call.when == "call":
            self.found.passed.append(item.nodeid)


def run(bug: Bug) -> Found:
    """Plant a bug here, for good, and run its tests."""
    assert isinstance(bug.finder, ByTests)
    recorder, begun = Recorder(), time.process_time()
    try:
        with planted(bug) as ran:
            pytest.main([*OPTIONS, *bug.finder.tests], plugins=[recorder])
            recorder.found.ran = len(ran) == len(bug.changes)
    except TargetMovedError as moved:
        recorder.found.moved = str(moved)
    recorder.found.seconds = round(time.process_time() - begun, 2)
    return recorder.found


def forked(bug: Bug) -> Found:
    """`run` in a child, whose output goes to a file."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as answer:
        child = os.fork()
        if child == 0:
            atexit._clear()  # what this process would do at its end is not the child's work
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
            try:
                answer.write(json.dumps(asdict(run(bug))).encode())
                answer.flush()
            except BaseException:  # noqa: BLE001 - whatever it is, the one who asked prints it
                traceback.print_exc()
            atexit._run_exitfuncs()  # servers that tests share end here
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)
        os.waitpid(child, 0)
        for one in (output, answer):
            one.seek(0)
        text, told = output.read().decode(errors="replace"), answer.read().decode()
    found = Found.read(told) if told else Found()
    found.output = text[-4_000:]
    return found


def written(bug: Bug) -> str:
    """A bug as a line of JSON; its changes have to be edits."""
    assert isinstance(bug.finder, ByTests)
    assert all(isinstance(one, Edit) for one in bug.changes), f"{bug.name}: only edits can be sent to another process"
    return json.dumps(asdict(replace(bug, also=None)))


def read_bug(line: str) -> Bug:
    """A bug from a line of JSON."""
    members = json.loads(line)
    changes = tuple(Edit(**one) for one in members["changes"])
    finder = ByTests(tuple(members["finder"]["tests"]), members["finder"]["error"])
    return Bug(members["name"], members["does"], changes, finder)


def warm_up() -> None:
    """Have pytest collect the tests of all bugs, and show a failure: its plugins, the tests and what they import are loaded
    here once, and not in each child.
    """
    tests = {one.partition("::")[0] for bug in BUGS if isinstance(bug.finder, ByTests) for one in bug.finder.tests}
    stdout = os.dup(1)
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    try:
        pytest.main([*OPTIONS, "--collect-only", *sorted(tests)])
        inspect.getmodule(warm_up.__code__)  # finds the source of every module; a traceback needs that
    finally:
        sys.stdout.flush()
        os.dup2(stdout, 1)
        os.close(stdout)


def main() -> None:
    """Answer bugs until nobody asks any more."""
    os.chdir(ROOT)
    warm_up()
    for line in sys.stdin:
        print(json.dumps(asdict(forked(read_bug(line)))), flush=True)


if __name__ == "__main__":
    main()
