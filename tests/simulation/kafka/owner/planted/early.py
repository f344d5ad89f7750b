"""Planted: the owner takes its own transaction for seen when the commit is answered, before readers may see it."""

from treaty.core.state.commit import Append
from treaty.log.kafka.single_writer.log import SingleWriterLog
from treaty.log.kafka.single_writer.records import END_KEY, make_transaction
from treaty.log.kafka.single_writer.state import CompactedState
from treaty.log.log import AppendResult

LAWS = {"1", "3", "log", "root"}
PLACE, NAME = SingleWriterLog, "_commit"
original = SingleWriterLog._commit


async def planted(self: SingleWriterLog, append: Append, view: CompactedState) -> AppendResult:
    told = await self._producer.commit(make_transaction(append), view.end)
    if not told or self._reader.state is not view or view.position.digest != append.parent:
        self._fenced_generation = None
        self._unsettled = not told
        return AppendResult.UNKNOWN if not told else await original(self, append, view)
    *rows, (key, value) = make_transaction(append)
    assert key == END_KEY
    view._pending, view._pending_count = dict(rows), len(rows)
    view._add_end_record(value, view.offset)
    return AppendResult.ACCEPTED
