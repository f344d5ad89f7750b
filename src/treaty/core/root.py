"""The state root: an order-free digest of all rows, which every append states for the tables after it.

A table adds the sum of the digests of its rows modulo 2**256 (see `Encoded.digest`), and the root is the sum over all tables,
as 32 bytes, big-endian (`commit.as_root`). Adding and taking away rows moves it, so that the root after a commit is known
without a look at any other row.
"""

from collections.abc import Iterable, Mapping
from typing import Protocol

from treaty.core.commit import MODULUS
from treaty.core.rows import Encoded, Key, decode_key


class Rooted(Protocol):
    """Tables that know what they and each of their rows add to the root."""

    @property
    def roots(self) -> Mapping[str, int]:
        """What each table adds to the state root; a table that adds nothing may be missing."""
        ...

    def share(self, table: str, key: Key) -> int:
        """Return the digest of a row as it stands in the log; 0 where there is none."""
        ...


def roots_after(tables: Rooted, rows: Iterable[Encoded]) -> Mapping[str, int]:
    """Return what each table adds to the root after some rows were applied; of rows that change again the last state counts."""
    roots = dict(tables.roots)
    for row in {(row.table, row.key): row for row in rows}.values():
        change = row.digest - tables.share(row.table, decode_key(row.key))
        if change:
            roots[row.table] = (roots.get(row.table, 0) + change) % MODULUS
    return roots


def roots_of(rows: Iterable[Encoded]) -> Mapping[str, int]:
    """Return what each table adds to the root of a state that has just these rows, each once."""
    roots: dict[str, int] = {}
    for row in rows:
        if row.digest:
            roots[row.table] = (roots.get(row.table, 0) + row.digest) % MODULUS
    return roots
