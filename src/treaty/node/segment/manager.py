"""The manager of a node's state file: stands the tables on it, on newer ones as they come, and says when enough has changed for a new one to be written."""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from treaty.core.refusals import Unavailable
from treaty.core.state.commit import START, Position
from treaty.core.state.rows import EncodedRow, Row
from treaty.log.capabilities import ResumableLog, StateFileStore, scan_rows
from treaty.log.log import Log, LogDamagedError, LogUnavailableError
from treaty.node.environment import trim_memory
from treaty.node.follower import Follower, PutTables
from treaty.node.segment.blocks import QUICK
from treaty.node.segment.layered import LayeredTables, open_built
from treaty.node.segment.segment import SegmentDamagedError

if TYPE_CHECKING:
    from treaty.node.segment.statefile import StateFile

log = logging.getLogger("treaty.node")

LOOK_SECONDS = 2.0
"""Seconds between two looks at the file."""
LEAST = 20_000
"""Rows that must have changed before a new state file is worth its writing."""
SHARE = 0.05
"""The same as a share of all rows. What has not changed is copied, which costs little."""
AGAIN_SECONDS = 60.0
"""Seconds between two tries to write one."""
LARGE = 200_000
"""Rows of a log from which on a start without a state file gets one first, rather than read row by row."""
BACKGROUND = True
WAIT_SECONDS = 10.0
"""Seconds that a worker waits for another one to begin writing."""
Write = Callable[[bool], Awaitable[None]]
"""Writes a new state file in a separate process, optionally with low priority; returns when the process has ended, also
after a failure.
"""


