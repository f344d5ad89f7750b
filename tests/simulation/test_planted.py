"""For every law a bug is planted, and the simulation must find it: a check that finds nothing proves nothing."""

import importlib
from pathlib import Path
from types import ModuleType

import pytest

from tests.simulation.scenario import run

SEEDS = 60
"""In how many seeds a planted bug must be found."""

PLANTED = sorted(file.stem for file in (Path(__file__).parent / "planted").glob("*.py"))


def load(name: str) -> ModuleType:
    return importlib.import_module(f"tests.simulation.planted.{name}")


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_bug_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bug = load(name)
    with monkeypatch.context() as patch:
        patch.setattr(bug.PLACE, bug.NAME, bug.planted)
        broken = next((came.broken for came in map(run, range(SEEDS)) if came.broken is not None), None)

    assert broken is not None, f"{bug.__doc__} was not found in {SEEDS} seeds"
    assert broken.law in bug.LAWS, broken


def test_there_is_a_planted_bug_for_every_law() -> None:
    assert {law for name in PLANTED for law in load(name).LAWS} >= {"1", "2", "3", "4", "5", "6"}
