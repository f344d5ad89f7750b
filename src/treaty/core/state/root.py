"""The state root: an order-free digest of all rows, which every append states for the tables after it.

A table adds the sum of the digests of its rows modulo 2**256 (see `EncodedRow.digest`), and the root is the sum over
all tables, as 32 bytes, big-endian (`commit.as_root`). Adding and taking away rows moves it, so that the root after a
commit is known without a look at any other row.
"""

from collections.abc import Iterable, Mapping
from typing import Protocol

from treaty.core.state.commit import MODULUS
from treaty.core.state.rows import EncodedRow, decode_key, key_text
from treaty.core.state.table import Key


class RootedTables(Protocol):
    """Tables that know what they and each of their rows add to the root."""

    @property
    def roots(self) -> Mapping[str, int]:
        """What each table adds to the state root; a table that adds nothing may be missing."""
        ...

    def share(self, table: str, key: Key) -> int:
        """Return the digest of a row as stored in the log; 0 where there is none."""
        ...


class RowDigests:
    """The digests of a state's rows without the rows: for who writes rows and holds no tables."""

    def __init__(self, rows: Iterable[EncodedRow] = ()) -> None:
        """Begin with the rows of a state."""
        self.roots: Mapping[str, int] = {}
        self._shares: dict[tuple[str, str], int] = {}
        self.put(rows)

    def share(self, table: str, key: Key) -> int:
        """Return the digest of a row; 0 where there is none."""
        return self._shares.get((table, key_text(key)), 0)

    def put(self, rows: Iterable[EncodedRow]) -> None:
        """Take rows into the state; tombstones take out."""
        last = {(row.table, row.key): row for row in rows}
        self.roots = roots_after(self, last.values())
        for place, row in last.items():
            if row.value is None:
                self._shares.pop(place, None)
            else:
                self._shares[place] = row.digest


def roots_after(tables: RootedTables, rows: Iterable[EncodedRow]) -> Mapping[str, int]:
    """Return what each table adds to the root after some rows were applied; of rows that change again the last state
    counts.

    A table that adds nothing is missing.
    """
    return roots_with(tables, ((row, decode_key(row.key)) for row in rows))


def roots_with(tables: RootedTables, rows: Iterable[tuple[EncodedRow, Key]]) -> dict[str, int]:
    """Return the same where the keys have been read."""
    roots, share = dict(tables.roots), tables.share
    for (table, key), row in {(row.table, key): row for row, key in rows}.items():
        add(roots, table, row.digest - share(table, key))
    return roots


def add(roots: dict[str, int], table: str, change: int) -> None:
    """Change what a table adds; one that adds nothing any more is left out."""
    if change:
        total = (roots.get(table, 0) + change) % MODULUS
        if total:
            roots[table] = total
        else:
            del roots[table]


def roots_of(rows: Iterable[EncodedRow]) -> Mapping[str, int]:
    """Return what each table adds to the root of a state that has just these rows, each once."""
    roots: dict[str, int] = {}
    for row in rows:
        add(roots, row.table, row.digest)
    return roots
