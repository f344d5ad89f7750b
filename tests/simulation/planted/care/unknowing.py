"""Planted: a node decides although there are rows that it can't read."""

from treaty.core.log_origin import explain_sealed_log, explain_unfinished_restore
from treaty.node.queue import Queue

LAWS = {"log"}
EVENTS = {"repaired", "levels"}
PLACE, NAME = Queue, "read_only"


def _reason(self: Queue) -> str:
    tables = self._follower.tables
    return self._follower.damage or explain_unfinished_restore(tables) or explain_sealed_log(tables)


planted = property(_reason)
