"""The six laws over random lives of three nodes on a Kafka log that one of them owns."""

from collections.abc import Callable

import pytest

from tests.simulation.runs.lives import live
from tests.simulation.scenario import run

SEEDS = 150
QUICK = 10
"""The first seeds, which `make quick` runs too."""
BLOCK = 14
"""Seeds in one test, so that the work can be shared."""
WANTED = ("unknown", "crashes", "reloads", "handed")


def test_the_laws_hold_in_the_first_lives(figure: Callable[[str], None]) -> None:
    live(range(QUICK), figure, log="owner", wanted=WANTED)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(QUICK, SEEDS, BLOCK))
def test_the_laws_hold(first: int, figure: Callable[[str], None]) -> None:
    live(range(first, first + BLOCK), figure, log="owner", wanted=WANTED)


@pytest.mark.soak
def test_the_laws_hold_for_long(lives: range, figure: Callable[[str], None]) -> None:
    live(lives, figure, log="owner", wanted=WANTED)


@pytest.mark.parametrize("seed", [700107, 11001822])
def test_lives_that_have_found_something_go_well(seed: int) -> None:
    """700107: a command that had been with another node was answered from a state file of another log, before any look."""
    assert run(seed, log="owner").broken is None
