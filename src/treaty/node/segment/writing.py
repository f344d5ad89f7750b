"""Writing a state file: from the last one and what came after it, or from the whole log."""

from dataclasses import dataclass
from pathlib import Path

from treaty.core.commit import START, Position
from treaty.log.care.dump import state_digest
from treaty.log.log import Log
from treaty.node.segment.build import Built, build
from treaty.node.segment.layered import LayeredTables
from treaty.node.segment.segment import SegmentDamagedError
from treaty.node.segment.statefile import StateFileError, open_state, write_state


@dataclass(frozen=True, slots=True)
class Written:
    """A state file that was written."""

    position: Position
    rows: int
    bytes: int
    state: str
    """The state digest, hex."""


async def write(source: Log, path: Path, time: int) -> Written:
    """Write the state file of a log as it is now; `time` is in ms since the epoch.

    What the last one has is copied, and only what came after it is read. Raises `OSError` where the file can't be
    written, and what reading a log raises.
    """
    tables = LayeredTables(small=0)
    try:
        found = open_state(path)
        found.check()
        tables.stand_on(found.segment, found.position)
        delta = await source.read(tables.position)
        if not delta.reload:
            tables.apply(delta.rows, delta.tip)
            return _written(path, tables.built(), tables.position, time)
    except (StateFileError, SegmentDamagedError):  # the old file is no help: leave it aside
        delta = await source.read(START)
    return _written(path, build(delta.rows), delta.tip, time)


def _written(path: Path, built: Built, position: Position, time: int) -> Written:
    size = write_state(path, built, position, time)
    state = (built.digest + state_digest(built.odd)) % 2**256
    return Written(position, built.rows + len(built.odd), size, f"{state:064x}")
