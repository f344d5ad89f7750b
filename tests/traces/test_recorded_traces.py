"""What a node does in each scenario, and what it knows meanwhile, is what was recorded; `python -m tests.traces` remakes the record."""

import pytest

from tests.traces.recorded import FOLDER, compare
from tests.traces.scene import play
from tests.traces.scenes.everything import SCENARIOS


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_a_node_does_what_was_recorded(name: str) -> None:
    compare(name, play(SCENARIOS[name]))


def test_every_record_has_a_scenario() -> None:
    assert {file.stem for file in FOLDER.glob("*.txt")} == SCENARIOS.keys()
