"""`Decoded`: the result of decoding a batch of frames."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pyarrow as pa

RowResult = tuple[Any, str | None, str | None]
"""A record as Arrow takes it, or the code and the sentence of a bad row; three times None where the id is not the
plan's.
"""
NOTHING: RowResult = (None, None, None)
ReadRow = Callable[[bytes | None], RowResult]
"""A function from a frame (Confluent's prefix) to its record, or to why there is none."""
REFUSED = (pa.ArrowException, ArithmeticError, TypeError, ValueError)
"""What Arrow raises for a value that its type can't hold."""


@dataclass(frozen=True, slots=True)
class DecodedBatch:
    """Three arrays, a row in each for every frame: the record, the code of a bad row, and a sentence about it."""

    record: pa.Array
    code: pa.Array
    said: pa.Array


ReadBatch = Callable[[pa.Array], DecodedBatch]
"""A function from a binary array of frames (Confluent's prefix) to what they hold."""


def read_by_row(row: ReadRow, kind: pa.DataType) -> ReadBatch:
    """A reader that takes one frame after the other."""
    return lambda frames: collect_rows([row(one) for one in list_frames(frames)], kind)


def list_frames(frames: pa.Array) -> list[bytes | None]:
    """The bytes of each frame: much quicker than `to_pylist`."""
    found = frames.cast(pa.binary())
    if not len(found):
        return []
    ends = found.buffers()[1]
    offsets = memoryview(ends).cast("i")[found.offset : found.offset + len(found) + 1].tolist()
    data = found.buffers()[2].to_pybytes() if found.buffers()[2] is not None else b""
    values: list[bytes | None] = [data[start:end] for start, end in pairwise(offsets)]
    if found.null_count:
        for at, there in enumerate(found.is_valid().to_pylist()):
            if not there:
                values[at] = None
    return values


def collect_rows(rows: Sequence[RowResult], kind: pa.DataType) -> DecodedBatch:
    """The rows as arrays; a record with a value that its column can't hold becomes a bad row."""
    records, codes, said = zip(*rows, strict=True) if rows else ((), (), ())
    try:
        made = pa.array(records, kind)
    except REFUSED:
        rows = [_keep_convertible(one, kind) for one in rows]
        records, codes, said = zip(*rows, strict=True)
        made = pa.array(records, kind)
    return DecodedBatch(made, pa.array(codes, pa.string()), pa.array(said, pa.string()))


def _keep_convertible(one: RowResult, kind: pa.DataType) -> RowResult:
    try:
        pa.array([one[0]], kind)
    except REFUSED as wrong:
        return None, "INVALID", f"a value is none that its column can hold: {str(wrong)[:200]}"
    return one
