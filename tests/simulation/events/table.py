"""What may happen in a life beside the weather: chances, and who makes it happen. One of them at a time."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from tests.simulation.events import (
    flipping,
    freeing_ids,
    levels,
    moving,
    putting_back,
    putting_subjects,
    repairing,
    restoring,
    troubles,
)
from tests.simulation.judging.broken import Broken
from tests.simulation.kafka import harming
from tests.simulation.members import Site

Event = Callable[[Site, random.Random], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of event: in how many of the lives, how often in such a life, and whether only SQL, or only Kafka, knows it."""

    lives: float
    times: int
    happen: Event
    sql: bool = False
    kafka: bool = False


EVENTS: Mapping[str, Kind] = {
    "put back": Kind(0.12, 2, putting_back.put_back, sql=True),
    "restored": Kind(0.12, 1, restoring.restore_dump),
    "moved": Kind(0.12, 1, moving.move),
    "levels": Kind(0.15, 1, levels.upgrade),
    "repaired": Kind(0.12, 2, repairing.damage_and_repair),
    "subjects put": Kind(0.3, 2, putting_subjects.put_subject),
    "ids freed": Kind(0.12, 1, freeing_ids.hold_up_and_free),
    "compacted": Kind(0.3, 3, troubles.compact),
    "full": Kind(0.12, 2, troubles.fill),
    "damaged": Kind(0.06, 1, troubles.damage),
    "flipped": Kind(0.12, 2, flipping.flip, sql=True),
    "harmed": Kind(0.15, 2, harming.harm, kafka=True),
}


ALWAYS: frozenset[str] = frozenset()
"""Events that every life has, whatever its chances; for tests that are about one of them."""


class Plot:
    """The events of one life."""

    def __init__(self, site: Site, chance: random.Random, pause: float) -> None:
        self._site = site
        self._chance = chance
        self._pause = pause
        self._turn = asyncio.Lock()
        self.kinds = [name for name, one in EVENTS.items() if chance.random() < one.lives or name in ALWAYS]

    async def play(self, *, sql: bool) -> None:
        """Have them happen, one after the other; what has begun is brought to its end."""
        known = [name for name in self.kinds if not (EVENTS[name].kafka if sql else EVENTS[name].sql)]
        names = [name for name in known for _ in range(EVENTS[name].times)]
        self._chance.shuffle(names)
        for name in names:
            await asyncio.sleep(self._pause * self._chance.expovariate(1.0))
            self._site.count[name] += 1
            self._site.say("event", name)
            await asyncio.shield(self._site.jobs.spawn(self._once(name)))

    async def _once(self, name: str) -> None:
        async with self._turn:
            try:
                await EVENTS[name].happen(self._site, self._chance)
            except Exception as error:  # noqa: BLE001 - a tool that fails is what the run is for
                self._site.fail(Broken("log", f"{name}: {error!r}"))
