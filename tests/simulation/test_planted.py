"""For every law a bug is planted, and the simulation must find it: a check that finds nothing proves nothing."""

import importlib
from pathlib import Path
from types import ModuleType

import pytest

from tests.simulation.runs.lives import first_broken

SEEDS = 60
"""In how many seeds a planted bug must be found."""

PLANTED = sorted(file.stem for file in (Path(__file__).parent / "planted").glob("*.py"))


def load(name: str) -> ModuleType:
    return importlib.import_module(f"tests.simulation.planted.{name}")


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_bug_is_found(name: str) -> None:
    bug = load(name)
    broken = first_broken(bug, range(SEEDS))

    assert broken is not None, f"{bug.__doc__} was not found in {SEEDS} seeds"
    assert broken.law in bug.LAWS, broken


def test_there_is_a_planted_bug_for_every_law() -> None:
    assert {law for name in PLANTED for law in load(name).LAWS} >= {"1", "2", "3", "4", "5", "6"}
