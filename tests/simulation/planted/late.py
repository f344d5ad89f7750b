"""Planted: who arrives while a look is on its way joins it, although it began before."""

import asyncio

from treaty.node.follower import Follower

LAWS = {"3", "1"}
PLACE, NAME = Follower, "catch_up"
original = Follower.catch_up


async def planted(self: Follower) -> None:
    if self._barrier_task is None:
        await original(self)
    else:
        await asyncio.wait([self._barrier_task])
