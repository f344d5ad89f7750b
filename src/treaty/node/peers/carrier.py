"""`Carrier`: how a node reaches others of its registry. HTTP stands behind it, or a model of the network."""

from typing import Protocol

from treaty.wire.peer.message import Handed, PeerAwayError, Told

__all__ = ["Carrier", "PeerAwayError"]


class Carrier(Protocol):
    """Carries commands to other nodes. Safe to call concurrently from one event loop; may be cancelled at any time.

    At the other end `Node.take` answers. What was handed over may arrive late, twice, or after `hand` has ended.
    """

    async def hand(self, address: str, handed: Handed, timeout: float) -> Told:
        """Have the node at an address decide a command; raises `PeerAwayError`, at the latest after `timeout` seconds."""
        ...

    def request_id(self) -> str:
        """Id of the request that is being answered in the present context, for log lines; may be empty."""
        ...

    async def close(self) -> None:
        """Give back connections."""
        ...
