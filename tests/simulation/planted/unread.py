"""Planted: a second append is decided on the first and sent before the first was read back from the log."""

import asyncio

from treaty.core.state.commit import make_append
from treaty.core.state.root import roots_after
from treaty.log.log import AppendResult
from treaty.node.batch import MemberReason
from treaty.node.queued_command import SentState, UnseenCommit
from treaty.node.writer import Writer

LAWS = {"1", "3", "log"}
PLACE, NAME = Writer, "_round"
original = Writer._round


async def planted(self: Writer) -> None:
    if self._conflicts:
        await original(self)
        return
    batch = self._build(self._queue.take(1))
    if not batch.commits:
        await self._refresh(batch)
        return
    rows = [encoded for encoded, _ in batch.rows]
    roots = roots_after(self._follower.tables, rows)
    append = make_append(batch.base, self._environment.random(16), tuple(batch.commits), roots)
    barrier = self._follower.begin()
    sent = SentState(UnseenCommit(batch.base.sequence, append.last))
    for command, _, reason in batch.members:
        if reason is MemberReason.WRITES:
            command.send(sent)
    first = asyncio.create_task(self._log.append(append))
    self._follower.tables.apply(rows, append.position)
    second = self._build(self._queue.take(self._size))
    flight = await self._append(second)
    try:
        fate = await first
    except OSError:
        fate = AppendResult.CONFLICT
    await self._follower.catch_up()
    if fate is AppendResult.ACCEPTED:
        await self._land(batch, append.position, barrier)
    else:
        self._conflicts += 1
        await self._reply_from_outcomes(batch)
    if flight is not None and flight.fate is AppendResult.ACCEPTED:
        await self._land(second, flight.append.position, flight.barrier)
    else:
        self._queue.requeue_first(second.commands)
