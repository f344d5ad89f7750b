"""For every law of rows a change of rows that breaks it, and the simulation must find it."""

import inspect

import pytest

from tests.laws.test_indexes import place
from tests.simulation import scenario, tampers
from tests.simulation.history import History
from tests.simulation.races.nodes import SmallLog, run_alone
from tests.simulation.races.test_races import replay
from tests.simulation.races.test_runner_races import BEGIN
from tests.simulation.scenario import run
from tests.simulation.workload import usual_weights
from treaty.core import invariants
from treaty.core.invariants import find_violations
from treaty.core.messages.associations import Associate
from treaty.core.state.rows import decode_row, encode_row
from treaty.core.state.tables import DictTables

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
    assert {*tampers.TAMPERS, *tampers.OF_QUERIES} == told


@pytest.mark.parametrize("rule", sorted(tampers.OF_QUERIES))
def test_a_row_of_a_query_or_a_runner_that_breaks_a_law_is_found(rule: str) -> None:
    log, tables = SmallLog(), DictTables()
    for request in BEGIN:
        run_alone(log, request(log.past))
    changed = (tampers.OF_QUERIES[rule](decode_row(row)) for row in replay(log).rows())
    tables.load([encode_row(row) for row in changed if row is not None], place(1))

    assert rule in {violation.rule for violation in find_violations(tables)}
