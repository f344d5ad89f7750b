"""The weather of one run."""

import random

from tests.simulation.model import LONGEST, Weather


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
