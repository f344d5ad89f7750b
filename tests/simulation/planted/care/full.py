"""Planted: an append that the log had no space for counts as written."""

from treaty.node.chain import Chain
from treaty.node.writer import Flight, Writer

LAWS = {"1", "6", "log"}
EVENTS = {"full"}
PLACE, NAME = Writer, "_fly"
original = Writer._fly


async def planted(self: Writer, chain: Chain) -> Flight | None:
    flight = await original(self, chain)
    if flight is not None and flight.fate is None:
        for pending, verdict in chain.writers:
            self._tell(pending, verdict, chain.base)
    return flight
