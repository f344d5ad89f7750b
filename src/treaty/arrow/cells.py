"""Cells that rows of wide records leave empty: each takes as much in Arrow's columns as one that has a value.

An object of two bytes in a list may lack thousands of columns. Few rows can lack very many: those are looked through before
they are read, and beyond ABSENT_CELLS they are bad.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from treaty.core.limits import ABSENT_CELLS, ARROW_CELLS, ARROW_ROWS

Mask = Any
ITEM_BYTES = 2
"""The fewest bytes of a payload that one item takes."""
MAP_COPIES = 3
"""Times that a reader of whole columns has the values of a map in memory."""
ITEM_SIGNS = ("{", "[", "null")
"""What each item of a JSON document begins with that may lack columns."""
TOO_MANY = f"the row lacks values of more columns in its lists and maps than {ABSENT_CELLS:,} (limit ABSENT_CELLS)"


class AbsentCells:
    """Counts the cells that one row lacks."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = ABSENT_CELLS

    def lack(self, cells: int) -> None:
        """Count cells. Raises `TooManyCellsError` past the limit."""
        self.left -= cells
        if self.left < 0:
            raise TooManyCellsError(TOO_MANY)


class TooManyCellsError(ValueError):
    """A row that lacks values of very many columns."""


def count_cells(kind: pa.DataType) -> int:
    """The cells of one value of a type, up to the next list or map."""
    if not pa.types.is_struct(kind):
        return 1
    return 1 + sum(count_cells(kind.field(at).type) for at in range(kind.num_fields))


def find_widest(kind: pa.DataType) -> int:
    """The most cells of one item of a list or map inside a type, those of maps counted MAP_COPIES times; 0 where none has more than one."""
    if pa.types.is_struct(kind):
        return max((find_widest(kind.field(at).type) for at in range(kind.num_fields)), default=0)
    if pa.types.is_map(kind):
        inside, copies = kind.item_type, MAP_COPIES
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        inside, copies = kind.value_type, 1
    else:
        return 0
    cells = count_cells(inside)
    return max(copies * cells if cells > 1 else 0, find_widest(inside))


def may_lack_much(size: int, widest: int) -> bool:
    """Whether a payload of so many bytes may lack more cells than a row may."""
    return size // ITEM_BYTES * widest > ABSENT_CELLS


def find_sparse(frames: pa.Array, widest: int, *, is_json: bool = False) -> Mask:
    """The frames of a batch that may lack more cells than a row may; of JSON documents the beginnings of items are counted."""
    sizes = pc.fill_null(pc.binary_length(frames), 0).to_numpy(zero_copy_only=False)
    sparse = sizes // ITEM_BYTES * widest > ABSENT_CELLS
    if is_json and sparse.any():
        large = frames.filter(pa.array(sparse))
        counts = sum(pc.count_substring(large, sign).to_numpy(zero_copy_only=False) for sign in ITEM_SIGNS)
        sparse[np.flatnonzero(sparse)] = counts.astype(np.int64) * widest > ABSENT_CELLS
    return sparse


@dataclass(frozen=True, slots=True)
class FrameSplitter:
    """The cells of a value of a type: its own, and the most of one item of its lists and maps."""

    own: int
    widest: int

    @classmethod
    def of(cls, kind: pa.DataType) -> "FrameSplitter":
        """Count the cells of a type."""
        return cls(count_cells(kind), find_widest(kind))

    def split(self, batch: pa.RecordBatch, column: str) -> Iterator[pa.RecordBatch]:
        """Split a batch of frames into parts of at most ARROW_ROWS rows, whose values have at most ARROW_CELLS cells by the length of
        their frames, with those that they may lack; a part has a row at least.
        """
        for start in range(0, batch.num_rows, ARROW_ROWS):
            part = batch.slice(start, ARROW_ROWS)
            sizes = pc.fill_null(pc.binary_length(part.column(column).cast(pa.binary())), 0)
            lengths = sizes.to_numpy(zero_copy_only=False).astype(np.int64)
            ends = (self.own + np.minimum(lengths // ITEM_BYTES * self.widest, ABSENT_CELLS)).cumsum()
            at = 0
            while at < part.num_rows:
                before = ends[at - 1] if at else 0
                end = max(int(np.searchsorted(ends, before + ARROW_CELLS, "right")), at + 1)
                yield part.slice(at, end - at)
                at = end
