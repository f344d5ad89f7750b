"""Planted: a repair moves rows aside that can be read."""

from collections.abc import Iterable

from treaty.core.state.rows import EncodedRow, decode_row
from treaty.log.maintenance import repair
from treaty.log.maintenance.repair import UnreadableRow
from treaty.log.maintenance.repair import find_unreadable_rows as original

LAWS = {"5", "log"}
EVENTS = {"repaired"}
PLACE, NAME = repair, "find_unreadable_rows"


def planted(rows: Iterable[EncodedRow]) -> tuple[UnreadableRow, ...]:
    listed = tuple(rows)
    good = [row for row in listed if row.table == "outcome"][:1]
    return (
        *original(listed),
        *(UnreadableRow(one.table, decode_row(one).key, one.value or "", "old", newer=False) for one in good),
    )
