"""Planted: every command gets the token of its own commit, although only the end of its append is a place."""

from treaty.core.commit import Position
from treaty.node.chain import Chain
from treaty.node.writer import Writer

LAWS = {"3"}
PLACE, NAME = Writer, "_land"
original = Writer._land


async def planted(self: Writer, chain: Chain, position: Position, look: int) -> None:
    await self._follower.reach(position)
    for (pending, verdict), commit in zip(chain.writers, chain.commits, strict=True):
        pending.tell(verdict, Position(position.identity, commit.sequence, position.digest))
    await original(self, chain, position, look)
