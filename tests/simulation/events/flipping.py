"""Rows that somebody changes past the log, by hand or by a fault: in its store, and in state files."""

import asyncio
import random
from collections.abc import Mapping
from dataclasses import replace

from tests.simulation.events.building import PATIENCE
from tests.simulation.judging.broken import Broken
from tests.simulation.judging.roots import Place
from tests.simulation.members import EPOCH, Site
from tests.simulation.runs.table import Sql
from treaty.core.policy import LEVELS
from treaty.core.state.commit import Append, Commit, Position, make_append
from treaty.core.state.rows import EncodedRow, UnreadableValue, decode_row, encode_row
from treaty.core.state.state_tables import UNROOTED
from treaty.core.state.values import ConfigValue, Mode
from treaty.log.log import Log, LogDamagedError, LogUnavailableError
from treaty.log.maintenance.repair import accept_state, quarantine_rows
from treaty.log.maintenance.restore import RestoreError
from treaty.node.follower import WRONG_SECONDS

FILES = 0.7
"""How many state files have a changed row meanwhile."""
ACCEPTED = 0.5
"""How often settings are changed, if there are any, and accepted as they are; all else is put back."""
REMEDY = "--accept-state"


async def flip(site: Site, chance: random.Random) -> None:
    """Change rows of the store under nodes that live, start and follow; put them back after a while, or accept them.

    Nobody may take them (the judge sees all tables and all answers), and who has met one says so.
    """
    store = site.store
    if not isinstance(store, Sql):
        return
    rows = store.disk.rows
    live = [place for place, (_, row) in rows.items() if row.value is not None and row.table not in UNROOTED]
    kept, changed = {}, {}
    settings = [place for place in live if place[0] in {"config", "mode"} and _is_read(rows[place][1])]
    accepting = bool(settings) and chance.random() < ACCEPTED
    live = settings if accepting else live
    for place in chance.sample(sorted(live), min(len(live), chance.choice([1, 1, 3]))):
        kept[place] = rows[place]
        changed[place] = rows[place] = rows[place][0], (other_setting if accepting else altered)(rows[place][1], chance)
    site.count["flipped rows"] += len(kept)
    site.flips, site.changed_files = site.flips + 1, FILES
    for _ in range(chance.randint(1, 4)):
        await asyncio.sleep(site.weather.latency * 40 * chance.expovariate(1.0))
        await site.crash(chance.choice(site.members))
        _check(site)
    site.changed_files = 0.0
    if accepting:
        await _accept(site, {place: row for place, (_, row) in changed.items() if rows.get(place) is changed[place]})
        return
    for place, one in kept.items():
        if rows.get(place) is changed[place]:  # else it was written since
            rows[place] = one
    if chance.random() < 0.5:
        await asyncio.sleep(WRONG_SECONDS)
    else:
        await store.intrude(lambda base: _empty(base, chance))


def altered(row: EncodedRow, chance: random.Random) -> EncodedRow:
    """The same row with another value: a bit of its text is flipped, or it is what nobody can read."""
    assert row.value is not None
    at = chance.randrange(len(row.value))
    flipped = replace(row, value=f"{row.value[:at]}{chr(ord(row.value[at]) ^ 1)}{row.value[at + 1 :]}")
    return replace(row, value="\x00") if chance.random() < 0.2 else flipped


def other_setting(row: EncodedRow, chance: random.Random) -> EncodedRow:
    """A config or a mode that means something else, or that nobody can read."""
    read = decode_row(row)
    if chance.random() < 0.2:
        return replace(row, value="\x00")
    if isinstance(read.value, Mode):
        other = "READONLY" if read.value.mode == "READWRITE" else "READWRITE"
        return encode_row(replace(read, value=replace(read.value, mode=other)))
    assert isinstance(read.value, ConfigValue)
    levels = [level for level in LEVELS.values() if level != read.value.level]
    return encode_row(replace(read, value=replace(read.value, level=chance.choice(levels))))


async def _accept(site: Site, changed: Mapping[Place, EncodedRow]) -> None:
    """Accept changed rows as `treaty log quarantine_rows --accept-state` does; then those that can't be read are moved aside."""
    site.history.changed.update(changed)
    for work in (_state_accepted, _rows_moved):
        for _ in range(PATIENCE):
            try:
                with site.tool("repair") as log:
                    done = await work(log)
            except (RestoreError, LogUnavailableError, LogDamagedError):
                await asyncio.sleep(site.weather.latency)
                continue
            if done:
                break
        else:
            raise AssertionError("a repair never came to its end")
    site.count["states accepted"] += bool(changed)
    if site.history.changed:
        raise Broken("root", f"a state was accepted, and {list(site.history.changed)} are as they were")


async def _state_accepted(log: Log) -> bool:
    found, _ = await accept_state(log, time=EPOCH)
    return found.fits


async def _rows_moved(log: Log) -> bool:
    gone, _ = await quarantine_rows(log, time=EPOCH)
    return not gone


def _empty(base: Position, chance: random.Random) -> Append:
    return make_append(base, chance.randbytes(16), (Commit(base.sequence + 1, ()),), None)


def _is_read(row: EncodedRow) -> bool:
    return not isinstance(decode_row(row).value, UnreadableValue)


def _check(site: Site) -> None:
    """Who has met changed rows writes nothing, and says both roots and the remedy."""
    for member in site.members:
        if member.node is None or member.node.follower.wrong is None:
            continue
        site.count["nodes that met a flipped row"] += 1
        status = member.node.status()
        if not (status.root_stated != status.root_found != "" and REMEDY in status.read_only and status.root_stated):
            site.fail(Broken("root", f"{member.name} has met changed rows and does not say so: {status}"))
