"""Nodes of a newer version among older ones: rows that only the newer ones know stop the older ones until their upgrade."""

import asyncio
import random

from tests.simulation.members import Site


async def upgrade(site: Site, chance: random.Random) -> None:
    """Upgrade the nodes one after the other; newer ones write rows that others can't read."""
    site.novelty = chance.choice([0.02, 0.2])
    for member in chance.sample(site.members, len(site.members)):
        member.newer = True
        await site.crash(member)
        await asyncio.sleep(site.weather.latency * 150 * chance.expovariate(1.0))
    for member in site.members:  # somebody else may have been starting one of them
        if member.node is None or not member.is_newer:
            await site.crash(member)
