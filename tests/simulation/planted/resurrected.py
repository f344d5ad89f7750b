"""Planted: a follower that has to read everything anew puts it over what it had, so that deleted rows come back."""

from treaty.core.state.tables import DictTables
from treaty.log.log import LogDelta
from treaty.node.follower import Follower

LAWS = {"3", "log", "root"}
PLACE, NAME = Follower, "_take"
original = Follower._take


async def planted(self: Follower, delta: LogDelta) -> bool:
    if not delta.reload or not isinstance(self.tables, DictTables):
        return await original(self, delta)
    self.tables.apply(delta.rows, delta.tip)
    self.proven, self.wrong = True, None
    self._announce()
    return True
