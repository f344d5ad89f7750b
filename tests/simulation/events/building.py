"""A new log in the making: tools write it, are stopped and begin again, and nodes are turned to it at some moment."""

import asyncio
import random
from collections.abc import Awaitable, Callable

from tests.simulation.history import History
from tests.simulation.members import Site
from treaty.core.state.commit import Append
from treaty.core.state.log_origin import explain_unfinished_restore
from treaty.core.state.tables import DictTables
from treaty.log.log import LogDamagedError, LogUnavailableError
from treaty.log.maintenance.restore import RestoreError

PATIENCE = 60
"""Times that somebody tries again what did not work."""


class Building:
    """A log that only tools know, until `turn`."""

    def __init__(
        self, site: Site, chance: random.Random, check: Callable[[DictTables], None], since: Callable[[], int]
    ) -> None:
        """Make an empty one; `check` is given its state when it says that it is whole.

        `since` tells, when nodes are turned to it, the moment of the other log's life up to which it holds everything.
        """
        self.store = site.make()
        self.store.landed = self._landed
        self.turned = False
        self.whole = False
        self._site = site
        self._check = check
        self._chance = chance
        self._since = since
        self._shadow = History()
        self._appends: list[Append] = []

    def _landed(self, append: Append) -> None:
        if not self.whole:
            self._shadow.take(append)
            if not explain_unfinished_restore(self._shadow.states[-1]):
                self.whole = True
                self._site.check(lambda: self._check(self._shadow.states[-1]))
        if self.turned:
            self._site.landed(append)
        else:
            self._appends.append(append)
            if self._chance.random() < 0.15:
                self._site.count["turned early"] += not self.whole
                self._turn()

    def _turn(self) -> None:
        """Start all nodes again, here; what came to the other log after the moment `since` is lost."""
        self.turned = True
        since = self._since()
        self._site.turn_to(self.store)
        self.store.landed = self._landed
        self._site.check(lambda: self._site.history.replace(self._appends, since))
        self._site.jobs.spawn(self._site.move_all())

    async def complete(self, once: Callable[[], Awaitable[None]]) -> None:
        """Have a tool do its work until it is done, stopped now and then; nodes are turned at some moment."""
        chance = self._chance
        for _ in range(PATIENCE):
            work = self._site.jobs.spawn(_tried(once))
            if chance.random() < 0.5:  # somebody stops it, or its machine dies
                await asyncio.wait([work], timeout=self._site.weather.latency * 6 * chance.expovariate(1.0))
                self._site.count["tools cut off"] += not work.done()
                work.cancel()
            await asyncio.wait([work])
            if not work.cancelled():
                work.result()
            if self.whole:
                break
            await asyncio.sleep(self._site.weather.latency * 100 * chance.expovariate(1.0))
        else:
            raise AssertionError("a tool never came to its end")
        if not self.turned:
            self._turn()


async def _tried(once: Callable[[], Awaitable[None]]) -> None:
    try:
        await once()
    except (RestoreError, LogUnavailableError, LogDamagedError):
        await asyncio.sleep(0)
