"""The state root as the judge works it out: over row texts as they stand in the log, anew for every state."""

import hashlib
from collections.abc import Iterable, Mapping
from functools import lru_cache

from treaty.core.state.rows import EncodedRow

Place = tuple[str, str]
"""Table and key of a row, as they stand in the log."""
Texts = Mapping[Place, str]
"""The text of every row by table and key, all three as they stand in the log."""
Roots = Mapping[str, int]
"""What each table adds to the state root; a table that adds nothing is missing."""
OWN = ("snapshot", "log_origin")
"""Tables that describe their own log: they add nothing."""


def texts_after(texts: Texts, rows: Iterable[EncodedRow]) -> Texts:
    """The texts after some rows were written."""
    later = dict(texts)
    for row in rows:
        if row.value is None:
            later.pop((row.table, row.key), None)
        else:
            later[row.table, row.key] = row.value
    return later


def roots_of(texts: Texts) -> Roots:
    """What each table adds: the sum of the SHA-256 of its rows, modulo 2**256."""
    sums: dict[str, int] = {}
    for (table, key), text in texts.items():
        if table not in OWN:
            sums[table] = (sums.get(table, 0) + _of_row(table, key, text)) % 2**256
    return {table: sum_ for table, sum_ in sums.items() if sum_}


def whole(roots: Roots) -> bytes:
    """The state root: the sum over all tables."""
    return (sum(roots.values()) % 2**256).to_bytes(32, "big")


def plain(roots: Mapping[str, int]) -> Roots:
    """What tables say that they add, without those that add nothing."""
    return {table: sum_ for table, sum_ in roots.items() if sum_}


@lru_cache(100_000)
def _of_row(table: str, key: str, text: str) -> int:
    told = f"{len(table)}:{table}{len(key)}:{key}{text}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(told).digest(), "big")
