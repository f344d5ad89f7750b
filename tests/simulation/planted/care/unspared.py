"""Planted: a restore raises the counters that it knows, and contexts that were made after the dump begin at 1 again."""

from collections.abc import Iterable, Iterator

from treaty.core.state.rows import EncodedRow, decode_key
from treaty.core.state.state_tables import IDS_SPARED
from treaty.log.maintenance import restore

LAWS = {"4"}
EVENTS = {"restored"}
PLACE, NAME = restore, "_prepare_rows"
original = restore._prepare_rows


def planted(rows: Iterable[EncodedRow], gap: int) -> Iterator[EncodedRow]:
    return (row for row in original(rows, gap) if row.table != "counter" or decode_key(row.key) != IDS_SPARED)
