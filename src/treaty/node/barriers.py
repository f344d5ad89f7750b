"""Read barriers: strict reads wait for an append that was sent after they came, and was accepted.

Where an old leader of the log may answer a look, a look proves nothing. An accepted append does: its parent was the
last append when it landed, so everything that was acknowledged before it was sent lies before it. Any append will do,
with commands in it or without; only where no command waits an empty commit is made.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from treaty.core.refusals import Unavailable
from treaty.node.follower import Follower
from treaty.node.queued_command import NotLeaderError

BARRIER_TRIES = 40
"""Appends that may come second before the strict reads that waited for all of them are sent away (503)."""
FIRST_REST = 0.005
"""Seconds between an append that came second and the next empty commit; doubled each time, up to `LONGEST_REST`.
An append with commands is not held back, and is a barrier too.
"""
LONGEST_REST = 0.2


@dataclass(slots=True, eq=False)
class _Waiting:
    """Reads that came between two looks: the first append that begins after them lets all of them go on."""

    number: int
    """Of the first look that could begin after they came; appends are numbered with the looks."""
    taken: bool
    passed: asyncio.Future[None] = field(repr=False)
    readers: int = 0
    tries: int = 0
    """Appends that proved nothing for them."""
    conflicts: int = 0
    """Those of them that came second."""


class ReadBarriers:
    """The strict reads of one node. However many there are, the node has at most one append on its way for them."""

    def __init__(self, follower: Follower, wake: Callable[[], None]) -> None:
        """Nobody waits; `wake` is called when somebody does, or may be helped again."""
        self._follower = follower
        self._wake = wake
        self._waiting: dict[tuple[int, bool], _Waiting] = {}
        self._rest: asyncio.TimerHandle | None = None
        self._asking = False

    @property
    def due(self) -> bool:
        """Whether an append is wanted now."""
        return bool(self._waiting) and self._rest is None and not self._asking

    async def wait(self, *, taken: bool = False) -> None:
        """Return when the tables show everything that was acknowledged before this call.

        `taken`: it is for another node, and will not be passed on: `NotLeaderError` says who might do it. Raises
        `Unavailable` where appends came second too often, and `LogUnavailableError`.
        """
        key = self._follower.next_barrier, taken
        waiting = self._waiting.get(key)
        if waiting is None:
            waiting = self._waiting[key] = _Waiting(*key, asyncio.get_running_loop().create_future())
            waiting.passed.add_done_callback(_ignore_error)
        waiting.readers += 1
        self._wake()
        try:
            await asyncio.shield(waiting.passed)
        finally:
            waiting.readers -= 1
            if not waiting.readers and self._waiting.get(key) is waiting:
                del self._waiting[key]  # nobody needs an append for it any more

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Another node is asked while the block runs: none is wanted from this one but with commands."""
        self._asking = True
        try:
            yield
        finally:
            self._asking = False
            self._wake()

    def waits(self, number: int) -> bool:
        """Return whether anybody waits for the append of that number."""
        return any(one.number <= number for one in self._waiting.values())

    # ---------------------------------------------------------------------------------------------------- results

    def accepted(self, number: int) -> None:
        """The append of that number is in the log, and the tables show it."""
        for waiting in self._until(number):
            waiting.passed.set_result(None)

    def lost(self, number: int, *, conflict: bool = False) -> None:
        """The append of that number proves nothing: it came second (`conflict`), or nobody knows what became of it."""
        most = 0
        for waiting in [one for one in self._waiting.values() if one.number <= number]:
            waiting.tries += 1
            waiting.conflicts += conflict
            most = max(most, waiting.tries)
            if waiting.conflicts >= BARRIER_TRIES:
                del self._waiting[waiting.number, waiting.taken]
                waiting.passed.set_exception(
                    Unavailable(
                        f"{waiting.conflicts} appends of this node came after those of others, so nothing proves that it "
                        "knows the newest state; ask again"
                    )
                )
        if most and self._rest is None:
            pause = min(FIRST_REST * 2.0 ** (most - 1), LONGEST_REST)
            self._rest = asyncio.get_running_loop().call_later(pause, self._rested)

    def fail(self, error: Exception) -> None:
        """Nothing can be appended now: say so to all who wait."""
        for waiting in self._until(None):
            waiting.passed.set_exception(error)

    def send_away(self, address: str) -> None:
        """Tell other nodes that a third one might help them."""
        for key in [key for key, one in self._waiting.items() if one.taken]:
            self._waiting.pop(key).passed.set_exception(NotLeaderError(address))

    def close(self) -> None:
        """Send everybody away."""
        if self._rest is not None:
            self._rest.cancel()
        self.fail(Unavailable("this node ends"))

    def _rested(self) -> None:
        self._rest = None
        self._wake()

    def _until(self, number: int | None) -> list[_Waiting]:
        if not self._waiting:
            return []
        keys = [key for key, one in self._waiting.items() if number is None or one.number <= number]
        return [self._waiting.pop(key) for key in keys]


def _ignore_error(future: asyncio.Future[None]) -> None:
    """An error that nobody waits for any more is no news."""
    if not future.cancelled():
        future.exception()
