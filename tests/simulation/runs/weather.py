"""The weather of one run, and whether old leaders of its log answer."""

import random

from tests.simulation.model import LONGEST, Weather

OLD_LEADERS = (0.0, 0.0, 0.0, 0.02, 0.1)
"""How often a node comes to talk to an old leader; never in most lives, in which every look is judged."""


def old_leaders(seed: int, log: str) -> float:
    """How often a node comes to talk to an old leader in one run; in other logs none of them answers."""
    return random.Random(f"leaders/{seed}").choice(OLD_LEADERS) if log == "any" else 0.0


def weather(chance: random.Random, *, loses: bool) -> Weather:
    """How bad things are in one run; `loses` tells whether answers to appends can be lost at all."""
    return Weather(
        latency=chance.choice([0.001, 0.004, 0.02]),
        unknown=chance.choice([0.08, 0.15, 0.3]) if loses else 0.0,
        unavailable=chance.choice([0, 0.01, 0.05]),
        twice=chance.choice([0, 0.1, 0.3]),
        crash=chance.choice([0.002, 0.005, 0.01]),
        hint_lost=chance.choice([0, 0.1, 0.5]),
        stall=chance.choice([0, 0, 0.01]),
        longest=LONGEST,
    )
