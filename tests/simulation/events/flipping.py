"""Rows that somebody changes past the log, by hand or by a fault: in its store, and in state files."""

import asyncio
import random
from dataclasses import replace

from tests.simulation.judging.broken import Broken
from tests.simulation.members import Site
from tests.simulation.runs.table import Sql
from treaty.core.commit import Append, Commit, Position, make_append
from treaty.core.rows import UNROOTED, Encoded
from treaty.node.follower import WRONG_SECONDS

FILES = 0.7
"""How many state files have a changed row meanwhile."""
REMEDY = "--accept-state"


async def flip(site: Site, chance: random.Random) -> None:
    """Change rows of the store under nodes that live, start and follow, and put them back after a while.

    Nobody may take them (the judge sees all tables and all answers), and who has met one says so.
    """
    store = site.store
    if not isinstance(store, Sql):
        return
    rows = store.disk.rows
    live = [place for place, (_, row) in rows.items() if row.value is not None and row.table not in UNROOTED]
    kept, changed = {}, {}
    for place in chance.sample(sorted(live), min(len(live), chance.choice([1, 1, 3]))):
        kept[place] = rows[place]
        changed[place] = rows[place] = rows[place][0], altered(rows[place][1], chance)
    site.count["flipped rows"] += len(kept)
    site.flips, site.changed_files = site.flips + 1, FILES
    for _ in range(chance.randint(1, 4)):
        await asyncio.sleep(site.weather.latency * 40 * chance.expovariate(1.0))
        await site.crash(chance.choice(site.members))
        _check(site)
    site.changed_files = 0.0
    for place, one in kept.items():
        if rows.get(place) is changed[place]:  # else it was written since
            rows[place] = one
    if chance.random() < 0.5:
        await asyncio.sleep(WRONG_SECONDS)
    else:
        await store.intrude(lambda base: _empty(base, chance))


def altered(row: Encoded, chance: random.Random) -> Encoded:
    """The same row with another value: a bit of its text is flipped, or it is what nobody can read."""
    assert row.value is not None
    if chance.random() < 0.2:
        return replace(row, value="\x00")
    at = chance.randrange(len(row.value))
    return replace(row, value=f"{row.value[:at]}{chr(ord(row.value[at]) ^ 1)}{row.value[at + 1 :]}")


def _empty(base: Position, chance: random.Random) -> Append:
    return make_append(base, chance.randbytes(16), (Commit(base.sequence + 1, ()),), None)


def _check(site: Site) -> None:
    """Who has met changed rows writes nothing, and says both roots and the remedy."""
    for member in site.members:
        if member.node is None or member.node.follower.wrong is None:
            continue
        site.count["nodes that met a flipped row"] += 1
        status = member.node.status()
        if not (status.root_stated != status.root_found != "" and REMEDY in status.read_only and status.root_stated):
            site.fail(Broken("root", f"{member.name} has met changed rows and does not say so: {status}"))
