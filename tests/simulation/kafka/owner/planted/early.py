"""Planted: the owner takes its own transaction for seen when the commit is answered, before readers may see it."""

from treaty.core.commit import Append
from treaty.log.kafka.owner.forms import MARK, transaction
from treaty.log.kafka.owner.log import OwnerLog
from treaty.log.kafka.owner.view import View
from treaty.log.log import AppendResult

LAWS = {"1", "3", "log", "root"}
PLACE, NAME = OwnerLog, "_commit"
original = OwnerLog._commit


async def planted(self: OwnerLog, append: Append, view: View) -> AppendResult:
    told = await self._transactions.commit(transaction(append), view.end)
    if not told or self._reader.view is not view or view.position.digest != append.parent:
        self._held = None
        self._open = not told
        return AppendResult.UNKNOWN if not told else await original(self, append, view)
    *rows, (key, value) = transaction(append)
    assert key == MARK
    view._open, view._count = dict(rows), len(rows)
    view._end(value, view.offset)
    return AppendResult.ACCEPTED
