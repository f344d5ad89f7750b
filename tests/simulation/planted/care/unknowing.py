"""Planted: a node decides although there are rows that it can't read."""

from treaty.core.state.log_origin import explain_sealed_log, explain_unfinished_restore
from treaty.node.queue import CommandQueue

LAWS = {"log"}
EVENTS = {"repaired", "levels"}
PLACE, NAME = CommandQueue, "read_only"


def _reason(self: CommandQueue) -> str:
    tables = self._follower.tables
    return self._follower.damage or explain_unfinished_restore(tables) or explain_sealed_log(tables)


planted = property(_reason)
