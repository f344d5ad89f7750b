"""The search index of a server: one file for all workers of a machine, kept by the first of them.

A large one is built by the process that writes the state file.
"""

import asyncio
import gc
import secrets
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from treaty.core.state.state_tables import SCHEMA
from treaty.node.node import Node
from treaty.node.segment.layered import LayeredTables
from treaty.node.segment.statefile import open_state
from treaty.web.index.build import build_index
from treaty.web.index.lookup import IndexFile
from treaty.web.index.maintenance import Build, IndexMaintainer
from treaty.web.index.storage import is_supported

GARBAGE = 100_000
"""Objects that are left over before cycles among them are looked for while an index is built: next to none are in one."""


@dataclass(frozen=True, slots=True)
class IndexPlace:
    """Where the index of a server is, what answers from it, and whether this worker keeps it."""

    path: Path
    file: IndexFile
    keeps: bool
    temporary: bool = False
    """Whether the folder is of this server alone, and is there only while it runs."""

    def open(self) -> None:
        """Make the folder of an index that has no other place."""
        if self.temporary:
            self.path.parent.mkdir(mode=0o700)

    def close(self) -> None:
        """Close the file; an index without another place is removed."""
        self.file.close()
        if self.temporary:
            shutil.rmtree(self.path.parent, ignore_errors=True)


def index_path(state: Path) -> Path:
    """Return the index beside a state file."""
    return state.with_name(f"{state.name}-index")


def index_state_file(state: Path, progress: Callable[[int, int], None]) -> int:
    """Build the index of a state file, and return the number of its schemas; `progress` hears how many of how many were read.

    Raises `StateFileError` or `SegmentDamagedError` for a file that can't be used, `OSError` where the index can't be
    written, which then stays as it was.
    """
    file = open_state(state)
    tables = LayeredTables(small=0)
    tables.stand_on(file.segment, file.position)
    total = tables.total(SCHEMA)
    thresholds = gc.get_threshold()
    gc.set_threshold(GARBAGE)
    try:
        return build_index(index_path(state), tables, lambda count: progress(count, total))
    finally:
        gc.set_threshold(*thresholds)


def place_index(state: Path | None, board: Path | None, worker: int, *, enabled: bool) -> IndexPlace | None:
    """Return the place of the index: beside the state file, in the folder that workers share, else in a folder of its own.

    None if search is switched off, or SQLite is too old for it.
    """
    if not enabled or not is_supported():
        return None
    if state is not None:
        path = index_path(state)
    else:
        own = Path(tempfile.gettempdir()) / f"treaty-index-{secrets.token_hex(16)}"
        path = (board or own) / "search-index"
    return IndexPlace(path, IndexFile(path), worker == 0, temporary=state is None and board is None)


@asynccontextmanager
async def keep_index(place: IndexPlace | None, node: Node, build: Build | None = None) -> AsyncIterator[None]:
    """Keep the index up to date while the block runs, if this worker does that; then close it.

    A large one is first built by `build`, in a process of its own.
    """
    if place is None:
        yield
        return
    place.open()
    follower = node.follower
    maintainer = IndexMaintainer(place.path, follower.tables, lambda: follower.done > 0 and follower.proven, build)
    task = asyncio.create_task(maintainer.run(), name="search index") if place.keeps else None
    try:
        yield
    finally:
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        place.close()
