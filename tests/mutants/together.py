"""Copies of the tree with several mutants planted together, and what fails there."""

import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.mutants.nearest import LIVES, QUICK, file_of, pytest_command
from tests.mutants.recording import CHOSEN, FAILED
from tests.mutants.sample import ROOT, SOURCES, Mutant
from tests.mutants.worker import CLOCK_SECONDS, Order, Worker
from tests.planted.planting import TargetMovedError, place_of

FEW_SECONDS = 20.0
"""Tests that take so long together are run by one process."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A test that failed. `place` is where, and the kind of error; `seconds` is what its last step took."""

    test: str
    place: str = ""
    seconds: float = 0.0

    @property
    def file(self) -> str:
        """The file of the test."""
        return file_of(self.test)

    @property
    def kind(self) -> tuple[str, str]:
        """What is alike in failures that mostly have one cause."""
        return self.file, self.place


def copy_tree(target: Path) -> None:
    """Copy what git has of the checkout, as it is now, and lend it the environment."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    (target / ".venv").symlink_to(ROOT / ".venv")


def plant(tree: Path, mutants: Iterable[Mutant]) -> list[Mutant]:
    """Write edits into a copy of the tree; returns those that met another one and are left out."""
    left: list[Mutant] = []
    for one in mutants:
        file = tree / "src" / "treaty" / one.file
        source = file.read_text()
        try:
            begin, end = place_of(source, one.function, one.old)
            changed = source[:begin] + one.new + source[end:]
            compile(changed, one.file, "exec", dont_inherit=True)
        except (TargetMovedError, SyntaxError):
            left.append(one)
            continue
        file.write_text(changed)
    return left


def everything_that_fails(tree: Path, workers: int, until: float) -> tuple[list[Failure], bool]:
    """What fails in a copy of the tree of `make quick` and the lives of `make test`, and whether all of it has run."""
    plugin = ("--tb=no", "--timeout=300", "--continue-on-collection-errors", "-n", str(workers))
    quick = run_in(tree, (*QUICK, *plugin), until)
    lives = run_in(tree, ("-m", "not soak", "--hypothesis-profile=share", *plugin, *LIVES), until)
    failures = {one.test: one for one in [*quick.failures, *lives.failures]}
    return [*failures.values()], quick.ended and lives.ended


def fail_again(tree: Path, failures: Sequence[Failure], workers: int, until: float) -> list[Failure] | None:
    """Those of some failures that come in a copy of the tree too; None where not all has run."""
    files = sorted({one.file for one in failures})
    processes = workers if sum(one.seconds for one in failures) > FEW_SECONDS else 0
    options = ("-m", "not jvm", "--hypothesis-profile=share", "--tb=no", "--timeout=300", "-n", str(processes))
    came = run_in(tree, (*options, "--continue-on-collection-errors", *files), until, [one.test for one in failures])
    again = {one.test for one in came.failures}
    return [one for one in failures if one.test in again] if came.ended else None


@dataclass(frozen=True, slots=True)
class TreeRun:
    """What came of a run of pytest in a copy of the tree."""

    failures: list[Failure]
    ended: bool
    """Whether it ran to its end."""


def run_in(tree: Path, options: Sequence[str], until: float, chosen: Sequence[str] = ()) -> TreeRun:
    """Run tests in a copy of the tree, with these options; only the `chosen` ones, if there are any."""
    failed, choice = tree / ".failed", tree / ".chosen"
    failed.unlink(missing_ok=True)
    paths = f"{tree / 'src'}{os.pathsep}{tree}"
    environment = {**os.environ, FAILED: str(failed), "PYTHONPATH": paths}
    if chosen:
        choice.write_text(json.dumps(chosen))
        environment[CHOSEN] = str(choice)
    command = pytest_command("-p", "tests.mutants.recording", *options)
    seconds, ended = max(0.0, until - time.monotonic()), False
    with suppress(subprocess.TimeoutExpired):
        code = subprocess.run(
            command, cwd=tree, env=environment, stdout=subprocess.DEVNULL, check=False, timeout=seconds
        ).returncode
        ended = code in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED}
    lines = failed.read_text().splitlines() if failed.exists() else []
    return TreeRun([Failure(**json.loads(line)) for line in lines], ended)


def find(worker: Worker, tests: Sequence[str], mutant: Mutant, until: float) -> str | None:
    """The first of some tests that fails with a mutant, `hang`, or nothing; None where the time was over before.

    Functions that were made when modules were loaded keep their code. Where the changed code did not run, a process of
    its own runs the tests in a copy of the tree.
    """
    came = worker.ask(Order(tests, mutant.edit, seconds=until - time.monotonic()))
    if came.failed or came.hung:
        return came.failed[0] if came.failed else "hang"
    if came.cut:
        return None
    return "" if came.ran else find_cold(tests, mutant, until)


def find_cold(tests: Sequence[str], mutant: Mutant, until: float) -> str | None:
    """As `find`, by a process of its own in a copy of the tree."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        copy_tree(tree)
        if plant(tree, [mutant]):
            return ""
        limit = min(until, time.monotonic() + CLOCK_SECONDS)
        came = run_in(tree, ("-x", "--tb=no", "--hypothesis-profile=quick", *tests), limit)
    if came.failures:
        return came.failures[0].test
    return None if time.monotonic() >= until else ""


def breaks_imports(mutant: Mutant) -> bool:
    """Whether Treaty can't be imported with a mutant that no test runs: it may run when modules are loaded."""
    program = (
        "import importlib, pkgutil, treaty\n"
        "for one in pkgutil.walk_packages(treaty.__path__, 'treaty.'):\n"
        "    if not one.name.endswith('__main__'):\n"
        "        importlib.import_module(one.name)\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        shutil.copytree(SOURCES, tree / "src" / "treaty")
        if plant(tree, [mutant]):
            return False
        environment = {**os.environ, "PYTHONPATH": str(tree / "src")}
        command = [str(ROOT / ".venv" / "bin" / "python"), "-c", program]
        return subprocess.run(command, env=environment, capture_output=True, check=False).returncode != 0
