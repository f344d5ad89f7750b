"""Repairs, each in one commit: unreadable rows are moved into quarantine, id counters raised by very high ids are
lowered, and the state root of changed rows is accepted.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from treaty.core.state.commit import START, Position, as_root, roots_of
from treaty.core.state.reserved import ReservedIds, healing_row, reserved_ids
from treaty.core.state.rows import EncodedRow, Row, UnreadableValue, decode_row, encode_row, key_text
from treaty.core.state.state_tables import TABLES
from treaty.core.state.table import Key
from treaty.core.state.tables import DictTables
from treaty.core.state.values import QuarantinedRow
from treaty.log.capabilities import OrphanRow, OrphanRowFinder
from treaty.log.kafka.single_writer.records import FOREIGN_TABLE
from treaty.log.log import Log, LogDelta
from treaty.log.maintenance.restore import append_rows, append_to_state, compute_roots_with
from treaty.log.state_roots import differing_tables, read_with_table_roots

NO_APPEND = "it belonged to no append: part of an incomplete transaction, or a foreign record"
"""The reason of an orphan row in quarantine."""


@dataclass(frozen=True, slots=True)
class UnreadableRow:
    """An unreadable row: table, key, JSON text, reason, and whether a newer version could read it."""

    table: str
    key: Key
    text: str
    why: str
    newer: bool


def find_unreadable_rows(rows: Iterable[EncodedRow]) -> tuple[UnreadableRow, ...]:
    """Return the unreadable rows."""
    unreadable = []
    for row in rows:
        decoded = decode_row(row)
        if isinstance(decoded.value, UnreadableValue):
            newer = row.table not in TABLES or "row format" in decoded.value.why
            unreadable.append(UnreadableRow(row.table, decoded.key, decoded.value.text, decoded.value.why, newer))
    return tuple(unreadable)


async def quarantine_rows(log: Log, *, time: int, newer: bool = False) -> tuple[tuple[UnreadableRow, ...], Position]:
    """Move unreadable rows into the table ``quarantine`` in one commit; return them, and the position after it.

    Rows that a newer version may have written are included only if `newer`.
    Raises `RestoreError` if another process writes at the same time.
    """
    delta = await log.read(START)
    chosen = tuple(row for row in find_unreadable_rows(delta.rows) if newer or not row.newer)
    if not chosen:
        return (), delta.tip
    return chosen, await append_to_state(log, delta, _make_quarantine_rows(chosen, time), time)


def _make_quarantine_rows(chosen: Iterable[UnreadableRow], time: int) -> list[EncodedRow]:
    """The rows of a commit that moves others into quarantine."""
    rows = []
    for row in chosen:
        gone = encode_row(Row(row.table, row.key, None))
        rows += [gone, encode_row(Row("quarantine", (row.table, gone.key), QuarantinedRow(row.text, row.why, time)))]
    return rows


def _replace_orphan_rows(orphan_rows: Iterable[OrphanRow], time: int) -> list[EncodedRow]:
    """The rows of a commit that takes away what belongs to no append, and keeps it in quarantine."""
    rows = []
    for orphan in orphan_rows:
        quarantined = QuarantinedRow(orphan.row.value or "null", NO_APPEND, time)
        rows += [orphan.before, encode_row(Row("quarantine", (orphan.row.table, orphan.row.key), quarantined))]
    return rows


@dataclass(frozen=True, slots=True)
class StateCheck:
    """Whether a log's rows are those that it states: the root that its last append states, and the one that they come
    to.

    `foreign` are records that Treaty did not write, which lie among the rows of a log with one owner. `tables` are
    those whose rows do not come to the root that the log keeps for them, where it keeps any. `find_orphan_rows` are
    rows that belong to no append, as half of a transaction does, as far as they can be known.
    """

    position: Position
    root: bytes
    foreign: tuple[UnreadableRow, ...] = ()
    tables: tuple[str, ...] = ()
    orphan_rows: tuple[OrphanRow, ...] = ()

    @property
    def fits(self) -> bool:
        """Whether there is nothing to accept."""
        return self.root == self.position.root and not (self.foreign or self.tables or self.orphan_rows)

    @property
    def quarantined(self) -> int:
        """How many rows `accept_state` moves into quarantine."""
        return len(
            {(row.table, key_text(row.key)) for row in self.foreign}
            | {(orphan.row.table, orphan.row.key) for orphan in self.orphan_rows}
        )


def check_state(
    delta: LogDelta, stated: Mapping[str, int] | None, orphan_rows: tuple[OrphanRow, ...] = ()
) -> StateCheck:
    """Compare the rows of a whole log with the root that it states, and with those of its tables (None: it keeps none)."""
    foreign = tuple(
        unreadable for unreadable in find_unreadable_rows(row for row in delta.rows if row.table == FOREIGN_TABLE)
    )
    roots = roots_of(delta.rows)
    tables = () if stated is None else differing_tables(stated, roots)
    return StateCheck(delta.tip, as_root(roots), foreign, tables, orphan_rows)


async def find_orphan_rows(log: Log) -> tuple[OrphanRow, ...]:
    """Return the rows of a log that belong to no append; most logs can't have any."""
    return await log.find_orphan_rows() if isinstance(log, OrphanRowFinder) else ()


async def accept_state(log: Log, *, time: int) -> tuple[StateCheck, Position]:
    """State the root of the rows as they are, in one forced commit; return what was wrong, and the position after it.

    Foreign records and rows that belong to no append are moved into quarantine by it, and what these replaced is put
    back. Raises `RestoreError` where somebody else writes at the same time.
    """
    delta, stated = await read_with_table_roots(log)
    check = check_state(delta, stated, await find_orphan_rows(log))
    if delta.tip == START or check.fits:
        return check, delta.tip
    rows = [*_make_quarantine_rows(check.foreign, time), *_replace_orphan_rows(check.orphan_rows, time)]
    return check, await append_rows(log, delta.tip, rows, compute_roots_with(delta, rows), time)


def find_reserved_ids(rows: Iterable[EncodedRow]) -> tuple[ReservedIds, ...]:
    """Return the contexts among the rows of a log whose counter of ids is held up by ids far above the rest."""
    tables = DictTables()
    tables.load(rows, START)
    return reserved_ids(tables)


async def lower_id_counters(log: Log, *, time: int) -> tuple[tuple[ReservedIds, ...], Position]:
    """Lower every counter of ids that is held up, and keep what holds it up as reserved; return that, and the position
    after.

    Raises `RestoreError` where somebody else writes at the same time.
    """
    delta = await log.read(START)
    tables = DictTables()
    tables.load(delta.rows, delta.tip)
    reserved = reserved_ids(tables)
    if not reserved:
        return (), delta.tip
    rows = [encode_row(healing_row(tables, counter)) for counter in reserved]
    return reserved, await append_to_state(log, delta, rows, time)
