"""Planted: clients are answered when the append is sent, not when it is durable and read back."""

from treaty.node.chain import Chain
from treaty.node.writer import Flight, Writer

LAWS = {"1", "2"}
PLACE, NAME = Writer, "_fly"
original = Writer._fly


async def planted(self: Writer, chain: Chain) -> Flight | None:
    for pending, verdict in chain.writers:
        self._tell(pending, verdict, chain.base)
    return await original(self, chain)
