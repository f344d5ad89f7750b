"""A bench in whose registry others have been at work, in contexts of their own: what an irregular world leaves."""

from copy import deepcopy
from functools import cache

from tests.laws.toy import Bench
from tests.worlds.histories import ELSEWHERE
from tests.worlds.world import World


@cache
def _after_others() -> Bench:
    bench = Bench()
    World(neighbours=ELSEWHERE).begin(bench.do)
    bench.begun = len(bench.commits)
    return bench


def begun() -> Bench:
    """A bench of one's own in such a registry; `Bench.begun` is how many commits there were."""
    return deepcopy(_after_others())
