"""The keeper of a node's state file: stands the tables on it, on newer ones as they come, and has new ones written."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path

from treaty.core.commit import START
from treaty.core.refusals import Unavailable
from treaty.log.log import LogDamagedError, LogUnavailableError
from treaty.node.follower import Follower
from treaty.node.segment.layered import LayeredTables
from treaty.node.segment.statefile import StateFile, StateFileError, open_state

log = logging.getLogger("treaty.node")

LOOK_SECONDS = 2.0
"""Seconds between two looks at the file."""
LEAST = 20_000
"""Rows that must have changed before a new state file is worth its writing."""
SHARE = 0.05
"""The same as a share of all rows. What has not changed is copied, which costs little."""
AGAIN_SECONDS = 60.0
"""Seconds between two tries to write one."""
Write = Callable[[], Awaitable[None]]
"""Writes a new state file, in a process of its own; returns when it ended, however it ended."""


class Keeper:
    """Looks after one file for one node. `open` first, then `run` beside the node."""

    def __init__(self, path: Path, tables: LayeredTables, write: Write | None = None) -> None:
        """Take the file's path (it need not exist), and who writes a new one; None leaves that to others."""
        self.path = path
        self.written: int | None = None
        """When the file that the tables stand on was written, in ms since the epoch."""
        self._tables = tables
        self._write = write
        self._stamp: tuple[int, int] | None = None
        self._tried = float("-inf")

    def open(self) -> None:
        """Stand the tables on the file, if there is one that can be used. The node then reads what came after it."""
        found = self._newer()
        if found is None:
            return
        try:
            self._tables.stand_on(found.segment, found.position)
            self.written = found.written
        except Unavailable as reason:
            log.warning("no help from the state file: %s", reason)
            self._tables.load((), START)

    def _newer(self) -> StateFile | None:
        """The file, if it is another one than was seen last, and can be used."""
        try:
            status = self.path.stat()
        except OSError:
            return None
        stamp = (status.st_ino, status.st_mtime_ns)
        if stamp == self._stamp:
            return None
        self._stamp = stamp
        try:
            return open_state(self.path)
        except (StateFileError, Unavailable) as reason:
            log.warning("no help from the state file: %s", reason)
            return None

    async def run(self, follower: Follower) -> None:
        """Change over to newer files, and have one written when much has changed, for ever."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                await self._turn(follower)
            except (LogUnavailableError, LogDamagedError, Unavailable) as reason:
                log.info("the state file has to wait: %s", reason)
            except Exception:
                log.exception("the state file could not be looked after; trying again")

    async def _turn(self, follower: Follower) -> None:
        found = self._newer()
        if found is not None:
            stood = await follower.change_over(
                lambda: self._tables.stand_on(found.segment, found.position), found.position
            )
            if stood:
                self.written = found.written
        now = asyncio.get_running_loop().time()
        if self._write is not None and self.due and now - self._tried > AGAIN_SECONDS:
            self._tried = now
            await self._write()

    @property
    def due(self) -> bool:
        """Whether so much has changed that a new file is worth its writing."""
        return self._tables.changed >= max(LEAST, SHARE * self._tables.size)
