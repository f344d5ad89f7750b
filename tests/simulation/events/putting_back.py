"""A database that comes back at an older state: a fail-over without the last commits, a backup put in its place."""

import asyncio
import random

from tests.simulation.history import NOVEL
from tests.simulation.members import Site
from tests.simulation.runs.table import Sql
from treaty.core.state.log_origin import explain_unfinished_restore
from treaty.core.state.state_tables import LOG_ORIGIN, LogOriginKey
from treaty.core.state.tables import DictTables


async def put_back(site: Site, chance: random.Random) -> None:
    """Put the log back under nodes that live; what they read and told meanwhile is of a future that is lost."""
    store = site.store
    if not isinstance(store, Sql):
        return
    history = site.history
    states = {one: history.states[history.places[one]] for one in list(history.path)[-12:]}
    origin = history.states[-1].get(LOG_ORIGIN, LogOriginKey("origin"))
    whole = [
        one
        for one, state in states.items()
        if not explain_unfinished_restore(state)
        and not _spoilt(state)
        and state.get(LOG_ORIGIN, LogOriginKey("origin")) == origin
    ]
    if not whole:
        return
    place = chance.choice(whole)
    site.say("event", f"from {site.history.tip.sequence} to {place.sequence}")
    site.count["lost commits"] += site.history.tip.sequence - place.sequence
    store.disk.put_back(place, history.texts[history.places[place]])
    site.check(lambda: site.history.put_back(place))
    for member in site.members:  # some nodes die with their connections, and come back on state files of either time
        if chance.random() < 0.3:
            site.jobs.spawn(site.crash(member))
    await asyncio.sleep(0)


def _spoilt(state: DictTables) -> bool:
    """Whether rows would have to be repaired once more."""
    return any(table != NOVEL for table, _ in state.quarantine)
