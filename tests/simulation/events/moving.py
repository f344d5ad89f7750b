"""A log is moved while nodes write: the old one is sealed, the new one takes over, and nothing acknowledged is missing."""

import random

from tests.simulation.events.building import Building
from tests.simulation.events.restoring import check_restored
from tests.simulation.judging.broken import Broken
from tests.simulation.members import EPOCH, Site
from treaty.core.state.commit import START
from treaty.core.state.log_origin import explain_sealed_log
from treaty.core.state.tables import DictTables
from treaty.log.maintenance.migration import migrate_log


async def move(site: Site, chance: random.Random) -> None:
    """Move everything to a new log; the old one is read until the nodes are turned, and written no more."""
    if site.history.tip == START:
        return
    source, left = site.store, list[DictTables]()

    def check(state: DictTables) -> None:
        old = left[0] if left else site.history.states[-1]
        if not explain_sealed_log(old):
            raise Broken("log", "a log was moved, and the old one has no seal")
        check_restored(old, state, gap=0)

    def leave() -> int:
        left.append(site.history.states[-1])
        return site.history.now

    async def once() -> None:
        with site.tool("source", source) as old, site.tool("target", building.store) as new:
            await migrate_log(old, new, time=EPOCH)

    building = Building(site, chance, check, leave)
    await building.complete(once)
