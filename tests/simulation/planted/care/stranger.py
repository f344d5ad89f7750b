"""Planted: a node stands on any state file, and goes on from its place, whatever log it is of."""

from collections.abc import Callable

from treaty.core.state.commit import Position
from treaty.node.follower import Follower

LAWS = {"log", "3"}
PLACE, NAME = Follower, "change_over"


async def planted(self: Follower, stand: Callable[[], None], position: Position) -> bool:
    async with self._reading:
        delta = await self._log.read(position)
        stand()
        self.tables.apply(delta.rows, delta.tip)
        self._announce()
        return True
