"""Planted: a new owner reads to the end first and fences then, so that it misses what came in between.

Nor does it look where its first record lands, which would tell it.
"""

from treaty.log.kafka.link import Transactions
from treaty.log.kafka.owner.log import OwnerLog
from treaty.log.kafka.owner.view import View

LAWS = {"log", "5"}
FAR = 2**40
PLACE, NAME = OwnerLog, "_take_over"
original = OwnerLog._take_over


def careless(transactions: Transactions) -> None:
    """Have a producer commit wherever its first record landed."""
    commit = type(transactions).commit
    vars(transactions)["commit"] = lambda records, at: commit(transactions, records, at + FAR)


async def planted(self: OwnerLog) -> View | None:
    leader = await self._election.leader()
    generation = self._election.generation
    if (leader is None or not leader.mine) and not self._open:
        return None
    if self._held != generation or self._reader.view is None:
        self._held = None
        view = await self._reader.look()
        await self._transactions.fence()
        careless(self._transactions)
        self._held, self._open = generation, False
        return view
    return self._reader.view
