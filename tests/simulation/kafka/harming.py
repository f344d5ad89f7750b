"""Harm to a topic under nodes that live, start and follow: bits that flip for a while, and halves of transactions."""

import asyncio
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from tests.simulation.events.building import PATIENCE
from tests.simulation.kafka.any import AnyStore
from tests.simulation.kafka.owner.store import OwnerStore
from tests.simulation.members import EPOCH, Site
from treaty.core.state.commit import START
from treaty.log.log import LogDamagedError, LogUnavailableError
from treaty.log.maintenance.repair import accept_state
from treaty.log.maintenance.restore import RestoreError
from treaty.node.follower import WRONG_SECONDS

HALVES = 0.3
"""How many transactions a late commit cuts in half meanwhile."""


async def harm(site: Site, chance: random.Random) -> None:
    """Do some harm. Nobody may take what was harmed (the judge sees all tables and all answers)."""
    site.flips += 1
    if isinstance(site.store, AnyStore):
        with _flipped_record(site.store, chance):
            await _restarts(site, chance)
        await _start_again(site)
        await site.move_all()  # whose tail has fetched a harmed record by then may come to it any time later
    elif isinstance(site.store, OwnerStore) and (site.store.tip == START or chance.random() < 0.5):
        with _flipped_entry(site.store, chance):
            await _restarts(site, chance)
        await _start_again(site)
        await asyncio.sleep(WRONG_SECONDS)
    elif isinstance(site.store, OwnerStore):
        await _halve(site, site.store, chance)


async def _restarts(site: Site, chance: random.Random) -> None:
    """Nodes are killed and read the topic anew."""
    for _ in range(chance.randint(1, 4)):
        await asyncio.sleep(site.weather.latency * 40 * chance.expovariate(1.0))
        await site.crash(chance.choice(site.members))


async def _start_again(site: Site) -> None:
    """Who has found the topic damaged stays so until it is started anew."""
    await asyncio.sleep(site.weather.latency * 100)
    for member in site.members:
        if member.node is not None and member.node.follower.damage:
            site.count["nodes that met harm by name"] += 1
            await site.crash(member)
        elif member.node is not None and member.node.follower.wrong is not None:
            site.count["nodes that met harm by the root"] += 1


def _flip(data: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << chance.randrange(8)]) + data[place + 1 :]


@contextmanager
def _flipped_record(store: AnyStore, chance: random.Random) -> Iterator[None]:
    records = store.partition.records
    if not records:
        yield
        return
    kept = chance.choice(records)
    other = replace(kept, value=_flip(kept.value or b"", chance))
    records[records.index(kept)] = other
    yield
    if other in store.partition.records:
        store.partition.records[store.partition.records.index(other)] = kept


@contextmanager
def _flipped_entry(store: OwnerStore, chance: random.Random) -> Iterator[None]:
    last = {one.key: one for one in store.partition.entries if one.key is not None and one.within and one.within.fate}
    there = [one for one in last.values() if one.value]
    if not there:
        yield
        return
    entry = chance.choice(there)
    kept = entry.value
    assert kept is not None
    entry.value = _flip(kept, chance)
    yield
    entry.value = kept


async def _halve(site: Site, store: OwnerStore, chance: random.Random) -> None:
    """Commits that come late make the first rows of transactions visible, without a mark; then somebody accepts the state.

    Nothing is compacted meanwhile, so that the halves can be told from the rest and what they replaced is there.
    """
    spared, store.partition.spared = store.partition.spared, 2**40
    store.coordinator.halving = HALVES
    for _ in range(20):
        await asyncio.sleep(site.weather.latency * 20 * chance.expovariate(1.0))
        if store.coordinator.halves:
            break
    store.coordinator.halving = 0.0
    site.count["halves"] += store.coordinator.halves
    store.coordinator.halves = 0
    await asyncio.sleep(site.weather.latency * 60 * chance.expovariate(1.0))
    for _ in range(PATIENCE):
        try:
            with site.tool("accept") as log:
                found, _ = await accept_state(log, time=EPOCH)
        except (RestoreError, LogUnavailableError, LogDamagedError):
            await asyncio.sleep(site.weather.latency)
            continue
        if found.fits:
            store.partition.spared = spared
            return
        site.count["rows of halves moved aside"] += found.quarantined
    raise AssertionError("an acceptance never came to its end")
