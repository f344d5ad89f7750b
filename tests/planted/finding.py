"""Finding: a bug is planted and its finder runs; what it found has to be the bug, and not another trouble."""

import os
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Self

import pytest

from tests.planted.bug import Bug, ByLives, ByTests
from tests.planted.forge import Found, written
from tests.planted.planting import TargetMovedError, planted
from tests.simulation.events import table
from tests.simulation.judging.broken import Broken
from tests.simulation.scenario import run

ROOT = Path(__file__).parents[2]
OWN = {"AssertionError", "Failed"}
"""Errors by which a test itself says that something is wrong."""


class Forge:
    """The process that runs tests with bugs planted; it begins with the first one."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._storage = tempfile.TemporaryDirectory()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            with self._process:
                assert self._process.stdin is not None
                self._process.stdin.close()
        self._storage.cleanup()

    def ask(self, bug: Bug) -> Found:
        """Have the tests of one bug run with it."""
        if self._process is None:
            environment = {**os.environ, "HYPOTHESIS_STORAGE_DIRECTORY": self._storage.name}
            command = [sys.executable, "-m", "tests.planted.forge"]
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=ROOT, env=environment)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(written(bug), file=self._process.stdin, flush=True)
        return Found.read(self._process.stdout.readline())


def found_by_tests(bug: Bug, forge: Forge) -> float:
    """Each named test fails with the bug, by an assertion of its own. Returns the seconds of processor time."""
    assert isinstance(bug.finder, ByTests)
    found = forge.ask(bug)
    if found.moved:
        raise TargetMovedError(found.moved)
    told = f"{bug.name}: {bug.does}\n{found.output}"
    assert found.failed or found.passed, f"no test ran\n{told}"
    assert found.ran, f"the planted code did not run\n{told}"
    assert not found.passed, f"these tests do not find it: {found.passed}\n{told}"
    for test, failure in found.failed.items():
        assert failure.phase == "call", f"{test} failed in {failure.phase}, before it could look\n{told}"
        reason = f"{failure.kind}: {failure.message}"
        if bug.finder.error:
            assert reason.startswith(bug.finder.error), f"{test} failed by another reason: {reason}\n{told}"
        else:
            own = failure.kind in OWN and failure.file.startswith("tests/")
            assert own, f"{test} failed by no assertion of its own: {reason} in {failure.file}\n{told}"
    return found.seconds


def found_by_lives(bug: Bug, finder: ByLives) -> tuple[float, int]:
    """A law breaks in one of the lives, and in none without the bug. Returns the seconds of processor time, and the seed."""
    begun = time.process_time()
    seed, broken, ran = _first_find(bug, finder)
    seconds = round(time.process_time() - begun, 2)
    assert broken.law in finder.laws, f"{bug.name}: seed {seed} broke another law: {broken}"
    assert ran == len(bug.changes), f"{bug.name}: the planted code did not run in seed {seed}"
    good = broken_without_bugs(seed, finder.log, finder.events)
    assert not good, f"{bug.name}: seed {seed} is broken without the bug too: {good}"
    return seconds, seed


def _first_find(bug: Bug, finder: ByLives) -> tuple[int, Broken, int]:
    """The seed of the first life that breaks a law with the bug, what it broke, and how many of the changes ran in it."""
    with pytest.MonkeyPatch.context() as patch, planted(bug) as ran:
        patch.setattr(table, "ALWAYS", finder.events)
        for seed in finder.seeds:
            ran.clear()
            broken = run(seed, log=finder.log).broken
            if broken is not None:
                return seed, broken, len(ran)
    raise AssertionError(f"{bug.name}: {bug.does}: not found in {len(finder.seeds)} lives")


@cache
def broken_without_bugs(seed: int, log: str, events: frozenset[str]) -> str:
    """What is wrong with a life of the good code, in which these events happen; nothing, as a rule. Bugs share seeds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table, "ALWAYS", events)
        return str(run(seed, log=log).broken or "")
