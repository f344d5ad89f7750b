"""What a node does in each scenario, and what it knows meanwhile, is what was recorded; `python -m tests.traces` remakes the record."""

import pytest

from tests.record_files import compare, find_stray
from tests.traces.recorded import FOLDER, REMAKE, file_of
from tests.traces.scene import play
from tests.traces.scenes.everything import SCENARIOS


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_a_node_does_what_was_recorded(name: str) -> None:
    compare(file_of(name), play(SCENARIOS[name]), f"{REMAKE} {name}")


def test_every_record_has_a_scenario() -> None:
    assert find_stray(FOLDER, map(file_of, SCENARIOS)) == []
