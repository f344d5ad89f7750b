"""Maintenance of an index: it is brought up to date beside a node, in slices that leave the event loop to requests.

A large index is first built by another process.
"""

import asyncio
import logging
import sqlite3
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from treaty.core.limits import LOOP_BYTES
from treaty.core.state.state_tables import SCHEMA
from treaty.core.state.view import Tables
from treaty.node.segment.layered import LayeredTables
from treaty.web.index.contents import SchemaContents
from treaty.web.index.storage import open_for_writing, remove_index
from treaty.web.index.update import ChangedSubjects, IndexUpdate, count_schemas, stamp_of

log = logging.getLogger("treaty.web")

LOOK_SECONDS = 0.5
"""Seconds between two looks at the position of the node."""
SLICE_SECONDS = 0.002
"""Seconds of work between two pauses."""
PAUSE = 3.0
"""How many times as long as its work a pause is."""
REST = 20.0
"""How many times as long as the last update took the next one waits: an update looks at all subjects."""
APART = 20_000
"""Schemas from which on an index is built by another process, if it lacks more than half of them."""
AGAIN_SECONDS = 30.0
"""Seconds before another try after an error."""

Build = Callable[[], Awaitable[None]]
"""Builds the index of a state file in another process; returns when that has ended, also after a failure."""


class IndexMaintainer:
    """Brings one index file up to date for a node; one of the workers of a machine does."""

    def __init__(self, path: Path, tables: Tables, is_ready: Callable[[], bool], build: Build | None = None) -> None:
        """Do nothing yet. `is_ready` says whether the tables show the log; `build` is for a large index."""
        self._path = path
        self._tables = tables
        self._is_ready = is_ready
        self._build = build
        self._changes = ChangedSubjects(tables) if isinstance(tables, LayeredTables) else None

    async def run(self) -> None:
        """Bring the index up to date, for ever."""
        while True:
            try:
                await self._run()
            except (sqlite3.Error, OSError) as error:
                log.exception("the search index %s could not be brought up to date; trying again", self._path)
                if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
                    remove_index(self._path)  # it is damaged
                await asyncio.sleep(AGAIN_SECONDS)

    async def _run(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        connection: sqlite3.Connection | None = None
        inode = 0
        try:
            while True:
                rest = LOOK_SECONDS
                if connection is not None and inode != self._find_inode():  # built by hand meanwhile, or removed
                    connection.close()
                    connection = None
                if self._is_ready():
                    if connection is None:
                        inode = (
                            self._find_inode()
                        )  # where the file is new, the next look sees another inode and opens it again
                        connection = await self._open()
                    if not self._is_current(connection):
                        rest = max(rest, REST * await self._update(connection))
                await asyncio.sleep(rest)
        finally:
            if connection is not None:
                connection.close()

    async def _open(self) -> sqlite3.Connection:
        if self._build is not None and self._lacks_most():
            log.info("the search index %s is built by another process", self._path)
            await self._build()
        return open_for_writing(self._path)

    def _find_inode(self) -> int:
        """Return the inode of the file that the path names now; 0 where there is none."""
        try:
            return self._path.stat().st_ino
        except FileNotFoundError:
            return 0

    def _lacks_most(self) -> bool:
        total = self._tables.total(SCHEMA)
        return total >= APART and 2 * count_schemas(self._path, self._tables.position.identity) < total

    def _is_current(self, connection: sqlite3.Connection) -> bool:
        position = self._tables.position
        return stamp_of(connection) == (position.identity.hex(), position.sequence)

    async def _update(self, connection: sqlite3.Connection) -> float:
        """Bring the index up to date; returns the seconds of work that took."""
        changed = None if self._changes is None else self._changes.find(connection)
        steps = IndexUpdate(connection, self._tables, changed).run()
        spent, begun = 0.0, time.perf_counter()
        contents: SchemaContents | None = None
        try:
            while True:
                work = next(steps) if contents is None else steps.send(contents)
                contents = await asyncio.to_thread(work.do) if work.size > LOOP_BYTES else work.do()
                took = time.perf_counter() - begun
                if took > SLICE_SECONDS:
                    spent += took
                    await asyncio.sleep(took * PAUSE)
                    begun = time.perf_counter()
        except StopIteration:
            return spent + time.perf_counter() - begun
        finally:
            connection.rollback()
            connection.execute("PRAGMA shrink_memory")  # pages of the file that it keeps until the next update
