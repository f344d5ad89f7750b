"""Planted: a node does not notice that the log was put back to an older state."""

from treaty.node.follower import Follower

LAWS = {"1", "3", "6", "log"}
EVENTS = {"put back"}
PLACE, NAME = Follower, "_catch_up_once"


async def planted(self: Follower) -> None:
    self._counts.looks += 1
    tip = await self._log.tip()
    if self.position.sequence < tip.sequence or self.position.identity != tip.identity:
        await self.reach(tip)
    self.tip, self.caught_up_at = tip, self._environment.now()
