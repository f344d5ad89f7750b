"""Planted: every command gets the token of its own commit, although only the end of its append is a place."""

from treaty.core.state.commit import Position
from treaty.node.batch import CommitBatch, MemberReason
from treaty.node.writer import Writer

LAWS = {"3"}
PLACE, NAME = Writer, "_land"
original = Writer._land


async def planted(self: Writer, batch: CommitBatch, position: Position, barrier: int) -> None:
    await self._follower.reach(position)
    writers = [(command, result) for command, result, reason in batch.members if reason is MemberReason.WRITES]
    for (command, result), commit in zip(writers, batch.commits, strict=False):
        command.answer(result, Position(position.identity, commit.sequence, position.digest))
    await original(self, batch, position, barrier)
