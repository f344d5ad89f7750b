"""Planted: a follower that has to read everything anew puts it over what it had, so that deleted rows come back."""

from dataclasses import replace

from treaty.core.tables import DictTables
from treaty.log.log import Delta
from treaty.node.follower import Follower

LAWS = {"3", "log", "root"}
PLACE, NAME = Follower, "_take"
original = Follower._take


async def planted(self: Follower, delta: Delta) -> bool:
    if isinstance(self.tables, DictTables):
        self.tables.apply(delta.rows, delta.tip)
    return await original(self, replace(delta, reload=False))
