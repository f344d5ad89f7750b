"""An id far above the rest uses up all ids between, and a repair frees them again."""

import asyncio
import random

from tests.simulation.events.building import PATIENCE
from tests.simulation.members import EPOCH, Site
from treaty.core.state import values
from treaty.core.state.commit import Append, Commit, Position, make_append
from treaty.core.state.rows import EncodedRow, Row, encode_row
from treaty.core.state.state_tables import COUNTER
from treaty.log.log import LogDamagedError, LogUnavailableError
from treaty.log.maintenance.repair import lower_id_counters
from treaty.log.maintenance.restore import RestoreError

FAR = 1_000_000_000


async def hold_up_and_free(site: Site, chance: random.Random) -> None:
    """Have a counter of ids held up by ids that nobody meant, and lower it again while nodes are there."""

    def far(base: Position) -> Append:
        state, rows = site.history.states[-1], list[EncodedRow]()
        keys = sorted(key for key in state.keys(COUNTER) if key[0] == "ids" and key[1])
        if keys:
            key = chance.choice(keys)
            counter = state.get(COUNTER, key)
            if isinstance(counter, values.Counter) and not counter.reserved:
                rows.append(encode_row(Row("counter", key, values.Counter(counter.highest + FAR))))
        site.history.by_hand.update((row.table, row.key, row.value) for row in rows)
        site.count["counters held up"] += bool(rows)
        commit = Commit(base.sequence + 1, tuple(rows))
        return make_append(base, chance.randbytes(16), (commit,), site.history.roots_with(rows))

    if not await site.store.intrude(far):
        return
    await asyncio.sleep(site.weather.latency * 100 * chance.expovariate(1.0))
    for _ in range(PATIENCE):
        try:
            with site.tool("repair") as log:
                found, _ = await lower_id_counters(log, time=EPOCH)
        except (RestoreError, LogUnavailableError, LogDamagedError):
            await asyncio.sleep(site.weather.latency)
            continue
        if not found:
            return
        site.count["counters lowered"] += len(found)
    raise AssertionError("a repair never came to its end")
