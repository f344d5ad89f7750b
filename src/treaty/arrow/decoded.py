"""`DecodedBatch`: the result of decoding a batch of frames, record and error for each row; batches read row by row, and those of which
a part was read in columns.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from treaty.core.finding import shorten_text
from treaty.core.limits import FAULT_CHARACTERS

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
    return lambda frames: collect_rows(map(row, list_frames(frames)), kind)


def list_frames(frames: pa.Array) -> list[bytes | None]:
    """The bytes of each frame: much quicker than `to_pylist`."""
    binary = frames.cast(pa.binary())
    if not len(binary):
        return []
    ends = binary.buffers()[1]
    offsets = memoryview(ends).cast("i")[binary.offset : binary.offset + len(binary) + 1].tolist()
    data = binary.buffers()[2].to_pybytes() if binary.buffers()[2] is not None else b""
    values: list[bytes | None] = [data[start:end] for start, end in pairwise(offsets)]
    if binary.null_count:
        for at, is_valid in enumerate(binary.is_valid().to_pylist()):
            if not is_valid:
                values[at] = None
    return values


def collect_slices(rows: Iterator[RowResult], kind: pa.DataType, is_full: Callable[[], bool]) -> DecodedBatch:
    """The rows as arrays, made in slices: one ends behind a row after which `is_full`, so that few records are kept."""
    slices: list[DecodedBatch] = []
    has_more = True

    def take_slice() -> Iterator[RowResult]:
        nonlocal has_more
        for row in rows:
            yield row
            if is_full():
                return
        has_more = False

    while has_more:
        slices.append(collect_rows(take_slice(), kind))
    if len(slices) == 1:
        return slices[0]
    return DecodedBatch(
        pa.concat_arrays([one.record for one in slices]),
        pa.concat_arrays([one.code for one in slices]),
        pa.concat_arrays([one.said for one in slices]),
    )


def collect_rows(rows: Iterable[RowResult], kind: pa.DataType) -> DecodedBatch:
    """The rows as arrays; a record with a value that its column can't hold becomes a bad row."""
    records: list[Any] = []
    bad: dict[int, tuple[str, str | None]] = {}
    for record, code, message in rows:  # no row is kept beside its record: the collector of garbage would walk it
        if code is not None:
            bad[len(records)] = code, message if message is None else shorten_text(message, FAULT_CHARACTERS)
        records.append(record)
    try:
        array = pa.array(records, kind)
    except REFUSED:
        bad |= {at: ("INVALID", message) for at, one in enumerate(records) if (message := _find_refusal(one, kind))}
        array = pa.array([None if at in bad else one for at, one in enumerate(records)], kind)
    if not bad:
        none = pa.nulls(len(records), pa.string())
        return DecodedBatch(array, none, none)
    whys = [bad.get(at, (None, None)) for at in range(len(records))]
    return DecodedBatch(array, *(pa.array([why[part] for why in whys], pa.string()) for part in (0, 1)))


def _find_refusal(record: Any, kind: pa.DataType) -> str:
    """What Arrow says of a record that its type can't hold; nothing for others."""
    try:
        pa.array([record], kind)
    except REFUSED as error:
        return f"a value is none that its column can hold: {str(error)[:200]}"
    return ""


def join_rows(records: Sequence[pa.Array], places: Sequence[Any], remaining: DecodedBatch, rest: Any) -> DecodedBatch:
    """Return all rows in their order: records that were read in columns, by their places, and the rest, which were read one by one."""
    if rest.all():  # neither joined nor sorted: each is a copy
        return remaining
    order = np.concatenate([*places, np.flatnonzero(rest)])
    back = pa.array(np.argsort(order, kind="stable"))
    nulls = pa.nulls(len(order) - len(remaining.record), pa.string())
    code, sentence = (pa.concat_arrays([nulls, texts]).take(back) for texts in (remaining.code, remaining.said))
    return DecodedBatch(pa.concat_arrays([*records, remaining.record]).take(back), code, sentence)
