"""Writing a state file: from the last one and what came after it, or from the whole log."""

import logging
from dataclasses import dataclass
from pathlib import Path

from treaty.core.state.commit import Position, as_root
from treaty.log.capabilities import ResumableLog, StateFileStore, scan_rows
from treaty.log.log import Log, LogDamagedError
from treaty.node.segment.build import SegmentContents, build
from treaty.node.segment.layered import LayeredTables
from treaty.node.segment.segment import SegmentDamagedError, totals
from treaty.node.segment.statefile import KIND, StateFileError, open_state, write_state

log = logging.getLogger("treaty.node")

FOLDED = 200_000
"""From this number of rows on a log keeps a snapshot; fewer rows are read fast without."""


@dataclass(frozen=True, slots=True)
class WrittenStateFile:
    """A state file that was written."""

    position: Position
    rows: int
    bytes: int
    state: str
    """The state root, hex."""


async def write(source: Log, path: Path, time: int) -> WrittenStateFile:
    """Write the state file of a log as it is now, and the log's snapshot, if it keeps one; `time` is in ms.

    What the last one has is copied, and only what came after it is read: rows are hashed when they first get into a
    file. Rows that do not come to the root which the log states for their place are never written; where a copied one
    may be the cause all rows are read. Raises `OSError` where the file can't be written, `LogDamagedError` where the
    log's own rows come to another root, and what reading a log raises.
    """
    position, built = await _read_newest(source, path)
    if _differs(built, position):
        log.warning("the state file %s is not copied from: %s", path, _differs(built, position))
        position, built = await scan_rows(source, build)
    if _differs(built, position):
        raise LogDamagedError(f"{_differs(built, position)}: no state file is written; treaty log verify says more")
    bookmark = source.bookmark(position) if isinstance(source, ResumableLog) else None
    size = write_state(path, built, position, time, bookmark)
    if isinstance(source, StateFileStore) and built.rows >= FOLDED:
        await source.write_state_file(path, position, KIND)
    return WrittenStateFile(position, built.rows + len(built.raw_rows), size, position.root.hex())


def _differs(built: SegmentContents, position: Position) -> str:
    """Why rows are not those of a place; empty where they are."""
    built_root = as_root(totals(built.roots, built.raw_rows))
    if built_root == position.root:
        return ""
    return f"the rows come to the state root {built_root.hex()}, the log states {position.root.hex()} at sequence {position.sequence}"


async def _read_newest(source: Log, path: Path) -> tuple[Position, SegmentContents]:
    try:
        file = open_state(path)
        file.check()
        tables = LayeredTables(small=0)
        tables.stand_on(file.segment, file.position)
        if isinstance(source, ResumableLog) and file.bookmark is not None:
            source.resume_at(file.position, file.bookmark)
        delta = await source.read(tables.position)
        if not delta.reload:
            tables.apply(delta.rows, delta.tip)
            return tables.position, tables.build_segment()
    except (StateFileError, SegmentDamagedError):  # the old file is no help: leave it aside
        pass
    return await scan_rows(source, build)
