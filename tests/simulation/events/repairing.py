"""Rows that nobody can read, and their repair while nodes are there."""

import asyncio
import random

from tests.simulation.events.building import PATIENCE
from tests.simulation.members import EPOCH, Site
from treaty.core.state.commit import Append, Commit, Position, make_append
from treaty.core.state.rows import EncodedRow, Row, encode_row
from treaty.core.state.state_tables import CONFIG
from treaty.log.log import LogDamagedError, LogUnavailableError
from treaty.log.maintenance.repair import quarantine_rows
from treaty.log.maintenance.restore import RestoreError


async def damage_and_repair(site: Site, chance: random.Random) -> None:
    """Have a row appear that is no row: all nodes stop writing, and go on after its repair."""
    live = [("config", key) for key in sorted(site.history.states[-1].keys(CONFIG), key=str)]
    table, key = chance.choice([*live, ("mode", ("subject", ".", "garbage"))])
    place = encode_row(Row(table, key, None))

    def garbage(base: Position) -> Append:
        row = EncodedRow(table, place.key, '{"v":1,')
        commit = Commit(base.sequence + 1, (row,))
        return make_append(base, chance.randbytes(16), (commit,), site.history.roots_with((row,)))

    site.history.garbage.add((table, place.key))
    if not await site.store.intrude(garbage):
        return
    await asyncio.sleep(site.weather.latency * 50 * chance.expovariate(1.0))
    for _ in range(PATIENCE):
        try:
            with site.tool("repair") as log:
                gone, _ = await quarantine_rows(log, time=EPOCH)
        except (RestoreError, LogUnavailableError, LogDamagedError):
            await asyncio.sleep(site.weather.latency)
            continue
        if not gone:
            return
        site.count["rows moved aside"] += len(gone)
    raise AssertionError("a repair never came to its end")
