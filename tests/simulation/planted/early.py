"""Planted: clients are answered when the append is sent, not when it is durable and read back."""

from treaty.node.batch import CommitBatch, MemberReason
from treaty.node.writer import SentAppend, Writer

LAWS = {"1", "2"}
PLACE, NAME = Writer, "_append"
original = Writer._append


async def planted(self: Writer, batch: CommitBatch) -> SentAppend | None:
    for command, result, reason in batch.members:
        if reason is MemberReason.WRITES:
            self._answer(command, result, batch.base)
    return await original(self, batch)
