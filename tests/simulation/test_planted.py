"""For every law a bug is planted, and the simulation must find it: a check that finds nothing proves nothing."""

import importlib
import inspect
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from tests.simulation import scenario
from tests.simulation.history import History
from tests.simulation.planted.rows import tampers
from tests.simulation.runs.lives import first_broken
from tests.simulation.scenario import run
from tests.simulation.workload import usual_weights
from treaty.core import invariants
from treaty.core.messages.associations import Associate

SEEDS = 150
"""In how many seeds a planted bug must be found."""
HERE = Path(__file__).parent / "planted"
PLANTED = sorted(file.stem for file in HERE.glob("*.py"))
CARE = sorted(f"care.{file.stem}" for file in (HERE / "care").glob("*.py"))


def load(name: str) -> ModuleType:
    return importlib.import_module(f"tests.simulation.planted.{name}")


@pytest.mark.parametrize("name", [*PLANTED, *CARE])
def test_a_planted_bug_is_found(name: str, figure: Callable[[str], None]) -> None:
    bug, begun = load(name), time.process_time()
    broken = first_broken(bug, range(SEEDS))

    assert broken is not None, f"{bug.__doc__} was not found in {SEEDS} seeds"
    assert broken.law in bug.LAWS, broken
    figure(f"found by simulation in {time.process_time() - begun:.1f} s, law {broken.law}")


@pytest.mark.parametrize("rule", sorted(tampers.TAMPERS))
def test_a_row_that_breaks_a_law_is_found(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tampers.PLACE, tampers.NAME, tampers.planted(rule))
    monkeypatch.setattr(scenario, "INSPECTED", 1.0)
    monkeypatch.setattr(History, "judged", False)  # the laws of rows have to find it alone
    if rule.startswith("ASSOCIATION"):
        monkeypatch.setattr(scenario, "usual_weights", lambda: usual_weights() | {Associate: 60.0})

    assert any(rule in str(run(seed, log="rows").broken) for seed in range(SEEDS))


def test_there_is_a_planted_bug_for_every_law() -> None:
    assert {law for name in PLANTED for law in load(name).LAWS} >= {"1", "2", "3", "4", "5", "6", "root"}


def test_there_is_a_tamper_for_every_law_of_rows() -> None:
    text = inspect.getsource(invariants)
    told = {word for word in text.split('"') if word.isupper() and "_" in word} | {"UNREADABLE"}
    assert set(tampers.TAMPERS) == told
