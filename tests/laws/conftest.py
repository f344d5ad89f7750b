"""The bench on which the law is tried: with answers at hand, with answers that have to be asked for, and in a registry in
which others have been at work.
"""

from copy import deepcopy
from functools import cache

import pytest

from tests.laws.toy import Bench
from tests.worlds.histories import ELSEWHERE
from tests.worlds.world import World


@cache
def after_others() -> Bench:
    """A bench in whose registry others have been at work, in contexts of their own."""
    made = Bench()
    World(neighbours=ELSEWHERE).begin(made.do)
    made.begun = len(made.commits)
    return made


@pytest.fixture(params=["at-once", "after-needs", "after-others"])
def bench(request: pytest.FixtureRequest) -> Bench:
    return deepcopy(after_others()) if request.param == "after-others" else Bench(slow=request.param == "after-needs")
