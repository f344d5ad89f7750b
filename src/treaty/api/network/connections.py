"""Connections of one worker: how many it holds, how many of one address, and how long a client may leave an answer
unread.

A full table closes a connection of the address that has most of them, the oldest one on which nothing is answered,
before it refuses a new one. So an address that takes all it can get takes it from itself.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from treaty.core.limits import CONNECTIONS, CONNECTIONS_EACH, UNREAD_BYTES, UNREAD_SECONDS

PROGRESS_BYTES = 65_536
"""Bytes that a client has to take within `UNREAD_SECONDS`, or all there are."""
HASTE_SECONDS = 2.0
"""A client that has taken nothing for so long is cut off where all unread answers together pass `UNREAD_BYTES`."""


class ClientConnection(Protocol):
    """A connection as the table sees it. `address` is what its limits count by."""

    address: str

    def is_answering(self) -> bool:
        """Say whether a request is being answered."""
        ...

    def count_unread(self) -> int:
        """Return the bytes of answers that the operating system has not taken yet."""
        ...

    def count_sent(self) -> int:
        """Return the bytes that it has taken and the client's has not acknowledged, as far as known."""
        ...

    def close(self) -> None:
        """Close in order."""
        ...

    def abort(self) -> None:
        """Close at once; what is unread is thrown away."""
        ...


@dataclass(slots=True)
class UnreadAnswer:
    """Bytes that wait for a client.

    `left` is with those that the operating system holds, at the last progress; `since` is when that was (loop time).
    """

    size: int
    left: int
    since: float


def is_never_shared(_address: str) -> bool:
    """Say of an address that it stands for one client."""
    return False


@dataclass(slots=True)
class ConnectionTable:
    """All connections of one worker, and their bounds. `clock` is the loop's.

    `is_shared` says of an address that many clients come from it: a proxy that is trusted. It has no bound of its own.
    """

    clock: Callable[[], float]
    most: int = CONNECTIONS
    most_each: int = CONNECTIONS_EACH
    most_unread: int = UNREAD_BYTES
    seconds: float = UNREAD_SECONDS
    is_shared: Callable[[str], bool] = is_never_shared
    by_address: dict[str, dict[ClientConnection, None]] = field(default_factory=dict)
    unread: dict[ClientConnection, UnreadAnswer] = field(default_factory=dict)
    unread_bytes: int = 0
    count: int = 0
    refused: int = 0
    """Connections for which there was no room."""
    closed: int = 0
    """Connections on which nothing was answered, closed to make room for others."""
    cut_off: int = 0
    """Connections whose clients left answers unread."""

    def admit(self, connection: ClientConnection) -> str:
        """Take a connection in, closing another one if need be. Returns the limit that it would pass, empty where it is
        in.
        """
        own = self.by_address.get(connection.address, {})
        if len(own) >= self.most_each and not self.is_shared(connection.address) and not self._close_one(own):
            self.refused += 1
            return "CONNECTIONS_EACH"
        if self.count >= self.most:
            crowd = max(self.by_address.values(), key=len)
            if not self._close_one(crowd if len(crowd) > len(own) else own):
                self.refused += 1
                return "CONNECTIONS"
        self.by_address.setdefault(connection.address, {})[connection] = None
        self.count += 1
        return ""

    def discard(self, connection: ClientConnection) -> None:
        """Forget a connection that is closed."""
        own = self.by_address.get(connection.address, {})
        if connection not in own:
            return
        del own[connection]
        self.count -= 1
        if not own:
            del self.by_address[connection.address]
        self.forget_unread(connection)

    def _close_one(self, crowd: dict[ClientConnection, None]) -> bool:
        victim = next((connection for connection in crowd if not connection.is_answering()), None)
        if victim is None:
            return False
        self.discard(victim)
        self.closed += 1
        if victim.count_unread():
            victim.abort()
        else:
            victim.close()
        return True

    # ------------------------------------------------------------------------------------------------ unread answers

    def note_unread(self, connection: ClientConnection) -> None:
        """Look how much a client has left unread, and cut it off if it has taken nothing for too long."""
        if connection not in self.by_address.get(connection.address, {}):
            return
        size, now = connection.count_unread(), self.clock()
        if not size:
            self.forget_unread(connection)
            return
        left = size + connection.count_sent()
        unread = self.unread.get(connection)
        if unread is None:
            self.unread[connection] = UnreadAnswer(size, left, now)
            self.unread_bytes += size
            return
        self.unread_bytes += size - unread.size
        unread.size = size
        if left <= unread.left - PROGRESS_BYTES:
            unread.left, unread.since = left, now
        else:  # what came on top is no progress
            unread.left = max(unread.left, left)
        if now - unread.since > self.seconds:
            self._cut_off(connection)

    def forget_unread(self, connection: ClientConnection) -> None:
        """Note that a client has taken what there was for it."""
        unread = self.unread.pop(connection, None)
        if unread is not None:
            self.unread_bytes -= unread.size

    def relieve(self) -> None:
        """Cut off clients until unread answers are within their bound: of the address with most bytes, who waits
        longest.

        Clients that take what they get are left alone until there is twice as much, and so is one that is alone.
        """
        if self.unread_bytes <= self.most_unread:
            return
        for connection in tuple(self.unread):
            self.note_unread(connection)
        bytes_of: dict[str, int] = defaultdict(int)
        slow: dict[str, list[ClientConnection]] = defaultdict(list)
        haste = 0.0 if self.unread_bytes > 2 * self.most_unread else HASTE_SECONDS
        for connection, answer in sorted(self.unread.items(), key=lambda pair: -pair[1].since):
            bytes_of[connection.address] += answer.size
            if self.clock() - answer.since >= haste:
                slow[connection.address].append(connection)
        while self.unread_bytes > self.most_unread and len(self.unread) > 1 and any(slow.values()):
            address = max((address for address, listed in slow.items() if listed), key=bytes_of.__getitem__)
            victim = slow[address].pop()
            bytes_of[address] -= self.unread[victim].size
            self._cut_off(victim)

    def make_room(self, connection: ClientConnection, size: int) -> bool:
        """Say whether an answer of so many bytes has room beside all that is unread; for it other clients are cut off.

        The address with most bytes gives room: at once where it has more than the client's own would have with the answer,
        else by clients that have taken nothing for a while. An answer alone always has room.
        """
        if self.unread_bytes + size > self.most_unread:
            for other in tuple(self.unread):
                self.note_unread(other)
        while self.unread_bytes + size > self.most_unread and any(other is not connection for other in self.unread):
            victim = self._victim(connection, size)
            if victim is None:
                return False
            self._cut_off(victim)
        return True

    def _victim(self, connection: ClientConnection, size: int) -> ClientConnection | None:
        """Return the client that gives room for an answer; None where none has to."""
        bytes_of: dict[str, int] = defaultdict(int)
        for other, answer in self.unread.items():
            bytes_of[other.address] += answer.size
        own = bytes_of[connection.address] + size
        now = self.clock()
        for address in sorted(bytes_of, key=bytes_of.__getitem__, reverse=True):
            haste = 0.0 if address != connection.address and bytes_of[address] > own else HASTE_SECONDS
            waiting = [
                other for other, answer in self.unread.items()
                if other is not connection and other.address == address and now - answer.since >= haste
            ]  # fmt: skip
            if waiting:
                return min(waiting, key=lambda connection: self.unread[connection].since)
        return None

    def _cut_off(self, connection: ClientConnection) -> None:
        self.discard(connection)
        self.cut_off += 1
        connection.abort()
