"""Planted: a repair moves rows aside that can be read."""

from collections.abc import Iterable

from treaty.core.rows import Encoded, decode_row
from treaty.log.care import repair
from treaty.log.care.repair import Strange
from treaty.log.care.repair import strange as original

LAWS = {"5", "log"}
EVENTS = {"repaired"}
PLACE, NAME = repair, "strange"


def planted(rows: Iterable[Encoded]) -> tuple[Strange, ...]:
    listed = tuple(rows)
    good = [row for row in listed if row.table == "outcome"][:1]
    return (
        *original(listed),
        *(Strange(one.table, decode_row(one).key, one.value or "", "old", newer=False) for one in good),
    )
