"""Complete states for commands that check or compare them: of a log, dump, backup or state file."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from treaty.cli.log.dump_file import is_dump, open_dump_file
from treaty.cli.log.log_argument import open_command_log, run
from treaty.cli.log.state_check import check_state
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
class WholeState:
    """A complete state, the state root that its source states, and the faults found while it was read. `checked`:
    invariants and indexes are already verified.
    """

    source: str
    tip: Position
    rows: tuple[EncodedRow, ...] = field(repr=False)
    tables: DictTables = field(repr=False)
    faults: tuple[InvariantViolation, ...] = ()
    checked: bool = False


def read_whole_state(source: str) -> WholeState:
    """Read a complete state into memory; ends the program if it cannot be read."""
    if is_state(Path(source)):
        return _read_state_file(Path(source))
    if is_dump(source):
        return run(lambda: _read_dump(source))
    return run(lambda: _read_log(source))


async def _read_log(url: str) -> WholeState:
    async with open_command_log(url) as opened_log:
        delta, roots = await read_with_table_roots(opened_log)
        return _build_state(opened_log.url, delta.tip, delta.rows, roots)


async def _read_dump(name: str) -> WholeState:
    with open_dump_file(name, lenient=True) as (head, rows):
        return _build_state(name, head.position, tuple(rows), head.roots)


def _build_state(
    source: str, tip: Position, rows: tuple[EncodedRow, ...], roots: Mapping[str, int] | None
) -> WholeState:
    tables = DictTables()
    tables.load(rows, tip)
    faults = tuple(
        InvariantViolation("STATE_ROOT", fault.table, (), fault.message)
        for fault in find_root_mismatches(tip.root, roots, tables.roots)
    )
    return WholeState(source, tip, rows, tables, faults)


def _read_state_file(path: Path) -> WholeState:
    """Read a state file with its indexes."""
    try:
        state = check_state(path)
    except (StateFileError, SegmentDamagedError) as error:
        raise UnusableError(f"{error}; remove the file: nodes then read the log") from error
    return WholeState(str(path), state.position, tuple(state.rows.rows()), state.rows, state.faults, checked=True)


@dataclass(frozen=True, slots=True)
class DifferingRow:
    """A row that differs between two states: table, key, and its text in both (None: no such row)."""

    table: str
    key: str
    here: str | None
    there: str | None


@dataclass(frozen=True, slots=True)
class StateComparison:
    """The differences of two states: the number of rows, and the first DIFFERING_ROWS of them by table and key."""

    here: WholeState
    there: WholeState
    count: int
    rows: tuple[DifferingRow, ...]


def compare_states(left: WholeState, right: WholeState) -> StateComparison:
    """Find the differing rows. Rows that describe a log itself, its origin and its snapshot, are not compared."""
    differing = sorted(_find_differing_rows(left, right), key=lambda one: (one.table, one.key))
    return StateComparison(left, right, len(differing), tuple(differing[:DIFFERING_ROWS]))


def _find_differing_rows(first: WholeState, second: WholeState) -> Iterator[DifferingRow]:
    left = {(row.table, row.key): row.value for row in first.rows if row.table not in UNROOTED}
    for row in second.rows:
        if row.table in UNROOTED:
            continue
        first_value = left.pop((row.table, row.key), None)
        if first_value != row.value:
            yield DifferingRow(row.table, row.key, first_value, row.value)
    for (table, key), value in left.items():
        yield DifferingRow(table, key, value, None)
