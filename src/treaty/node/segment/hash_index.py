"""Marks: where in a segment something is, found by its hash. Eight bytes each, sorted, so that pages of a file do."""

import hashlib
from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator

from treaty.core.state.table import Key

ROW_BITS = 24
"""Bits of a mark that number a row in its table; the others are the hash."""
ROWS = 1 << ROW_BITS
"""Rows that one table of a segment may have."""
_HASH_BYTES = (64 - ROW_BITS) // 8
_ROW = ROWS - 1
_TEXTS = tuple("\0".join(["%s"] * count) for count in range(9))
_blake2b = hashlib.blake2b


def hash_of(entry: Key) -> int:
    """Return the hash of a key or of an index entry. Different ones may share it: who finds a row looks at it."""
    text: str = _TEXTS[len(entry)] % entry
    return int.from_bytes(_blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_HASH_BYTES).digest(), "big")


def merged_marks(older: Iterable[int], dead: Collection[int], newer: Iterable[int]) -> "array[int]":
    """Return marks in order, as a segment keeps them: those of an older one whose rows are not dead, and new ones."""
    marks = [older_mark for older_mark in older if older_mark & _ROW not in dead] if dead else [*older]
    marks += newer
    marks.sort()  # what is in order already costs little
    return array("Q", marks)


def mark(entry: Key, row: int) -> int:
    """Return the mark of an entry that a row claims."""
    return hash_of(entry) << ROW_BITS | row


def row_of(mark: int) -> int:
    """Return the row of a mark."""
    return mark & _ROW


def rows_of(marks: "memoryview[int]", entry: Key) -> Iterator[int]:
    """Yield the rows that may claim an entry, ascending."""
    low = hash_of(entry) << ROW_BITS
    for place in range(bisect_left(marks, low), len(marks)):
        mark = marks[place]
        if mark >> ROW_BITS != low >> ROW_BITS:
            return
        yield mark & _ROW
