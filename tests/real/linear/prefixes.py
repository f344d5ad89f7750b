"""A reader beside the servers: at every state of the log that it reads, nothing is needed that is not there."""

import asyncio
import threading
from collections import defaultdict
from dataclasses import dataclass, field

from treaty.core.invariants import check_rows
from treaty.core.state.commit import START, as_root
from treaty.core.state.metastore.tables import ASSIGNMENT, SOURCE, TOPIC, TYPE
from treaty.core.state.table import Key
from treaty.core.state.tables import DictTables, read
from treaty.log.log import Log, LogDelta, LogUnavailableError
from treaty.log.urls import open_log

METASTORE = frozenset(table.name for table in (SOURCE, TYPE, TOPIC, ASSIGNMENT))
"""Tables whose rows are all looked at in each state: what a commit takes away is missed by rows that it does not have."""
PAUSE = 0.1
"""Seconds between two attempts while the log is away."""


@dataclass(slots=True)
class PrefixReader:
    """Reads a log in a thread of its own until it is stopped; `states` counts what it read, `wrong` has the first faults.

    A log of SQL shows the state at its tip, and a topic each append: so a reader that asks without a pause sees most commits, each
    of them a prefix of the history.
    """

    url: str
    states: int = 0
    wrong: list[str] = field(default_factory=list)
    tables: DictTables = field(default_factory=DictTables)
    ending: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to read; the servers have made the log."""
        self.thread = threading.Thread(target=lambda: asyncio.run(self._follow()), name="prefixes")
        self.thread.start()

    def stop(self) -> None:
        """End the thread."""
        self.ending.set()
        if self.thread is not None:
            self.thread.join()

    async def _follow(self) -> None:
        while not self.ending.is_set():
            try:
                log = await open_log(self.url)
            except (LogUnavailableError, OSError):
                await asyncio.sleep(PAUSE)
                continue
            try:
                await self._read(log)
            finally:
                await log.close()

    async def _read(self, log: Log) -> None:
        while not self.ending.is_set():
            try:
                delta = await log.read(self.tables.position)
            except (LogUnavailableError, OSError):
                await asyncio.sleep(PAUSE)
                continue
            if delta.tip == self.tables.position:
                await log.wait(delta.tip, PAUSE)
                continue
            self._check(delta)

    def _check(self, delta: LogDelta) -> None:
        change = self.tables.load if delta.reload or self.tables.position == START else self.tables.apply
        change(delta.rows, delta.tip)
        self.states += 1
        sequence = delta.tip.sequence
        if as_root(self.tables.roots) != delta.tip.root:
            self.wrong.append(f"the rows at sequence {sequence} do not come to its state root")
        changed: defaultdict[str, list[Key]] = defaultdict(list)
        for row in delta.rows:
            changed[row.table].append(read(row)[1].key)
        faults = check_rows(
            self.tables, lambda table: [*self.tables.keys(table)] if table.name in METASTORE else changed[table.name]
        )
        self.wrong += [f"at sequence {sequence}: {fault}" for fault in faults]
