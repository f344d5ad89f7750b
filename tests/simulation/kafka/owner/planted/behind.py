"""Planted: an owner commits wherever its first record landed, also behind what a broker forgot to end, which is committed with it."""

from collections.abc import Sequence

from tests.simulation.kafka.owner.ways import TransactionsModel

LAWS = {"log", "5", "root"}
FAR = 2**40
PLACE, NAME = TransactionsModel, "commit"
original = TransactionsModel.commit


async def planted(self: TransactionsModel, records: Sequence[tuple[bytes, bytes | None]], at: int) -> bool:
    return await original(self, records, at + FAR)
