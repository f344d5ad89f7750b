"""The state root: an order-free digest of all rows, which every append states for the tables after it.

It is the sum of the digests of all live rows modulo 2**256, as 32 bytes, big-endian. Adding and taking away rows moves it,
so that the root after a commit is known without a look at any other row.
"""

from collections.abc import Iterable
from typing import Protocol

from treaty.core.rows import Encoded, Key, decode_key

MODULUS = 2**256


class Rooted(Protocol):
    """Tables that know their root, and what each row adds to it."""

    @property
    def digest(self) -> int:
        """The sum of the digests of all live rows modulo 2**256."""
        ...

    def share(self, table: str, key: Key) -> int:
        """Return the digest of a row as it stands in the log; 0 where there is none."""
        ...


def root_after(tables: Rooted, rows: Iterable[Encoded]) -> bytes:
    """Return the root after some rows, each in its last state: see `Append.rows`."""
    total = tables.digest
    for row in {(row.table, row.key): row for row in rows}.values():
        total += row.digest - tables.share(row.table, decode_key(row.key))
    return as_bytes(total)


def root_of(rows: Iterable[Encoded]) -> bytes:
    """Return the root of a state that has just these rows, each once."""
    return as_bytes(sum(row.digest for row in rows))


def as_bytes(total: int) -> bytes:
    """Return a sum of digests as a root."""
    return (total % MODULUS).to_bytes(32, "big")
