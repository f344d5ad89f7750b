"""Planted: a look does not ask the brokers for the end, so that what writes nothing is answered from an old state."""

from treaty.core.state.commit import Position
from treaty.log.kafka.single_writer.log import SingleWriterLog

LAWS = {"1", "3", "log"}
"""log: a node that is behind at the end of a life never learns of the last append."""
PLACE, NAME = SingleWriterLog, "tip"
original = SingleWriterLog.tip


async def planted(self: SingleWriterLog) -> Position:
    view = self._reader.state
    return await original(self) if view is None else view.position
