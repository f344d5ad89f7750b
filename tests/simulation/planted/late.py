"""Planted: who arrives while a look is on its way joins it, although it began before."""

import asyncio

from treaty.node.follower import Follower

LAWS = {"3", "1"}
PLACE, NAME = Follower, "look"
original = Follower.look


async def planted(self: Follower) -> None:
    if self._looker is None:
        await original(self)
    else:
        await asyncio.wait([self._looker])