class StateFileManager:
    """Looks after one file for one node. `open` first, then `prepare` before the log is read and `run` beside the node."""

    def __init__(
        self, path: Path | None, tables: LayeredTables, write: Write | None = None, *, waits: bool = False
    ) -> None:
        """Take the file's path (it need not exist), and who writes a new one; None leaves that to others, for whose
        first one it `waits`, or not. Without a path there is no file, only the log's snapshot.
        """
        self.path = path
        self.written: int | None = None
        """When the file under the tables was written, in ms since the epoch."""
        self._tables = tables
        self._write = write
        self._waits = waits
        self._found: StateFile | None = None
        """The file under the tables."""
        self._wanted = False
        """Whether that file was dropped, so that a new one is worth its writing."""
        self._stamp: tuple[int, int] | None = None
        self._tried = float("-inf")
        self._prepared = asyncio.Event()
        self._bookmark: int | None = None

    def open(self) -> None:
        """Stand the tables on the file, if there is one that can be used. The node then reads what came after it."""
        self._stand_on(self._open_newer())

    def _stand_on(self, file: "StateFile | None") -> bool:
        if file is None:
            return False
        try:
            self._tables.stand_on(file.segment, file.position)
        except Unavailable as reason:
            log.warning("no help from the state file: %s", reason)
            self._tables.load((), START)
            return False
        self._found, self.written, self._bookmark = file, file.written, file.bookmark
        return True

    def _open_newer(self) -> "StateFile | None":
        """The file, if it is another one than was seen last, and can be used."""
        if self.path is None:
            return None
        try:
            stamp = _stamp_of(self.path)
        except OSError:
            return None
        if stamp == self._stamp:
            return None
        self._stamp = stamp
        return _open(self.path)

    # ---------------------------------------------------------------------------------------------------- starting

    async def prepare(self, source: Log) -> None:
        """Where there is no file and the log has very many rows: load the log's snapshot, else a new file, else all
        rows one by one. Whatever fails, the node then reads the log as if nothing was.
        """
        try:
            if self.written is not None:
                if isinstance(source, ResumableLog) and self._bookmark is not None:
                    source.resume_at(self._tables.position, self._bookmark)
                return
            if not isinstance(source, StateFileStore) or await source.estimate_rows() < LARGE:
                return
            if self._stand_on(await self._read_state_copy(source)) or self._stand_on(await self._get_first_file()):
                return
            from treaty.node.segment.build import build  # noqa: PLC0415 (for a log with very many rows)

            position, built = await scan_rows(source, partial(build, level=QUICK))
            self._tables.stand_on(open_built(built), position)
            await asyncio.to_thread(trim_memory)
        except (LogUnavailableError, LogDamagedError, Unavailable, OSError) as reason:
            log.warning("the log is read row by row: %s", reason)
        finally:
            self._prepared.set()

    async def _read_state_copy(self, source: StateFileStore) -> "StateFile | None":
        """The snapshot as a file: where the state file is, for those who may write it, else a file without a name."""
        target = self.path if self._write is not None or self._waits else None
        from tempfile import gettempdir  # noqa: PLC0415 (random numbers and more come with it)

        near = target or Path(gettempdir(), "treaty" if self.path is None else self.path.name)
        half = near.with_name(f"{near.name}.{os.getpid()}.fold")
        try:
            file = _open(half) if await source.read_state_file(half, _kind()) else None
            if file is not None and target is not None:
                half.replace(target)
                self._stamp = _stamp_of(target)
        except OSError as reason:
            log.warning("the state file in the log's snapshot can't be used: %s", reason)
            return None
        finally:
            half.unlink(missing_ok=True)
        return file

    async def _get_first_file(self) -> "StateFile | None":
        """A file that is written now, by this one or by another worker."""
        if self._write is not None:
            log.info("there is no state file: it is written first")
            self._tried = asyncio.get_running_loop().time()
            await self._write(not BACKGROUND)
            return self._open_newer()
        end = asyncio.get_running_loop().time() + WAIT_SECONDS
        while (
            self._waits
            and self.path is not None
            and (being_written(self.path) or asyncio.get_running_loop().time() < end)
        ):
            await asyncio.sleep(0.1)
            file = self._open_newer()
            if file is not None:
                return file
        return None

    # ---------------------------------------------------------------------------------------------------- running

    async def run(self, follower: Follower) -> None:
        """Change over to newer files, and have one written when much has changed, for ever."""
        follower.on_change(self._check_whether_dropped)
        await self._prepared.wait()
        while self.path is not None:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                await self._take_turn(follower)
            except (LogUnavailableError, LogDamagedError, Unavailable) as reason:
                log.info("the state file has to wait: %s", reason)
            except Exception:
                log.exception("the state file could not be looked after; trying again")

    async def _take_turn(self, follower: Follower) -> None:
        newer_file = await asyncio.to_thread(self._open_newer)
        if newer_file is not None:
            await self._change_over(follower, newer_file)
        now = asyncio.get_running_loop().time()
        if self._write is not None and self.due and now - self._tried > AGAIN_SECONDS:
            self._tried, self._wanted = now, False
            await self._write(BACKGROUND)

    async def _change_over(self, follower: Follower, newer_file: "StateFile") -> None:
        """Change over to a newer file; one that is damaged, or not what the log has, is dropped."""
        is_wrong = False

        def prepare_put(
            rows: Collection[EncodedRow], position: Position, decoded_rows: Mapping[EncodedRow, Row] | None
        ) -> PutTables | None:
            nonlocal is_wrong
            put = self._tables.ready_on(newer_file.segment, newer_file.position, rows, position, decoded_rows)
            is_wrong = put is None
            return None if put is None else partial(self._put, put, newer_file)

        with suppress(SegmentDamagedError):
            if await follower.change_over(prepare_put, newer_file.position):
                return
        if is_wrong or newer_file.segment.damage:
            self._drop(newer_file)
        else:
            log.warning("the state file %s is no help: %s", self.path, self._why_dropped(newer_file))

    def _put(self, put: PutTables, file: "StateFile") -> Callable[[], None]:
        self._found, self.written = file, file.written
        return put()

    def _check_whether_dropped(self) -> None:
        """Drop the file that the tables no longer use: it does not match the log, its checksums or the state root."""
        file = self._found
        if file is not None and not self._tables.stands_on(file.segment):
            self._found = self.written = None
            self._drop(file)

    def _drop(self, dropped: "StateFile") -> None:
        """Log why a file is not used. Who writes the file removes it, so that nothing is copied from it into the next
        one.
        """
        log.warning("the state file %s is dropped: %s", self.path or "in the log", self._why_dropped(dropped))
        if self._write is None or self.path is None or dropped.position.identity != self._tables.position.identity:
            return
        self._wanted = True
        with suppress(OSError):
            if _stamp_of(self.path) == self._stamp:
                self.path.unlink()

    def _why_dropped(self, dropped: "StateFile") -> str:
        if dropped.segment.damage:
            return dropped.segment.damage
        file, shown_position = dropped.position, self._tables.position
        return (
            f"it shows sequence {file.sequence} of log {file.identity.hex()} with the state root {file.root.hex()}: the log "
            f"does not know this place with this root, or no longer. It has the state root {shown_position.root.hex()} at sequence "
            f"{shown_position.sequence} of {shown_position.identity.hex()}"
        )

    @property
    def due(self) -> bool:
        """Whether a new file is worth its writing: much has changed, or the last one was dropped."""
        return self._wanted or self._tables.changed >= max(LEAST, SHARE * self._tables.size)


def _stamp_of(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_ino, status.st_mtime_ns


def _kind() -> int:
    from treaty.node.segment.statefile import KIND  # noqa: PLC0415 (as below)

    return KIND


def _open(path: Path) -> "StateFile | None":
    from treaty.node.segment.statefile import StateFileError, open_state  # noqa: PLC0415 (loaded where there is a file)

    try:
        return open_state(path)
    except (StateFileError, Unavailable) as reason:
        log.warning("no help from the state file: %s", reason)
        return None


def being_written(path: Path) -> bool:
    """Whether a process writes this state file now (see `alone`)."""
    import fcntl  # noqa: PLC0415 (does not exist for Windows)

    with suppress(OSError):
        descriptor = os.open(f"{path}.lock", os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
    return False
