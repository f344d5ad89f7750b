"""Troubles of the store: no space, damage, and a store that is tidied up."""

import asyncio
import random

from tests.simulation.members import Site
from treaty.log.log import LogDamagedError, LogUnavailableError


async def compact(site: Site, chance: random.Random) -> None:
    """Have the store forget what nobody needs, at any moment."""
    try:
        with site.tool("compact") as log:
            await log.compact()
            await log.read_stats()
    except (LogUnavailableError, LogDamagedError):
        site.count["compactions that failed"] += 1


async def fill(site: Site, chance: random.Random) -> None:
    """Let the disk be full for a while: nothing is written, reading goes on."""
    site.weather.full = True
    await asyncio.sleep(site.weather.latency * 100 * chance.expovariate(1.0))
    site.weather.full = False


async def damage(site: Site, chance: random.Random) -> None:
    """Let the store be damaged for a while; it is mended, and nodes are started again."""
    site.weather.damage = "a page is torn"
    await asyncio.sleep(site.weather.latency * 100 * chance.expovariate(1.0))
    site.weather.damage = ""
    await site.move_all()
