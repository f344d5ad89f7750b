"""`writers=any` on the model of a partition: the laws hold over random lives."""

from collections.abc import Callable

import pytest

from tests.simulation.runs.lives import live
from tests.simulation.scenario import run

SEEDS = 150
QUICK = 10
"""The first seeds, which `make quick` runs too."""
BLOCK = 14
"""Seeds in one test, so that the work can be shared."""
WANTED = ("conflicts", "unknown", "crashes", "folds")


def test_the_laws_hold_in_the_first_lives(figure: Callable[[str], None]) -> None:
    live(range(QUICK), figure, log="any", wanted=WANTED)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(QUICK, SEEDS, BLOCK))
def test_the_laws_hold(first: int, figure: Callable[[str], None]) -> None:
    live(range(first, first + BLOCK), figure, log="any", wanted=WANTED)


@pytest.mark.soak
def test_the_laws_hold_for_long(lives: range, figure: Callable[[str], None]) -> None:
    live(lives, figure, log="any", wanted=WANTED)


@pytest.mark.parametrize("seed", [9001758, 9001811, 9001838, 11001521])
def test_lives_that_have_found_something_go_well(seed: int) -> None:
    """90*: a node that could not read for some time took a stale look at an empty log for a log begun anew, and refused a good token. 11001521: a migration was cut off again and again, and its dead tools went on to make snapshots, so that it never came to its end."""
    assert run(seed, log="any").broken is None
