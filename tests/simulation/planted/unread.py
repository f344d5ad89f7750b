"""Planted: a second append is decided on the first and sent before the first was read back from the log."""

import asyncio

from treaty.core.commit import make_append
from treaty.core.root import roots_after
from treaty.log.log import AppendResult
from treaty.node.writer import Writer

LAWS = {"1", "3", "log"}
PLACE, NAME = Writer, "_round"
original = Writer._round


async def planted(self: Writer) -> None:
    if self._conflicts:
        await original(self)
        return
    chain = self._build(self._queue.take(1))
    if not chain.commits:
        await self._freshen(chain)
        return
    roots = roots_after(self._follower.tables, chain.rows)
    append = make_append(chain.base, self._world.random(16), tuple(chain.commits), roots)
    look = self._follower.begin()
    for pending, _ in chain.writers:
        pending.sent = True
    first = asyncio.create_task(self._log.append(append))
    self._follower.tables.apply(list(chain.rows), append.position)
    second = self._build(self._queue.take(self._size))
    flight = await self._fly(second)
    try:
        fate = await first
    except OSError:
        fate = AppendResult.CONFLICT
    await self._follower.look()
    if fate is AppendResult.ACCEPTED:
        await self._land(chain, append.position, look)
    else:
        self._conflicts += 1
        await self._sort_out(chain)
    if flight is not None and flight.fate is AppendResult.ACCEPTED:
        await self._land(second, flight.append.position, flight.look)
    else:
        self._queue.give_back(second.members)
