"""Planted: an append that the log had no space for counts as written."""

from treaty.node.batch import CommitBatch, MemberReason
from treaty.node.writer import SentAppend, Writer

LAWS = {"1", "6", "log"}
EVENTS = {"full"}
PLACE, NAME = Writer, "_append"
original = Writer._append


async def planted(self: Writer, batch: CommitBatch) -> SentAppend | None:
    flight = await original(self, batch)
    if flight is not None and flight.fate is None:
        for command, result, reason in batch.members:
            if reason is MemberReason.WRITES:
                self._answer(command, result, batch.base)
    return flight
