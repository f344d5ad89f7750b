"""Whole states for commands that check or compare them: of a log, a dump, a backup or a state file."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from treaty.cli.log.checking import check_state
from treaty.cli.log.files import is_dump, opened_file
from treaty.cli.log.opened import opened, run
from treaty.cli.terminal.source import UnusableError
from treaty.core.limits import DIFFERING_ROWS
from treaty.core.state.commit import Position
from treaty.core.state.indexes import InvariantViolation
from treaty.core.state.rows import EncodedRow
from treaty.core.state.state_tables import UNROOTED
from treaty.core.state.tables import DictTables
from treaty.log.state_roots import find_root_mismatches, read_with_table_roots
from treaty.node.segment.segment import SegmentDamagedError
from treaty.node.segment.statefile import StateFileError, is_state


@dataclass(frozen=True, slots=True)
class Copy:
    """A whole state, what is stated of it, and the faults of its own kind that were found while it was read.

    `checked` says that its laws and indexes are among these already.
    """

    source: str
    tip: Position
    rows: tuple[EncodedRow, ...] = field(repr=False)
    tables: DictTables = field(repr=False)
    faults: tuple[InvariantViolation, ...] = ()
    checked: bool = False


def read_copy(source: str) -> Copy:
    """Read a whole state into memory; ends the program where it can't be read."""
    if is_state(Path(source)):
        return _state(Path(source))
    if is_dump(source):
        return run(lambda: _file(source))
    return run(lambda: _log(source))


async def _log(url: str) -> Copy:
    async with opened(url) as found:
        delta, roots = await read_with_table_roots(found)
        return _copy(found.url, delta.tip, delta.rows, roots)


async def _file(name: str) -> Copy:
    with opened_file(name, lenient=True) as (head, rows):
        return _copy(name, head.position, tuple(rows), head.roots)


def _copy(source: str, tip: Position, rows: tuple[EncodedRow, ...], roots: Mapping[str, int] | None) -> Copy:
    tables = DictTables()
    tables.load(rows, tip)
    faults = tuple(
        InvariantViolation("STATE_ROOT", fault.table, (), fault.message)
        for fault in find_root_mismatches(tip.root, roots, tables.roots)
    )
    return Copy(source, tip, rows, tables, faults)


def _state(path: Path) -> Copy:
    """A state file: its rows as those of a log, and all by which nodes find them in it."""
    try:
        state = check_state(path)
    except (StateFileError, SegmentDamagedError) as error:
        raise UnusableError(f"{error}; remove the file: nodes read the log where there is none") from error
    return Copy(str(path), state.position, tuple(state.rows.rows()), state.rows, state.faults, checked=True)


@dataclass(frozen=True, slots=True)
class Differing:
    """A row that two states do not have alike: its table and key, and its text here and there (None: it is not there)."""

    table: str
    key: str
    here: str | None
    there: str | None


@dataclass(frozen=True, slots=True)
class Compared:
    """What differs between two states: how many rows, and the first DIFFERING_ROWS of them by table and key."""

    here: Copy
    there: Copy
    count: int
    rows: tuple[Differing, ...]


def compare(here: Copy, there: Copy) -> Compared:
    """Find the rows that differ; those that describe a log itself (its origin, its snapshot) do not count."""
    found = sorted(_differing(here, there), key=lambda one: (one.table, one.key))
    return Compared(here, there, len(found), tuple(found[:DIFFERING_ROWS]))


def _differing(here: Copy, there: Copy) -> Iterator[Differing]:
    left = {(row.table, row.key): row.value for row in here.rows if row.table not in UNROOTED}
    for row in there.rows:
        if row.table in UNROOTED:
            continue
        mine = left.pop((row.table, row.key), None)
        if mine != row.value:
            yield Differing(row.table, row.key, mine, row.value)
    for (table, key), value in left.items():
        yield Differing(table, key, value, None)
