"""Functions that generated programs call: long varints, and conversions of raw values."""

import copy
from collections.abc import Mapping
from struct import Struct
from typing import Any

MASK_INT, MASK_LONG = 2**32 - 1, 2**64 - 1
MOST_INT, MOST_LONG = 28, 63
"""How far the last byte of a number is shifted; what of it lies beyond the number's bits is dropped, as Java's library
drops it.
"""


class WrongBytesError(ValueError):
    """Bytes that are no value of their schema."""


class LostDigitsError(ValueError):
    """A value has digits that the type of its column has no place for."""


def more_int(data: bytes, at: int, first: int) -> tuple[int, int]:
    """Read a varint of several bytes without zig-zag decoding; return it and the next position."""
    return _more(data, at, first, MOST_INT, MASK_INT)


def more_long(data: bytes, at: int, first: int) -> tuple[int, int]:
    """The same for 64 bits."""
    return _more(data, at, first, MOST_LONG, MASK_LONG)


def _more(data: bytes, at: int, first: int, most: int, mask: int) -> tuple[int, int]:
    value, shift = first & 0x7F, 7
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & mask, at
        shift += 7
        if shift > most:
            raise WrongBytesError


def single(number: int) -> float:
    """A double from which a float is made in one rounding: what a double can't hold of the number decides ties."""
    size = number.bit_length() - 53
    if size <= 0:
        return float(number)
    bits = abs(number)
    kept = bits >> size | bool(bits & ((1 << size) - 1))
    return float(kept << size) if number > 0 else -float(kept << size)


def entries(found: Mapping[bytes, Any]) -> list[tuple[str, Any]]:
    """A map as Arrow takes it."""
    return [(str(key, "utf-8"), value) for key, value in found.items()]


NAMES: Mapping[str, Any] = {
    "more_int": more_int,
    "more_long": more_long,
    "wrong": WrongBytesError,
    "float_": Struct("<f").unpack_from,
    "double_": Struct("<d").unpack_from,
    "single": single,
    "entries": entries,
    "copied": copy.deepcopy,
}
"""By the names in programs."""
