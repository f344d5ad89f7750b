"""What some lives begin with: the histories of an irregular registry, in the subjects that all clients use."""

import random
from typing import TYPE_CHECKING

from tests.simulation.asker import SUBJECTS
from tests.worlds.drafts import records, toys
from tests.worlds.histories import FORMER, NEIGHBOURS
from tests.worlds.world import World
from treaty.core.registry import CallOptions

if TYPE_CHECKING:
    from tests.simulation.scenario import Scenario

BEGUN = 0.3
"""In how many lives something has happened before clients ask."""
HISTORIES = 4
"""How many histories of neighbours happen at most."""


async def begin(life: "Scenario") -> None:
    """Ask for histories one after the other, at a node each; some are refused, and some of their requests are lost."""
    dice = random.Random(f"world/{life.seed}")
    if dice.random() >= BEGUN:
        return
    names = tuple(dice.sample([*NEIGHBOURS], dice.randint(1, HISTORIES)))
    world = World(life.seed, names, dice.choice([*FORMER]), place=SUBJECTS[2], pool=SUBJECTS[:3])
    life.counts["worlds begun"] += 1
    for request in world.requests(dice.choice(SUBJECTS[:3]), dice.choice([toys, records])):
        call = CallOptions(command_id=life.new_id(), timeout=life.timeout)
        await life.ask(dice.choice(life.members), request, call)
