"""The six laws over random lives of three nodes on a Kafka log that one of them owns, and bugs that must be found."""

import importlib
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from tests.simulation.runs.lives import first_broken, live
from tests.simulation.scenario import run

SEEDS = 150
QUICK = 10
"""The first seeds, which `make quick` runs too."""
BLOCK = 14
"""Seeds in one test, so that the work can be shared."""
WITHIN = 120
"""In how many seeds a planted bug must be found."""
WANTED = ("unknown", "crashes", "reloads", "handed")

PLANTED = sorted(file.stem for file in (Path(__file__).parent / "planted").glob("*.py"))


def load(name: str) -> ModuleType:
    return importlib.import_module(f"tests.simulation.kafka.owner.planted.{name}")


def test_the_laws_hold_in_the_first_lives(figure: Callable[[str], None]) -> None:
    live(range(QUICK), figure, log="owner", wanted=WANTED)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(QUICK, SEEDS, BLOCK))
def test_the_laws_hold(first: int, figure: Callable[[str], None]) -> None:
    live(range(first, first + BLOCK), figure, log="owner", wanted=WANTED)


@pytest.mark.soak
def test_the_laws_hold_for_long(lives: range, figure: Callable[[str], None]) -> None:
    live(lives, figure, log="owner", wanted=WANTED)


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_bug_is_found(name: str, figure: Callable[[str], None]) -> None:
    bug, begun = load(name), time.process_time()
    broken = first_broken(bug, range(WITHIN), log="owner")

    assert broken is not None, f"{bug.__doc__} was not found in {WITHIN} seeds"
    assert broken.law in bug.LAWS, broken
    figure(f"found by simulation owner in {time.process_time() - begun:.1f} s, law {broken.law}")


@pytest.mark.parametrize("seed", [700107, 11001822])
def test_lives_that_have_found_something_go_well(seed: int) -> None:
    """700107: a command that had been with another node was answered from a state file of another log, before any look."""
    assert run(seed, log="owner").broken is None
