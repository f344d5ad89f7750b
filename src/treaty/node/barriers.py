"""Strict read barriers: a strict read waits for an accepted append that was sent after the read arrived.

If a deposed leader of the log may answer, reading the tip proves nothing. An accepted append does: its parent was the
last append, so everything acknowledged before it was sent precedes it. Any append will do; without waiting commands the
node writes an empty commit.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field

from treaty.core.refusals import Unavailable
from treaty.light_dataclass import dataclass
from treaty.node.follower import Follower
from treaty.node.queued_command import NotLeaderError

BARRIER_TRIES = 40
"""Appends in conflict before the strict reads that waited for all of them get 503."""
FIRST_REST = 0.005
"""Seconds between an append in conflict and the next empty commit; doubled each time, up to `LONGEST_REST`. An append
with commands is not delayed, and is a barrier too.
"""
LONGEST_REST = 0.2


@dataclass(slots=True, eq=False)
class _Waiting:
    """Reads that arrived between two appends: the next append that is accepted answers all of them."""

    number: int
    """Of the first look that could begin after they came; appends are numbered with the looks."""
    is_remote: bool
    passed: asyncio.Future[None] = field(repr=False)
    readers: int = 0
    tries: int = 0
    """Appends that failed since they arrived."""
    conflicts: int = 0
    """Those of them in conflict."""


class ReadBarriers:
    """The strict reads of a node. The node has at most one append in flight for all of them."""

    def __init__(self, follower: Follower, wake: Callable[[], None]) -> None:
        """Start without reads; `wake` is called when an append is wanted."""
        self._follower = follower
        self._wake = wake
        self._waiting: dict[tuple[int, bool], _Waiting] = {}
        self._rest: asyncio.TimerHandle | None = None
        self._asking = False

    @property
    def due(self) -> bool:
        """Return whether an append is wanted now."""
        return bool(self._waiting) and self._rest is None and not self._asking

    async def wait(self, *, for_peer: bool = False) -> None:
        """Return when the tables show everything that was acknowledged before this call.

        `for_peer`: the read is for another node and is not forwarded; `NotLeaderError` names the leader. Raises
        `Unavailable` after too many conflicts, and `LogUnavailableError`.
        """
        key = self._follower.next_barrier, for_peer
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
        """While the block runs another node is asked, so this one writes no empty commit."""
        self._asking = True
        try:
            yield
        finally:
            self._asking = False
            self._wake()

    def waits(self, number: int) -> bool:
        """Return whether a read waits for the append of that number."""
        return any(waiting.number <= number for waiting in self._waiting.values())

    # ---------------------------------------------------------------------------------------------------- results

    def accepted(self, number: int) -> None:
        """Note that the append of that number is in the log, and the tables show it."""
        for waiting in self._until(number):
            waiting.passed.set_result(None)

    def lost(self, number: int, *, conflict: bool = False) -> None:
        """Note that the append of that number was in conflict (`conflict`), or its result is unknown."""
        most_tries = 0
        for waiting in [read for read in self._waiting.values() if read.number <= number]:
            waiting.tries += 1
            waiting.conflicts += conflict
            most_tries = max(most_tries, waiting.tries)
            if waiting.conflicts >= BARRIER_TRIES:
                del self._waiting[waiting.number, waiting.is_remote]
                waiting.passed.set_exception(
                    Unavailable(
                        f"{waiting.conflicts} appends of this node were in conflict with those of other nodes, so the newest state is not proven; retry"
                    )
                )
        if most_tries and self._rest is None:
            pause = min(FIRST_REST * 2.0 ** (most_tries - 1), LONGEST_REST)
            self._rest = asyncio.get_running_loop().call_later(pause, self._rested)

    def fail(self, error: Exception) -> None:
        """Fail all reads: nothing can be appended now."""
        for waiting in self._until(None):
            waiting.passed.set_exception(error)

    def send_away(self, address: str) -> None:
        """Fail the reads of other nodes with the address of the leader."""
        for key in [key for key, waiting in self._waiting.items() if waiting.is_remote]:
            self._waiting.pop(key).passed.set_exception(NotLeaderError(address))

    def close(self) -> None:
        """Fail all reads."""
        if self._rest is not None:
            self._rest.cancel()
        self.fail(Unavailable("this node is stopping"))

    def _rested(self) -> None:
        self._rest = None
        self._wake()

    def _until(self, number: int | None) -> list[_Waiting]:
        if not self._waiting:
            return []
        keys = [key for key, waiting in self._waiting.items() if number is None or waiting.number <= number]
        return [self._waiting.pop(key) for key in keys]


def _ignore_error(future: asyncio.Future[None]) -> None:
    """Retrieve the exception of an abandoned wait, so that it is not logged."""
    if not future.cancelled():
        future.exception()
