"""`Carrier`: how a node reaches others of its registry. HTTP stands behind it, or a model of the network."""

from collections.abc import Callable
from typing import Protocol

__all__ = ["Carrier"]


class Carrier(Protocol):
    """Carries batches of commands to other nodes. Safe to call concurrently from one event loop; may be cancelled.

    At the other end `taking.lines` answers. What was sent may arrive late, twice, or after nobody waits any more.
    """

    async def carry(
        self, address: str, body: bytes, heard: Callable[[bytes], None], *, timeout: float, request_id: str
    ) -> None:
        """Send a body to the node at an address, and call `heard` with each line of its answer as it comes.

        Returns when there are no more; raises `PeerAwayError`, at the latest after `timeout` seconds, and what `heard`
        raises. `request_id` is for the other node's log lines.
        """
        ...

    def request_id(self) -> str:
        """Id of the request that is being answered in the present context, for log lines; may be empty."""
        ...

    async def close(self) -> None:
        """Give back connections."""
        ...
