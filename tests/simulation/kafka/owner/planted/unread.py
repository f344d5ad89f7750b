"""Planted: a new owner reads to the end first and fences then, so that it misses what came in between.

Nor does it look where its first record lands, which would tell it.
"""

from treaty.log.kafka.partition import TransactionalProducer
from treaty.log.kafka.single_writer.log import SingleWriterLog
from treaty.log.kafka.single_writer.state import CompactedState

LAWS = {"log", "5"}
FAR = 2**40
PLACE, NAME = SingleWriterLog, "_take_ownership"
original = SingleWriterLog._take_ownership


def careless(transactions: TransactionalProducer) -> None:
    """Have a producer commit wherever its first record landed."""
    commit = type(transactions).commit
    vars(transactions)["commit"] = lambda records, at: commit(transactions, records, at + FAR)


async def planted(self: SingleWriterLog) -> CompactedState | None:
    leader = await self._election.leader()
    generation = self._election.generation
    if (leader is None or not leader.mine) and not self._unsettled:
        return None
    if self._fenced_generation != generation or self._reader.state is None:
        self._fenced_generation = None
        view = await self._reader.catch_up()
        await self._producer.fence()
        careless(self._producer)
        self._fenced_generation, self._unsettled = generation, False
        return view
    return self._reader.state
