"""What is written: commits as registrations of a schema of 15 fields make them, each with keys of its own."""

import asyncio
from dataclasses import dataclass

from benchmarks.register import schema
from treaty.core.messages.registration import Register
from treaty.core.names import subject_of
from treaty.core.schema import Draft
from treaty.core.state.commit import Append, Commit
from treaty.core.state.rows import EncodedRow
from treaty.log.log import AppendResult
from treaty.log.memory import MemoryLog
from treaty.node.environment import real_environment
from treaty.node.node import Node
from treaty.node.schema_service import make_process_service

NUMBER = 7_000_000
"""The number of the recorded registration; others have another one in its place."""


def registration(number: int) -> Register:
    """A new schema of 15 fields for a new subject."""
    return Register(subject_of(f"events-{number:012}-value"), Draft(_SCHEMA.replace("Event0", f"Event{number}")))


_SCHEMA = schema(0)


class _Recorded(MemoryLog):
    """A log that remembers its last commit."""

    commit: Commit

    async def append(self, append: Append) -> AppendResult:
        self.commit = append.commits[-1]
        return await super().append(append)


async def _record() -> Commit:
    log = _Recorded()
    node = Node(log, make_process_service(), real_environment())
    await node.start()
    await node.ask(registration(NUMBER - 1))  # the first one makes rows that others find there
    await node.ask(registration(NUMBER))
    await node.close()
    return log.commit


@dataclass(frozen=True, slots=True)
class Tape:
    """A recorded commit, from which others are made."""

    rows: tuple[EncodedRow, ...]

    @classmethod
    async def record(cls) -> "Tape":
        """Register a schema and keep its rows."""
        return cls((await _record()).rows)

    def commit(self, sequence: int, number: int) -> Commit:
        """The rows of another registration."""
        return Commit(sequence, tuple(EncodedRow(row.table, _key(row, number), row.value) for row in self.rows))

    def data(self, number: int) -> list[tuple[bytes, bytes]]:
        """The same as bytes, for bare loops: each row's name and value."""
        return [(f"{row.table}{_key(row, number)}".encode(), (row.value or "").encode()) for row in self.rows]


def _key(row: EncodedRow, number: int) -> str:
    if row.table == "schema":
        return f'[".",{number}]'
    if row.table == "content":
        return f'["{number:064x}"]'
    if row.table == "outcome":
        return f'["{number:032x}"]'
    return row.key.replace(f"{NUMBER:012}", f"{number:012}").replace(str(NUMBER), str(number))


if __name__ == "__main__":
    for recorded in asyncio.run(_record()).rows:
        print(recorded)
