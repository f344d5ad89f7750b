"""Planted: a node stands on any state file, and goes on from its place, whatever log it is of."""

from treaty.core.state.commit import Position
from treaty.node.follower import Follower, ReadyTables

LAWS = {"log", "3"}
PLACE, NAME = Follower, "change_over"


async def planted(self: Follower, ready: ReadyTables, position: Position) -> bool:
    async with self._reading:
        delta = await self._log.read(position)
        stand = ready((), position, None)
        if stand is not None:
            stand()
            self.tables.apply(delta.rows, delta.tip)
            self._announce()
        return True
