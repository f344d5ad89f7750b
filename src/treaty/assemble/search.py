"""The search index of a server: one file for all workers of a machine, kept by the first of them."""

import asyncio
import secrets
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from treaty.node.node import Node
from treaty.web.index.lookup import IndexFile
from treaty.web.index.maintenance import IndexMaintainer
from treaty.web.index.storage import is_supported


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


def place_index(state: Path | None, board: Path | None, worker: int, *, enabled: bool) -> IndexPlace | None:
    """Return the place of the index: beside the state file, in the folder that workers share, else in a folder of its own.

    None if search is switched off, or SQLite is too old for it.
    """
    if not enabled or not is_supported():
        return None
    if state is not None:
        path = state.with_name(f"{state.name}-index")
    else:
        own = Path(tempfile.gettempdir()) / f"treaty-index-{secrets.token_hex(16)}"
        path = (board or own) / "search-index"
    return IndexPlace(path, IndexFile(path), worker == 0, temporary=state is None and board is None)


@asynccontextmanager
async def keep_index(place: IndexPlace | None, node: Node) -> AsyncIterator[None]:
    """Keep the index up to date while the block runs, if this worker does that; then close it."""
    if place is None:
        yield
        return
    place.open()
    follower = node.follower
    maintainer = IndexMaintainer(place.path, follower.tables, lambda: follower.done > 0 and follower.proven)
    task = asyncio.create_task(maintainer.run(), name="search index") if place.keeps else None
    try:
        yield
    finally:
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        place.close()
