"""`Courier`: gathers commands for the same node and has them carried there together, each with its own end.

The first one goes at once. Who comes while a batch is on its way waits for company: until something is heard of the one
on its way, or for a moment. A batch is an envelope and no more: every command in it is decided, answered or lost alone.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from treaty.core.codec import DecodeError, Json
from treaty.core.limits import PEER_BATCH, PEER_BATCH_BYTES, PEER_REQUESTS
from treaty.node.peers.carrier import Carrier
from treaty.wire.peer.batch import batch_bytes, handed_bytes, line_from, told_from
from treaty.wire.peer.message import Declined, Handed, PeerAwayError, Told

log = logging.getLogger("treaty.node")

GATHER_SECONDS = 0.02
"""How long a command waits for company at most, while another batch is on its way to the same node."""


def always() -> bool:
    """It may leave whenever it is time."""
    return True


class GivenUpError(Exception):
    """Nobody waits for the answer any more."""


@dataclass(slots=True, eq=False)
class Letter:
    """A command for another node."""

    handed: Handed
    timeout: float
    leaves: Callable[[], bool]
    """Called when it would leave this node, and says whether it still may: from then on it may be done elsewhere."""
    told: "asyncio.Future[Told]"
    """What that node says, `PeerAwayError`, or `GivenUpError`."""
    data: bytes = b""

    @property
    def over(self) -> bool:
        """Whether it was answered, or nobody waits any more."""
        return self.told.done()

    def lose(self, error: Exception) -> None:
        """Say that its answer does not come."""
        if not self.over:
            self.told.set_exception(error)


@dataclass(slots=True)
class _Way:
    """What is for one node."""

    waiting: list[Letter] = field(default_factory=list)
    under_way: int = 0
    """Requests that have not ended."""
    due: asyncio.Handle | None = None
    """What sends those who wait."""
    soon: bool = False
    """Whether it does so at once, and not after a moment."""


class Courier:
    """Belongs to one event loop."""

    def __init__(self, carrier: Carrier) -> None:
        """Carry nothing yet."""
        self._carrier = carrier
        self._ways: dict[str, _Way] = {}
        self._tasks: dict[asyncio.Task[None], None] = {}
        self._closed = False

    def hand(self, address: str, handed: Handed, timeout: float, leaves: Callable[[], bool] = always) -> Letter:
        """Have a command carried to the node at an address. Who gives up waiting says so by `lose`, or cancels `told`."""
        letter = Letter(handed, timeout, leaves, asyncio.get_running_loop().create_future())
        try:
            letter.data = handed_bytes(handed)
        except DecodeError as wrong:
            letter.lose(PeerAwayError(f"the command can't be sent to {address}: {wrong}", left=False))
            return letter
        way = self._ways.setdefault(address, _Way())
        way.waiting.append(letter)
        self._plan(address, way, soon=not way.under_way)
        return letter

    def _plan(self, address: str, way: _Way, *, soon: bool) -> None:
        """Send those who wait: when all of this turn have come, or after a moment."""
        loop = asyncio.get_running_loop()
        if way.due is not None:
            if way.soon or not soon:
                return
            way.due.cancel()
        way.soon = soon
        if soon:
            way.due = loop.call_soon(self._send, address, way)
        else:
            way.due = loop.call_later(GATHER_SECONDS, self._send, address, way)

    def _send(self, address: str, way: _Way) -> None:
        """Send as much as may be sent now."""
        way.due = None
        while not self._closed and way.under_way < PEER_REQUESTS and (batch := _batch(way)):
            way.under_way += 1
            task = asyncio.create_task(self._carry(address, way, batch), name="carry")
            self._tasks[task] = None
            task.add_done_callback(lambda done: self._tasks.pop(done, None))
        if not way.under_way and not way.waiting:
            self._ways.pop(address, None)

    async def _carry(self, address: str, way: _Way, batch: Sequence[Letter]) -> None:
        """Carry one batch, and end when all are answered or nobody waits."""
        task = asyncio.current_task()
        assert task is not None

        def given_up(told: "asyncio.Future[Told]") -> None:
            dropped = told.cancelled() or isinstance(told.exception(), GivenUpError)
            if dropped and all(letter.over for letter in batch):
                task.cancel()  # whatever else comes is for nobody

        for letter in batch:
            letter.told.add_done_callback(given_up)
        away: Exception = PeerAwayError(f"{address} did not answer all that it was asked", left=True)
        try:
            await self._listen(address, way, batch)
        except PeerAwayError as error:
            away = error
        except DecodeError as wrong:
            away = PeerAwayError(f"{address} says what this node does not understand: {wrong}", left=True)
        except Exception as fault:  # a fault must not leave commands waiting for nobody
            log.exception("commands could not be carried to %s", address)
            away = fault
        finally:
            for letter in batch:
                letter.told.remove_done_callback(given_up)
                letter.lose(away)
            way.under_way -= 1
            self._plan(address, way, soon=True)

    async def _listen(self, address: str, way: _Way, batch: Sequence[Letter]) -> None:
        body = batch_bytes([letter.data for letter in batch])
        timeout, asked = max(letter.timeout for letter in batch), batch[0].handed.request_id

        def heard(line: bytes) -> None:
            for place, said in line_from(line):
                if 0 <= place < len(batch):
                    _open(batch[place], address, said)
            if way.waiting:
                self._plan(address, way, soon=True)

        await self._carrier.carry(address, body, heard, timeout=timeout, request_id=asked)

    async def close(self) -> None:
        """Stop carrying; what is on its way may be decided all the same."""
        self._closed = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for way in self._ways.values():
            if way.due is not None:
                way.due.cancel()
        await self._carrier.close()


def _batch(way: _Way) -> list[Letter]:
    """Take the next ones out of those who wait."""
    batch: list[Letter] = []
    size = taken = 0
    for letter in way.waiting:
        size += len(letter.data) + 1
        if len(batch) == PEER_BATCH or (batch and size > PEER_BATCH_BYTES):
            break
        taken += 1
        if not letter.over and letter.leaves():
            batch.append(letter)
        else:
            size -= len(letter.data) + 1
            letter.lose(GivenUpError())
    del way.waiting[:taken]
    return batch


def _open(letter: Letter, address: str, said: Json) -> None:
    """Tell one command what was said of it."""
    if letter.over:
        return
    try:
        told = told_from(said, letter.handed.command.request)
    except DecodeError as wrong:
        letter.lose(PeerAwayError(f"{address} says what this node does not understand: {wrong}", left=True))
        return
    if isinstance(told, Declined):
        letter.lose(PeerAwayError(f"{address} does not take it: {told.message}", left=False))
    else:
        letter.told.set_result(told)
