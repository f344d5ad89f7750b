"""Planted: a restore puts rows as they are, so that ids which were given after the dump are given again."""

from collections.abc import Iterable, Iterator

from treaty.core.state.rows import EncodedRow
from treaty.log.maintenance import restore

LAWS = {"4"}
EVENTS = {"restored"}
PLACE, NAME = restore, "_prepare_rows"


def planted(rows: Iterable[EncodedRow], gap: int) -> Iterator[EncodedRow]:
    del gap
    return (row for row in rows if row.table not in restore.LOG_LOCAL_TABLES)
