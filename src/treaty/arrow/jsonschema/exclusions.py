"""Documents that are left to the row reader, found in the bytes of a whole batch.

pyarrow's reader takes some that Spark does not: bytes that are no UTF-8, numbers that are none, deep nesting. It looks
at values that have a column; these may be anywhere, also in members without a column. And the validator refuses to look
at some.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from treaty.arrow.decoded import list_frames
from treaty.core.limits import NUMBER_DIGITS, SCHEMA_DEPTH

Mask = Any
"""A numpy array of booleans, one for each row."""
NESTING = 900
"""Brackets of a document from which it may nest deeper than Spark's parser goes."""
EMPTY = 7
"""Bytes of a frame with an object without members, which no number can be put before."""
DIGITS = 199
"""Digits in a row from which a number may be longer than the validator takes."""
ENDS = pa.array([b"}", b" ", b"\n", b"\r", b"\t"], pa.binary())
"""Last bytes of a document that may be an object."""
_HEADER = 5
_END = 2**31 - 1
_CONSTANT = r"[:\[,][ \t\r\n]*-?(NaN|Inf(inity)?)[ \t\r\n]*[,\]}]"
_EXPONENT = r"[:\[,][ \t\r\n]*-?[0-9.]+[eE]-[0-9]{4}"


@dataclass(frozen=True, slots=True)
class BatchBytes:
    """The bytes of all frames of a batch, one after the other."""

    frames: pa.Array
    data: Any
    starts: Any
    """Where each frame begins in `data`, and where the last one ends."""

    @staticmethod
    def of(frames: pa.Array) -> "BatchBytes":
        """The bytes of a binary array."""
        _, offsets, data = frames.buffers()
        starts = np.frombuffer(offsets, np.int32)[frames.offset : frames.offset + len(frames) + 1]
        held = np.frombuffer(data if data is not None else b"", np.uint8)[starts[0] : starts[-1]]
        return BatchBytes(frames, held, starts - starts[0])

    def find(self, *words: bytes) -> Mask:
        """The frames that hold one of these words."""
        matches = np.zeros(len(self.frames), bool)
        for word in words:
            at = np.flatnonzero(self.data[: max(0, len(self.data) - len(word) + 1)] == word[0])
            for place, byte in enumerate(word[1:], 1):
                at = at[self.data[at + place] == byte]
            matches[np.searchsorted(self.starts, at, side="right") - 1] = True
        return matches

    def narrow(self, candidates: Mask, pattern: str) -> Mask:
        """Those of some frames that match a pattern."""
        if not candidates.any():
            return candidates
        matches = candidates.copy()
        matches[candidates] = _to_mask(pc.match_substring_regex(self.frames.filter(pa.array(candidates)), pattern))
        return matches

    def find_nested(self, limit: int) -> Mask:
        """The frames with more brackets than `limit`."""
        if not (np.diff(self.starts) > 2 * limit).any():  # each has another one that closes it
            return np.zeros(len(self.frames), bool)
        at = np.flatnonzero(self.data | 0x20 == ord("{"))  # and the square one, which differs in that bit
        return np.diff(np.searchsorted(at, self.starts)) > limit


def find_excluded(held: BatchBytes) -> Mask:
    """The frames that may hold a document which pyarrow's reader takes and Spark does not, or which surely is none."""
    ends = pc.is_in(pc.binary_slice(held.frames, -1, _END), ENDS).to_numpy(zero_copy_only=False)
    constants = held.narrow(held.find(b"NaN", b"Inf"), _CONSTANT)
    empty = np.diff(held.starts) <= EMPTY
    return ~ends | empty | _find_no_text(held.frames) | constants | held.find_nested(NESTING)


def find_uncheckable(held: BatchBytes) -> Mask:
    """The frames that may hold a document which the validator refuses to look at, whatever its schema says."""
    excluded = held.narrow(held.find(b"e-", b"E-"), _EXPONENT) | held.find_nested(SCHEMA_DEPTH)
    long = np.diff(held.starts) > NUMBER_DIGITS
    return excluded | held.narrow(long, f"[0-9]{{{DIGITS}}}")


def _find_no_text(frames: pa.Array) -> Mask:
    payloads = pc.binary_slice(frames, _HEADER, _END)
    try:
        payloads.cast(pa.string())
    except pa.ArrowInvalid:
        return np.array([one is not None and not _is_text(one) for one in list_frames(payloads)], bool)
    return np.zeros(len(frames), bool)


def _is_text(payload: bytes) -> bool:
    try:
        payload.decode()
    except UnicodeDecodeError:
        return False
    return True


def _to_mask(column: pa.Array) -> Mask:
    return column.fill_null(False).to_numpy(zero_copy_only=False)
