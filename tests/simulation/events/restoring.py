"""A dump is taken, life goes on, the log is lost, and the dump is restored: into a new log, with nodes that look on."""

import asyncio
import random

from tests.simulation.events.building import PATIENCE, Building
from tests.simulation.judging.broken import Broken
from tests.simulation.judging.roots import plain, whole
from tests.simulation.members import EPOCH, Site
from treaty.core.limits import RESTORE_GAP
from treaty.core.state.commit import START
from treaty.core.state.log_origin import explain_unfinished_restore
from treaty.core.state.state_tables import IDS_SPARED, KINDS_FOR_EVER, TABLES
from treaty.core.state.table import Key
from treaty.core.state.tables import DictTables
from treaty.core.state.values import Counter
from treaty.log.log import Log, LogDamagedError, LogDelta, LogUnavailableError
from treaty.log.maintenance.dump import make_head, read_head, read_rows, write_dump
from treaty.log.maintenance.restore import LOG_LOCAL_TABLES, restore_log


async def restore_dump(site: Site, chance: random.Random) -> None:
    """Restore an older state into a new log; ids that were given since the dump are never given again."""
    with site.tool("dump") as log:
        delta = await _read(site, log)
    if delta is None or delta.tip == START:
        return
    since = site.history.places[delta.tip]
    before = site.history.states[since]
    head = make_head(delta, "model:old", EPOCH)
    roots = site.history.roots[since]
    if plain(head.roots) != roots or head.position.root != whole(roots):
        raise Broken("root", f"a dump at {delta.tip.sequence} says that its root is {head.position.root.hex()}")
    lines = [*write_dump(head, delta.rows)]
    await asyncio.sleep(site.weather.latency * 100 * chance.expovariate(1.0))
    if site.history.tip.identity != delta.tip.identity or delta.tip not in site.history.path:
        return
    building = Building(site, chance, lambda state: check_restored(before, state, gap=RESTORE_GAP), lambda: since)

    async def once() -> None:
        head = read_head(lines[0])
        with site.tool("restore", building.store) as log:
            await restore_log(log, head, read_rows(head, lines[0], lines[1:]), time=EPOCH)

    await building.complete(once)


async def _read(site: Site, log: Log) -> LogDelta | None:
    for _ in range(PATIENCE):
        try:
            return await log.read(START)
        except (LogUnavailableError, LogDamagedError):
            await asyncio.sleep(site.weather.latency)
    return None


def check_restored(before: DictTables, now: DictTables, *, gap: int) -> None:
    """All rows of the dump are there, and no others; counters of ids are raised."""
    if explain_unfinished_restore(now):
        raise Broken("log", "a restore ended, and the log says that it is not whole")
    told, wanted = _plain(now), _plain(before)
    if told.keys() != wanted.keys():
        raise Broken("log", f"a restored log has other rows: {sorted(told.keys() ^ wanted.keys(), key=str)[:3]}")
    for (table, key), value in wanted.items():
        found = told[table, key]
        if (
            table == "counter"
            and key[0] in KINDS_FOR_EVER
            and isinstance(value, Counter)
            and isinstance(found, Counter)
        ):
            if found.highest < value.highest + gap:
                raise Broken("4", f"counter {key} was {value.highest} in the dump and is {found.highest}")
        elif found != value:
            raise Broken("log", f"{table} {key} was {value} in the dump and is {found}")


def _plain(tables: DictTables) -> dict[tuple[str, Key], object]:
    return {
        (table, key): tables.get(TABLES[table], key)
        for table in tables._tables
        if table not in LOG_LOCAL_TABLES
        for key in tables.keys(TABLES[table])
        if (table, key) != ("counter", IDS_SPARED)
    }
