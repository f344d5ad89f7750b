"""Planted: a node decides although there are rows that it can't read."""

from treaty.core.lineage import sealed, unfinished
from treaty.node.queue import Queue

LAWS = {"log"}
EVENTS = {"repaired", "levels"}
PLACE, NAME = Queue, "read_only"


def _reason(self: Queue) -> str:
    tables = self._follower.tables
    return self._follower.damage or unfinished(tables) or sealed(tables)


planted = property(_reason)
