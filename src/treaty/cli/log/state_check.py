"""Verification of a state file: its rows by the invariants of a log, its indexes by its rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from treaty.core.invariants import find_violations
from treaty.core.state.commit import Position, as_root
from treaty.core.state.indexes import InvariantViolation, wrong_indexes
from treaty.core.state.state_tables import INDEXES
from treaty.core.state.tables import DictTables
from treaty.node.segment.layered import LayeredTables
from treaty.node.segment.segment import Segment
from treaty.node.segment.statefile import StateFile, open_state

REMEDY = "remove the state file: nodes then read the log and write a new one"


@dataclass(frozen=True, slots=True)
class CheckedState:
    """A verified state file: its position in the log, its rows as tables, and its faults."""

    position: Position
    rows: DictTables
    faults: tuple[InvariantViolation, ...]


def check_state(path: Path) -> CheckedState:
    """Check every byte, row and index of a state file. Raises `StateFileError` if it cannot be opened,
    `SegmentDamagedError` for a wrong checksum.
    """
    opened_state = open_state(path, to_check=True)
    opened_state.check()
    layered, rows = LayeredTables(small=0), DictTables()
    layered.stand_on(opened_state.segment, opened_state.position)
    rows.load(layered.rows(), opened_state.position)
    faults = (
        *find_violations(rows),
        *_find_wrong_roots(opened_state, rows),
        *wrong_indexes(layered, REMEDY),
        *_find_stray_entries(opened_state.segment),
    )
    return CheckedState(opened_state.position, rows, faults)


def _find_wrong_roots(file: StateFile, rows: DictTables) -> Iterator[InvariantViolation]:
    """Compare the state root in the head, and each table's part of it, with the rows."""
    actual, stated = as_root(rows.roots), file.position.root
    if actual != stated:
        message = f"the state root of its rows is {actual.hex()}, its head says {stated.hex()}; {REMEDY}"
        yield InvariantViolation("STATE_ROOT", "", (), message)
    shares = file.roots
    for table in sorted(shares.keys() | rows.roots.keys()):
        come, says = rows.roots.get(table, 0), shares.get(table, 0)
        if come != says:
            message = f"its rows contribute {come:064x} to the state root, the head says {says:064x}; {REMEDY}"
            yield InvariantViolation("STATE_ROOT", table, (), message)


def _find_stray_entries(segment: Segment) -> Iterator[InvariantViolation]:
    for index in INDEXES.values():
        for number in segment.stray_marks(index):
            message = f"it has an entry for row {number} of {index.table} that does not follow from the row; {REMEDY}"
            yield InvariantViolation("INDEX_WRONG", index.name, (), message)
