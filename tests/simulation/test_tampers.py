"""For every law of rows a change of rows that breaks it, and the simulation must find it."""

import inspect

import pytest

from tests.simulation import scenario, tampers
from tests.simulation.history import History
from tests.simulation.scenario import run
from tests.simulation.workload import usual_weights
from treaty.core import invariants
from treaty.core.messages.associations import Associate

SEEDS = 150
"""In how many seeds a row must be found."""


@pytest.mark.parametrize("rule", sorted(tampers.TAMPERS))
def test_a_row_that_breaks_a_law_is_found(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tampers.PLACE, tampers.NAME, tampers.planted(rule))
    monkeypatch.setattr(scenario, "INSPECTED", 1.0)
    monkeypatch.setattr(History, "judged", False)  # the laws of rows have to find it alone
    if rule.startswith("ASSOCIATION"):
        monkeypatch.setattr(scenario, "usual_weights", lambda: usual_weights() | {Associate: 60.0})

    assert any(rule in str(run(seed, log="rows").broken) for seed in range(SEEDS))


def test_there_is_a_tamper_for_every_law_of_rows() -> None:
    text = inspect.getsource(invariants)
    told = {word for word in text.split('"') if word.isupper() and "_" in word} | {"UNREADABLE"}
    assert set(tampers.TAMPERS) == told
